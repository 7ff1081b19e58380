//! `Ops` that turns what another workload makes into visits of what it made.
//!
//! So `remove`, `list`, `stat` and `read` know every name and size of an earlier step from its
//! seed, without a listing that would warm the caches first and without a table in memory. The
//! workload must make its tree once and leave it, as [`leave`](super::Workload::leave) does.

use nix::errno::Errno;

use super::handles::Handles;
use super::{Counts, Failure, Handle, How, Kind, Op, Ops, Result};

/// What is done with each thing that a workload made.
pub trait Visit {
    /// A directory, before what is in it. The first is that of the step.
    ///
    /// # Errors
    ///
    /// A call fails.
    fn directory(&mut self, ops: &mut dyn Ops, path: &str) -> Result<()>;

    /// A file; its size, unless only the file system knows it.
    ///
    /// # Errors
    ///
    /// A call fails.
    fn file(&mut self, ops: &mut dyn Ops, path: &str, size: Option<u64>) -> Result<()>;
}

/// Visits through `ops` what a workload makes through this.
pub struct Replay<'a> {
    ops: &'a mut dyn Ops,
    visit: &'a mut dyn Visit,
    /// The workload writes until the file system is full: it is, at once.
    fills: bool,
    files: Handles<File>,
    failed: Option<Failure>,
}

/// An open file of the workload.
enum File {
    /// It is made, and is visited at its close.
    Made { path: String, size: u64 },
    /// It was visited before.
    Opened,
}

impl<'a> Replay<'a> {
    /// `fills`: the workload writes until the file system is full, so no size is known.
    pub fn new(ops: &'a mut dyn Ops, visit: &'a mut dyn Visit, fills: bool) -> Self {
        Self { ops, visit, fills, files: Handles::new(), failed: None }
    }

    /// The first failure of a visit. A workload that looks for a limit may take it for its own.
    ///
    /// # Errors
    ///
    /// A visit failed.
    pub fn finish(self) -> Result<()> {
        self.failed.map_or(Ok(()), Err)
    }

    fn note(&mut self, result: Result<()>) -> Result<()> {
        if let (Err(failure), None) = (&result, &self.failed) {
            self.failed = Some(failure.clone());
        }
        result
    }
}

impl Ops for Replay<'_> {
    fn mkdir(&mut self, path: &str) -> Result<()> {
        let result = self.visit.directory(self.ops, path);
        self.note(result)
    }

    fn open_as(&mut self, path: &str, how: How) -> Result<Handle> {
        Ok(self.files.keep(match how.op() {
            Op::Create => File::Made { path: path.to_owned(), size: 0 },
            _ => File::Opened,
        }))
    }

    fn write(&mut self, file: Handle, bytes: &[u8]) -> Result<usize> {
        if let Some(File::Made { path, size }) = self.files.get_mut(file) {
            if self.fills {
                return Err(Failure { op: Op::Write, path: path.clone(), errno: Errno::ENOSPC });
            }
            *size += bytes.len() as u64;
        }
        Ok(bytes.len())
    }

    fn close(&mut self, file: Handle) -> Result<()> {
        let made = self.files.take(file);
        let Some(File::Made { path, size }) = made else { return Ok(()) };
        let result = self.visit.file(self.ops, &path, (!self.fills).then_some(size));
        self.note(result)
    }

    fn read(&mut self, _file: Handle, _into: &mut [u8]) -> Result<usize> {
        Ok(0)
    }

    fn fsync(&mut self, _file: Handle) -> Result<()> {
        Ok(())
    }

    fn rmdir(&mut self, _path: &str) -> Result<()> {
        Ok(())
    }

    fn unlink(&mut self, _path: &str) -> Result<()> {
        Ok(())
    }

    fn stat(&mut self, _path: &str) -> Result<u64> {
        Ok(0)
    }

    fn readdir(&mut self, _path: &str, _tell: &mut dyn FnMut(&str, Kind)) -> Result<()> {
        Ok(())
    }

    /// Those of the visits.
    fn counts(&self) -> &Counts {
        self.ops.counts()
    }

    fn wants_bytes(&self) -> bool {
        false
    }
}
