//! Entries of an archive that the kernel unpacks: `newc` of cpio. Source: Linux
//! `Documentation/driver-api/early-userspace/buffer-format.rst`.
//!
//! The crate `cpio` writes names that are text only, and a directory of a user's has any. Its reader
//! checks this writer.

use std::io::{self, ErrorKind, Read, Write};

/// The name of the entry that ends an archive.
const TRAILER: &[u8] = b"TRAILER!!!";

/// Bytes before the name.
const HEADER: u64 = 110;

/// The longest name, with the zero behind it, and the longest target of a link: the kernel leaves out
/// what is longer, without a word. Source: Linux `init/initramfs.c`, `PATH_MAX`.
pub(super) const LONGEST: usize = 4096;

/// All of an entry but its contents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Head<'a> {
    /// Without a slash before it.
    pub name: &'a [u8],
    /// The same for all names of one file.
    pub number: u32,
    /// With the bits of its kind.
    pub mode: u32,
    /// User and group.
    pub owner: (u32, u32),
    /// How many names the file has.
    pub links: u32,
    /// Seconds since 1970.
    pub mtime: u32,
    /// What a device node stands for.
    pub device: (u32, u32),
}

/// Write an entry with `length` bytes from `contents`.
///
/// # Errors
///
/// It is of 4 GiB or more, has fewer bytes, or cannot be written.
pub(super) fn entry(to: &mut impl Write, head: &Head, length: u64, contents: impl Read) -> io::Result<()> {
    let size = u32::try_from(length).map_err(|_| {
        io::Error::new(ErrorKind::FileTooLarge, "a file of 4 GiB or more fits into no archive")
    })?;
    let name = u32::try_from(head.name.len() + 1).map_err(io::Error::other)?;
    let Head { number, mode, owner, links, mtime, device, .. } = *head;
    let fields = [number, mode, owner.0, owner.1, links, mtime, size, 0, 0, device.0, device.1, name, 0];
    to.write_all(b"070701")?;
    fields.iter().try_for_each(|field| write!(to, "{field:08X}"))?;
    to.write_all(head.name)?;
    to.write_all(&[0])?;
    pad(to, HEADER + u64::from(name))?;
    if io::copy(&mut contents.take(length), to)? < length {
        return Err(io::Error::new(ErrorKind::UnexpectedEof, "it got shorter while it was read"));
    }
    pad(to, length)
}

/// End an archive. Another may follow.
///
/// # Errors
///
/// It cannot be written.
pub(super) fn end(to: &mut impl Write) -> io::Result<()> {
    entry(to, &Head { name: TRAILER, links: 1, ..Head::default() }, 0, io::empty())
}

/// Bytes of an entry.
pub(super) fn size(name: &[u8], length: u64) -> u64 {
    (HEADER + name.len() as u64 + 1).next_multiple_of(4) + length.next_multiple_of(4)
}

fn pad(to: &mut impl Write, length: u64) -> io::Result<()> {
    let missing = length.next_multiple_of(4) - length;
    io::copy(&mut io::repeat(0).take(missing), to).map(drop)
}

#[cfg(test)]
mod tests {
    use cpio::newc::Reader;

    use super::*;

    #[test]
    fn another_reads_what_was_written() {
        let head = Head {
            name: b"a/b",
            number: 7,
            mode: 0o104_755,
            owner: (1000, 65534),
            links: 2,
            mtime: 1_700_000_000,
            device: (5, 1),
        };
        let mut bytes = vec![];
        entry(&mut bytes, &head, 5, b"hello, and more".as_slice()).unwrap();
        assert_eq!(bytes.len() as u64, size(b"a/b", 5));
        end(&mut bytes).unwrap();
        let mut reader = Reader::new(bytes.as_slice()).unwrap();
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        let found = reader.entry();
        assert_eq!((found.name(), found.ino(), found.mode(), found.nlink()), ("a/b", 7, 0o104_755, 2));
        assert_eq!((found.uid(), found.gid(), found.mtime()), (1000, 65534, 1_700_000_000));
        assert_eq!((found.rdev_major(), found.rdev_minor(), text.as_str()), (5, 1, "hello"));
        assert!(Reader::new(reader.finish().unwrap()).unwrap().entry().is_trailer());
    }

    #[test]
    fn a_file_that_got_shorter_and_one_that_is_too_large_are_told() {
        let head = Head { name: b"a", ..Head::default() };
        let of =
            |length| entry(&mut io::sink(), &head, length, b"abc".as_slice()).map_err(|error| error.kind());
        assert_eq!(of(3), Ok(()));
        assert_eq!(of(4), Err(ErrorKind::UnexpectedEof));
        assert_eq!(of(1 << 32), Err(ErrorKind::FileTooLarge));
    }
}
