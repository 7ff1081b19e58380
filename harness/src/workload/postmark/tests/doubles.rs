//! File systems that are small, or that change what is in them.

use std::collections::BTreeMap;
use std::path::Path;

use nix::errno::Errno;

use crate::ops::{self, Ops, Real};
use crate::result::Postmark;

/// A file system with room for so many files and bytes.
pub(super) struct Small {
    files: BTreeMap<String, u64>,
    last: Option<String>,
    /// Files that are open.
    pub(super) open: usize,
    refuses: Option<ops::Op>,
    most_files: usize,
    most_bytes: u64,
    counts: ops::Counts,
    pub(super) told: Option<Postmark>,
}

impl Small {
    pub(super) fn new(most_files: usize, most_bytes: u64) -> Self {
        let counts = ops::Counts::default();
        let (files, last, open, refuses) = Default::default();
        Self { files, last, open, refuses, most_files, most_bytes, counts, told: None }
    }

    /// With an I/O error for each call of this kind.
    pub(super) fn refusing(self, op: ops::Op) -> Self {
        Self { refuses: Some(op), ..self }
    }

    fn look(&self, op: ops::Op) -> ops::Result<()> {
        if self.refuses == Some(op) { Self::fails(op, "", Errno::EIO) } else { Ok(()) }
    }

    fn fails<T>(op: ops::Op, path: &str, errno: Errno) -> ops::Result<T> {
        Err(ops::Failure { op, path: path.to_owned(), errno })
    }
}

impl Ops for Small {
    fn mkdir(&mut self, _: &str) -> ops::Result<()> {
        Ok(())
    }
    fn rmdir(&mut self, _: &str) -> ops::Result<()> {
        Ok(())
    }
    fn open_as(&mut self, path: &str, how: ops::How) -> ops::Result<ops::Handle> {
        let makes = !matches!(how, ops::How::Read | ops::How::ReadWriteAppend);
        match self.files.contains_key(path) {
            false if !makes => return Self::fails(how.op(), path, Errno::ENOENT),
            false if self.files.len() == self.most_files => {
                return Self::fails(how.op(), path, Errno::ENOSPC);
            }
            _ => self.files.entry(path.to_owned()).or_default(),
        };
        self.last = Some(path.to_owned());
        self.open += 1;
        Ok(ops::Handle(0))
    }
    fn write(&mut self, _: ops::Handle, bytes: &[u8]) -> ops::Result<usize> {
        self.look(ops::Op::Write)?;
        let path = self.last.clone().unwrap();
        let room = self.most_bytes - self.files.values().sum::<u64>();
        if room == 0 && !bytes.is_empty() {
            return Self::fails(ops::Op::Write, &path, Errno::ENOSPC);
        }
        let taken = room.min(bytes.len() as u64);
        *self.files.get_mut(&path).unwrap() += taken;
        Ok(usize::try_from(taken).unwrap())
    }
    fn read(&mut self, _: ops::Handle, _: &mut [u8]) -> ops::Result<usize> {
        self.look(ops::Op::Read).map(|()| 0)
    }
    fn fsync(&mut self, _: ops::Handle) -> ops::Result<()> {
        Ok(())
    }
    fn close(&mut self, _: ops::Handle) -> ops::Result<()> {
        self.open -= 1;
        self.look(ops::Op::Close)
    }
    fn unlink(&mut self, path: &str) -> ops::Result<()> {
        let gone = self.files.remove(path).map(drop);
        gone.map_or_else(|| Self::fails(ops::Op::Unlink, path, Errno::ENOENT), Ok)
    }
    fn stat(&mut self, path: &str) -> ops::Result<u64> {
        Ok(self.files[path])
    }
    fn readdir(&mut self, _: &str, _: &mut dyn FnMut(&str, ops::Kind)) -> ops::Result<()> {
        Ok(())
    }
    fn counts(&self) -> &ops::Counts {
        &self.counts
    }
    fn told(&mut self, postmark: Postmark) {
        self.told = Some(postmark);
    }
}

/// Real files, one of which is changed as soon as there are 60.
pub(super) struct Changed<'a>(Real<'a>, &'a Path, &'a dyn Fn(&Path));

impl<'a> Changed<'a> {
    pub(super) fn new(real: Real<'a>, folder: &'a Path, change: &'a dyn Fn(&Path)) -> Self {
        Self(real, folder, change)
    }

    fn once(&mut self) {
        let file = self.1.join("mail/40");
        if file.exists() && self.1.join("mail/60").exists() && !self.1.join("changed").exists() {
            std::fs::write(self.1.join("changed"), "").unwrap();
            (self.2)(&file);
        }
    }
}
impl Ops for Changed<'_> {
    fn open_as(&mut self, path: &str, how: ops::How) -> ops::Result<ops::Handle> {
        if how == ops::How::Read {
            self.once();
        }
        self.0.open_as(path, how)
    }
    fn mkdir(&mut self, path: &str) -> ops::Result<()> {
        self.0.mkdir(path)
    }
    fn rmdir(&mut self, path: &str) -> ops::Result<()> {
        self.0.rmdir(path)
    }
    fn write(&mut self, file: ops::Handle, bytes: &[u8]) -> ops::Result<usize> {
        self.0.write(file, bytes)
    }
    fn read(&mut self, file: ops::Handle, into: &mut [u8]) -> ops::Result<usize> {
        self.0.read(file, into)
    }
    fn fsync(&mut self, file: ops::Handle) -> ops::Result<()> {
        self.0.fsync(file)
    }
    fn close(&mut self, file: ops::Handle) -> ops::Result<()> {
        self.0.close(file)
    }
    fn unlink(&mut self, path: &str) -> ops::Result<()> {
        self.0.unlink(path)
    }
    fn stat(&mut self, path: &str) -> ops::Result<u64> {
        self.0.stat(path)
    }
    fn readdir(&mut self, path: &str, tell: &mut dyn FnMut(&str, ops::Kind)) -> ops::Result<()> {
        self.0.readdir(path, tell)
    }
    fn counts(&self) -> &ops::Counts {
        self.0.counts()
    }
    fn reads_bytes(&self) -> bool {
        true
    }
    fn aside(&mut self, look: &mut dyn FnMut(&mut dyn Ops) -> ops::Result<()>) -> ops::Result<()> {
        self.0.aside(look)
    }
}
