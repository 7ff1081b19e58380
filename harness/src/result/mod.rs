//! What a run came to: plain data, stored as JSON, read by every report.
//!
//! Facts (counts, bytes, hashes, errno) compare exactly. Metrics are measured and compare with
//! statistics. A number that could not be measured is absent, never 0. Keys end in their unit.
//! `schema_version` rises only when a reader that ignores unknown fields would go wrong.

mod case;
mod command;
mod judged;
mod kernels;
pub mod partial;
pub mod postmark;
mod step;
mod timings;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use case::{CaseResult, Checked, Configuration, LoopInfo, Reason, Status, Verify};
pub use command::{CommandResult, Role};
pub use judged::{
    Change, Changes, ClaimResult, ClaimVerdict, Comparison, Estimate, GateResult, GateVerdict, HEADLINE,
    MARGIN, Reference, Verdict,
};
pub use kernels::{id_on, split_id};
pub use postmark::{Postmark, Seconds};
pub use step::{EndedWord, Facts, Latency, Limit, Metrics, Series, StepResult, Which};
pub use timings::{EMULATED, is_time};

/// The version of the JSON that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

/// All results of a run, and the machine they came from.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A run of fsduel")]
pub struct RunReport {
    /// Rises only when a reader that ignores unknown fields would go wrong.
    #[schemars(range(min = 1, max = 1))]
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
    /// This run against an earlier one, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Limits that were asked for, and whether they hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<GateResult>,
    /// Figures that the suite's source printed.
    #[serde(default)]
    pub references: Vec<Reference>,
    /// What the suite's source says follows, and whether it does.
    #[serde(default)]
    pub claims: Vec<ClaimResult>,
}

impl RunReport {
    /// A run of this program of which nothing has happened yet.
    #[must_use]
    pub fn of(run_id: String, manifest: Manifest, suite: SuiteInfo) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            run_id,
            tool: Tool { name: "fsduel".into(), version: env!("CARGO_PKG_VERSION").into() },
            manifest,
            suite,
            environments: vec![],
            cases: vec![],
            comparisons: vec![],
            changes: None,
            gates: vec![],
            references: vec![],
            claims: vec![],
        }
    }

    /// Ids of what is compared, in the order of the suite, the baseline first: blocks run in an
    /// order of their own.
    #[must_use]
    pub fn configuration_ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = Vec::new();
        let ran = self.cases.iter().map(|case| case.configuration.id.as_str());
        let known: Vec<&str> = ran.clone().collect();
        let mut baseline = self.comparisons.first().map(|comparison| comparison.baseline.as_str());
        // Of several kernels each has its own, and their order is that of the suite.
        baseline = baseline.filter(|id| split_id(id).1.is_none());
        let first = baseline.into_iter().chain(self.ids_of_the_suite()).filter(|id| known.contains(id));
        for id in first.chain(ran) {
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        ids
    }

    fn ids_of_the_suite(&self) -> impl Iterator<Item = &str> {
        let list = self.suite.resolved.get("configurations").and_then(|list| list.as_array());
        list.into_iter().flatten().filter_map(|entry| entry.get("id")?.as_str())
    }

    /// All cases of a configuration that are measured. Where there is none, its warm-up tells how it
    /// fared; the figures of a warm-up are only in a run that came no further, since beside measured
    /// ones they would be taken for such.
    #[must_use]
    pub fn measured(&self, configuration: &str) -> Vec<&CaseResult> {
        let all = || self.cases.iter().filter(move |case| case.configuration.id == configuration);
        let measured: Vec<_> = all().filter(|case| case.block > 0).collect();
        let came_further = || self.cases.iter().any(|case| case.block > 0 && case.status != Status::NotRun);
        match (measured.is_empty(), measured.is_empty() && came_further()) {
            (false, _) => measured,
            (true, true) => all().filter(|case| !case.counts()).collect(),
            (true, false) => all().collect(),
        }
    }

    /// Steps in the order of the suite: each once.
    #[must_use]
    pub fn steps(&self) -> Vec<&StepResult> {
        let mut steps: Vec<&StepResult> = Vec::new();
        for step in self.cases.iter().flat_map(|case| &case.steps) {
            if !steps.iter().any(|known| known.name == step.name) {
                steps.push(step);
            }
        }
        steps
    }
}

/// The program that wrote a report.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// `fsduel`.
    pub name: String,
    /// As in `fsduel --version`.
    pub version: String,
}

/// The machine, and how the run was asked for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct StoreInfo {
    /// The folder of the images, `memory`, or the disk of `--device`.
    pub path: String,
    /// The file system below it.
    pub filesystem: String,
    /// Free at the start.
    pub free_bytes: u64,
}

impl StoreInfo {
    /// In place of a file system: file systems are made on the disk itself.
    pub const DISK: &str = "none: a whole disk";

    /// There are no images.
    #[must_use]
    pub fn is_disk(&self) -> bool {
        self.filesystem == Self::DISK
    }
}

/// Something that makes the figures less trustworthy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// A word for machines.
    pub code: String,
    /// A sentence for people.
    pub text: String,
}

/// The scale of a suite that has no other: nobody wrote it, so nobody needs to read it.
pub const ONLY_SCALE: &str = "base";

/// What was run.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
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
    /// Figures of the source that are made again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<Figure>,
    /// Every option as resolved.
    pub resolved: Value,
}

/// A figure that the suite's source printed: what is to be made again of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Figure {
    /// What it shows.
    pub title: String,
    /// Where it was printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Its parts, side by side.
    pub panels: Vec<Panel>,
}

/// A part of a figure: one number of every configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Panel {
    /// Name of the step.
    pub step: String,
    /// Key of the metric (or fact).
    pub metric: String,
    /// What it shows.
    pub title: String,
}

/// Where cases ran.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    /// `host` or `vm`.
    pub backend: String,
    /// `uname -r` there.
    pub kernel: String,
    /// Version line of each tool that was used.
    pub tools: BTreeMap<String, String>,
    /// False where the clock cannot be trusted (a guest without KVM).
    pub timings_comparable: bool,
    /// What runs the processor of a virtual machine: `kvm`, or `tcg`, which emulates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accelerator: Option<String>,
    /// Memory there, where it is not all of the machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
}
