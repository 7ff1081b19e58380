//! Files of this machine as an archive that the kernel unpacks: with their owners, rights, times and
//! second names, and read only while they are written. What they take of a guest is known before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, Metadata};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::newc::{self, Head, LONGEST};
use crate::command::stop_requested;
use crate::error::{Cannot, Error, Result};

/// Kinds of files, as `st_mode` has them. Source: inode(7).
const KIND: u32 = 0o170_000;
const FOLDER: u32 = 0o040_000;
const REGULAR: u32 = 0o100_000;
const LINK: u32 = 0o120_000;
const PIPE: u32 = 0o010_000;
const DEVICES: [u32; 2] = [0o020_000, 0o060_000];

/// One entry.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    mode: u32,
    owner: (u32, u32),
    mtime: u32,
    device: (u32, u32),
    /// Of a file with several names: where it is, on which disk and with which number.
    shared: Option<(u64, u64)>,
    contents: Contents,
}

#[derive(Clone, Debug)]
enum Contents {
    Here(Vec<u8>),
    Of(PathBuf, u64),
}

impl Entry {
    /// A folder of root's.
    pub fn folder(rights: u32) -> Self {
        Self::plain(FOLDER | rights, vec![])
    }

    /// A file of root's that all can read.
    pub fn text(text: impl Into<Vec<u8>>) -> Self {
        Self::plain(REGULAR | 0o644, text.into())
    }

    fn plain(mode: u32, contents: Vec<u8>) -> Self {
        Self {
            mode,
            owner: (0, 0),
            mtime: 0,
            device: (0, 0),
            shared: None,
            contents: Contents::Here(contents),
        }
    }

    pub fn owned_by(self, owner: (u32, u32)) -> Self {
        Self { owner, ..self }
    }

    /// What is at `path`, itself where it is a link. Nothing, where it is a socket, which nobody could
    /// answer.
    ///
    /// # Errors
    ///
    /// A link cannot be read.
    pub fn of(path: &Path, found: &Metadata) -> Result<Option<Self>> {
        let kind = found.mode() & KIND;
        let contents = match kind {
            REGULAR => Contents::Of(path.to_owned(), found.len()),
            LINK => {
                let target = path.read_link().cannot(|| format!("read the link {}", path.display()))?;
                Contents::Here(target.as_os_str().as_bytes().to_vec())
            }
            FOLDER | PIPE => Contents::Here(vec![]),
            device if DEVICES.contains(&device) => Contents::Here(vec![]),
            _ => return Ok(None),
        };
        let device = match DEVICES.contains(&kind) {
            true => (rustix::fs::major(found.rdev()), rustix::fs::minor(found.rdev())),
            false => (0, 0),
        };
        Ok(Some(Self {
            mode: found.mode(),
            owner: (found.uid(), found.gid()),
            // A time that does not fit is none.
            mtime: u32::try_from(found.mtime()).unwrap_or(0),
            device,
            shared: (kind == REGULAR && found.nlink() > 1).then(|| (found.dev(), found.ino())),
            contents,
        }))
    }

    fn length(&self) -> u64 {
        match &self.contents {
            Contents::Here(bytes) => bytes.len() as u64,
            Contents::Of(_, length) => *length,
        }
    }
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Pack {
    /// By path without a slash before it.
    entries: BTreeMap<Vec<u8>, Entry>,
    /// Files with several names that are in it.
    shared: BTreeSet<(u64, u64)>,
    bytes: u64,
}

impl Pack {
    /// Add an entry, and the folders above it where they are not there yet.
    ///
    /// # Errors
    ///
    /// The kernel would leave it out, because its path is too long.
    pub fn add(&mut self, path: &Path, entry: Entry) -> Result<()> {
        let path = path.strip_prefix("/").unwrap_or(path);
        if path.as_os_str().len() >= LONGEST {
            return Err(Error::usage(format!("take {} along: its path is too long", path.display()))
                .next("move it up"));
        }
        for above in path.ancestors().skip(1).filter(|above| *above != Path::new("")) {
            if !self.entries.contains_key(&key(above)) {
                self.insert(key(above), Entry::folder(0o755));
            }
        }
        self.insert(key(path), entry);
        Ok(())
    }

    /// A file with several names counts once.
    fn insert(&mut self, name: Vec<u8>, entry: Entry) {
        let again = entry.shared.is_some_and(|shared| !self.shared.insert(shared));
        self.bytes += newc::size(&name, if again { 0 } else { entry.length() });
        if let Some(before) = self.entries.insert(name.clone(), entry) {
            self.bytes -= newc::size(&name, before.length());
        }
    }

    /// The same, unless something is there.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub fn add_new(&mut self, path: &Path, entry: Entry) -> Result<()> {
        match self.has(path) {
            true => Ok(()),
            false => self.add(path, entry),
        }
    }

    /// Whether something is at `path`.
    pub fn has(&self, path: &Path) -> bool {
        self.entries.contains_key(&key(path.strip_prefix("/").unwrap_or(path)))
    }

    /// Bytes of the archive, without its end.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Write the archive.
    ///
    /// # Errors
    ///
    /// A file cannot be read, is of 4 GiB or more, or changes meanwhile; or this process is to stop.
    pub fn write(&self, to: &mut impl Write) -> Result<()> {
        let mut numbers = BTreeMap::new();
        for (number, (path, entry)) in (1..).zip(&self.entries) {
            if stop_requested() {
                return Err(Error::stopped("put a virtual machine together"));
            }
            let first = entry.shared.map(|shared| *numbers.entry(shared).or_insert(number));
            let again = first.is_some_and(|first| first != number);
            write_one(to, path, entry, first.unwrap_or(number), again)?;
        }
        newc::end(to).cannot(|| "write an initramfs".into())
    }
}

fn key(path: &Path) -> Vec<u8> {
    path.as_os_str().as_bytes().to_vec()
}

/// Of a file with several names the first has the contents.
fn write_one(to: &mut impl Write, name: &[u8], entry: &Entry, number: u32, again: bool) -> Result<()> {
    let Entry { mode, owner, mtime, device, .. } = *entry;
    let links = if entry.shared.is_some() { 2 } else { 1 };
    let head = Head { name, number, mode, owner, links, mtime, device };
    match &entry.contents {
        _ if again => newc::entry(to, &head, 0, io::empty()).cannot(|| "write an initramfs".into()),
        Contents::Here(bytes) => newc::entry(to, &head, bytes.len() as u64, bytes.as_slice())
            .cannot(|| "write an initramfs".into()),
        Contents::Of(path, length) => {
            let doing = || format!("take {} along", path.display());
            let file = File::open(path).cannot(doing).map_err(unreadable)?;
            newc::entry(to, &head, *length, file).cannot(doing)
        }
    }
}

/// What the caller may not read is not for a guest either.
pub(super) fn unreadable(error: Error) -> Error {
    let next = "make it readable; or call with sudo: the command runs as you all the same";
    error.of_kind(crate::error::Kind::Usage).next(next)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Read;

    use cpio::newc::Reader;

    use super::*;

    fn names(pack: &Pack) -> Vec<(String, u32, u32, u32, String)> {
        let mut bytes = vec![];
        pack.write(&mut bytes).unwrap();
        let (mut rest, mut all) = (bytes.as_slice(), vec![]);
        loop {
            let mut reader = Reader::new(rest).unwrap();
            if reader.entry().is_trailer() {
                break;
            }
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            let entry = reader.entry();
            all.push((entry.name().to_owned(), entry.mode(), entry.ino(), entry.nlink(), text));
            rest = reader.finish().unwrap();
        }
        assert_eq!((bytes.len() - rest.len()) as u64, pack.bytes());
        all
    }

    #[test]
    fn a_file_with_two_names_is_written_once_and_stays_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("a"), "text").unwrap();
        fs::hard_link(path("a"), path("b")).unwrap();
        std::os::unix::fs::symlink("a", path("c")).unwrap();
        let mut pack = Pack::default();
        for name in ["a", "b", "c"] {
            let found = path(name).symlink_metadata().unwrap();
            pack.add(&Path::new("below").join(name), Entry::of(&path(name), &found).unwrap().unwrap())
                .unwrap();
        }
        let all = names(&pack);
        let told: Vec<_> = all.iter().map(|(name, .., text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(told, [("below", ""), ("below/a", "text"), ("below/b", ""), ("below/c", "a")]);
        assert_eq!((all[1].2, all[1].3), (all[2].2, 2), "the same number, several names");
        assert_eq!(all[3].1 & KIND, LINK);
    }

    #[test]
    fn a_folder_that_was_added_keeps_its_rights_whatever_comes_into_it() {
        let mut pack = Pack::default();
        pack.add(Path::new("/tmp"), Entry::folder(0o1777)).unwrap();
        pack.add(Path::new("/tmp/file"), Entry::text("x").owned_by((7, 8))).unwrap();
        pack.add_new(Path::new("/tmp/file"), Entry::text("y")).unwrap();
        pack.add(Path::new("/tmp/other"), Entry::text("longer than before")).unwrap();
        pack.add(Path::new("/tmp/other"), Entry::text("z")).unwrap();
        let told: Vec<_> =
            names(&pack).into_iter().map(|(name, mode, .., text)| (name, mode, text)).collect();
        assert_eq!(told[0], ("tmp".into(), 0o041_777, String::new()));
        assert_eq!(told[1], ("tmp/file".into(), 0o100_644, "x".into()));
    }
}
