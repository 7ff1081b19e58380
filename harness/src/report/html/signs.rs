//! Signs that have no place in a page.
//!
//! HTML forbids most control characters and the noncharacters of Unicode; marks that turn the
//! direction of writing make a label look like another one. Blanks that held columns in line on a
//! terminal are no text.

use crate::report::page::UNBROKEN;

/// In place of a sign that cannot be shown.
const REPLACEMENT: char = '\u{fffd}';

/// The text as it can be shown; `None` where it can be as it is.
pub(super) fn replaced(text: &str) -> Option<String> {
    let padded = |one: &char, next: &char| *one == UNBROKEN && [UNBROKEN, ' '].contains(next);
    let pads = text.chars().zip(text.chars().skip(1)).any(|(one, next)| padded(&one, &next))
        || text.starts_with(UNBROKEN)
        || text.ends_with(UNBROKEN);
    if !pads && !text.chars().any(forbidden) {
        return None;
    }
    let mut plain = String::with_capacity(text.len());
    for sign in text.trim_matches(UNBROKEN).chars() {
        match sign {
            UNBROKEN | ' ' if plain.ends_with(UNBROKEN) => {
                plain.pop();
                plain.push(' ');
            }
            UNBROKEN if plain.ends_with(' ') => {}
            sign if forbidden(sign) => plain.push(REPLACEMENT),
            sign => plain.push(sign),
        }
    }
    Some(plain)
}

/// Source: WHATWG HTML, "control-character-in-input-stream" and "noncharacter-in-input-stream";
/// Unicode UAX 9, explicit directional formatting characters.
fn forbidden(sign: char) -> bool {
    let turns = matches!(sign, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let parts_lines = matches!(sign, '\u{2028}' | '\u{2029}');
    let noncharacter = matches!(sign, '\u{fdd0}'..='\u{fdef}') || u32::from(sign) & 0xfffe == 0xfffe;
    turns || parts_lines || noncharacter || (sign.is_control() && sign != '\n' && sign != '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_forbids_is_replaced_and_nothing_else() {
        assert_eq!(replaced("a\u{0}b\u{1b}[31m\u{85}\u{202e}\u{2066}\u{fffe}\u{1ffff}").unwrap(), "a�b�[31m�����");
        assert_eq!(replaced("a\tb\nc שלום العربية 1\u{a0}ms × µ ✓"), None);
    }

    #[test]
    fn blanks_that_held_columns_in_line_are_gone() {
        assert_eq!(replaced("412\u{a0}ms ×1.00\u{a0}\u{a0}").unwrap(), "412\u{a0}ms ×1.00");
        assert_eq!(replaced(" \u{a0}9 \u{a0}\u{a0}10 11").unwrap(), " 9 10 11");
        assert_eq!(replaced("\u{a0}\u{a0}412 \u{a0}400").unwrap(), "412 400");
    }
}
