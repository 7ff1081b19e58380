//! A tree of files in memory as an archive that the kernel unpacks, the same bytes for the same tree.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::newc::{self, Head};
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
        newc::end(to).cannot(doing)
    }

    /// Bytes of the archive, without its end.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|(path, node)| newc::size(path.as_bytes(), node.contents().len() as u64)).sum()
    }
}

impl Node {
    fn contents(&self) -> &[u8] {
        match self {
            Self::Program(bytes) | Self::Text(bytes) => bytes,
            Self::Link(target) => target.as_bytes(),
            Self::Folder | Self::Device(..) => &[],
        }
    }
}

fn entry(to: &mut impl Write, number: u32, path: &str, node: &Node) -> io::Result<()> {
    let mode = match node {
        Node::Folder => 0o040_755,
        Node::Program(_) => 0o100_755,
        Node::Text(_) => 0o100_644,
        Node::Link(_) => 0o120_777,
        Node::Device(..) => 0o020_600,
    };
    let device = if let Node::Device(major, minor) = node { (*major, *minor) } else { (0, 0) };
    let head = Head { name: path.as_bytes(), number, mode, links: 1, device, ..Head::default() };
    newc::entry(to, &head, node.contents().len() as u64, node.contents())
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
