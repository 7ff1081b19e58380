//! A tree of files as an archive that the kernel unpacks: `newc` of cpio, the same bytes for the same
//! tree. Source: Linux `Documentation/driver-api/early-userspace/buffer-format.rst`.

use std::collections::BTreeMap;
use std::io::{self, Write};

use cpio::newc::{Builder, ModeFileType, trailer};

use crate::error::{Cannot, Result};

/// One entry of the archive. All belong to root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Folder,
    /// A file with these contents, which can be executed.
    Program(Vec<u8>),
    /// A file with these contents, which cannot.
    Text(Vec<u8>),
    Link(String),
    /// A character device.
    Device(u32, u32),
}

/// What is in the archive, by path without a slash before it.
#[derive(Debug, Default)]
pub(super) struct Tree(BTreeMap<String, Node>);

impl Tree {
    /// Add an entry, and the folders above it.
    pub fn add(&mut self, path: &str, node: Node) {
        let above = path.match_indices('/').map(|(at, _)| &path[..at]);
        for folder in above {
            self.0.entry(folder.to_owned()).or_insert(Node::Folder);
        }
        self.0.insert(path.to_owned(), node);
    }

    /// Write the archive.
    ///
    /// # Errors
    ///
    /// It cannot be written, or a file is of 4 GiB or more.
    pub fn write(&self, to: &mut impl Write) -> Result<()> {
        let doing = || "write an initramfs".to_owned();
        for (number, (path, node)) in (1..).zip(&self.0) {
            entry(to, number, path, node).cannot(doing)?;
        }
        trailer(to).map(drop).cannot(doing)
    }
}

fn entry(to: &mut impl Write, number: u32, path: &str, node: &Node) -> io::Result<()> {
    let (kind, mode, contents): (_, _, &[u8]) = match node {
        Node::Folder => (ModeFileType::Directory, 0o755, &[]),
        Node::Program(bytes) => (ModeFileType::Regular, 0o755, bytes),
        Node::Text(bytes) => (ModeFileType::Regular, 0o644, bytes),
        Node::Link(target) => (ModeFileType::Symlink, 0o777, target.as_bytes()),
        Node::Device(..) => (ModeFileType::Char, 0o600, &[]),
    };
    let (major, minor) = if let Node::Device(major, minor) = node { (*major, *minor) } else { (0, 0) };
    let length = u32::try_from(contents.len()).map_err(io::Error::other)?;
    let builder = Builder::new(path).ino(number).mode(mode).set_mode_file_type(kind).mtime(0).nlink(1);
    let mut writer = builder.rdev_major(major).rdev_minor(minor).write(to, length);
    writer.write_all(contents)?;
    writer.finish().map(drop)
}

#[cfg(test)]
mod tests {
    use cpio::newc::Reader;

    use super::*;

    fn written(tree: &Tree) -> Vec<u8> {
        let mut bytes = vec![];
        tree.write(&mut bytes).unwrap();
        bytes
    }

    fn tree() -> Tree {
        let mut tree = Tree::default();
        tree.add("usr/sbin/mke2fs", Node::Program(b"x".to_vec()));
        tree.add("dev/console", Node::Device(5, 1));
        tree.add("usr/lib", Node::Folder);
        tree.add("lib", Node::Link("usr/lib".into()));
        tree
    }

    #[test]
    fn folders_come_before_what_is_in_them_and_all_belongs_to_root() {
        let bytes = written(&tree());
        let mut rest = bytes.as_slice();
        let mut names = vec![];
        loop {
            let reader = Reader::new(rest).unwrap();
            let entry = reader.entry();
            if entry.is_trailer() {
                break;
            }
            assert_eq!((entry.uid(), entry.gid(), entry.mtime()), (0, 0, 0));
            names.push((entry.name().to_owned(), entry.mode(), entry.rdev_major(), entry.rdev_minor()));
            rest = reader.finish().unwrap();
        }
        let expected = [
            ("dev", 0o040_755, 0, 0),
            ("dev/console", 0o020_600, 5, 1),
            ("lib", 0o120_777, 0, 0),
            ("usr", 0o040_755, 0, 0),
            ("usr/lib", 0o040_755, 0, 0),
            ("usr/sbin", 0o040_755, 0, 0),
            ("usr/sbin/mke2fs", 0o100_755, 0, 0),
        ];
        assert_eq!(names, expected.map(|(name, mode, major, minor)| (name.to_owned(), mode, major, minor)));
    }

    #[test]
    fn the_same_tree_is_the_same_bytes_whatever_the_order_of_adding() {
        let mut other = Tree::default();
        other.add("lib", Node::Link("usr/lib".into()));
        other.add("usr/lib", Node::Folder);
        other.add("dev/console", Node::Device(5, 1));
        other.add("usr/sbin/mke2fs", Node::Program(b"x".to_vec()));
        assert_eq!(written(&tree()), written(&other));
    }
}
