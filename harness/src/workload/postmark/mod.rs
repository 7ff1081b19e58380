//! The workload of PostMark: many small files that are made, read, appended to and deleted, as on
//! a mail server; in the same order, with the same names and sizes, as the program of that name.

pub mod script;
pub mod settings;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use script::{Action, Script, Warning};
pub use settings::{Location, ReportStyle, Settings};

use super::Workload;
use crate::error::Result;
use crate::result::Postmark;

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
pub fn parameters(_settings: &Settings, _options: &Options) -> Value {
    Value::Null
}

/// A run below the current directory, with names as they were typed.
///
/// # Errors
///
/// As [`Settings::check`].
pub fn in_place(_settings: &Settings, _options: &Options) -> Result<Arc<dyn Workload>> {
    Err(crate::error::Error::new("run in place"))
}

/// What a run counts, and the digest of its operations; no I/O.
///
/// # Errors
///
/// As [`Settings::check`].
pub fn plan(_settings: &Settings, _options: &Options) -> Result<(Postmark, String)> {
    Err(crate::error::Error::new("plan"))
}
