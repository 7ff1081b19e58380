//! Lines as `fgets` with a buffer of 255 bytes gives them.
//!
//! PostMark takes it for granted that the last character of what it got is the newline, and drops
//! it. A last line without one, and every full piece of a long line, so lose a character.

/// The most that is read at once, with the newline.
pub const PIECE: usize = 254;

/// What PostMark takes for one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// Of the line in the file, from 1.
    pub number: usize,
    /// Without its last character, and without what follows a NUL.
    pub text: &'a [u8],
    /// What was dropped where a newline should have been, as the file ends there.
    pub lost: Option<u8>,
    /// What was dropped before this piece of a line that is too long.
    pub lost_before: Option<u8>,
    /// The line begins with `#`; so PostMark does not know it, unless it is too long.
    pub comment: bool,
    /// There is a NUL in it.
    pub nul: bool,
}

impl Line<'_> {
    /// Written for readers: nothing, or a comment.
    pub fn is_for_readers(&self) -> bool {
        self.comment || self.text.iter().all(|byte| byte.is_ascii_whitespace())
    }
}

/// The lines of a file.
pub fn split(text: &[u8]) -> Vec<Line<'_>> {
    let whole = text.split_inclusive(|byte| *byte == b'\n');
    whole.enumerate().flat_map(|(index, line)| pieces(index + 1, line)).collect()
}

fn pieces(number: usize, line: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let comment = line.trim_ascii_start().starts_with(b"#");
    line.chunks(PIECE).enumerate().map(move |(index, piece)| {
        let ends = (index + 1) * PIECE >= line.len();
        let last = piece.last().copied().filter(|byte| *byte != b'\n');
        let seen = piece.iter().position(|byte| *byte == 0);
        let length = seen.unwrap_or(piece.len()).saturating_sub(1);
        Line {
            number,
            text: &piece[..length],
            lost: last.filter(|_| ends),
            lost_before: (index * PIECE).checked_sub(1).map(|before| line[before]),
            comment,
            nul: seen.is_some(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &[u8]) -> Vec<String> {
        split(text).iter().map(|line| String::from_utf8_lossy(line.text).into_owned()).collect()
    }

    #[test]
    fn the_last_character_is_dropped_whatever_it_is() {
        assert_eq!(texts(b"set seed 7\nrun"), ["set seed 7", "ru"]);
        assert_eq!(split(b"run")[0].lost, Some(b'n'));
        assert_eq!(split(b"run\n")[0].lost, None);
        assert_eq!(texts(b"\n\n"), ["", ""]);
        assert!(split(b"").is_empty());
    }

    #[test]
    fn a_line_with_its_newline_fits_in_254_characters() {
        let fits = [vec![b'a'; 253], vec![b'\n']].concat();
        assert_eq!(texts(&fits), ["a".repeat(253)]);
        let over = [vec![b'a'; 253], b"b\n".to_vec()].concat();
        assert_eq!(texts(&over), ["a".repeat(253), String::new()]);
        assert_eq!(split(&over)[1].lost_before, Some(b'b'));
        let long = [vec![b'a'; 254], b"set seed 5\nrun\n".to_vec()].concat();
        assert_eq!(texts(&long)[1..], ["set seed 5", "run"]);
        assert_eq!(split(&long).iter().map(|line| line.number).collect::<Vec<_>>(), [1, 1, 2]);
    }

    #[test]
    fn a_nul_ends_the_line_and_takes_the_character_before_it() {
        assert_eq!(texts(b"set number 5\0 6\nrun\n"), ["set number ", "run"]);
        assert_eq!(texts(b"\0run\n"), [""]);
    }
}
