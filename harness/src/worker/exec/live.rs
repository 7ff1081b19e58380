//! What a command shares with the person who called: their standard input, and where they see what
//! it prints.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;

use crate::command::theirs::Streams;
use crate::error::{Cannot, Result};
use crate::sys::inherited;

/// The caller's own streams, where a command gets them.
#[derive(Debug, Default)]
pub(in crate::worker) enum Live {
    /// Not at all.
    #[default]
    Nothing,
    /// What is printed goes here, too; this is read.
    Seen(File, Option<File>),
    /// Standard input, output and error of a shell.
    Shell([File; 3]),
}

impl Live {
    /// Streams that this process has inherited under these numbers.
    ///
    /// # Errors
    ///
    /// A number is none, or nothing is open under it.
    pub(in crate::worker) fn inherited(numbers: &[String]) -> Result<Self> {
        match numbers {
            [] => Ok(Self::Nothing),
            [errors] => Ok(Self::Seen(take(errors)?, None)),
            [errors, input] => Ok(Self::Seen(take(errors)?, Some(take(input)?))),
            [input, output, errors, ..] => Ok(Self::Shell([take(input)?, take(output)?, take(errors)?])),
        }
    }

    /// In place of streams that are not there: what is printed goes to our own standard error.
    ///
    /// # Errors
    ///
    /// It cannot be opened again.
    pub(in crate::worker) fn to_stderr() -> Result<Self> {
        let stderr =
            std::io::stderr().as_fd().try_clone_to_owned().cannot(|| "show what is printed".into())?;
        Ok(Self::Seen(stderr.into(), None))
    }

    /// Whether nobody shares anything.
    pub(in crate::worker) fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    /// Whether a person works there, who may do what a command may not.
    pub(super) fn is_shell(&self) -> bool {
        matches!(self, Self::Shell(_))
    }

    /// Tell a person something.
    pub(super) fn say(&self, line: &str) {
        if let Self::Shell([.., errors]) = self {
            let mut errors: &File = errors;
            // Nobody has to read it.
            let _ = writeln!(errors, "{line}");
        }
    }

    /// What a command gets of it. What stands around it reads nothing.
    pub(super) fn streams(&self, measured: bool) -> Streams<'_> {
        match self {
            Self::Nothing => Streams::Kept { input: None, shown: None },
            Self::Seen(errors, input) => {
                Streams::Kept { input: input.as_ref().filter(|_| measured), shown: Some(errors) }
            }
            Self::Shell(streams) if measured => Streams::Theirs(streams),
            Self::Shell([.., errors]) => Streams::Kept { input: None, shown: Some(errors) },
        }
    }
}

fn take(number: &str) -> Result<File> {
    let number = number.parse().cannot(|| format!("use descriptor {number}"))?;
    inherited::take(number).map(File::from)
}
