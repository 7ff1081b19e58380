//! One step of a case: facts, metrics, and the limit it met.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Checked, CommandResult, Postmark};

/// Measured numbers by key; every key ends in its unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Metrics(pub BTreeMap<String, f64>);

impl Metrics {
    /// Store a number. One that is not finite could not be measured and stays absent.
    pub fn set(&mut self, key: &str, value: f64) {
        if value.is_finite() {
            self.0.insert(key.to_owned(), value);
        }
    }

    /// The number under `key`, if it was measured.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<f64> {
        self.0.get(key).copied()
    }
}

/// One step of a case.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct StepResult {
    /// Name in the suite, and of the directory.
    pub name: String,
    /// Name of the workload.
    pub workload: String,
    /// Seconds since the start of the case.
    pub started_s: f64,
    /// Whether all of the work was done.
    pub ended: EndedWord,
    /// The limit that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// Compare exactly.
    pub facts: Facts,
    /// Compare with statistics.
    pub metrics: Metrics,
    /// By kind of operation.
    #[serde(default)]
    pub latency: BTreeMap<String, Latency>,
    /// Over the time of the step.
    #[serde(default)]
    pub series: Vec<Series>,
    /// Calls that failed, in order, the first hundred; those that a fill looks for are among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errnos: Vec<String>,
    /// Whether what was read back is what was written; after a command, whether all of it can be read.
    pub read_back: Checked,
    /// The command that the step ran, or the one of its commands that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandResult>,
}

impl StepResult {
    /// A metric or, where there is none of that key, a fact that is a number.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<f64> {
        self.metrics.get(key).or_else(|| self.facts.number(key))
    }

    /// A fixed amount of work that was not done in full; a fill is done when the room is. Who did
    /// less was not faster, so it is not compared.
    #[must_use]
    pub fn cut_short(&self) -> bool {
        self.ended == EndedWord::Limit && self.facts.file_size_bytes.is_none()
    }
}

/// Whether all of the work was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EndedWord {
    /// All of it.
    Completed,
    /// The file system reached a limit.
    Limit,
}

/// Which limit of a file system was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// Blocks for data.
    Space,
    /// Blocks for metadata, while data has room.
    Metadata,
    /// A fixed number of inodes.
    Inodes,
    /// The index of one directory.
    DirectoryIndex,
    /// Links to one inode (subdirectories of one directory).
    Links,
    /// The size of one file.
    FileSize,
}

/// A limit that was reached, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// Which limit.
    pub which: Which,
    /// Name of the errno; absent for a limit that the suite set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<String>,
    /// The call that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The path of that call, below the mount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Calls done before.
    pub at_count: u64,
    /// The operation of the workload's own that met it, from 1, where it counts such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_operation: Option<u64>,
    /// Bytes written before.
    pub at_bytes: u64,
    /// A sentence with the numbers behind `which`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What must be equal in every run with the same seed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Facts {
    /// Files made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_created_count: Option<u64>,
    /// Directories made, without the step's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directories_created_count: Option<u64>,
    /// Files removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_deleted_count: Option<u64>,
    /// Bytes given to write, or got from read in a step that only reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_bytes: Option<u64>,
    /// Sum over all entries, as read back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tree_hash: Option<String>,
    /// Size of the file that filled the file system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size_bytes: Option<u64>,
    /// Name of the errno that ended a fill.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errno: Option<String>,
    /// SHA-256 of the list of operations of a PostMark run: a line for each, in order, `C path
    /// size`, `R path size`, `A path bytes` or `D path 0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations_sha256: Option<String>,
    /// What PostMark counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub postmark: Option<Postmark>,
}

impl Facts {
    /// Those that are numbers, by key: the step's own, then what only PostMark counts.
    pub fn numbers(&self) -> impl Iterator<Item = (String, f64)> + use<> {
        let mut all = fields(self);
        for (key, value) in self.postmark.as_ref().map(fields).unwrap_or_default() {
            all.entry(key).or_insert(value);
        }
        all.into_iter().filter_map(|(key, value)| Some((key, value.as_f64()?)))
    }

    /// The number under `key`.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<f64> {
        self.numbers().find(|(found, _)| found == key).map(|(_, value)| value)
    }
}

/// What a structure of plain data stores.
fn fields(data: &impl Serialize) -> serde_json::Map<String, serde_json::Value> {
    match serde_json::to_value(data) {
        Ok(serde_json::Value::Object(fields)) => fields,
        _ => serde_json::Map::new(),
    }
}

/// Latency of one kind of operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Operations.
    pub count: u64,
    /// Median.
    pub p50_s: f64,
    /// 90th percentile.
    pub p90_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
    /// 99.9th percentile.
    pub p999_s: f64,
    /// Longest.
    pub max_s: f64,
    /// Non-empty buckets, `UPPER_NANOSECONDS:COUNT` separated by blanks.
    pub histogram: String,
}

/// A number over the time of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// What it counts.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Seconds since the start of the step.
    pub t_s: Vec<f64>,
    /// The number at that time.
    pub value: Vec<f64>,
}
