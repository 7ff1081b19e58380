//! `Ops` that does the calls, and writes down what they cost.
//!
//! Paths are resolved below one directory descriptor, so a mount elsewhere cannot catch a write.
//! The recording must not show in the figures: paths reach the kernel through a buffer on the
//! stack, buffers are used again, and a call that follows another directly (`close`, `fsync`)
//! begins where that one ended, which saves a time stamp.

mod clock;
mod entry;

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use nix::errno::Errno;
use rustix::fs::{AtFlags, Mode, OFlags, RawDir, StatxFlags};

use self::clock::{Clock, SECOND};
use self::entry::{flags, kind};
use super::record::{Aside, Latencies, Phases, Record, Samples};
use super::{Counts, Failure, Handle, How, Kind, Op, Ops, Result};
use crate::result::Postmark;
use crate::sys::counters::Counters;
use crate::sys::cpu_time::cpu_time;

/// Called at most once a second, while the clock of the step runs.
type EachSecond<'a> = Box<dyn FnMut() + 'a>;
/// Looked at before every call: once true, every call fails with `EINTR`.
pub type Stop<'a> = &'a AtomicBool;

/// Failures that are kept.
const FAILURES: usize = 100;

/// Does the calls below a directory.
pub struct Real<'a> {
    root: OwnedFd,
    stop: Stop<'a>,
    each_second: Option<EachSecond<'a>>,
    counters: Option<&'a Counters>,
    files: Vec<OpenFile>,
    directory: Vec<u8>,
    counts: Counts,
    latencies: Latencies,
    samples: Samples,
    errnos: Vec<Failure>,
    clock: Option<Clock>,
    phases: Phases,
    aside: Aside,
    /// The clock stands still, and nothing is counted.
    is_aside: bool,
    /// The next call begins where the one before ended.
    directly: bool,
    block_size: Option<u64>,
    postmark: Option<Postmark>,
}

struct OpenFile {
    fd: Option<OwnedFd>,
    path: String,
}

impl<'a> Real<'a> {
    /// Calls below `root`, the directory of the mount.
    #[must_use]
    pub fn new(root: impl Into<OwnedFd>, stop: Stop<'a>) -> Self {
        Self {
            root: root.into(),
            stop,
            each_second: None,
            counters: None,
            files: Vec::new(),
            directory: Vec::new(),
            counts: Counts::default(),
            latencies: Latencies::default(),
            samples: Samples::new(),
            errnos: Vec::new(),
            clock: None,
            phases: Phases::default(),
            aside: Aside::default(),
            is_aside: false,
            directly: false,
            block_size: None,
            postmark: None,
        }
    }

    /// Call `look` at most once a second between two calls. Its time is part of the work's.
    #[must_use]
    pub fn each_second(self, look: impl FnMut() + 'a) -> Self {
        Self { each_second: Some(Box::new(look)), ..self }
    }

    /// Count in `counters`, too, from where others can see it.
    #[must_use]
    pub fn counting_in(self, counters: &'a Counters) -> Self {
        Self { counters: Some(counters), ..self }
    }

    /// Close everything, and tell what the calls came to.
    #[must_use]
    pub fn into_record(mut self) -> Record {
        let lasted = self.clock.as_ref().map(|clock| clock.last - clock.begun);
        if let Some(lasted) = lasted {
            self.samples.add(lasted, self.counts.moved());
        }
        Record {
            begun_unix_s: self.clock.as_ref().map_or(0.0, |clock| clock.begun_unix_s),
            phases: self.phases.finish(lasted.unwrap_or_default()),
            aside: self.aside,
            block_size: self.block_size,
            postmark: self.postmark,
            counts: self.counts,
            latency: self.latencies.summary(),
            series: vec![self.samples.finish()],
            errnos: self.errnos,
        }
    }

    fn begin(&mut self) -> Instant {
        if let (true, Some(clock)) = (std::mem::take(&mut self.directly), &self.clock) {
            return clock.last;
        }
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
        if self.is_aside {
            return;
        }
        let now = Instant::now();
        if succeeded {
            self.latencies.record(op, now - begun);
            self.counts.add(op, 1);
            if let Some(counters) = self.counters {
                counters.add(self.counts.moved());
            }
        }
        let Some(clock) = &mut self.clock else { return };
        clock.last = now;
        if now >= clock.due {
            self.tick(now);
        }
    }

    /// A sample, or the call of each second, is due.
    fn tick(&mut self, now: Instant) {
        let Some(clock) = &mut self.clock else { return };
        if now >= clock.sample_due {
            self.samples.add(now - clock.begun, self.counts.moved());
            clock.sample_due = now + self.samples.interval();
        }
        if let (true, Some(look)) = (now >= clock.second_due, &mut self.each_second) {
            look();
            clock.second_due = now + SECOND;
            // What that cost is no part of the next call.
            clock.last = Instant::now();
        }
        clock.due = clock.sample_due;
        if self.each_second.is_some() {
            clock.due = clock.due.min(clock.second_due);
        }
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

    fn open_as(&mut self, path: &str, how: How) -> Result<Handle> {
        let begun = self.begin();
        let (flags, mode) = flags(how);
        let fd = self.call(
            (how.op(), begun),
            |_| path.to_owned(),
            |real| rustix::fs::openat(&real.root, path, flags, mode),
        )?;
        Ok(self.keep(fd, path))
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

    fn reads_bytes(&self) -> bool {
        true
    }

    fn block_size(&mut self, file: Handle) -> Result<u64> {
        let begun = self.follow();
        let size = self.call(
            (Op::Stat, begun),
            |real| real.path_of(file),
            |real| Ok(rustix::fs::fstat(real.fd(file)?)?.st_blksize.unsigned_abs()),
        )?;
        self.block_size = Some(size);
        Ok(size)
    }

    fn seek_end(&mut self, file: Handle) -> Result<()> {
        let begun = self.follow();
        self.call(
            (Op::Seek, begun),
            |real| real.path_of(file),
            |real| rustix::fs::seek(real.fd(file)?, rustix::fs::SeekFrom::End(0)).map(drop),
        )
    }

    fn directly(&mut self) {
        self.directly = true;
    }

    fn phase(&mut self, name: &'static str) {
        let now = self.begin();
        if let Some(clock) = &mut self.clock {
            clock.last = now;
            self.phases.begin(name, now - clock.begun);
        }
    }

    fn aside(&mut self, look: &mut dyn FnMut(&mut dyn Ops) -> Result<()>) -> Result<()> {
        let (begun, cpu) = (self.begin(), cpu_time());
        self.is_aside = true;
        let looked = look(self);
        self.is_aside = false;
        let (pause, cpu) = (begun.elapsed(), cpu_time().since(cpu));
        self.aside.add(pause, cpu);
        if let Some(clock) = &mut self.clock {
            clock.skip(pause);
        }
        looked
    }

    fn told(&mut self, postmark: Postmark) {
        self.postmark = Some(postmark);
    }
}

#[cfg(test)]
mod tests;
