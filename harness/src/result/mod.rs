//! What a run came to: plain data, stored as JSON, read by every report.
//!
//! Facts (counts, bytes, hashes, errno) compare exactly. Metrics are measured and compare with
//! statistics. A number that could not be measured is absent, never 0. Keys end in their unit.
//! `schema_version` rises only when a reader that ignores unknown fields would go wrong.

mod case;
mod judged;
pub mod postmark;
mod step;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use case::{CaseResult, Checked, Configuration, LoopInfo, Reason, Status, Verify};
pub use judged::{ClaimResult, ClaimVerdict, Comparison, Reference};
pub use postmark::{Postmark, Seconds};
pub use step::{EndedWord, Facts, Latency, Limit, Metrics, Series, StepResult, Which};

/// The version of the JSON that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

/// All results of a run, and the machine they came from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunReport {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Random, the same for all cases of a run.
    pub run_id: String,
    /// The program that wrote it.
    pub tool: Tool,
    /// The machine, and how the run was asked for.
    pub manifest: Manifest,
    /// What was run.
    pub suite: SuiteInfo,
    /// Where cases ran. A configuration points into this list.
    pub environments: Vec<Environment>,
    /// One for each configuration and block, in the order in which they ran.
    pub cases: Vec<CaseResult>,
    /// Configurations against the baseline.
    #[serde(default)]
    pub comparisons: Vec<Comparison>,
    /// Figures that the suite's source printed.
    #[serde(default)]
    pub references: Vec<Reference>,
    /// What the suite's source says follows, and whether it does.
    #[serde(default)]
    pub claims: Vec<ClaimResult>,
}

/// The program that wrote a report.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tool {
    /// `fsduel`.
    pub name: String,
    /// As in `fsduel --version`.
    pub version: String,
}

/// The machine, and how the run was asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Manifest {
    /// `uname -r`.
    pub kernel: String,
    /// `PRETTY_NAME` of os-release.
    pub os: String,
    /// Model name of the first processor.
    pub cpu: String,
    /// Processors this process may run on.
    pub cpus_count: u32,
    /// `MemTotal`.
    pub memory_bytes: u64,
    /// The hypervisor or container, as far as one can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub virtualisation: Option<String>,
    /// Where the images were.
    pub store: StoreInfo,
    /// Decides every name, size, byte and order.
    pub seed: String,
    /// RFC 3339, UTC.
    pub started_at: String,
    /// The command line.
    pub argv: Vec<String>,
    /// One-minute load average at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_average: Option<f64>,
    /// What makes the figures less trustworthy.
    #[serde(default)]
    pub warnings: Vec<Warning>,
}

/// Where the images were.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StoreInfo {
    /// The folder, or `memory`.
    pub path: String,
    /// The file system below it.
    pub filesystem: String,
    /// Free at the start.
    pub free_bytes: u64,
}

/// Something that makes the figures less trustworthy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A word for machines.
    pub code: String,
    /// A sentence for people.
    pub text: String,
}

/// The scale of a suite that has no other: nobody wrote it, so nobody needs to read it.
pub const ONLY_SCALE: &str = "base";

/// What was run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SuiteInfo {
    /// Name in the suite file.
    pub name: String,
    /// Title in the suite file.
    pub title: String,
    /// The scale that was run.
    pub scale: String,
    /// Where the suite comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Every option as resolved.
    pub resolved: Value,
}

/// Where cases ran.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Environment {
    /// `host` or `vm`.
    pub backend: String,
    /// `uname -r` there.
    pub kernel: String,
    /// Version line of each tool that was used.
    pub tools: BTreeMap<String, String>,
    /// False where the clock cannot be trusted (a guest without KVM).
    pub timings_comparable: bool,
}
