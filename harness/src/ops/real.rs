//! `Ops` that does the calls, and writes down what they cost.
//!
//! Paths are resolved below one directory descriptor, so a mount elsewhere cannot catch a write.
//! The recording must not show in the figures: paths reach the kernel through a buffer on the
//! stack, buffers are used again, and a call that follows another directly (`close`, `fsync`)
//! begins where that one ended, which saves a time stamp.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, StatxFlags};

use super::record::{Latencies, Samples};
use super::{Counts, Failure, Handle, Kind, Op, Ops, Result};
use crate::result::{Latency, Series};

/// Told at most once a second: operations, and bytes written and read.
pub type Progress<'a> = Box<dyn FnMut(u64, u64) + 'a>;
/// Looked at before every call: once true, every call fails with `EINTR`.
pub type Stop<'a> = &'a AtomicBool;

/// Failures that are kept.
const FAILURES: usize = 100;
const SECOND: Duration = Duration::from_secs(1);

/// What the calls came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// Successful operations, and bytes.
    pub counts: Counts,
    /// By the name of the operation.
    pub latency: BTreeMap<String, Latency>,
    /// `payload_bytes`: bytes written and read, over the time since the first call.
    pub series: Vec<Series>,
    /// The first failures, in order; those that a workload looks for are among them.
    pub errnos: Vec<Failure>,
}

/// Does the calls below a directory.
pub struct Real<'a> {
    root: OwnedFd,
    stop: Stop<'a>,
    progress: Progress<'a>,
    files: Vec<OpenFile>,
    directory: Vec<u8>,
    counts: Counts,
    latencies: Latencies,
    samples: Samples,
    errnos: Vec<Failure>,
    clock: Option<Clock>,
}

struct OpenFile {
    fd: Option<OwnedFd>,
    path: String,
}

/// Begins with the first call.
struct Clock {
    begun: Instant,
    last: Instant,
    due: Instant,
    sample_due: Instant,
    progress_due: Instant,
}

impl Clock {
    fn new(now: Instant, interval: Duration) -> Self {
        let sample_due = now + interval;
        Self { begun: now, last: now, due: sample_due, sample_due, progress_due: now + SECOND }
    }
}

impl<'a> Real<'a> {
    /// Calls below `root`, the directory of the mount.
    #[must_use]
    pub fn new(root: impl Into<OwnedFd>, stop: Stop<'a>, progress: Progress<'a>) -> Self {
        Self {
            root: root.into(),
            stop,
            progress,
            files: Vec::new(),
            directory: Vec::new(),
            counts: Counts::default(),
            latencies: Latencies::default(),
            samples: Samples::new(),
            errnos: Vec::new(),
            clock: None,
        }
    }

    /// Close everything, and tell what the calls came to.
    #[must_use]
    pub fn into_record(mut self) -> Record {
        if let Some(clock) = &self.clock {
            self.samples.add(clock.last - clock.begun, self.counts.moved());
        }
        Record {
            counts: self.counts,
            latency: self.latencies.summary(),
            series: vec![self.samples.finish()],
            errnos: self.errnos,
        }
    }

    fn begin(&mut self) -> Instant {
        let now = Instant::now();
        self.clock.get_or_insert_with(|| Clock::new(now, self.samples.interval()));
        now
    }

    /// The end of the call before, for one that follows directly.
    fn follow(&mut self) -> Instant {
        match &self.clock {
            Some(clock) => clock.last,
            None => self.begin(),
        }
    }

    /// Do `call` until no signal interrupts it, and write down what came of it.
    fn call<T>(
        &mut self,
        (op, begun): (Op, Instant),
        path: impl FnOnce(&Self) -> String,
        mut call: impl FnMut(&mut Self) -> rustix::io::Result<T>,
    ) -> Result<T> {
        let result = loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Failure { op, path: path(self), errno: Errno::EINTR });
            }
            match call(self) {
                Err(rustix::io::Errno::INTR) => {}
                result => break result,
            }
        };
        self.end(op, begun, result.is_ok());
        result.map_err(|errno| {
            let errno = Errno::from_raw(errno.raw_os_error());
            let failure = Failure { op, path: path(self), errno };
            if self.errnos.len() < FAILURES {
                self.errnos.push(failure.clone());
            }
            failure
        })
    }

    fn end(&mut self, op: Op, begun: Instant, succeeded: bool) {
        let now = Instant::now();
        if succeeded {
            self.latencies.record(op, now - begun);
            *self.counts.operations.entry(op).or_insert(0) += 1;
        }
        let Some(clock) = &mut self.clock else { return };
        clock.last = now;
        if now >= clock.due {
            self.tick(now);
        }
    }

    /// A sample, or word of the progress, is due.
    fn tick(&mut self, now: Instant) {
        let Some(clock) = &mut self.clock else { return };
        if now >= clock.sample_due {
            self.samples.add(now - clock.begun, self.counts.moved());
            clock.sample_due = now + self.samples.interval();
        }
        if now >= clock.progress_due {
            (self.progress)(self.counts.total(), self.counts.moved());
            clock.progress_due = now + SECOND;
            // What telling cost is no part of the next call.
            clock.last = Instant::now();
        }
        clock.due = clock.sample_due.min(clock.progress_due);
    }

    fn open_file(&mut self, op: Op, path: &str, flags: OFlags) -> Result<Handle> {
        let begun = self.begin();
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let mode = Mode::from_raw_mode(0o644);
        let fd = self.call(
            (op, begun),
            |_| path.to_owned(),
            |real| rustix::fs::openat(&real.root, path, flags, mode),
        )?;
        Ok(self.keep(fd, path))
    }

    fn keep(&mut self, fd: OwnedFd, path: &str) -> Handle {
        let free = self.files.iter().position(|file| file.fd.is_none());
        let at = free.unwrap_or_else(|| {
            self.files.push(OpenFile { fd: None, path: String::new() });
            self.files.len() - 1
        });
        let file = &mut self.files[at];
        file.fd = Some(fd);
        file.path.clear();
        file.path.push_str(path);
        Handle(at)
    }

    fn path_of(&self, file: Handle) -> String {
        self.files.get(file.0).map(|file| file.path.clone()).unwrap_or_default()
    }

    fn fd(&self, file: Handle) -> rustix::io::Result<&OwnedFd> {
        self.files.get(file.0).and_then(|file| file.fd.as_ref()).ok_or(rustix::io::Errno::BADF)
    }

    /// A call on a path.
    fn at<T>(
        &mut self,
        op: Op,
        path: &str,
        call: impl FnMut(&mut Self) -> rustix::io::Result<T>,
    ) -> Result<T> {
        let begun = self.begin();
        self.call((op, begun), |_| path.to_owned(), call)
    }
}

impl Ops for Real<'_> {
    fn mkdir(&mut self, path: &str) -> Result<()> {
        let mode = Mode::from_raw_mode(0o755);
        self.at(Op::Mkdir, path, |real| rustix::fs::mkdirat(&real.root, path, mode))
    }

    fn rmdir(&mut self, path: &str) -> Result<()> {
        self.at(Op::Rmdir, path, |real| rustix::fs::unlinkat(&real.root, path, AtFlags::REMOVEDIR))
    }

    fn create(&mut self, path: &str) -> Result<Handle> {
        self.open_file(Op::Create, path, OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY)
    }

    fn open(&mut self, path: &str) -> Result<Handle> {
        self.open_file(Op::Open, path, OFlags::RDONLY)
    }

    fn write(&mut self, file: Handle, bytes: &[u8]) -> Result<usize> {
        let begun = self.begin();
        self.call(
            (Op::Write, begun),
            |real| real.path_of(file),
            |real| {
                let written = rustix::io::write(real.fd(file)?, bytes)?;
                real.counts.written_bytes += written as u64;
                // Never seen on a regular file; a caller that goes on would not end.
                if written == 0 && !bytes.is_empty() { Err(rustix::io::Errno::IO) } else { Ok(written) }
            },
        )
    }

    fn read(&mut self, file: Handle, into: &mut [u8]) -> Result<usize> {
        let begun = self.begin();
        self.call(
            (Op::Read, begun),
            |real| real.path_of(file),
            |real| {
                let read = rustix::io::read(real.fd(file)?, &mut *into)?;
                real.counts.read_bytes += read as u64;
                Ok(read)
            },
        )
    }

    fn fsync(&mut self, file: Handle) -> Result<()> {
        let begun = self.follow();
        self.call((Op::Fsync, begun), |real| real.path_of(file), |real| rustix::fs::fsync(real.fd(file)?))
    }

    fn close(&mut self, file: Handle) -> Result<()> {
        let begun = self.follow();
        let mut fd = self.files.get_mut(file.0).and_then(|file| file.fd.take());
        self.call(
            (Op::Close, begun),
            |real| real.path_of(file),
            |_| match nix::unistd::close(fd.take().ok_or(rustix::io::Errno::BADF)?) {
                // Linux has closed the file then, and must not be asked again: close(2), NOTES.
                Ok(()) | Err(Errno::EINTR) => Ok(()),
                Err(errno) => Err(rustix::io::Errno::from_raw_os_error(errno as i32)),
            },
        )
    }

    fn unlink(&mut self, path: &str) -> Result<()> {
        self.at(Op::Unlink, path, |real| rustix::fs::unlinkat(&real.root, path, AtFlags::empty()))
    }

    fn stat(&mut self, path: &str) -> Result<u64> {
        self.at(Op::Stat, path, |real| {
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            Ok(rustix::fs::statx(&real.root, path, flags, StatxFlags::BASIC_STATS)?.stx_size)
        })
    }

    /// The latency is that of opening, listing and closing.
    fn readdir(&mut self, path: &str, tell: &mut dyn FnMut(&str, Kind)) -> Result<()> {
        self.at(Op::Readdir, path, |real| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let directory = rustix::fs::openat(&real.root, path, flags, Mode::empty())?;
            real.directory.reserve(64 << 10);
            let mut listing = RawDir::new(&directory, real.directory.spare_capacity_mut());
            while let Some(entry) = listing.next() {
                let entry = entry?;
                let name = entry.file_name().to_string_lossy();
                if name != "." && name != ".." {
                    tell(&name, kind(&directory, entry.file_name(), entry.file_type())?);
                }
            }
            Ok(())
        })
    }

    fn counts(&self) -> &Counts {
        &self.counts
    }
}

/// The kind, asked for where the directory does not say (`ftype=0` on XFS).
fn kind(directory: &OwnedFd, name: &std::ffi::CStr, told: FileType) -> rustix::io::Result<Kind> {
    let kind = match told {
        FileType::Unknown => {
            let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
            FileType::from_raw_mode(stat.st_mode)
        }
        told => told,
    };
    Ok(match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        _ => Kind::Other,
    })
}

#[cfg(test)]
mod tests;
