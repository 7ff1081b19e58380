//! Looks at one entry after the other: kind, size, content, and how many entries a directory has.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, SeekFrom, Stat};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use super::difference::{Difference, Differences};
use crate::ops::{Entry, EntryHash, EntryKind};

const BUFFER: usize = 64 << 10;
/// `st_blocks` counts these, whatever the block size is: stat(3type).
const SECTOR: u64 = 512;

type Found<T> = std::result::Result<T, Difference>;

/// What one reader has found.
pub(super) struct Reader {
    pub(super) differences: Differences,
    /// Sum of the hashes of what was read.
    pub(super) tree: u128,
    /// Entries that must be in a listing: those that are there.
    pub(super) expected: Names,
    /// Entries that were seen in directories.
    pub(super) listed: Names,
    /// Directories that could not be listed.
    pub(super) unlisted: u64,
    dense: bool,
    buffer: Vec<u8>,
}

impl Reader {
    /// `dense`: files must have all their blocks.
    pub(super) fn new(dense: bool) -> Self {
        Self {
            differences: Differences::default(),
            tree: 0,
            expected: Names::default(),
            listed: Names::default(),
            unlisted: 0,
            dense,
            buffer: vec![0; BUFFER],
        }
    }

    /// Take in what another reader has found.
    pub(super) fn merge(&mut self, other: Self) {
        self.differences.merge(other.differences);
        self.tree = self.tree.wrapping_add(other.tree);
        self.expected.merge(other.expected);
        self.listed.merge(other.listed);
        self.unlisted += other.unlisted;
    }

    /// Look at the entry with this number.
    pub(super) fn check(&mut self, root: BorrowedFd, number: u64, entry: &Entry) {
        let result = match entry.kind {
            EntryKind::File => self.file(root, entry),
            EntryKind::Directory => {
                self.directory(root, &entry.path).map(|hash| self.tree = self.tree.wrapping_add(hash))
            }
        };
        if let Err(difference) = result {
            let missing = difference == Difference::Missing;
            self.differences.add(number, &entry.path, difference);
            if missing {
                return;
            }
        }
        let (directory, name) = entry.path.rsplit_once('/').unwrap_or_default();
        self.expected.add(directory, name);
    }

    /// Count what is in the directory of the step, which is no entry itself.
    pub(super) fn list(&mut self, root: BorrowedFd, step: &str) {
        if let Err(difference) = self.directory(root, step) {
            self.unlisted += 1;
            self.differences.add(0, step, difference);
        }
    }

    /// Count what is in a directory; the hash of the directory.
    fn directory(&mut self, root: BorrowedFd, path: &str) -> Found<u128> {
        match list(root, path, &mut |name, _| self.listed.add(path, name)) {
            Ok(()) => Ok(EntryHash::directory(path)),
            Err(Errno::ENOENT) => Err(Difference::Missing),
            Err(Errno::ENOTDIR | Errno::ELOOP) => Err(Difference::Kind { wanted: "directory" }),
            Err(errno) => {
                self.unlisted += 1;
                Err(Difference::Failed { doing: "list it", errno })
            }
        }
    }

    fn file(&mut self, root: BorrowedFd, entry: &Entry) -> Found<()> {
        let file = open(root, &entry.path)?;
        let stat = rustix::fs::fstat(&file).map_err(failed("ask for its size"))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(Difference::Kind { wanted: "file" });
        }
        let (hash, read) = self.hash(&file, &entry.path)?;
        self.tree = self.tree.wrapping_add(hash);
        let size = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
        for found in [size, read] {
            if found != entry.size {
                return Err(Difference::Size { wanted: entry.size, found });
            }
        }
        if hash != entry.hash {
            return Err(Difference::Content(None));
        }
        if self.dense { check_blocks(&file, &stat) } else { Ok(()) }
    }

    /// Hash of a file as it is, and the bytes that could be read.
    fn hash(&mut self, file: &OwnedFd, path: &str) -> Found<(u128, u64)> {
        let (mut hash, mut size) = (EntryHash::file(path), 0);
        loop {
            let read =
                rustix::io::retry_on_intr(|| rustix::io::read(file, &mut *self.buffer)).map_err(|errno| {
                    Difference::Unreadable { at: size, errno: Errno::from_raw(errno.raw_os_error()) }
                })?;
            if read == 0 {
                return Ok((hash.finish(), size));
            }
            hash.content(&self.buffer[..read]);
            size += read as u64;
        }
    }
}

/// Names in directories, whatever their number: how many, and the wrapping sum of their hashes.
/// So a name in place of another is noticed, and one that is listed twice or not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Names {
    pub(super) count: u64,
    sum: u64,
}

impl Names {
    fn add(&mut self, directory: &str, name: &str) {
        let seed = xxh3_64(directory.as_bytes());
        self.merge(Self { count: 1, sum: xxh3_64_with_seed(name.as_bytes(), seed) });
    }

    fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.sum = self.sum.wrapping_add(other.sum);
    }
}

/// A file that was written from its first to its last byte has no hole and all its blocks.
fn check_blocks(file: &OwnedFd, stat: &Stat) -> Found<()> {
    let bytes = u64::try_from(stat.st_size).unwrap_or(u64::MAX);
    if bytes == 0 {
        return Ok(());
    }
    let hole = rustix::fs::seek(file, SeekFrom::Hole(0)).map_err(failed("look for holes in it"))?;
    if hole < bytes {
        return Err(Difference::Hole { at: hole });
    }
    let allocated = u64::try_from(stat.st_blocks).unwrap_or(0) * SECTOR;
    if allocated < bytes { Err(Difference::Blocks { bytes, allocated }) } else { Ok(()) }
}

/// Without waiting, should it be a FIFO.
fn open(root: BorrowedFd, path: &str) -> Found<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::openat(root, path, flags, Mode::empty()).map_err(|errno| match errno {
        rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR => Difference::Missing,
        rustix::io::Errno::LOOP | rustix::io::Errno::NXIO => Difference::Kind { wanted: "file" },
        errno => failed("open it")(errno),
    })
}

fn failed(doing: &'static str) -> impl Fn(rustix::io::Errno) -> Difference {
    move |errno| Difference::Failed { doing, errno: Errno::from_raw(errno.raw_os_error()) }
}

/// Tell every entry of a directory, and whether it is a directory.
pub(super) fn list(
    root: BorrowedFd,
    path: &str,
    tell: &mut dyn FnMut(&str, bool),
) -> std::result::Result<(), Errno> {
    let errno = |errno: rustix::io::Errno| Errno::from_raw(errno.raw_os_error());
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let directory = rustix::fs::openat(root, path, flags, Mode::empty()).map_err(errno)?;
    let mut buffer = Vec::with_capacity(BUFFER / 2);
    let mut listing = RawDir::new(directory.as_fd(), buffer.spare_capacity_mut());
    while let Some(entry) = listing.next() {
        let entry = entry.map_err(errno)?;
        let name = entry.file_name().to_string_lossy();
        if name != "." && name != ".." {
            tell(&name, entry.file_type() == FileType::Directory);
        }
    }
    Ok(())
}

/// Whether there is anything of this name.
pub(super) fn exists(root: BorrowedFd, path: &str) -> bool {
    rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}

/// What is wrong with a directory that was removed, if anything is.
pub(super) fn must_be_gone(root: BorrowedFd, path: &str) -> Option<Difference> {
    match rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW) {
        Err(rustix::io::Errno::NOENT) => None,
        Ok(_) => Some(Difference::NotRemoved),
        Err(errno) => Some(failed("see that it is gone")(errno)),
    }
}

/// Looks for the first byte of a file that is not as it must be.
pub(super) struct Search {
    file: Option<OwnedFd>,
    found: Option<(u64, u8, u8)>,
    buffer: Vec<u8>,
}

impl Search {
    pub(super) fn new(root: BorrowedFd, path: &str) -> Self {
        Self { file: open(root, path).ok(), found: None, buffer: vec![] }
    }

    /// These bytes must be at `offset`.
    pub(super) fn compare(&mut self, offset: u64, wanted: &[u8]) {
        let (Some(file), None) = (&self.file, self.found) else { return };
        self.buffer.resize(wanted.len(), 0);
        let mut read = 0;
        while read < wanted.len() {
            match rustix::io::pread(file, &mut self.buffer[read..], offset + read as u64) {
                Ok(more) if more > 0 => read += more,
                Err(rustix::io::Errno::INTR) => {}
                _ => break,
            }
        }
        let pairs = wanted.iter().zip(&self.buffer[..read]);
        if let Some((at, (&wanted, &found))) = pairs.enumerate().find(|(_, (wanted, found))| wanted != found)
        {
            self.found = Some((offset + at as u64, wanted, found));
        }
    }

    /// Offset, wanted, found.
    pub(super) fn found(self) -> Option<(u64, u8, u8)> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[(&str, &str)]) -> Names {
        let mut names = Names::default();
        all.iter().for_each(|(directory, name)| names.add(directory, name));
        names
    }

    #[test]
    fn names_are_equal_in_any_order_and_in_no_other_case() {
        let made = names(&[("s", "a"), ("s", "b"), ("s/a", "c")]);
        assert_eq!(made, names(&[("s/a", "c"), ("s", "b"), ("s", "a")]));
        assert_ne!(made, names(&[("s", "a"), ("s", "x"), ("s/a", "c")]), "one in place of another");
        assert_ne!(made, names(&[("s", "a"), ("s", "a"), ("s/a", "c")]), "twice, and another not at all");
        assert_ne!(made, names(&[("s", "a"), ("s", "b"), ("s", "c")]), "in another directory");
    }
}
