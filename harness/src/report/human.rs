//! Words and lines as people read them; numbers are shown as everywhere.

pub(super) use crate::units::human::{by_key, count, payload, ratio, significant, size, time, words};

/// The word that a value has in JSON, for people: `not run`.
pub(super) fn word(value: impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word.replace('_', " "),
        Ok(value) => value.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Break text into lines of at most `width` signs; those after the first begin with `indent`
/// blanks, the first with those of the text. A word that is longer than a line is broken.
pub(super) fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let blanks = text.len() - text.trim_start_matches(' ').len();
    let mut lines = vec![" ".repeat(blanks)];
    let mut begun = false;
    for piece in
        text.split_ascii_whitespace().flat_map(|word| pieces(word, width.saturating_sub(indent.max(blanks))))
    {
        let used = lines.last().map_or(0, |line| line.chars().count());
        if begun && used + 1 + piece.chars().count() > width {
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
    let signs: Vec<char> = word.chars().collect();
    signs.chunks(width.max(1)).map(|piece| piece.iter().collect()).collect()
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
}
