//! Read everything that is there, where nothing says what must be: after a command of the user's.
//!
//! Every name is listed and every byte read, so that what the device does not give back is found. The
//! hash of the tree is that of steps whose content is known, with kinds of its own for what those do
//! not make, so that two runs of a command can be compared.

use std::ffi::CString;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, SeekFrom, Stat, openat, readlinkat, seek, statat};

use crate::error::{Error, Result};
use crate::ops::EntryHash;
use crate::result::Checked;
use crate::units::Bytes;

use super::ReadBack;

/// What mkfs of some file systems makes in the root, and no command.
const OF_MKFS: &[u8] = b"lost+found";

/// Differences that are told.
const TOLD: usize = 8;

/// A path is opened in parts no longer than this: PATH_MAX is 4096.
const PART: usize = 2048;

/// A file that is larger than this is hashed by its data alone: its holes would take for ever.
const BLOCK: usize = 4096;

/// Read all below `root`, of a file system of that `size`.
///
/// # Errors
///
/// `stop` became true. What cannot be read is no error here, but told.
pub fn walk(root: BorrowedFd, size: Bytes, stop: &AtomicBool) -> Result<ReadBack> {
    let mut walk = Walk { root, size, stop, tree: 0, unread: 0, details: vec![], buffer: vec![0; 256 << 10] };
    let mut inside = vec![Vec::new()];
    while let Some(folder) = inside.pop() {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::stopped("read what the command left: the run is being stopped"));
        }
        if let Err(errno) = walk.folder(&folder, &mut inside) {
            walk.cannot(&folder, errno);
        }
    }
    if walk.unread > TOLD {
        walk.details.push(format!("and {} more that cannot be read", walk.unread - TOLD));
    }
    Ok(ReadBack {
        checked: if walk.unread == 0 { Checked::Clean } else { Checked::Damaged },
        tree_hash: format!("{:032x}", walk.tree),
        details: walk.details,
    })
}

struct Walk<'a> {
    root: BorrowedFd<'a>,
    size: Bytes,
    stop: &'a AtomicBool,
    tree: u128,
    unread: usize,
    details: Vec<String>,
    buffer: Vec<u8>,
}

type Read<T> = std::result::Result<T, Errno>;

impl Walk<'_> {
    fn cannot(&mut self, path: &[u8], errno: Errno) {
        self.unread += 1;
        if self.unread <= TOLD {
            self.details.push(format!("{}: cannot be read: {errno:?}", String::from_utf8_lossy(path)));
        }
    }

    /// Take the entries of a directory; those that are directories are looked into later.
    fn folder(&mut self, folder: &[u8], inside: &mut Vec<Vec<u8>>) -> Read<()> {
        let opened = self.open(folder, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let entries = Dir::read_from(&opened).map_err(errno)?;
        for entry in entries {
            let entry = entry.map_err(errno)?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." || (folder.is_empty() && name == OF_MKFS) {
                continue;
            }
            let path = if folder.is_empty() { name.to_vec() } else { [folder, b"/", name].concat() };
            match self.entry(&opened, entry.file_name(), &path) {
                Ok(true) => inside.push(path),
                Ok(false) => {}
                Err(errno) => self.cannot(&path, errno),
            }
        }
        Ok(())
    }

    /// Take an entry; whether it is a directory.
    fn entry(&mut self, folder: &OwnedFd, name: &std::ffi::CStr, path: &[u8]) -> Read<bool> {
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(errno)?;
        let hash = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => EntryHash::of_directory(path),
            FileType::RegularFile => self.file(folder, name, path, &stat)?,
            FileType::Symlink => {
                let target = readlinkat(folder, name, Vec::new()).map_err(errno)?;
                content(b'l', path, target.as_bytes())
            }
            FileType::Fifo => content(b'p', path, b""),
            FileType::Socket => content(b's', path, b""),
            FileType::CharacterDevice => content(b'c', path, &stat.st_rdev.to_le_bytes()),
            FileType::BlockDevice => content(b'b', path, &stat.st_rdev.to_le_bytes()),
            FileType::Unknown => return Err(Errno::EUCLEAN),
        };
        self.tree = self.tree.wrapping_add(hash);
        Ok(FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
    }

    fn file(&mut self, folder: &OwnedFd, name: &std::ffi::CStr, path: &[u8], stat: &Stat) -> Read<u128> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = openat(folder, name, flags, Mode::empty()).map_err(errno)?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        if size > self.size.0 { self.sparse(&file, size, path) } else { self.dense(&file, path) }
    }

    fn dense(&mut self, file: &OwnedFd, path: &[u8]) -> Read<u128> {
        let mut hash = EntryHash::of(b'f', path);
        loop {
            match self.read(file)? {
                0 => return Ok(hash.finish()),
                length => hash.content(&self.buffer[..length]),
            }
        }
    }

    /// Its size, and each block that is not all zeros with its place.
    fn sparse(&mut self, file: &OwnedFd, size: u64, path: &[u8]) -> Read<u128> {
        let mut hash = EntryHash::of(b'F', path);
        hash.content(&size.to_le_bytes());
        let mut at = 0;
        loop {
            at = match seek(file, SeekFrom::Data(at)) {
                Ok(data) => data / BLOCK as u64 * BLOCK as u64,
                Err(rustix::io::Errno::NXIO) => return Ok(hash.finish()),
                Err(error) => return Err(errno(error)),
            };
            let end = seek(file, SeekFrom::Hole(at)).map_err(errno)?;
            seek(file, SeekFrom::Start(at)).map_err(errno)?;
            while at < end {
                let length = self.read(file)?;
                if length == 0 {
                    break;
                }
                for block in self.buffer[..length].chunks(BLOCK) {
                    if block.iter().any(|byte| *byte != 0) {
                        hash.content(&at.to_le_bytes());
                        hash.content(block);
                    }
                    at += block.len() as u64;
                }
            }
            at = at.max(end);
        }
    }

    /// The next bytes, a full buffer except at the end, so that blocks stay whole.
    fn read(&mut self, file: &OwnedFd) -> Read<usize> {
        let mut length = 0;
        while length < self.buffer.len() {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Errno::EINTR);
            }
            match rustix::io::read(file, &mut self.buffer[length..]) {
                Ok(0) => break,
                Ok(more) => length += more,
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(errno(error)),
            }
        }
        Ok(length)
    }

    /// Open what may lie deeper than one path can tell.
    fn open(&self, path: &[u8], flags: OFlags) -> Read<OwnedFd> {
        let (mut at, mut rest) = (None::<OwnedFd>, if path.is_empty() { b".".as_slice() } else { path });
        loop {
            let cut = match rest.len() > PART {
                true => rest[..PART].iter().rposition(|byte| *byte == b'/').unwrap_or(rest.len()),
                false => rest.len(),
            };
            let part = CString::new(&rest[..cut]).map_err(|_| Errno::EINVAL)?;
            let from = at.as_ref().map_or(self.root, |fd| std::os::fd::AsFd::as_fd(fd));
            let all = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            at = Some(openat(from, &part, all, Mode::empty()).map_err(errno)?);
            if cut == rest.len() {
                return at.ok_or(Errno::ENOENT);
            }
            rest = &rest[cut + 1..];
        }
    }
}

fn content(kind: u8, path: &[u8], content: &[u8]) -> u128 {
    let mut hash = EntryHash::of(kind, path);
    hash.content(content);
    hash.finish()
}

fn errno(error: rustix::io::Errno) -> Errno {
    crate::sys::errno(error)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsFd;
    use std::os::unix::fs::symlink;

    use super::*;

    fn walked(folder: &std::path::Path, size: Bytes) -> ReadBack {
        let root = fs::File::open(folder).unwrap();
        walk(root.as_fd(), size, &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn every_kind_of_entry_changes_the_hash_and_its_order_does_not() {
        let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let names = ["a", "b", "c"];
        for (folder, names) in
            [(one.path(), names.to_vec()), (other.path(), names.into_iter().rev().collect())]
        {
            names.iter().for_each(|name| fs::write(folder.join(name), name).unwrap());
        }
        let (same, again) = (walked(one.path(), Bytes::gib(1)), walked(other.path(), Bytes::gib(1)));
        assert_eq!((same.checked, &same.tree_hash), (Checked::Clean, &again.tree_hash));
        let mut seen = std::collections::BTreeSet::from([same.tree_hash]);
        let changes: [&dyn Fn(&std::path::Path); 5] = [
            &|at| fs::write(at.join("a"), "b").unwrap(),
            &|at| fs::rename(at.join("b"), at.join("d")).unwrap(),
            &|at| fs::create_dir(at.join("e")).unwrap(),
            &|at| symlink("a", at.join("f")).unwrap(),
            &|at| nix::unistd::mkfifo(&at.join("g"), nix::sys::stat::Mode::S_IRUSR).unwrap(),
        ];
        for change in changes {
            change(one.path());
            assert!(seen.insert(walked(one.path(), Bytes::gib(1)).tree_hash), "{seen:?}");
        }
    }

    #[test]
    fn a_tree_deeper_than_a_path_can_tell_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let mut at = openat(rustix::fs::CWD, folder.path(), OFlags::DIRECTORY, Mode::empty()).unwrap();
        let name = "d".repeat(200);
        for _ in 0..60 {
            rustix::fs::mkdirat(&at, name.as_str(), Mode::RWXU).unwrap();
            at = openat(&at, name.as_str(), OFlags::DIRECTORY, Mode::empty()).unwrap();
        }
        let read = walked(folder.path(), Bytes::gib(1));
        assert_eq!((read.checked, read.details), (Checked::Clean, vec![]));
    }

    #[test]
    fn a_file_larger_than_its_file_system_is_told_apart_by_its_data() {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = folder.path().join("holes");
        let hash = |place: Option<u64>| {
            use std::os::unix::fs::FileExt;
            let file = fs::File::create(&path).unwrap();
            file.set_len(8 << 40).unwrap();
            place.iter().for_each(|place| file.write_all_at(b"data", *place).unwrap());
            walked(folder.path(), Bytes::mib(512)).tree_hash
        };
        let all: std::collections::BTreeSet<_> = [None, Some(5 << 40), Some(6 << 40)].map(hash).into();
        assert_eq!(all.len(), 3);
    }
}
