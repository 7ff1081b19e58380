//! Lines that come through a pipe in pieces.

use std::io::{ErrorKind, Read};

use crate::error::{Cannot, Result};

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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_taken_when_it_is_whole_and_the_end_of_the_file_is_told() {
        let mut lines = Lines::default();
        assert!(lines.read(&mut b"one\ntw".as_slice()).unwrap());
        assert_eq!((lines.next(), lines.next()), (Some(b"one\n".to_vec()), None));
        assert!(lines.read(&mut b"o\n".as_slice()).unwrap());
        assert_eq!(lines.next(), Some(b"two\n".to_vec()));
        assert!(!lines.read(&mut b"".as_slice()).unwrap());
    }
}
