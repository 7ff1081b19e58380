//! `Ops` in front of another one, which ends the work where a limit ended it before.
//!
//! So a plan repeats work that a full file system cut short, to the byte.

use nix::errno::Errno;

use super::{Counts, Failure, Handle, How, Kind, Op, Ops, Result};
use crate::result::Postmark;
use crate::units::Bytes;

/// How far the work came before a limit ended it: what a plan repeats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    /// Bytes that `write` takes before it fails with `ENOSPC`.
    pub written: Option<Bytes>,
    /// Operations that succeed before one fails with `ENOSPC`.
    pub operations: Option<u64>,
    /// What the file system answered when it was asked for its block size.
    pub block_size: Option<u64>,
}

impl Reach {
    /// Whether anything ends the work.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        self.written.is_some() || self.operations.is_some()
    }
}

impl From<Option<Bytes>> for Reach {
    fn from(written: Option<Bytes>) -> Self {
        Self { written, ..Self::default() }
    }
}

/// Ends the work at a [`Reach`].
pub struct UpTo<'a> {
    ops: &'a mut dyn Ops,
    reach: Reach,
    operations: u64,
    written: u64,
    open: Vec<(Handle, String)>,
}

impl<'a> UpTo<'a> {
    /// The first calls go to `ops`.
    pub fn new(ops: &'a mut dyn Ops, reach: Reach) -> Self {
        Self { ops, reach, operations: 0, written: 0, open: vec![] }
    }

    /// Whether one more operation succeeds.
    fn check(&mut self, op: Op, path: impl FnOnce(&Self) -> String) -> Result<()> {
        if self.reach.operations.is_some_and(|most| self.operations >= most) {
            return Err(Failure { op, path: path(self), errno: Errno::ENOSPC });
        }
        self.operations += 1;
        Ok(())
    }

    fn at(&mut self, op: Op, path: &str) -> Result<()> {
        self.check(op, |_| path.to_owned())
    }

    fn on(&mut self, op: Op, file: Handle) -> Result<()> {
        self.check(op, |this| this.path(file))
    }

    fn path(&self, file: Handle) -> String {
        let path = self.open.iter().find(|(open, _)| *open == file).map(|(_, path)| path.clone());
        path.unwrap_or_default()
    }

    /// Bytes that a `write` of `length` takes.
    fn taken(&self, length: usize) -> usize {
        let left = self.reach.written.map(|most| most.0.saturating_sub(self.written));
        left.map_or(length, |left| usize::try_from(left).unwrap_or(usize::MAX).min(length))
    }
}

impl Ops for UpTo<'_> {
    fn mkdir(&mut self, path: &str) -> Result<()> {
        self.at(Op::Mkdir, path)?;
        self.ops.mkdir(path)
    }

    fn rmdir(&mut self, path: &str) -> Result<()> {
        self.at(Op::Rmdir, path)?;
        self.ops.rmdir(path)
    }

    fn open_as(&mut self, path: &str, how: How) -> Result<Handle> {
        self.at(how.op(), path)?;
        let file = self.ops.open_as(path, how)?;
        self.open.push((file, path.to_owned()));
        Ok(file)
    }

    fn write(&mut self, file: Handle, bytes: &[u8]) -> Result<usize> {
        let taken = self.taken(bytes.len());
        if taken == 0 && !bytes.is_empty() {
            return Err(Failure { op: Op::Write, path: self.path(file), errno: Errno::ENOSPC });
        }
        self.on(Op::Write, file)?;
        let written = self.ops.write(file, &bytes[..taken])?;
        self.written += written as u64;
        Ok(written)
    }

    fn read(&mut self, file: Handle, into: &mut [u8]) -> Result<usize> {
        self.on(Op::Read, file)?;
        self.ops.read(file, into)
    }

    fn fsync(&mut self, file: Handle) -> Result<()> {
        self.on(Op::Fsync, file)?;
        self.ops.fsync(file)
    }

    fn close(&mut self, file: Handle) -> Result<()> {
        self.on(Op::Close, file)?;
        self.open.retain(|(open, _)| *open != file);
        self.ops.close(file)
    }

    fn unlink(&mut self, path: &str) -> Result<()> {
        self.at(Op::Unlink, path)?;
        self.ops.unlink(path)
    }

    fn stat(&mut self, path: &str) -> Result<u64> {
        self.at(Op::Stat, path)?;
        self.ops.stat(path)
    }

    fn readdir(&mut self, path: &str, tell: &mut dyn FnMut(&str, Kind)) -> Result<()> {
        self.at(Op::Readdir, path)?;
        self.ops.readdir(path, tell)
    }

    fn counts(&self) -> &Counts {
        self.ops.counts()
    }

    fn wants_bytes(&self) -> bool {
        self.ops.wants_bytes()
    }

    fn expect_size(&mut self, file: Handle, size: u64) {
        self.ops.expect_size(file, size);
    }

    fn block_size(&mut self, file: Handle) -> Result<u64> {
        self.on(Op::Stat, file)?;
        let size = self.ops.block_size(file)?;
        Ok(self.reach.block_size.unwrap_or(size))
    }

    fn seek_end(&mut self, file: Handle) -> Result<()> {
        self.on(Op::Seek, file)?;
        self.ops.seek_end(file)
    }

    fn told(&mut self, postmark: Postmark) {
        self.ops.told(postmark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::{Entry, Plan};

    #[test]
    fn a_write_takes_what_fits_and_the_next_finds_no_space() {
        let mut told = vec![];
        let mut tell = |entry: Entry| told.push(entry.size);
        let mut plan = Plan::new(&mut tell);
        let mut cut = UpTo::new(&mut plan, Some(Bytes(10)).into());
        let file = cut.create("step/f").unwrap();
        assert_eq!(cut.write(file, &[0; 8]), Ok(8));
        assert_eq!(cut.write(file, &[0; 8]), Ok(2));
        let failure = cut.write(file, &[0; 8]).unwrap_err();
        assert_eq!((failure.errno, failure.path.as_str()), (Errno::ENOSPC, "step/f"));
        assert_eq!(plan.finish().counts.written_bytes, 10);
        assert_eq!(told, [10], "a file that a limit left open is told, too");
    }

    #[test]
    fn so_many_operations_succeed_and_no_more() {
        let mut plan = Plan::counting();
        let reach = Reach { operations: Some(2), ..Reach::default() };
        let mut cut = UpTo::new(&mut plan, reach);
        cut.mkdir("a").unwrap();
        cut.mkdir("b").unwrap();
        assert_eq!(cut.mkdir("c").unwrap_err().errno, Errno::ENOSPC);
        assert_eq!(plan.counts().total(), 2);
    }
}
