//! What a command gets of whoever called: their standard input, their terminal with it, and where
//! they see what it prints.
//!
//! A terminal belongs to one process group at a time. The command takes it, and it is taken back here
//! when the case has ended.

use std::io::{IsTerminal, stderr, stdin, stdout};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::sys::signal::{SigSet, Signal};
use nix::unistd::{getpgrp, tcgetpgrp, tcsetpgrp};

use crate::case::Live;
use crate::error::{Cannot, Error, Result};

/// The streams that are lent.
pub(super) struct Lent {
    streams: Vec<OwnedFd>,
    terminal: bool,
}

impl Lent {
    /// Lend our own: none; standard error, and standard input unless it is a terminal in whose background
    /// we are; or all three.
    ///
    /// # Errors
    ///
    /// A descriptor cannot be duplicated; or a shell would have a terminal that is not ours.
    pub(super) fn streams(live: Live) -> Result<Option<Self>> {
        let terminal = stdin().is_terminal();
        let free = !terminal || tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp());
        let (input, output, errors) = (stdin(), stdout(), stderr());
        let lent: &[BorrowedFd] = match live {
            Live::Nothing => return Ok(None),
            Live::Seen if free => &[errors.as_fd(), input.as_fd()],
            Live::Seen => &[errors.as_fd()],
            Live::Shell if free => &[input.as_fd(), output.as_fd(), errors.as_fd()],
            Live::Shell => {
                return Err(Error::usage("start a shell in the background of a terminal")
                    .next("bring it to the foreground"));
            }
        };
        let copy =
            |fd: &BorrowedFd| fd.try_clone_to_owned().cannot(|| "lend our streams to a command".into());
        let streams = lent.iter().map(copy).collect::<Result<_>>()?;
        Ok(Some(Self { streams, terminal: terminal && free }))
    }

    /// All of them, in the order in which a worker takes them.
    pub(super) fn all(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.streams.iter().map(AsFd::as_fd)
    }

    /// Their numbers, as a worker is told them.
    pub(super) fn numbers(&self) -> Vec<String> {
        self.all().map(|fd| fd.as_raw_fd().to_string()).collect()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if !self.terminal {
            return;
        }
        // Whoever changes it from the background is stopped, unless they do not listen.
        let held = SigSet::from(Signal::SIGTTOU);
        let blocked = held.thread_block();
        if let Err(errno) = tcsetpgrp(stdin(), getpgrp()) {
            log::debug!("cannot take the terminal back: {errno}");
        }
        if blocked.is_ok() {
            let _ = held.thread_unblock();
        }
    }
}
