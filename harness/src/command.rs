//! Every external program: described as data, run in one place.
//!
//! Programs run with `LC_ALL=C` and without the settings that would change a result
//! (`MKE2FS_*`, `LIBBLKID_*`, `BTRFS_*`). They are found on `PATH` and in the sbin folders, which
//! an ordinary user's `PATH` lacks.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::error::Result;

/// A command line as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Name of the program.
    pub program: &'static str,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Added to the environment.
    pub environment: Vec<(&'static str, OsString)>,
}

impl Invocation {
    /// `program` with `arguments`.
    pub fn new<I: IntoIterator<Item: Into<OsString>>>(program: &'static str, arguments: I) -> Self {
        Self { program, arguments: arguments.into_iter().map(Into::into).collect(), environment: vec![] }
    }

    /// Set a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// The words as a person would type them.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        std::iter::once(self.program.to_owned())
            .chain(self.arguments.iter().map(|word| word.to_string_lossy().into_owned()))
            .collect()
    }
}

/// What a program came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its exit status; 128+n where signal n ended it.
    pub status: i32,
    /// stdout and stderr, in the order in which they were written, at most 64 KiB of its end.
    pub text: String,
}

/// Where a program is: on `PATH`, or in a sbin folder.
#[must_use]
pub fn find(_program: &str) -> Option<PathBuf> {
    None
}

/// Run a program to its end. It is killed when this process is asked to stop (see [`stop`]).
///
/// # Errors
///
/// It is not installed (with the package that has it), cannot be started, or was stopped.
pub fn run(_invocation: &Invocation) -> Result<Output> {
    Err(crate::Error::new("run"))
}
