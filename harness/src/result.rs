//! What a run came to: plain data, stored as JSON, read by every report.
//!
//! Facts (counts, bytes, hashes, errno) compare exactly. Metrics are measured and compare with
//! statistics. A number that could not be measured is absent, never 0. Keys end in their unit.
//! `schema_version` rises only when a reader that ignores unknown fields would go wrong.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Kind};

/// The version of the JSON that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

/// Measured numbers by key; every key ends in its unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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

/// What is compared: a file system with its options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// Unique within a run.
    pub id: String,
    /// As `mount -t` spells it.
    pub filesystem: String,
    /// As asked for.
    pub mount_options: String,
    /// Added to the mkfs command line.
    pub mkfs_options: Vec<String>,
    /// The same for all configurations of a run.
    pub block_size_bytes: u32,
    /// Index into `environments`.
    pub environment: u32,
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Ran and verified.
    Passed,
    /// Verification failed, or a fixed amount of work met a limit.
    Failed,
    /// The environment broke the measurement.
    Invalid,
    /// The harness failed.
    Error,
    /// A signal or a time limit ended it.
    Stopped,
    /// It could not start here.
    NotRun,
}

/// Why a case did not pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// A word for machines.
    pub code: String,
    /// A sentence for people.
    pub text: String,
    /// The next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl From<&Error> for Reason {
    fn from(error: &Error) -> Self {
        let code = match error.kind() {
            Kind::Harness => "harness",
            Kind::Usage => "usage",
            Kind::Empty => "empty",
            Kind::Unavailable => "unavailable",
            Kind::Environment => "environment",
            Kind::Damage => "damage",
            Kind::Stopped => "stopped",
        };
        Self { code: code.into(), text: error.to_string(), next: error.next_step().map(Into::into) }
    }
}

/// One configuration in one block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CaseResult {
    /// `CONFIGURATION/BLOCK`.
    pub id: String,
    /// What ran.
    pub configuration: Configuration,
    /// 0 is the warm-up.
    pub block: u32,
    /// Place in the run, from 1.
    pub order: u32,
    /// Seconds since the start of the run.
    pub started_s: f64,
    /// Size of the image.
    pub image_bytes: u64,
    /// The mkfs command line as run.
    #[serde(default)]
    pub mkfs_command: Vec<String>,
    /// As the kernel shows them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mount_options_effective: Option<String>,
    /// Features of the file system that was made, in its tools' words.
    #[serde(default)]
    pub features: Vec<String>,
    /// Random; decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<String>,
    /// The loop device as the kernel set it up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[serde(rename = "loop")]
    pub loop_device: Option<LoopInfo>,
    /// What was matched between file systems and what differs: inode size, journal, profiles, ...
    #[serde(default)]
    pub ledger: BTreeMap<String, Value>,
    /// How it ended.
    pub status: Status,
    /// Why it did not pass.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Finished steps, in order.
    #[serde(default)]
    pub steps: Vec<StepResult>,
    /// What was checked.
    #[serde(default)]
    pub verify: Verify,
    /// `mkfs_s`, `mount_s`, `fsck_s`.
    #[serde(default)]
    pub metrics: Metrics,
}

/// A loop device as the kernel set it up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopInfo {
    /// Read back after the attach: the kernel drops it silently.
    pub direct_io: bool,
    /// Logical block size.
    pub logical_block_size_bytes: u32,
}

/// One step of a case.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Whether what was read back is what was written.
    pub read_back: Checked,
}

/// Whether all of the work was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndedWord {
    /// All of it.
    Completed,
    /// The file system reached a limit.
    Limit,
}

/// Which limit of a file system was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Operations done before.
    pub at_count: u64,
    /// Bytes written before.
    pub at_bytes: u64,
    /// A sentence with the numbers behind `which`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What must be equal in every run with the same seed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Digest of the list of operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations_sha256: Option<String>,
}

/// Latency of one kind of operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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

/// The outcome of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Checked {
    /// Checked, and as it must be.
    Clean,
    /// Checked, and not as it must be.
    Damaged,
    /// Not checked, which is never the same as clean.
    #[default]
    NotChecked,
}

/// What was checked in a case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verify {
    /// All steps together.
    pub read_back: Checked,
    /// The file system's own checker, read-only.
    pub fsck: Checked,
    /// The kernel's messages about this device.
    pub kernel_log: Checked,
    /// Whether nothing of ours is left.
    pub teardown: Checked,
    /// A sentence for each thing that was not clean or not checked.
    pub details: Vec<String>,
}

/// A configuration against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the step.
    pub step: String,
    /// Key of the metric.
    pub metric: String,
    /// Id of the configuration that is compared with.
    pub baseline: String,
    /// Id of the configuration that is compared.
    pub candidate: String,
    /// Candidate to baseline.
    pub ratio: f64,
    /// 95 % interval of the ratio; absent for fewer than three blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// Blocks.
    pub n: u32,
    /// `less`, `more`, `no_difference`, `not_resolved`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Blocks that would decide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed_count: Option<u32>,
}

/// A figure that a suite's source printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Name of the step.
    pub step: String,
    /// Key of the metric (or fact).
    pub metric: String,
    /// Id of the configuration.
    pub filesystem: String,
    /// In the unit of the metric's key.
    pub value: f64,
    /// As the source printed it.
    pub printed: String,
    /// The source printed a rounded figure, or its unit is not certain.
    #[serde(default)]
    pub approx: bool,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// It holds.
    Holds,
    /// It does not hold.
    DoesNotHold,
    /// The noise does not allow a word.
    NotResolved,
    /// Another scale, or a figure is missing.
    NotChecked,
}

/// A claim of a suite's source, and whether it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// Unique within the suite.
    pub id: String,
    /// In words.
    pub text: String,
    /// Where it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The figures that the source printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
    /// The figures of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Whether it holds.
    pub verdict: ClaimVerdict,
    /// One that does not hold makes the run exit with 3.
    #[serde(default)]
    pub must: bool,
    /// Why it was not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
