//! The one error type: what could not be done, why, and what to do next.
//!
//! A message completes the sentence "cannot ...", so that it reads the same on a terminal, in a
//! report and in a log. The kind decides the exit code; nothing else looks at it.

use std::error::Error as StdError;
use std::fmt;

use nix::errno::Errno;

/// Result with fsduel's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Whose fault an error is. The exit code follows from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The harness failed (exit 1).
    Harness,
    /// The command line or a suite file is wrong (exit 2).
    Usage,
    /// Nothing is left to run (exit 4).
    Empty,
    /// This machine lacks something (exit 69).
    Unavailable,
    /// The environment broke a measurement (exit 7).
    Environment,
    /// Data differ, or a file system is damaged (exit 5).
    Damage,
    /// A signal or a time limit ended the work.
    Stopped,
}

/// What could not be done, why, and what to do next.
#[derive(Debug)]
pub struct Error {
    kind: Kind,
    doing: String,
    cause: Option<Box<dyn StdError + Send + Sync>>,
    next: Option<String>,
}

impl Error {
    /// An error of the harness itself; `doing` completes "cannot ...".
    pub fn new(doing: impl Into<String>) -> Self {
        Self { kind: Kind::Harness, doing: doing.into(), cause: None, next: None }
    }

    /// The command line or a suite file asks for something that makes no sense.
    pub fn usage(doing: impl Into<String>) -> Self {
        Self::new(doing).of_kind(Kind::Usage)
    }

    /// Nothing is left to run.
    pub fn empty(doing: impl Into<String>) -> Self {
        Self::new(doing).of_kind(Kind::Empty)
    }

    /// This machine lacks something.
    pub fn unavailable(doing: impl Into<String>) -> Self {
        Self::new(doing).of_kind(Kind::Unavailable)
    }

    /// The environment broke a measurement.
    pub fn environment(doing: impl Into<String>) -> Self {
        Self::new(doing).of_kind(Kind::Environment)
    }

    /// Data differ, or a file system is damaged.
    pub fn damage(doing: impl Into<String>) -> Self {
        Self::new(doing).of_kind(Kind::Damage)
    }

    /// A signal or a time limit ended the work.
    pub fn stopped(doing: impl Into<String>) -> Self {
        Self::new(doing).of_kind(Kind::Stopped)
    }

    /// The same error with another kind.
    #[must_use]
    pub fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// Add the cause.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Add the next step: a command, a flag or a file.
    #[must_use]
    pub fn next(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// Whose fault it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The next step, if one is known.
    #[must_use]
    pub fn next_step(&self) -> Option<&str> {
        self.next.as_deref()
    }

    /// The errno at the root of it, if a system call failed.
    #[must_use]
    pub fn errno(&self) -> Option<Errno> {
        let mut at: Option<&(dyn StdError + 'static)> = Some(self);
        while let Some(error) = at {
            if let Some(errno) = error.downcast_ref::<Errno>() {
                return Some(*errno);
            }
            if let Some(code) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::raw_os_error)
            {
                return Some(Errno::from_raw(code));
            }
            at = error.source();
        }
        None
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}", self.doing)?;
        let mut cause = self.source();
        while let Some(error) = cause {
            match error.downcast_ref::<Errno>() {
                Some(errno) => write!(f, ": {} ({errno:?})", errno.desc())?,
                None => write!(f, ": {error}")?,
            }
            // Our own Display has already written the causes below.
            cause = if error.is::<Self>() { None } else { error.source() };
        }
        Ok(())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

/// Turn any error into an [`Error`] that says what was being done.
pub trait Cannot<T> {
    /// `doing` completes "cannot ...".
    ///
    /// # Errors
    ///
    /// The error of `self`, as the cause of an error of the harness.
    fn cannot(self, doing: impl FnOnce() -> String) -> Result<T>;
}

impl<T, E: Into<Box<dyn StdError + Send + Sync>>> Cannot<T> for std::result::Result<T, E> {
    fn cannot(self, doing: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|cause| Error::new(doing()).because(cause))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_as_one_sentence_and_keeps_its_errno() {
        let inner: Result<()> = Err(Errno::ENOSPC).cannot(|| "write 4096 bytes".into());
        let outer = inner.cannot(|| "fill the file system".into()).unwrap_err();
        assert_eq!(
            outer.to_string(),
            "cannot fill the file system: cannot write 4096 bytes: No space left on device (ENOSPC)"
        );
        assert_eq!(outer.errno(), Some(Errno::ENOSPC));
    }
}
