//! The one place where the program touches the tables and the runner of the library.
//!
//! Commands see plain rows, so that a changed table changes this file and nothing else.

use std::io::Write;
use std::time::Duration;

use fsduel_harness::case::Event;
use fsduel_harness::error::{Cannot, Error, Result};
use fsduel_harness::require::{Missing, Requirement};
use fsduel_harness::result::{CaseResult, RunReport};
use fsduel_harness::units::Bytes;

use crate::cli::RunArguments;

/// A name, and what it means.
pub struct Row {
    pub name: &'static str,
    pub meaning: String,
}

/// A file system, and what the machine lacks for it.
pub struct FilesystemRow {
    pub name: &'static str,
    pub requirements: Vec<Requirement>,
    pub missing: Vec<Missing>,
}

/// What happened in a run, in order.
pub enum RunEvent {
    CaseBegun { id: String, order: u32, total: u32 },
    Worker(Event),
    CaseEnded(Box<CaseResult>),
}

/// What will run, and what it costs.
pub struct Plan {
    pub named: bool,
    pub require_all: bool,
    inner: std::convert::Infallible,
}

impl Plan {
    pub fn suite(&self) -> &str {
        match self.inner {}
    }
    pub fn costs(&self) -> String {
        match self.inner {}
    }
    pub fn describe(&self) -> String {
        match self.inner {}
    }
    pub fn admit(&self) -> Result<()> {
        match self.inner {}
    }
}

/// A device that a killed run left.
pub struct Leftover {
    pub text: String,
    pub alive: bool,
}

pub fn suites() -> Vec<Row> {
    vec![]
}
pub fn filesystems() -> Vec<FilesystemRow> {
    vec![]
}
pub fn workloads() -> Vec<Row> {
    vec![]
}
pub fn metrics() -> Vec<Row> {
    vec![]
}
pub fn formats() -> Vec<Row> {
    vec![Row { name: "json", meaning: "Everything.".into() }]
}
pub fn check(_requirements: &[Requirement]) -> Vec<Missing> {
    vec![]
}
pub fn size(text: &str) -> Result<Bytes, String> {
    text.parse().map(Bytes).map_err(|error: std::num::ParseIntError| error.to_string())
}
pub fn duration(text: &str) -> Result<Duration, String> {
    text.parse().map(Duration::from_secs).map_err(|error: std::num::ParseIntError| error.to_string())
}
pub fn write_report(_format: &str, report: &RunReport, out: &mut dyn Write) -> Result<()> {
    serde_json::to_writer_pretty(out, report).cannot(|| "write".into())
}
pub fn read_report(text: &str) -> Result<RunReport> {
    serde_json::from_str(text).cannot(|| "understand".into())
}
pub fn plan(_arguments: &RunArguments, suite: &str) -> Result<Plan> {
    Err(Error::usage(format!("find a suite named `{suite}`")))
}
pub fn run(_plan: &Plan, _tell: &mut dyn FnMut(RunEvent)) -> Result<RunReport> {
    Err(Error::new("run"))
}
pub fn signal() -> Option<u8> {
    None
}
pub fn run_if_worker() -> Option<i32> {
    None
}
pub fn leftovers() -> Result<Vec<Leftover>> {
    Ok(vec![])
}
pub fn free(_leftover: &Leftover) -> Result<()> {
    Ok(())
}
