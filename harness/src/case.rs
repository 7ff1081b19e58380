//! What a worker is told, and what it tells: one case as data, and events as JSON lines.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::fs::MkfsOptions;
use crate::manifest::run_id;
use crate::result::{CaseResult, Configuration, Reason, StepResult};
use crate::sys::caller::User;
use crate::units::{Bytes, Seed};
use crate::workload::StepSpec;

/// The phase that waits for others, so no time limit of ours holds for it.
pub const QUIET: &str = "wait until the disk is quiet";

/// The phase that compares what a step left with what must exist; the first after the step's clock.
pub const READ_BACK: &str = "read back";

/// The phase that makes the file system: from here on a claim on a disk only stands in the way.
pub const MKFS: &str = "mkfs";

/// Where file systems are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Store {
    /// A folder; images are unlinked files in it.
    Directory(PathBuf),
    /// Images are anonymous memory.
    Memory,
    /// A whole disk, without an image: one that was given away, or that of a virtual machine.
    Disk(PathBuf),
}

/// Where cases run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backend {
    /// On this machine where it allows it, else in a virtual machine.
    #[default]
    Auto,
    /// On this machine, as root.
    Host,
    /// In a virtual machine of its own each.
    Vm,
    /// In a directory that exists; no file system is made.
    Directory,
}

/// Whether the loop device bypasses the host's page cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DirectIo {
    /// Where the store allows it.
    #[default]
    Auto,
    /// Or the case is invalid.
    On,
    /// Never.
    Off,
}

/// Whether an image gets a name at the end of its case, and so stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// It goes with the case.
    #[default]
    Never,
    /// It stays where the case did not pass.
    Failed,
    /// It stays.
    Always,
}

/// What a command has of whoever called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Live {
    /// Nothing to read; what it prints is kept.
    #[default]
    Nothing,
    /// Their standard input; what it prints is seen at once, and kept.
    Seen,
    /// All three streams themselves: it is a shell, in which a person works.
    Shell,
}

/// One measured case: everything a worker needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseSpec {
    /// Of the run.
    pub run_id: String,
    /// What runs.
    pub configuration: Configuration,
    /// 0 is the warm-up.
    pub block: u32,
    /// Place in the run, from 1.
    pub order: u32,
    /// Size of the image.
    pub image_size: Bytes,
    /// Logical block size of the loop device.
    pub logical_block_size: Bytes,
    /// Where the image is.
    pub store: Store,
    /// Whether the loop device bypasses the host's page cache.
    pub direct_io: DirectIo,
    /// Allocate the whole image first.
    pub preallocate: bool,
    /// Go on although the store may fill up.
    pub overcommit: bool,
    /// Whether the image gets a name at the end.
    pub keep: Keep,
    /// What the work and its page cache may use of this machine's memory; all where nothing is said.
    #[serde(default)]
    pub memory: Option<Bytes>,
    /// Wait until device and store are quiet before the first step.
    pub quiet: bool,
    /// As whom commands run, where that is not the worker's own user.
    #[serde(default)]
    pub user: Option<User>,
    /// The environment of commands, where it is not that of the worker.
    #[serde(default)]
    pub environment: Vec<(String, String)>,
    /// What a command has of whoever called.
    #[serde(default)]
    pub live: Live,
    /// Decides every name, size, byte and order.
    pub seed: Seed,
    /// Steps, in order.
    pub steps: Vec<StepSpec>,
}

impl CaseResult {
    /// The result of a case of which nothing has happened yet. It has not passed.
    #[must_use]
    pub fn planned(spec: &CaseSpec) -> Self {
        let (block, order) = (spec.block, spec.order);
        Self { image_bytes: spec.image_size.0, ..Self::of(spec.configuration.clone(), block, order) }
    }
}

impl CaseSpec {
    /// `CONFIGURATION/BLOCK`.
    #[must_use]
    pub fn id(&self) -> String {
        self.configuration.case_id(self.block)
    }

    /// What its `mkfs` is told; a UUID is new each time.
    #[must_use]
    pub fn mkfs_options(&self) -> MkfsOptions {
        MkfsOptions {
            block_size: Bytes(self.configuration.block_size_bytes.into()),
            uuid: run_id(),
            seed: self.seed,
            extra: self.configuration.mkfs_options.clone(),
        }
    }

    /// Its result, if it cannot start.
    #[must_use]
    pub fn not_run(&self, reason: Reason) -> CaseResult {
        CaseResult { reason: Some(reason), ..CaseResult::planned(self) }
    }
}

/// What a worker tells while it works.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// A phase has begun: `attach`, `mkfs`, `mount`, `unmount`, `read back`, `fsck`, ...
    Phase {
        /// Its name.
        phase: String,
    },
    /// A step has begun.
    StepBegun {
        /// Its name.
        step: String,
        /// Operations it will do, where that is known.
        total_count: Option<u64>,
        /// Bytes it writes at most, where it goes on until there is no room.
        #[serde(default)]
        most_bytes: Option<u64>,
    },
    /// A step has ended and was read back.
    StepEnded {
        /// What it came to.
        step: Box<StepResult>,
    },
    /// A virtual machine has come up; its first event.
    Up {
        /// `uname -r` there.
        kernel: String,
        /// Its monotonic clock.
        clock_s: f64,
    },
    /// How far the step is, once a second: from where no memory is shared with the runner.
    Done {
        /// Operations of the step.
        operations: u64,
        /// Bytes of the step.
        bytes: u64,
        /// The monotonic clock there.
        clock_s: f64,
    },
    /// The worker printed lines on its standard error, where the runner does not see that.
    Said {
        /// One or more, without the last end.
        line: String,
    },
    /// What `--keep` wants of a case and only the worker has.
    Left {
        /// All that the checker printed.
        fsck: String,
        /// What the kernel said of the device.
        kernel_log: String,
    },
    /// The worker has ended without a result.
    Died {
        /// `exit status 1`, `killed by SIGKILL`.
        exit: String,
    },
    /// The case has ended; the last event.
    CaseEnded {
        /// All of it.
        case: Box<CaseResult>,
    },
}
