//! Files that are read whole, up to a limit: what somebody points at by mistake shall not fill the
//! memory.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::parts::Bytes;

/// The text of a file, a pipe or a device of at most `limit` bytes.
pub fn read_text(path: &Path, limit: u64) -> io::Result<String> {
    text(read_bytes(path, limit)?)
}

/// The same of a file that may be cut anywhere: half a character at its end is left out.
pub fn read_cut_text(path: &Path, limit: u64) -> io::Result<String> {
    let mut bytes = read_bytes(path, limit)?;
    if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    text(bytes)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no text (UTF-8)"))
}

/// A file, a pipe or a device of at most `limit` bytes.
pub fn read_bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path)?.take(limit + 1).read_to_end(&mut bytes)?;
    if u64::try_from(read).is_ok_and(|read| read > limit) {
        let message = format!("it has more than {}", Bytes(limit));
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_be_cut_within_a_character_and_is_one_up_to_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut");
        let whole = "a\u{e9}\u{20ac}\u{1d11e}";
        for end in 0..=whole.len() {
            std::fs::write(&path, &whole.as_bytes()[..end]).unwrap();
            let read = read_cut_text(&path, 100).unwrap();
            assert!(whole.starts_with(&read) && end - read.len() < 4, "{end}: {read}");
            assert_eq!(read_text(&path, 100).is_ok(), read.len() == end, "{end}");
        }
        std::fs::write(&path, b"a\xff\xe2").unwrap();
        assert!(read_cut_text(&path, 100).is_err(), "bytes within it that are no text");
    }
}
