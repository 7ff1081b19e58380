//! Splits an expression into words, numbers and signs, each with its place.
//!
//! A dash belongs to the word it stands in, since the names of steps and file systems have
//! dashes; as the operator it needs a blank before or after it.

use std::ops::Range;

use super::SyntaxError;

/// The smallest part of an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A name, `and`, `within` or `STEP.METRIC`.
    Word(String),
    /// A plain number.
    Number(f64),
    /// An operator, a comparison, a bracket or `%`.
    Sign(&'static str),
}

/// The longer ones first, so that `<=` is not read as `<`.
const SIGNS: [&str; 14] = ["<=", ">=", "<", ">", "~", "*", "/", "+", "-", "(", ")", "[", "]", "%"];

/// All tokens of `text` with their places in it.
pub(super) fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, SyntaxError> {
    let mut found = vec![];
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let (token, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if first.is_ascii_alphabetic() {
            let length = word_length(rest);
            (Token::Word(rest[..length].to_owned()), length)
        } else if first.is_ascii_digit() {
            number(rest, at)?
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            return Err(SyntaxError::new(
                at..at + first.len_utf8(),
                format!("`{first}` has no meaning in a claim"),
            ));
        };
        found.push((token, at..at + length));
        at += length;
    }
    Ok(found)
}

/// Length of the word at the start: a dash or dot counts only with a letter or digit behind it.
fn word_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let belongs = |at: usize| match bytes.get(at) {
        Some(b'-' | b'.') => bytes.get(at + 1).is_some_and(u8::is_ascii_alphanumeric),
        Some(byte) => byte.is_ascii_alphanumeric() || b"_#@".contains(byte),
        None => false,
    };
    (0..).find(|at| !belongs(*at)).unwrap_or(text.len())
}

/// The number at the start. A unit behind it is refused: figures are in the unit of their key.
fn number(text: &str, at: usize) -> Result<(Token, usize), SyntaxError> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(text.len());
    let value = text[..end].parse().map_err(|_| {
        let message = format!("`{}` is not a plain number in the unit of the metric's key", &text[..end]);
        SyntaxError::new(at..at + end, message)
    })?;
    Ok((Token::Number(value), end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Token> {
        tokens(text).unwrap().into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn a_dash_in_a_name_is_part_of_it_and_between_blanks_is_minus() {
        assert_eq!(
            words("small-files.synced_s[ext4#2] - b<=0.5"),
            [
                Token::Word("small-files.synced_s".into()),
                Token::Sign("["),
                Token::Word("ext4#2".into()),
                Token::Sign("]"),
                Token::Sign("-"),
                Token::Word("b".into()),
                Token::Sign("<="),
                Token::Number(0.5),
            ]
        );
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_place() {
        assert_eq!(tokens("btrfs ! ext4").unwrap_err().place, 6..7);
        assert_eq!(tokens("btrfs < 53MB").unwrap_err().place, 8..12);
        assert_eq!(tokens("a é b").unwrap_err().place, 2..4);
    }
}
