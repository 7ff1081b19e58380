//! Lines that come through a pipe in pieces.

use std::io::{ErrorKind, Read};

use crate::error::{Cannot, Result};

/// What is passed on before its end came.
const LONG: usize = 64 << 10;

/// What came and is not taken yet.
#[derive(Default)]
pub(crate) struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    /// Read what is there; false at the end of the file. A socket whose other end went without having
    /// read all has ended, too.
    pub(crate) fn read(&mut self, from: &mut impl Read) -> Result<bool> {
        let mut buffer = vec![0; 64 << 10];
        let count = match from.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
            read => read.cannot(|| "listen to the worker".into())?,
        };
        self.pending.extend_from_slice(&buffer[..count]);
        Ok(count > 0)
    }

    /// The next whole line, with its end.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        let end = self.pending.iter().position(|byte| *byte == b'\n')?;
        Some(self.pending.drain(..=end).collect())
    }

    /// All whole lines at once; also the start of the next where that is longer than anybody reads.
    pub(crate) fn all(&mut self) -> Vec<u8> {
        let end = self.pending.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut lines: Vec<u8> = self.pending.drain(..end).collect();
        if self.pending.len() > LONG {
            lines.append(&mut self.pending);
        }
        lines
    }

    /// What came behind the last whole line.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.pending)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_whole_lines_are_taken_at_once_and_one_without_an_end_does_not_grow_for_ever() {
        let mut lines = Lines::default();
        lines.read(&mut b"one\ntwo\nth".as_slice()).unwrap();
        assert_eq!((lines.all(), lines.all()), (b"one\ntwo\n".to_vec(), vec![]));
        lines.pending = vec![b'x'; LONG + 1];
        assert_eq!((lines.all().len(), lines.rest().len()), (LONG + 1, 0));
    }

    #[test]
    fn a_line_is_taken_when_it_is_whole_and_the_end_of_the_file_is_told() {
        let mut lines = Lines::default();
        assert!(lines.read(&mut b"one\ntw".as_slice()).unwrap());
        assert_eq!((lines.next(), lines.next()), (Some(b"one\n".to_vec()), None));
        assert!(lines.read(&mut b"o\n".as_slice()).unwrap());
        assert_eq!(lines.next(), Some(b"two\n".to_vec()));
        assert!(lines.read(&mut b"end".as_slice()).unwrap());
        assert_eq!((lines.next(), lines.rest(), lines.rest()), (None, b"end".to_vec(), vec![]));
        assert!(!lines.read(&mut b"".as_slice()).unwrap());
    }
}
