//! A command of the user's: started as they would start it, and listened to until it ends.
//!
//! Nothing is changed but where it starts, as whom, and what the caller adds to its environment. Its
//! output is passed on as it comes, and the end of it kept.

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::process::{PidfdFlags, pidfd_open};
use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Read, Write};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use super::keep_end;
use crate::error::{Cannot, Error, Result};
use crate::sys::confine::{Confined, Terminal, confine};

/// How long is waited for output or the end before the caller may look around: short at first, since
/// many commands are.
const LOOK: RangeInclusive<u16> = 1..=50;

/// How a command starts.
pub struct Theirs<'a> {
    /// The program and its arguments.
    pub words: &'a [String],
    /// Where it starts.
    pub folder: &'a Path,
    /// Added to the environment.
    pub environment: &'a [(OsString, OsString)],
    /// As whom, and in which root.
    pub confined: Confined,
    /// What it reads, and where it prints to.
    pub streams: Streams<'a>,
}

/// Standard input, output and error of a command. A terminal that it reads becomes its own.
#[derive(Clone, Copy)]
pub enum Streams<'a> {
    /// The end of what it prints is kept.
    Kept {
        /// What it reads; nothing where none is given.
        input: Option<&'a File>,
        /// Where all that it prints goes at once, too.
        shown: Option<&'a File>,
    },
    /// These three themselves; nothing is kept.
    Theirs(&'a [File; 3]),
}

impl Streams<'_> {
    fn input(&self) -> Option<&File> {
        match self {
            Self::Kept { input, .. } => *input,
            Self::Theirs([input, ..]) => Some(input),
        }
    }

    fn terminal(&self) -> Option<Terminal> {
        let is_one = self.input().is_some_and(IsTerminal::is_terminal);
        is_one.then_some(match self {
            Self::Kept { .. } => Terminal::NeverStopped,
            Self::Theirs(_) => Terminal::WithJobs,
        })
    }

    /// Let `command` have them.
    fn give(&self, command: &mut Command) -> std::io::Result<()> {
        let copy = |file: &File| file.try_clone().map(Stdio::from);
        command.stdin(self.input().map_or(Ok(Stdio::null()), copy)?);
        match self {
            Self::Kept { .. } => command.stdout(Stdio::piped()).stderr(Stdio::piped()),
            Self::Theirs([_, output, errors]) => command.stdout(copy(output)?).stderr(copy(errors)?),
        };
        Ok(())
    }

    fn shown(&self) -> std::io::Result<Option<File>> {
        match self {
            Self::Kept { shown, .. } => shown.map(File::try_clone).transpose(),
            Self::Theirs(_) => Ok(None),
        }
    }
}

/// A command that was started.
pub struct Running {
    child: Child,
    pidfd: OwnedFd,
    /// Standard output and standard error, while they are open.
    streams: [Option<File>; 2],
    shown: Option<File>,
    kept: [Kept; 2],
    status: Option<ExitStatus>,
    /// How long the next look may take, in milliseconds.
    wait: u16,
}

/// What came through a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// All bytes of it.
    pub bytes: u64,
    /// The last of them.
    pub end: Vec<u8>,
}

impl Theirs<'_> {
    /// Start it, in a process group of its own.
    ///
    /// # Errors
    ///
    /// The errno tells why: `ENOENT`, `EACCES`, `ENOEXEC`, ...
    pub fn start(&self) -> Result<Running> {
        let program = self.words.first().map(String::as_str).unwrap_or_default();
        let doing = || format!("start {program}");
        let mut command = Command::new(program);
        command.args(self.words.get(1..).unwrap_or_default());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.folder).process_group(0);
        self.streams.give(&mut command).cannot(doing)?;
        confine(&mut command, self.confined.clone(), self.streams.terminal());
        let mut child = command.spawn().cannot(doing)?;
        let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
        let pid = pid.ok_or_else(|| Error::new(doing()))?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(crate::sys::errno).cannot(doing)?;
        let (stdout, stderr) =
            (child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from));
        let streams = [stdout, stderr].map(|stream| stream.map(File::from));
        for stream in streams.iter().flatten() {
            rustix::io::ioctl_fionbio(stream, true).map_err(crate::sys::errno).cannot(doing)?;
        }
        let shown = self.streams.shown().cannot(doing)?;
        Ok(Running {
            child,
            pidfd,
            streams,
            shown,
            kept: Default::default(),
            status: None,
            wait: *LOOK.start(),
        })
    }
}

impl Running {
    /// Its process, which is also its process group.
    #[must_use]
    pub fn pid(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(i32::try_from(self.child.id()).unwrap_or(0))
    }

    /// Wait a moment, take what it printed, and tell how it ended, once it has.
    ///
    /// # Errors
    ///
    /// It cannot be waited for.
    pub fn look(&mut self) -> Result<Option<ExitStatus>> {
        let doing = || "wait for a command".to_owned();
        let mut fds = vec![];
        if self.status.is_none() {
            fds.push(PollFd::new(self.pidfd.as_fd(), PollFlags::POLLIN));
        }
        fds.extend(self.streams.iter().flatten().map(|file| PollFd::new(file.as_fd(), PollFlags::POLLIN)));
        match poll(&mut fds, PollTimeout::from(self.wait)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno).cannot(doing),
        }
        self.wait = (2 * self.wait).min(*LOOK.end());
        if self.status.is_none() {
            self.status = self.child.try_wait().cannot(doing)?;
        }
        self.take().cannot(doing)?;
        Ok(self.status)
    }

    /// Take what is in the pipes.
    fn take(&mut self) -> std::io::Result<()> {
        for (stream, kept) in self.streams.iter_mut().zip(&mut self.kept) {
            let open = match stream {
                Some(file) => drain(file, kept, &mut self.shown)?,
                None => continue,
            };
            if !open {
                *stream = None;
            }
        }
        Ok(())
    }

    /// What it printed: on standard output, and on standard error.
    ///
    /// # Errors
    ///
    /// The rest cannot be read.
    pub fn printed(mut self) -> Result<[Kept; 2]> {
        self.take().cannot(|| "read what a command printed".into())?;
        let is_open = |kept: &Kept| kept.end.last().is_some_and(|last| *last != b'\n');
        if let Some(shown) = self.shown.as_mut().filter(|_| self.kept.iter().any(is_open)) {
            // What is told next begins a line of its own.
            let _ = shown.write_all(b"\n");
        }
        Ok(std::mem::take(&mut self.kept))
    }
}

/// Take what is there; false at its end. A command that prints without end does not keep us here.
fn drain(file: &mut File, kept: &mut Kept, shown: &mut Option<File>) -> std::io::Result<bool> {
    let mut chunk = [0; 16 << 10];
    for _ in 0..64 {
        match file.read(&mut chunk) {
            Ok(0) => return Ok(false),
            Ok(length) => {
                kept.bytes += length as u64;
                keep_end(&mut kept.end, &chunk[..length]);
                // Nobody reads it any more: what is kept has to do.
                if shown.as_mut().is_some_and(|shown| shown.write_all(&chunk[..length]).is_err()) {
                    *shown = None;
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
