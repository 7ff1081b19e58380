//! The calls a workload makes: done by [`Real`], only planned by [`Plan`].
//!
//! A workload knows nothing but this trait and its seed. `Real` does the calls relative to a
//! directory descriptor of the mount and records counts, bytes, latency and errnos. `Plan` does
//! no I/O: it yields the counts and the tree that must exist afterwards. Verification reads that
//! tree back, so it never needs to know a workload.
//!
//! Paths are relative to the mount; the first component is the directory of the step.

mod command;
mod entry;
mod handles;
mod plan;
mod real;
mod record;
mod replay;
mod up_to;
mod work;

use std::fmt;

use nix::errno::Errno;

use crate::result::Postmark;

pub use command::Command;
pub use entry::{Entry, EntryHash, EntryKind, below};
pub use plan::{Plan, Planned};
pub use real::{Real, Stop};
pub use record::{Aside, Phase, Record};
pub use replay::{Replay, Visit};
pub use up_to::{Reach, UpTo};
pub use work::{Earlier, Ended, Fullest, Recovered, Workload};

/// A kind of operation. Latency is recorded for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// `openat` with `O_CREAT`, of a file that is meant to be new.
    Create,
    /// `openat` of a file that is meant to exist.
    Open,
    /// `write`.
    Write,
    /// `read`.
    Read,
    /// `fsync`.
    Fsync,
    /// `close`.
    Close,
    /// `unlinkat`.
    Unlink,
    /// `mkdirat`.
    Mkdir,
    /// `unlinkat` with `AT_REMOVEDIR`.
    Rmdir,
    /// All `getdents64` of one directory.
    Readdir,
    /// `statx`.
    Stat,
    /// `lseek`.
    Seek,
}

impl Op {
    /// All kinds, in the order of reports.
    pub const ALL: [Self; 12] = [
        Self::Create,
        Self::Open,
        Self::Write,
        Self::Read,
        Self::Fsync,
        Self::Close,
        Self::Unlink,
        Self::Mkdir,
        Self::Rmdir,
        Self::Readdir,
        Self::Stat,
        Self::Seek,
    ];

    /// Its name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Open => "open",
            Self::Write => "write",
            Self::Read => "read",
            Self::Fsync => "fsync",
            Self::Close => "close",
            Self::Unlink => "unlink",
            Self::Mkdir => "mkdir",
            Self::Rmdir => "rmdir",
            Self::Readdir => "readdir",
            Self::Stat => "stat",
            Self::Seek => "lseek",
        }
    }
}

/// A call that failed: which, where, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The call.
    pub op: Op,
    /// Its path below the mount.
    pub path: String,
    /// Its errno. `EINTR` means that the run is being stopped.
    pub errno: Errno,
}

impl Failure {
    /// With these errnos a file system says that it is full, in one way or another.
    #[must_use]
    pub fn is_limit(&self) -> bool {
        matches!(self.errno, Errno::ENOSPC | Errno::EDQUOT | Errno::EMLINK | Errno::EFBIG)
    }

    /// The run is being stopped.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        self.errno == Errno::EINTR
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {} ({:?})", self.op.name(), self.path, self.errno.desc(), self.errno)
    }
}

impl std::error::Error for Failure {}

/// Result of a call.
pub type Result<T> = std::result::Result<T, Failure>;

/// An open file of an [`Ops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle(pub usize);

/// What an entry of a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else.
    Other,
}

/// Operations and bytes so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Successful operations, by the place of their kind in [`Op::ALL`].
    pub operations: [u64; Op::ALL.len()],
    /// Bytes that `write` took.
    pub written_bytes: u64,
    /// Bytes that `read` gave.
    pub read_bytes: u64,
}

impl Counts {
    /// Successful operations of one kind.
    #[must_use]
    pub fn of(&self, op: Op) -> u64 {
        self.operations[op as usize]
    }

    /// Count operations of one kind.
    pub fn add(&mut self, op: Op, count: u64) {
        self.operations[op as usize] += count;
    }

    /// Successful operations of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.operations.iter().sum()
    }

    /// What `write` took or, in a step that only reads, what `read` gave.
    #[must_use]
    pub fn payload(&self) -> u64 {
        if self.written_bytes > 0 { self.written_bytes } else { self.read_bytes }
    }

    /// Bytes both written and read: how far a step has come.
    #[must_use]
    pub fn moved(&self) -> u64 {
        self.written_bytes + self.read_bytes
    }
}

/// The buffer of a stream where there is no file system to ask: a page.
pub const DEFAULT_BLOCK_SIZE: u64 = 4096;

/// How a file is opened. The four after the first two are those of PostMark: as the C library's
/// streams do it, and bare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// `O_WRONLY|O_CREAT|O_EXCL`: it must not exist.
    New,
    /// `O_RDONLY`.
    Read,
    /// `O_WRONLY|O_CREAT|O_TRUNC`, as `fopen` with `w`.
    Truncate,
    /// `O_WRONLY|O_CREAT|O_APPEND`, as `fopen` with `a`.
    AppendOrCreate,
    /// `O_RDWR|O_CREAT`.
    ReadWriteCreate,
    /// `O_RDWR|O_APPEND`.
    ReadWriteAppend,
}

impl How {
    /// The kind of operation: made, where it is meant to be new.
    #[must_use]
    pub fn op(self) -> Op {
        match self {
            Self::New | Self::Truncate | Self::ReadWriteCreate => Op::Create,
            Self::Read | Self::AppendOrCreate | Self::ReadWriteAppend => Op::Open,
        }
    }
}

/// The calls a workload makes. Each fails as its system call does, with a [`Failure`].
#[expect(clippy::missing_errors_doc, reason = "all methods fail in the same way, said above")]
pub trait Ops {
    /// Make a directory.
    fn mkdir(&mut self, path: &str) -> Result<()>;
    /// Remove an empty directory.
    fn rmdir(&mut self, path: &str) -> Result<()>;
    /// Open a file, or make it.
    fn open_as(&mut self, path: &str, how: How) -> Result<Handle>;
    /// Make a file that does not exist yet, open for writing.
    fn create(&mut self, path: &str) -> Result<Handle> {
        self.open_as(path, How::New)
    }
    /// Open a file for reading.
    fn open(&mut self, path: &str) -> Result<Handle> {
        self.open_as(path, How::Read)
    }
    /// Append to an open file; like `write`, it may take fewer bytes than it is given.
    fn write(&mut self, file: Handle, bytes: &[u8]) -> Result<usize>;
    /// Read on in an open file; 0 at its end.
    fn read(&mut self, file: Handle, into: &mut [u8]) -> Result<usize>;
    /// Bring an open file to the device.
    fn fsync(&mut self, file: Handle) -> Result<()>;
    /// Close a file. The handle is gone even if this fails.
    fn close(&mut self, file: Handle) -> Result<()>;
    /// Remove a file.
    fn unlink(&mut self, path: &str) -> Result<()>;
    /// Size of a file or directory.
    fn stat(&mut self, path: &str) -> Result<u64>;
    /// Tell every entry of a directory but `.` and `..`.
    fn readdir(&mut self, path: &str, tell: &mut dyn FnMut(&str, Kind)) -> Result<()>;
    /// Operations and bytes so far.
    fn counts(&self) -> &Counts;
    /// Whether the bytes given to `write` matter. Where they do not, a workload need not make
    /// them, so that planning and replaying cost no time inside the clock.
    fn wants_bytes(&self) -> bool {
        true
    }
    /// Whether `read` gives the bytes of a file, and there are directories to list.
    fn reads_bytes(&self) -> bool {
        false
    }
    /// Tell the size that a file opened for reading must have, to an `Ops` that has no files.
    fn expect_size(&mut self, _file: Handle, _size: u64) {}
    /// Bytes in which the file system wants to be written to (`st_blksize`, by a stat of the open
    /// file): the buffer of a C library's stream.
    fn block_size(&mut self, _file: Handle) -> Result<u64> {
        Ok(DEFAULT_BLOCK_SIZE)
    }
    /// Go to the end of an open file.
    fn seek_end(&mut self, _file: Handle) -> Result<()> {
        Ok(())
    }
    /// The next call follows directly on the one before, with no work between them: it needs no time
    /// stamp of its own.
    fn directly(&mut self) {}
    /// A part of the work begins, which is timed on its own.
    fn phase(&mut self, _name: &'static str) {}
    /// Look at what was made while the clock stands still: what `look` calls is not counted. An
    /// `Ops` without files has nothing to look at.
    fn aside(&mut self, _look: &mut dyn FnMut(&mut dyn Ops) -> Result<()>) -> Result<()> {
        Ok(())
    }
    /// Take what only PostMark knows.
    fn told(&mut self, _postmark: Postmark) {}
}
