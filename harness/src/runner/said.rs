//! What workers and consoles print for people, beside the events that are for us.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::error::{Error, Result};
use crate::lines::Lines;

use super::RunEvent;

/// What a worker printed on its standard error: told line by line unless it is a console, and the
/// last of it kept.
#[derive(Default)]
pub(super) struct Said {
    lines: Lines,
    /// The last of it.
    pub(super) kept: String,
}

/// More of it nobody reads.
const KEPT: usize = 64 << 10;

impl Said {
    /// Take what is there, without waiting for more.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    pub(super) fn hear(
        &mut self,
        errors: &mut File,
        speaks: bool,
        tell: &mut dyn FnMut(RunEvent),
    ) -> Result<()> {
        while is_readable(errors.as_fd(), PollTimeout::ZERO)? && self.lines.read(errors)? {}
        while let Some(line) = self.lines.next() {
            self.line(String::from_utf8_lossy(&line).trim_end().to_owned(), speaks, tell);
        }
        Ok(())
    }

    /// Take a line.
    pub(super) fn line(&mut self, line: String, speaks: bool, tell: &mut dyn FnMut(RunEvent)) {
        self.kept.push_str(&line);
        self.kept.push('\n');
        if speaks {
            tell(RunEvent::Said(line));
        }
        let more = self.kept.len().saturating_sub(KEPT);
        let from = (more..=self.kept.len()).find(|at| self.kept.is_char_boundary(*at)).unwrap_or(0);
        self.kept.drain(..from);
    }
}

/// Whether something is there to read, after a wait of at most `wait`.
///
/// # Errors
///
/// The kernel cannot tell.
pub(super) fn is_readable(file: BorrowedFd, wait: PollTimeout) -> Result<bool> {
    let mut fds = [PollFd::new(file, PollFlags::POLLIN)];
    match poll(&mut fds, wait) {
        Ok(count) => Ok(count > 0),
        Err(nix::errno::Errno::EINTR) => Ok(false),
        Err(errno) => Err(Error::new("wait for the worker").because(errno)),
    }
}
