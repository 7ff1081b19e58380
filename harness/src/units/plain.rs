//! Text from outside (ids, labels, reasons, command lines), as it may stand on a terminal and in a
//! file that others open.
//!
//! What cannot be seen is replaced by a sign that can: a control character moves a cursor or is
//! forbidden in XML and HTML, and a mark that turns the direction of writing shows a text that is
//! not there.

/// Says that something was here.
const REPLACED: char = char::REPLACEMENT_CHARACTER;

/// On one line.
#[must_use]
pub fn line(text: &str) -> String {
    let one = |sign| match sign {
        '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}' => ' ',
        other => visible(other),
    };
    text.chars().map(one).collect()
}

/// Lines stay lines.
#[must_use]
pub fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").chars().map(visible).collect()
}

/// The sign, or one that says that it is not shown.
#[must_use]
pub fn visible(sign: char) -> char {
    if is_hidden(sign) { REPLACED } else { sign }
}

/// Controls but for the end of a line and the tabulator; marks of direction (Unicode Standard Annex
/// 9, explicit formatting characters); blanks of no width; separators of lines; noncharacters, which
/// HTML forbids, two of them XML as well (XML 1.0, production 2).
#[must_use]
pub fn is_hidden(sign: char) -> bool {
    let turns = matches!(sign, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let has_no_width = matches!(sign, '\u{200b}' | '\u{feff}');
    let parts_lines = matches!(sign, '\u{2028}' | '\u{2029}');
    let noncharacter = matches!(sign, '\u{fdd0}'..='\u{fdef}') || u32::from(sign) & 0xfffe == 0xfffe;
    let steers = sign.is_control() && sign != '\n' && sign != '\t';
    turns || has_no_width || parts_lines || noncharacter || steers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_replaced_and_the_rest_stays() {
        assert_eq!(line("a\u{1b}[31m\u{0}b\u{9b}\u{7}"), "a\u{fffd}[31m\u{fffd}b\u{fffd}\u{fffd}");
        assert_eq!(line("\u{202e}gpj.exe\u{2066}"), "\u{fffd}gpj.exe\u{fffd}");
        assert_eq!(line("\u{ffff}\u{fffe}\u{1ffff}"), "\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(line("العربية ×2 ✓ é 👩\u{200d}🔬"), "العربية ×2 ✓ é 👩\u{200d}🔬");
    }

    #[test]
    fn lines_are_kept_or_joined() {
        assert_eq!(line("a\nb\r\nc\td\u{2028}e"), "a b  c d e");
        assert_eq!(lines("a\nb\r\nb\tc\u{7}\rd"), "a\nb\nb\tc\u{fffd}\u{fffd}d");
    }
}
