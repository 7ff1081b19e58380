//! What `run` and `postmark` share.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum, ValueHint};
use fsduel_harness::units::Bytes;

use crate::destination::ReportTo;
use crate::parts::{self, Repeat};

use super::named;

/// What `run` and `postmark` share.
#[derive(Debug, Args)]
pub struct Shared {
    /// What is compared.
    #[command(flatten)]
    pub what: What,
    /// How often it runs, and how long.
    #[command(flatten)]
    pub often: Often,
    /// Where it runs.
    #[command(flatten)]
    pub place: Place,
    /// What becomes of the results.
    #[command(flatten)]
    pub results: Results,
}

/// A heading of the help.
pub const WHAT: &str = "What is compared";

/// What is compared.
#[derive(Debug, Args)]
#[command(next_help_heading = WHAT)]
pub struct What {
    /// File systems to compare; the first is the baseline.
    ///
    /// In place of those of a suite. `btrfs,ext4` is a list. With mount options it is one file system:
    /// `[ID=]NAME[:MOUNT_OPTIONS]`, as `lzo=btrfs:compress=lzo`;
    /// separate several of these with `;`, or repeat the option.
    #[arg(long = "fs", value_name = "SPEC", env = "FSDUEL_FS", hide_env_values = true)]
    #[arg(value_parser = named::filesystem(), hide_possible_values = true)]
    pub filesystems: Vec<String>,
    /// Size of each image, as 2GiB or 512M.
    ///
    /// Without it: as the suite says, else 2GiB. Powers of 1024 as in mkfs; MB
    /// and GB are powers of 1000.
    #[arg(long, value_parser = parts::size, env = "FSDUEL_SIZE", hide_env_values = true)]
    pub size: Option<Bytes>,
    /// Block size of every file system of the run.
    ///
    /// Without it: as the suite says, else 4KiB. One for all: a file system
    /// that cannot have it is not run.
    #[arg(long, value_name = "SIZE", value_parser = parts::size)]
    #[arg(env = "FSDUEL_BLOCK_SIZE", hide_env_values = true)]
    pub block_size: Option<Bytes>,
    /// Set any key of the suite, as `step.small-files.count=500` (repeatable).
    ///
    /// step.NAME.KEY, filesystem.ID.KEY, or an option such as size. With
    /// --workload, and where `postmark` has one run, KEY alone: number=500.
    #[arg(long = "set", value_name = "PATH=VALUE", env = "FSDUEL_SET", hide_env_values = true)]
    pub set: Vec<String>,
    /// Options of the mkfs of one file system, as `ext4=-O ^has_journal`.
    ///
    /// In place of those of the suite; several for one file system add up.
    #[arg(long = "mkfs-options", value_name = "NAME=OPTIONS", allow_hyphen_values = true)]
    #[arg(env = "FSDUEL_MKFS_OPTIONS", hide_env_values = true)]
    pub mkfs_options: Vec<String>,
    /// Decides every name, size, byte and order [default: 2010].
    ///
    /// Not PostMark's, which draws from a seed of its own: `set seed`, or
    /// step.NAME.seed [default: 42].
    #[arg(long, value_name = "N", env = "FSDUEL_SEED", hide_env_values = true)]
    pub seed: Option<u64>,
}

/// How often it runs, and how long.
#[derive(Debug, Args)]
#[command(next_help_heading = "How often")]
pub struct Often {
    /// Measure each file system so often, in blocks [default: 1].
    ///
    /// A block holds each file system once, freshly made, in an order drawn from the
    /// seed. With more than 2, one more runs first and does not count. `auto` stops
    /// when every comparison is decided, after 5 to 40 blocks.
    #[arg(long, value_name = "N|auto", value_parser = parts::repeat)]
    #[arg(env = "FSDUEL_REPEAT", hide_env_values = true)]
    pub repeat: Option<Repeat>,
    /// Time for all blocks, as 10m: none begins that would not end within it.
    ///
    /// The first always runs.
    #[arg(long, value_name = "DURATION", value_parser = parts::duration)]
    #[arg(env = "FSDUEL_BUDGET", hide_env_values = true)]
    pub budget: Option<Duration>,
    /// Time limit of one step, as 90s or 5m; exit code 124.
    ///
    /// The same limit holds for each phase around the steps: mkfs, mount, unmount,
    /// read back, fsck.
    #[arg(long, value_name = "DURATION", value_parser = parts::duration)]
    #[arg(env = "FSDUEL_TIMEOUT", hide_env_values = true)]
    pub timeout: Option<Duration>,
}

/// Whether the loop devices bypass the host's page cache.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DirectIo {
    /// Where the store allows it.
    Auto,
    /// Always: where the store does not allow it, nothing is measured.
    On,
    /// Never.
    Off,
}

/// Where cases run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// On this machine where it allows that; else, or with --kernel, in a virtual machine.
    Auto,
    /// On this machine, as root.
    Host,
    /// In a virtual machine, one for each case; needs QEMU, and no root.
    Vm,
    /// In a directory that exists: only `fsduel postmark`, without --fs.
    Directory,
}

/// Where it runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where it runs")]
pub struct Place {
    /// Folder of the images, or `memory` [default: /var/tmp].
    ///
    /// /tmp often is in memory, and then no disk takes part.
    #[arg(long, value_name = "DIR|memory", env = "FSDUEL_STORE", hide_env_values = true)]
    #[arg(value_hint = ValueHint::DirPath)]
    pub store: Option<String>,
    /// Whether the loop devices bypass the host's page cache [default: auto].
    #[arg(long, value_name = "WHEN", env = "FSDUEL_DIRECT_IO", hide_env_values = true)]
    pub direct_io: Option<DirectIo>,
    /// Memory for the work and its page cache, as 512M.
    ///
    /// On this machine a cgroup limits them; a virtual machine has so much in all
    /// [default there: 1GiB].
    #[arg(long, value_name = "SIZE", value_parser = parts::size)]
    #[arg(env = "FSDUEL_MEMORY", hide_env_values = true)]
    pub memory: Option<Bytes>,
    /// Where cases run [default: auto].
    #[arg(long, value_name = "WHERE", env = "FSDUEL_BACKEND", hide_env_values = true)]
    pub backend: Option<Backend>,
    /// A kernel to boot in a virtual machine: a path, a .deb, or `host` (repeatable).
    ///
    /// In place of those of a suite. With several, each file system runs on each kernel,
    /// as btrfs@6.1. The modules are found beside the kernel: /lib/modules/RELEASE below
    /// the same root.
    #[arg(long = "kernel", value_name = "PATH|host", env = "FSDUEL_KERNEL", hide_env_values = true)]
    #[arg(value_hint = ValueHint::FilePath)]
    pub kernels: Vec<String>,
    /// Added to the command line of each kernel that is booted, as `mitigations=off`.
    #[arg(long, value_name = "OPTIONS", env = "FSDUEL_KERNEL_OPTIONS", hide_env_values = true)]
    #[arg(allow_hyphen_values = true)]
    pub kernel_options: Option<String>,
    /// Use a whole disk in place of images; all that is on it is lost.
    ///
    /// Name it again with --destroy-data. One that is mounted, has partitions or is
    /// used in any other way is refused.
    #[arg(long, value_name = "DISK")]
    #[arg(value_hint = ValueHint::FilePath, requires = "destroy_data")]
    pub device: Option<PathBuf>,
    /// The same disk again, to prove that it is meant.
    #[arg(long, value_name = "DISK")]
    #[arg(value_hint = ValueHint::FilePath, requires = "device")]
    pub destroy_data: Option<PathBuf>,
    /// With --device: even where there is a file system on it.
    #[arg(long, requires = "device")]
    #[arg(value_parser = BoolishValueParser::new())]
    pub wipe: bool,
    /// Allocate each image before its file system is made.
    #[arg(long, env = "FSDUEL_PREALLOCATE", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub preallocate: bool,
    /// Start although the store may fill up.
    #[arg(long, env = "FSDUEL_OVERCOMMIT", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub overcommit: bool,
}

/// Of which cases to keep what is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// Of every case.
    All,
    /// Of cases that did not pass.
    Failed,
}

/// What becomes of the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "Results")]
pub struct Results {
    /// Store the run as JSON; `-` is standard output, which then has only that.
    ///
    /// `{suite}` in PATH stands for the name of the suite. While the run goes
    /// on, finished cases are in PATH.partial.jsonl.
    #[arg(long, value_name = "PATH|-", env = "FSDUEL_JSON", hide_env_values = true)]
    #[arg(value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
    /// Write the run in a format, to standard output or to PATH (repeatable).
    ///
    /// `fsduel list formats` shows the names. Without it: `table`.
    #[arg(long = "report", value_name = "FORMAT[=PATH]", value_parser = named::report())]
    #[arg(hide_possible_values = true)]
    #[arg(env = "FSDUEL_REPORT", hide_env_values = true)]
    pub reports: Vec<ReportTo>,
    /// Compare with an earlier run, stored with --json.
    ///
    /// It must be of the same suite, scale, seed and size.
    #[arg(long, value_name = "BASE.json", env = "FSDUEL_BASELINE", hide_env_values = true)]
    #[arg(value_hint = ValueHint::FilePath)]
    pub baseline: Option<PathBuf>,
    /// Limits of ratios, as `synced_s<=1.05,space_used_bytes<=1.02`.
    ///
    /// To --baseline; without it, of each file system to the first. Exit code 3
    /// where one does not hold, 6 where the noise does not allow to decide.
    #[arg(long, value_name = "LIST", env = "FSDUEL_GATE", hide_env_values = true)]
    pub gate: Option<String>,
    /// Keep what is left of all cases, or with `=failed` of those that did not pass.
    ///
    /// A folder fsduel-* in the store for each: the image, what fsck, the kernel and
    /// the worker said, and repeat.sh, which makes the file system again or mounts the
    /// image. The report names it; `fsduel gc --force` removes it.
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "all", env = "FSDUEL_KEEP", hide_env_values = true)]
    pub keep: Option<Keep>,
    /// Show the plan and what it costs, and do nothing (needs no root).
    #[arg(long, env = "FSDUEL_DRY_RUN", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub dry_run: bool,
    /// Exit with 69 if any file system cannot run here, even one that only the suite names.
    #[arg(long, env = "FSDUEL_REQUIRE_ALL", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub require_all: bool,
    /// Take warnings about the machine and its input as errors, and do not start.
    #[arg(long, env = "FSDUEL_STRICT", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub strict: bool,
    /// Show no progress.
    #[arg(long, short, env = "FSDUEL_QUIET", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub quiet: bool,
}
