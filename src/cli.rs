//! The command line. Its help text is the manual, so a sentence here is read by every user; no
//! line of it is wider than 80 columns (`tests/cli.rs`). Values that name a workload or a format
//! come from the tables of the library, so a new row appears here by itself.

mod postmark;
mod verify;

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{BoolishValueParser, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use fsduel_harness::units::Bytes;

use crate::destination::{ReportTo, parse_report};
use crate::parts::{self, Repeat};

pub use postmark::{Beside, Content, PostmarkArguments, Verify};
pub use verify::VerifyArguments;

/// Compare Linux file systems on loop devices.
///
/// Makes image files, attaches them as loop devices, formats each with
/// another file system at the same block size, runs the work, measures it,
/// verifies every byte and leaves nothing behind. Needs root; touches no
/// device, mount or file that it did not make.
#[derive(Debug, Parser)]
#[command(name = "fsduel", version, term_width = 80, propagate_version = false)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
#[command(after_help = format!("{EXAMPLES}\n\n{MORE}"), after_long_help = format!("{EXAMPLES}\n\n{CONVENTIONS}"))]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  fsduel doctor                  does this machine have what it takes?
  sudo fsduel run                the suite `quick`, in a minute or two
  sudo fsduel run smoke --fs ext4,xfs --json run.json
  fsduel run --dry-run           what would be done, and what it costs
  fsduel postmark mail.pmrc      a configuration of PostMark, without root
  fsduel report run.json         the table again, without root
  fsduel compare old.json new.json --gate 'synced_s<=1.05'";

const MORE: &str = "`fsduel COMMAND --help` explains a command, `fsduel --help` the exit codes.";

const CONVENTIONS: &str = "\
Every option of run and postmark has an environment variable, FSDUEL_ and its
name, as FSDUEL_BLOCK_SIZE. The command line wins over it, and it over a suite
file.
FSDUEL_LOG (error, warn, info, debug, trace) sets what is logged on stderr.

Exit codes: 0 ran, verified, and what must hold holds · 1 the harness failed
2 usage or suite file · 3 a claim, gate or fact that must hold does not, or a
limit that is not allowed was met · 4 nothing selected · 5 verification failed ·
6 a gate, and the noise does not allow to decide · 7 the environment broke a
measurement · 69 something cannot run here · 124 a time
limit ran out · 129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM. When several
apply, the first of 129/130/143, 1, 5, 7, 124, 2, 69, 4, 3, 6.";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a suite on each of its file systems, and compare them.
    Run(Box<RunArguments>),
    /// Run a configuration of PostMark, the mail-server benchmark: here, or with --fs
    /// on fresh file systems.
    Postmark(Box<PostmarkArguments>),
    /// Compare a stored run with an earlier one: every change with its interval.
    Compare(CompareArguments),
    /// Show a stored run again, or write it in another format.
    Report(ReportArguments),
    /// Hold the facts of a run against a file of known ones, exactly.
    Verify(VerifyArguments),
    /// List suites, file systems, workloads, metrics and formats.
    List(ListArguments),
    /// Check what this machine has and lacks, and say what gets it.
    Doctor(DoctorArguments),
    /// Find what a run left: loop devices, images of --keep; free it with --force.
    Gc(GcArguments),
    /// Print completions for a shell.
    #[command(hide = true)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page.
    #[command(hide = true)]
    Man,
}

/// Arguments of `fsduel run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Built-in suites by name, or suite files.
    ///
    /// Without one: `quick`. `fsduel list suites` shows the names.
    #[arg(value_name = "SUITE|FILE.toml")]
    pub suites: Vec<String>,
    /// What `postmark` has, too.
    #[command(flatten)]
    pub shared: Shared,
    /// The scale of the suite to run, as `full`.
    #[arg(long, value_name = "NAME", env = "FSDUEL_SCALE", hide_env_values = true)]
    #[arg(help_heading = WHAT)]
    pub scale: Option<String>,
    /// Run one workload in place of a suite.
    ///
    /// Its parameters are set with --set KEY=VALUE; `fsduel list workloads`
    /// shows them. list, stat, read and remove need the files of an earlier
    /// step, so they need a suite.
    #[arg(long, value_name = "NAME", conflicts_with = "suites", value_parser = workload_names())]
    #[arg(env = "FSDUEL_WORKLOAD", hide_env_values = true)]
    #[arg(help_heading = WHAT)]
    pub workload: Option<String>,
}

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

const WHAT: &str = "What is compared";

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

/// Where it runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Where it runs")]
pub struct Place {
    /// Folder of the images, or `memory` [default: /var/tmp].
    ///
    /// /tmp often is in memory, and then no disk takes part.
    #[arg(long, value_name = "DIR|memory", env = "FSDUEL_STORE", hide_env_values = true)]
    pub store: Option<String>,
    /// Whether the loop devices bypass the host's page cache [default: auto].
    #[arg(long, value_name = "WHEN", env = "FSDUEL_DIRECT_IO", hide_env_values = true)]
    pub direct_io: Option<DirectIo>,
    /// Allocate each image before its file system is made.
    #[arg(long, env = "FSDUEL_PREALLOCATE", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub preallocate: bool,
    /// Start although the store may fill up.
    #[arg(long, env = "FSDUEL_OVERCOMMIT", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub overcommit: bool,
}

/// Which images to keep.
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
    pub json: Option<PathBuf>,
    /// Write the run in a format, to standard output or to PATH (repeatable).
    ///
    /// `fsduel list formats` shows the names. Without it: `table`.
    #[arg(long = "report", value_name = "FORMAT[=PATH]", value_parser = parse_report)]
    #[arg(env = "FSDUEL_REPORT", hide_env_values = true)]
    pub reports: Vec<ReportTo>,
    /// Compare with an earlier run, stored with --json.
    ///
    /// It must be of the same suite, scale, seed and size.
    #[arg(long, value_name = "BASE.json", env = "FSDUEL_BASELINE", hide_env_values = true)]
    pub baseline: Option<PathBuf>,
    /// Limits of ratios, as `synced_s<=1.05,space_used_bytes<=1.02`.
    ///
    /// To --baseline; without it, of each file system to the first. Exit code 3
    /// where one does not hold, 6 where the noise does not allow to decide.
    #[arg(long, value_name = "LIST", env = "FSDUEL_GATE", hide_env_values = true)]
    pub gate: Option<String>,
    /// Keep the images of all cases, or with `=failed` of those that did not pass.
    ///
    /// They are in the store, as fsduel-*.img, and belong to the caller of sudo;
    /// the report names each. `fsduel gc --force` removes them.
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

/// Arguments of `fsduel compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The earlier run, stored with --json.
    #[arg(value_name = "BASE.json")]
    pub base: PathBuf,
    /// The new run, of the same suite, scale, seed and size.
    #[arg(value_name = "NEW.json")]
    pub new: PathBuf,
    /// Limits of ratios, as `synced_s<=1.05,space_used_bytes<=1.02`.
    ///
    /// `STEP.METRIC<=X` is about one step, `>=` is for what should be much. Exit code
    /// 3 where one does not hold, 6 where the noise does not allow to decide.
    #[arg(long, value_name = "LIST", env = "FSDUEL_GATE", hide_env_values = true)]
    pub gate: Option<String>,
    /// Write the changes of all metrics as JSON; `-` is standard output, which then
    /// has only that.
    #[arg(long, value_name = "PATH|-", env = "FSDUEL_JSON", hide_env_values = true)]
    pub json: Option<PathBuf>,
}

/// Arguments of `fsduel report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A run that was stored with --json.
    #[arg(value_name = "RUN.json")]
    pub run: PathBuf,
    /// Format, to standard output or to PATH (repeatable) [default: table].
    #[arg(long = "report", value_name = "FORMAT[=PATH]", value_parser = parse_report)]
    #[arg(env = "FSDUEL_REPORT", hide_env_values = true)]
    pub reports: Vec<ReportTo>,
}

/// What `fsduel list` can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    /// Built-in suites.
    Suites,
    /// File systems, and why one cannot run here.
    Filesystems,
    /// Workloads, their parameters and the defaults.
    Workloads,
    /// Metrics, and what they mean.
    Metrics,
    /// Formats of reports.
    Formats,
}

/// Arguments of `fsduel list`.
#[derive(Debug, Args)]
pub struct ListArguments {
    /// What to list; without one, everything.
    pub topic: Option<Topic>,
}

/// Arguments of `fsduel doctor`.
#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// A suite: only what it needs is checked, and whether its image fits.
    ///
    /// The name of a built-in suite, or a suite file.
    #[arg(value_name = "SUITE|FILE.toml")]
    pub suite: Option<String>,
    /// The scale of the suite, as `full`.
    #[arg(long, value_name = "NAME", requires = "suite")]
    pub scale: Option<String>,
    /// Folder of the images, or `memory` [default: /var/tmp].
    #[arg(long, value_name = "DIR|memory", env = "FSDUEL_STORE", hide_env_values = true)]
    pub store: Option<String>,
    /// Install the tools that are missing: with apt on Debian and Ubuntu, as root.
    ///
    /// Elsewhere the command is printed.
    #[arg(long)]
    pub install: bool,
}

/// Arguments of `fsduel gc`.
#[derive(Debug, Args)]
pub struct GcArguments {
    /// Folder where kept images are looked for [default: /var/tmp].
    #[arg(long, value_name = "DIR", env = "FSDUEL_STORE", hide_env_values = true)]
    pub store: Option<PathBuf>,
    /// Free what was found.
    #[arg(long)]
    pub force: bool,
}

/// The names of all workloads, as the values of `--workload`.
fn workload_names() -> PossibleValuesParser {
    PossibleValuesParser::new(parts::workloads().iter().map(|row| row.name))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_option_of_a_command_that_makes_results_has_its_variable() {
        let mut command = Cli::command();
        command.build();
        for name in ["run", "postmark", "compare", "report"] {
            let command = command.find_subcommand(name).unwrap();
            let options = command.get_opts().filter(|option| option.get_id() != "help");
            let options: Vec<_> = options.collect();
            assert!(!options.is_empty());
            for option in options {
                let long = option.get_long().unwrap();
                let wanted = format!("FSDUEL_{}", long.to_uppercase().replace('-', "_"));
                let variable = option.get_env().and_then(|name| name.to_str());
                assert_eq!(variable, Some(wanted.as_str()), "--{long}");
            }
        }
    }
}
