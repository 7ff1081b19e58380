//! One configuration in one block, and what was checked of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Metrics, StepResult};
use crate::error::{Error, Kind};

/// What is compared: a file system with its options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Configuration {
    /// Unique within a run: that of the file system, and of several kernels which, as `btrfs@6.1`.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reason {
    /// A word for machines.
    pub code: String,
    /// A sentence for people.
    pub text: String,
    /// The next step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

impl Configuration {
    /// `CONFIGURATION/BLOCK`: its case in one block.
    #[must_use]
    pub fn case_id(&self, block: u32) -> String {
        format!("{}/{block}", self.id)
    }
}

impl CaseResult {
    /// A case of which nothing has happened yet. It has not passed.
    #[must_use]
    pub fn of(configuration: Configuration, block: u32, order: u32) -> Self {
        Self {
            id: configuration.case_id(block),
            configuration,
            block,
            order,
            started_s: 0.0,
            image_bytes: 0,
            mkfs_command: vec![],
            mount_options_effective: None,
            features: vec![],
            uuid: None,
            loop_device: None,
            ledger: BTreeMap::new(),
            quiet: None,
            kept: None,
            status: Status::NotRun,
            reason: None,
            steps: vec![],
            verify: Verify::default(),
            metrics: Metrics::default(),
        }
    }

    /// Whether its numbers were verified: it passed, or failed only because a fixed amount of work
    /// met a limit. All others are not to be shown or compared.
    #[must_use]
    pub fn counts(&self) -> bool {
        let checks = self.verify.checks().into_iter().map(|(_, checked)| checked);
        let mut checks = checks.chain(self.steps.iter().map(|step| step.read_back));
        let met_a_limit = self.reason.as_ref().is_some_and(|reason| reason.code == Reason::LIMIT);
        match self.status {
            Status::Passed => true,
            Status::Failed => met_a_limit && !checks.any(|checked| checked == Checked::Damaged),
            _ => false,
        }
    }

    /// The step of that name, if it was reached.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&StepResult> {
        self.steps.iter().find(|step| step.name == name)
    }
}

/// Every `code`, beside the lower-case name of the signal that ended a run (`sigint`).
impl Reason {
    /// The harness failed.
    pub const HARNESS: &str = "harness";
    /// The worker ended without a result.
    pub const WORKER_DIED: &str = "worker_died";
    /// The kernel of a virtual machine panicked.
    pub const GUEST_PANIC: &str = "guest_panic";
    /// A virtual machine showed no life any more.
    pub const GUEST_HUNG: &str = "guest_hung";
    /// A virtual machine ended before its case did.
    pub const GUEST_ENDED: &str = "guest_ended";
    /// The work needed more memory than it had.
    pub const OUT_OF_MEMORY: &str = "out_of_memory";
    /// Something was asked for that makes no sense, such as a mount option.
    pub const USAGE: &str = "usage";
    /// Nothing is left to run.
    pub const EMPTY: &str = "empty";
    /// The machine turned out to lack something.
    pub const UNAVAILABLE: &str = "unavailable";
    /// A tool, a module or a right is missing, known before the start.
    pub const MISSING: &str = "missing";
    /// The file system cannot have this block size here.
    pub const BLOCK_SIZE: &str = "block_size";
    /// The image is smaller than the file system's minimum.
    pub const IMAGE_SIZE: &str = "image_size";
    /// The environment broke the measurement.
    pub const ENVIRONMENT: &str = "environment";
    /// Data differ, or a file system is damaged.
    pub const DAMAGE: &str = "damage";
    /// A fixed amount of work met a limit that its suite does not allow.
    pub const LIMIT: &str = "limit";
    /// A command of the user's failed.
    pub const COMMAND: &str = "command";
    /// What makes a command ready failed, so that it never ran.
    pub const PREPARE: &str = "prepare";
    /// A command failed before the case was reached, and ended the run.
    pub const NOT_REACHED: &str = "not_reached";
    /// The check of a command's work failed.
    pub const CHECK: &str = "check";
    /// A time limit ran out.
    pub const TIMEOUT: &str = "timeout";
    /// Nothing was meant to run.
    pub const DRY_RUN: &str = "dry_run";
    /// It was asked to stop.
    pub const STOPPED: &str = "stopped";
}

impl From<&Error> for Reason {
    fn from(error: &Error) -> Self {
        let code = match error.kind() {
            Kind::Harness => Self::HARNESS,
            Kind::Usage => Self::USAGE,
            Kind::Empty => Self::EMPTY,
            Kind::Unavailable => Self::UNAVAILABLE,
            Kind::Environment => Self::ENVIRONMENT,
            Kind::Damage => Self::DAMAGE,
            Kind::Stopped => Self::STOPPED,
        };
        Self { code: code.into(), text: error.to_string(), next: error.next_step().map(Into::into) }
    }
}

/// One configuration in one block.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
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
    /// Whether device and store were still for a second before the first step; absent where that was
    /// not waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quiet: Option<bool>,
    /// The folder that holds what is left of it, where that was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopInfo {
    /// Read back after the attach: the kernel drops it silently.
    pub direct_io: bool,
    /// Logical block size.
    pub logical_block_size_bytes: u32,
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl Verify {
    /// Every check by its name for people, in the order in which they are made.
    #[must_use]
    pub fn checks(&self) -> [(&'static str, Checked); 4] {
        [
            ("read-back", self.read_back),
            ("fsck", self.fsck),
            ("kernel log", self.kernel_log),
            ("teardown", self.teardown),
        ]
    }
}
