//! The workload of PostMark: many small files that are made, read, appended to and deleted, as on
//! a mail server.
//!
//! From the same settings it does what PostMark 1.5x does: the same operations in the same order
//! on files of the same names and sizes, with the same system calls. Its counts are PostMark's,
//! digit for digit. What PostMark leaves out is added: every read is compared, the files are
//! listed before they are deleted, and a call that fails ends the run.

mod counters;
mod directories;
mod engine;
mod files;
mod names;
pub mod script;
pub mod settings;
mod slots;
mod stream;
mod twister;

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use script::{Action, Script, Warning};
pub use settings::{Location, ReportStyle, Settings};

use self::engine::Engine;
use self::files::Trouble;
use super::shared::parameters::{self, Parameter, Span};
use super::{Build, Ended, Fullest, Row, Workload};
use crate::command::stop_flag;
use crate::error::{Cannot, Error, Result};
use crate::ops::{self, Op, Ops, Plan, Reach, UpTo};
use crate::result::Postmark;
use crate::units::{Bytes, Seed};

pub(super) const ROW: Row = Row {
    name: "postmark",
    meaning: "Make, read, append to and delete many small files, as PostMark does.",
    parameters: &[
        Parameter { key: "number", meaning: "Files made before the transactions.", default: "500" },
        Parameter { key: "transactions", meaning: "Transactions, 10 or more.", default: "500" },
        Parameter {
            key: "size",
            meaning: "Bytes in a file: \"LOW..HIGH\"; a new one has less than HIGH.",
            default: "\"500..10000\"",
        },
        Parameter { key: "seed", meaning: "Seed of PostMark's own generator.", default: "42" },
        Parameter { key: "subdirectories", meaning: "Of each location; used from 2 on.", default: "0" },
        Parameter {
            key: "locations",
            meaning: "Places below the step's directory, as [{ path = \"a\", weight = 3 }].",
            default: "[]",
        },
        Parameter { key: "read", meaning: "Bytes read at once.", default: "512" },
        Parameter { key: "write", meaning: "Bytes written at once.", default: "512" },
        Parameter { key: "buffering", meaning: "Through streams of the C library.", default: "true" },
        Parameter {
            key: "bias-read",
            meaning: "Chance in tenths of a read, not an append; -1: neither.",
            default: "5",
        },
        Parameter {
            key: "bias-create",
            meaning: "Chance in tenths of a creation, not a deletion; -1: neither.",
            default: "5",
        },
        Parameter {
            key: "content",
            meaning: "`pool`: each write is the beginning of one text; `unique`: no two are alike.",
            default: "\"pool\"",
        },
        Parameter {
            key: "verify",
            meaning: "Compare what is read, and list all files before their deletion.",
            default: "true",
        },
        Parameter { key: "bug-compatible", meaning: "Go on after failures.", default: "false" },
        Parameter { key: "delete", meaning: "Delete what is left at the end.", default: "true" },
    ],
    build,
};

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Parameters {
    number: u32,
    transactions: u32,
    size: Span,
    seed: u32,
    subdirectories: u32,
    locations: Vec<Location>,
    read: u32,
    write: u32,
    buffering: bool,
    bias_read: i32,
    bias_create: i32,
    content: Content,
    verify: bool,
    bug_compatible: bool,
    delete: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self::of(&Settings::default(), &Options::default())
    }
}

impl Parameters {
    fn of(settings: &Settings, options: &Options) -> Self {
        Self {
            number: settings.number,
            transactions: settings.transactions,
            size: Span { low: settings.size_low.into(), high: settings.size_high.into() },
            seed: settings.seed,
            subdirectories: settings.subdirectories,
            locations: settings.locations.clone(),
            read: settings.read,
            write: settings.write,
            buffering: settings.buffering,
            bias_read: settings.bias_read,
            bias_create: settings.bias_create,
            content: options.content,
            verify: options.verify,
            bug_compatible: options.bug_compatible,
            delete: options.delete,
        }
    }

    fn settings(&self) -> Settings {
        let size = |bytes: u64| u32::try_from(bytes).unwrap_or(u32::MAX);
        Settings {
            size_low: size(self.size.low),
            size_high: size(self.size.high),
            number: self.number,
            transactions: self.transactions,
            seed: self.seed,
            locations: self.locations.clone(),
            subdirectories: self.subdirectories,
            read: self.read,
            write: self.write,
            buffering: self.buffering,
            bias_read: self.bias_read,
            bias_create: self.bias_create,
            report: ReportStyle::default(),
        }
    }

    fn options(&self) -> Options {
        Options {
            content: self.content,
            verify: self.verify,
            bug_compatible: self.bug_compatible,
            delete: self.delete,
        }
    }
}

/// What PostMark itself cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is in the files.
    pub content: Content,
    /// Compare what is read, and list the files at the end of the transactions.
    pub verify: bool,
    /// Go on after failures, as PostMark does.
    pub bug_compatible: bool,
    /// Do the deletion phase.
    pub delete: bool,
}

/// What is in the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// The beginning of one text for each write, as PostMark has it: files share their bytes.
    #[default]
    Pool,
    /// Bytes that no other write has and that do not compress.
    Unique,
}

impl Default for Options {
    fn default() -> Self {
        Self { content: Content::Pool, verify: true, bug_compatible: false, delete: true }
    }
}

/// The parameters of a step, as a suite has them, which do the same.
#[must_use]
pub fn parameters(settings: &Settings, options: &Options) -> Value {
    serde_json::to_value(Parameters::of(settings, options)).unwrap_or_default()
}

/// What the parameters of a step ask for: the way back from [`parameters()`].
///
/// # Errors
///
/// They are none of this workload.
pub fn asked(parameters: &Value) -> Result<(Settings, Options)> {
    let read: Parameters = serde_json::from_value(parameters.clone())
        .map_err(|cause| Error::usage("read the parameters of PostMark").because(cause))?;
    Ok((read.settings(), read.options()))
}

/// A run below the current directory, with names as they were typed.
///
/// # Errors
///
/// As [`Settings::check`].
pub fn in_place(settings: &Settings, options: &Options) -> Result<Arc<dyn Workload>> {
    settings.check()?;
    Ok(Arc::new(PostmarkRun { step: None, settings: settings.clone(), options: *options }))
}

/// What a run counts, and the digest of its operations; no I/O.
///
/// # Errors
///
/// As [`Settings::check`].
pub fn plan(settings: &Settings, options: &Options) -> Result<(Postmark, String)> {
    settings.check()?;
    let mut engine = Engine::new(settings, *options, None, Seed(0)).planned();
    match engine.run(&mut Plan::counting().stopped_by(stop_flag())) {
        Ok(()) => Ok((engine.counts(), engine.digest())),
        Err(Trouble::Failed(failure)) if failure.is_stop() => Err(Error::stopped("plan the run")),
        Err(Trouble::Failed(failure)) => Err(failure).cannot(|| "plan the run".into()),
        Err(Trouble::Differs(text)) => Err(Error::new(format!("plan the run: {text}"))),
    }
}

struct PostmarkRun {
    /// Its directory; `None` for a run in place.
    step: Option<String>,
    settings: Settings,
    options: Options,
}

fn build(build: &Build) -> Result<Arc<dyn Workload>> {
    let parameters: Parameters = parameters::read(build)?;
    let settings = parameters.settings();
    settings.check()?;
    let options = parameters.options();
    if options.bug_compatible && !options.delete {
        return Err(Error::usage("keep the files of a run that goes on after failures")
            .because("no plan knows what is in them, so they cannot be read back")
            .next("leave out one of bug-compatible and delete = false (--verify full)"));
    }
    Ok(Arc::new(PostmarkRun { step: Some(build.step.to_owned()), settings, options }))
}

impl PostmarkRun {
    fn engine(&self, seed: Seed) -> Engine<'_> {
        let seed = seed.derive(self.step.as_deref().unwrap_or_default());
        let mut engine = Engine::new(&self.settings, self.options, self.step.as_deref(), seed);
        if self.step.is_none() {
            engine.files.names.identify(identity);
        }
        engine
    }
}

/// Device and inode, as links and mounts can lead to one place, too; else the path.
fn identity(place: &str) -> std::result::Result<(u64, u64), PathBuf> {
    let found = std::fs::metadata(place).map_err(|_| PathBuf::from(place))?;
    Ok((found.dev(), found.ino()))
}

impl Workload for PostmarkRun {
    fn run(&self, ops: &mut dyn Ops, seed: Seed) -> ops::Result<Ended> {
        let mut engine = self.engine(seed);
        engine.files.keeps_pieces = self.options.verify;
        let done = engine.run(ops);
        ops.told(engine.counts());
        match done {
            Ok(()) => Ok(Ended::Completed),
            Err(Trouble::Differs(text)) => Ok(Ended::Differs(text)),
            // Directories belong to no operation.
            Err(Trouble::Failed(failure))
                if failure.is_limit() && !matches!(failure.op, Op::Mkdir | Op::Rmdir) =>
            {
                Ok(Ended::Limit(failure, engine.operation()))
            }
            Err(Trouble::Failed(failure)) => Err(failure),
        }
    }

    /// Directory after directory, so that what comes after can go through it depth first.
    fn leave(&self, ops: &mut dyn Ops, seed: Seed, reach: Reach) -> ops::Result<Ended> {
        let mut engine = self.engine(seed);
        let mut plan = Plan::counting().stopped_by(stop_flag());
        match engine.run(&mut UpTo::new(&mut plan, reach)) {
            Err(Trouble::Failed(failure)) if !failure.is_limit() => return Err(failure),
            _ => {}
        }
        engine.make_what_is_left(ops)?;
        Ok(Ended::Completed)
    }

    fn has_directory(&self) -> bool {
        self.step.is_some()
    }

    fn digest(&self, _seed: Seed, done: &Postmark) -> Option<String> {
        let (planned, digest) = plan(&self.settings, &self.options).ok()?;
        (planned == *done).then_some(digest)
    }

    fn fullest(&self, _seed: Seed) -> Option<Fullest> {
        let (planned, _) = plan(&self.settings, &self.options).ok()?;
        let places = self.settings.locations.len().max(1) as u64;
        Some(Fullest {
            files: planned.live_peak_count,
            directories: places * u64::from(self.settings.subdirectories) + places + 1,
            payload: Bytes(planned.live_peak_bytes),
        })
    }
}

#[cfg(test)]
mod tests;
