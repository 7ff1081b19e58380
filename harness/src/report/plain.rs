//! Text from outside (ids, labels, reasons, command lines), as it may stand in a file that others
//! open.
//!
//! What cannot be seen is replaced by a sign that can: a control character may move a cursor or is
//! forbidden in XML, and an override of the direction of writing shows a text that is not there.

/// Says that something was here.
const REPLACED: char = '\u{fffd}';

/// On one line.
pub(super) fn line(text: &str) -> String {
    text.chars()
        .map(|sign| match sign {
            '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
            other => visible(other),
        })
        .collect()
}

/// Lines stay lines.
pub(super) fn lines(text: &str) -> String {
    text.chars().map(|sign| if matches!(sign, '\n' | '\r' | '\t') { sign } else { visible(sign) }).collect()
}

/// Forbidden in XML, beside control characters: U+FFFE and U+FFFF (XML 1.0, production 2, Char).
/// Overrides, embeddings and isolates: Unicode Standard Annex 9.
fn visible(sign: char) -> char {
    let turns = matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if sign.is_control() || turns || matches!(sign, '\u{fffe}' | '\u{ffff}') { REPLACED } else { sign }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_replaced_and_the_rest_stays() {
        assert_eq!(line("a\u{1b}[31m\u{0}b\u{9b}"), "a\u{fffd}[31m\u{fffd}b\u{fffd}");
        assert_eq!(line("\u{202e}gpj.exe\u{2066}"), "\u{fffd}gpj.exe\u{fffd}");
        assert_eq!(line("\u{ffff}\u{fffe}"), "\u{fffd}\u{fffd}");
        assert_eq!(line("العربية ×2 ✓ é"), "العربية ×2 ✓ é");
    }

    #[test]
    fn lines_are_kept_or_joined() {
        assert_eq!(line("a\nb\r\nc\td\u{2028}e"), "a b  c d e");
        assert_eq!(lines("a\nb\tc\u{7}"), "a\nb\tc\u{fffd}");
    }
}
