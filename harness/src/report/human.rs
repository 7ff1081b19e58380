//! Words and lines as people read them; numbers are shown as everywhere.

pub(super) use crate::units::human::{by_key, count, payload, ratio, significant, size, time, words};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The word that a value has in JSON, for people: `not run`.
pub(super) fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word.replace('_', " "),
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Columns that a text takes on a terminal: a Chinese sign takes two, a combining accent none.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// Break text into lines of at most `width` columns; those after the first begin with `indent`
/// blanks, the first with those of the text. A word that is longer than a line is broken.
pub(super) fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let blanks = text.len() - text.trim_start_matches(' ').len();
    let mut lines = vec![" ".repeat(blanks)];
    let mut begun = false;
    for piece in
        text.split_ascii_whitespace().flat_map(|word| pieces(word, width.saturating_sub(indent.max(blanks))))
    {
        let used = lines.last().map_or(0, |line| columns(line));
        if begun && used + 1 + columns(&piece) > width {
            lines.push(" ".repeat(indent));
            begun = false;
        }
        if let Some(line) = lines.last_mut() {
            if begun {
                line.push(' ');
            }
            line.push_str(&piece);
        }
        begun = true;
    }
    lines
}

fn pieces(word: &str, width: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut used = 0;
    for sign in word.chars() {
        let wide = sign.width().unwrap_or(0);
        if used + wide > width.max(1) && used > 0 {
            pieces.push(String::new());
            used = 0;
        }
        used += wide;
        if let Some(piece) = pieces.last_mut() {
            piece.push(sign);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_never_longer_than_the_width() {
        let lines = wrap("a sentence of several words and-one-that-is-much-too-long-for-a-line", 20, 2);
        assert!(lines.iter().all(|line| line.chars().count() <= 20), "{lines:?}");
        assert!(lines[1..].iter().all(|line| line.starts_with("  ")), "{lines:?}");
        assert_eq!(wrap("  short", 20, 4), ["  short"]);
    }

    #[test]
    fn a_wide_sign_takes_two_columns_and_an_accent_none() {
        assert_eq!(wrap("文件系统 文件", 8, 0), ["文件系统", "文件"]);
        assert_eq!(wrap("文件系统", 5, 0), ["文件", "系统"]);
        assert_eq!(columns("e\u{301}"), 1);
    }
}
