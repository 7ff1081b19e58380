//! One file or directory that must exist, and its hash.
//!
//! The hash of a tree is the wrapping sum of those of its entries. It does not depend on the
//! order, so it streams, and it is equal on every file system. A sum and not an exclusive or:
//! there, two equal errors cancel.

use xxhash_rust::xxh3::Xxh3;

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
}

/// A file or directory that must exist after the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Below the mount: the first component is the directory of the step.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
    /// Bytes in a file; 0 for a directory.
    pub size: u64,
    /// See [`EntryHash`]; 0 where nothing is hashed.
    pub hash: u128,
}

/// The part of `path` below the directory of its step; empty for that directory itself.
#[must_use]
pub fn below(path: &str) -> &str {
    path.split_once('/').map_or("", |(_, below)| below)
}

/// XXH3-128 over the kind, the path below the step's directory and, for a file, a zero byte, the
/// content and the size (8 bytes, little-endian). Modes, times and the sizes of directories are
/// left out: they differ between file systems.
pub struct EntryHash {
    hash: Xxh3,
    size: u64,
}

impl EntryHash {
    /// Begin with a file; `path` is below the mount.
    #[must_use]
    pub fn file(path: &str) -> Self {
        Self::of(b'f', below(path).as_bytes())
    }

    /// Begin with anything that has content, of a `kind` of its own; `below` is its path without the
    /// step's directory.
    #[must_use]
    pub fn of(kind: u8, below: &[u8]) -> Self {
        let mut hash = Xxh3::new();
        hash.update(&[kind]);
        hash.update(below);
        hash.update(&[0]);
        Self { hash, size: 0 }
    }

    /// Add the next bytes of the file.
    pub fn content(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
    }

    /// The hash of the file.
    #[must_use]
    pub fn finish(mut self) -> u128 {
        self.hash.update(&self.size.to_le_bytes());
        self.hash.digest128()
    }

    /// The hash of a directory.
    #[must_use]
    pub fn directory(path: &str) -> u128 {
        Self::of_directory(below(path).as_bytes())
    }

    /// The same for a path without the step's directory.
    #[must_use]
    pub fn of_directory(below: &[u8]) -> u128 {
        let mut hash = Xxh3::new();
        hash.update(b"d");
        hash.update(below);
        hash.digest128()
    }
}

#[cfg(test)]
mod tests {
    use xxhash_rust::xxh3::xxh3_128;

    use super::*;

    #[test]
    fn a_hash_is_that_of_kind_path_content_and_size_in_one_piece() {
        let mut hash = EntryHash::file("step/a/b");
        hash.content(b"con");
        hash.content(b"tent");
        assert_eq!(hash.finish(), xxh3_128(b"fa/b\0content\x07\0\0\0\0\0\0\0"));
        assert_eq!(EntryHash::directory("step/a"), xxh3_128(b"da"));
    }

    #[test]
    fn the_name_of_the_step_does_not_count() {
        assert_eq!(EntryHash::directory("one/a"), EntryHash::directory("two/a"));
        assert_eq!(below("one"), "");
    }
}
