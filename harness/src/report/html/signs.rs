//! Signs that have no place in a page: those that are not seen, and blanks that held columns in line
//! on a terminal.

use crate::report::page::UNBROKEN;
use crate::units::plain;

/// The text as it can be shown; `None` where it can be as it is.
pub(super) fn replaced(text: &str) -> Option<String> {
    let padded = |one: &char, next: &char| *one == UNBROKEN && [UNBROKEN, ' '].contains(next);
    let pads = text.chars().zip(text.chars().skip(1)).any(|(one, next)| padded(&one, &next))
        || text.starts_with(UNBROKEN)
        || text.ends_with(UNBROKEN);
    if !pads && !text.chars().any(plain::is_hidden) {
        return None;
    }
    let mut shown = String::with_capacity(text.len());
    for sign in text.trim_matches(UNBROKEN).chars() {
        match sign {
            UNBROKEN | ' ' if shown.ends_with(UNBROKEN) => {
                shown.pop();
                shown.push(' ');
            }
            UNBROKEN if shown.ends_with(' ') => {}
            sign => shown.push(plain::visible(sign)),
        }
    }
    Some(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_forbids_is_replaced_and_nothing_else() {
        assert_eq!(
            replaced("a\u{0}b\u{1b}[31m\u{85}\u{202e}\u{2066}\u{fffe}\u{1ffff}").unwrap(),
            "a�b�[31m�����"
        );
        assert_eq!(replaced("a\tb\nc שלום العربية 1\u{a0}ms × µ ✓"), None);
    }

    #[test]
    fn blanks_that_held_columns_in_line_are_gone() {
        assert_eq!(replaced("412\u{a0}ms ×1.00\u{a0}\u{a0}").unwrap(), "412\u{a0}ms ×1.00");
        assert_eq!(replaced(" \u{a0}9 \u{a0}\u{a0}10 11").unwrap(), " 9 10 11");
        assert_eq!(replaced("\u{a0}\u{a0}412 \u{a0}400").unwrap(), "412 400");
    }
}
