//! The command line. Its help text is the manual, so a sentence here is read by every user; no
//! line of it is wider than 80 columns (`tests/cli.rs`). Values that name a workload or a format
//! come from the tables of the library, so a new row appears here by itself.

mod exec;
mod named;
mod postmark;
mod shared;
mod shell;
mod verify;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};

use crate::destination::ReportTo;
use crate::parts;

pub use exec::{Around, ExecArguments};
pub use postmark::{Beside, Content, PostmarkArguments, Verify};
pub use shared::{Backend, DirectIo, Keep, Place, Results, Shared};
pub use shell::ShellArguments;
pub use verify::VerifyArguments;

use shared::WHAT;

/// Compare Linux file systems, on this kernel or on another.
///
/// Formats an image with each file system at the same block size, runs the
/// work, measures it, verifies every byte and leaves nothing behind: on loop
/// devices as root, or in a virtual machine, which needs no root. Touches no
/// device, mount or file that it did not make, but the disk of --device.
#[derive(Debug, Parser)]
#[command(name = "fsduel", version, term_width = 80, propagate_version = false)]
#[command(arg_required_else_help = true)]
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
  fsduel run smoke --kernel linux-6.12.deb
                                 on another kernel, without root
  fsduel run --dry-run           what would be done, and what it costs
  fsduel postmark mail.pmrc      a configuration of PostMark, without root
  fsduel report run.json         the table again, without root
  fsduel compare old.json new.json --gate 'synced_s<=1.05'";

const MORE: &str = "`fsduel COMMAND --help` explains a command, `fsduel --help` the exit codes.";

const CONVENTIONS: &str = "\
Every option of run, exec and postmark but --device has an environment variable,
FSDUEL_ and its name, as FSDUEL_BLOCK_SIZE. The command line wins over it, and it
over a suite file.
FSDUEL_LOG (error, warn, info, debug, trace) sets what is logged on stderr.

Exit codes; when several apply, the first of 129/130/143, 1, 5, 7, 124, 2, 69,
4, 3, 6:
    0  ran, verified, and what must hold holds
    1  the harness itself failed; of exec: what prepares the command did, or it
       left something running
    2  usage, or a suite file that is wrong
    3  a claim, gate or fact that must hold does not, or a limit that the suite
       does not allow was met
    4  nothing is selected
    5  verification failed: data differ, fsck found damage, the kernel logged a
       fault
    6  a gate was asked for, and the noise does not allow to decide
    7  the environment broke a measurement, or --strict does not start in it
   69  nothing can run here, or not each file system named by --fs; one that
       only the suite names changes nothing, unless --require-all
  124  a time limit ran out
  129, 130, 143  ended by SIGHUP, SIGINT, SIGTERM; what had finished is in
       the result
exec and shell pass on the status of the command; the last line of exec tells
whose a code is.";

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a suite on each of its file systems, and compare them.
    Run(Box<RunArguments>),
    /// Run any command on fresh file systems, and compare them.
    Exec(Box<ExecArguments>),
    /// A shell in a fresh file system; all is gone when it ends.
    Shell(Box<ShellArguments>),
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
    /// Find what a run left: loop devices, folders of --keep; free it with --force.
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
    #[arg(value_name = "SUITE|FILE.toml", value_hint = ValueHint::FilePath)]
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

/// Arguments of `fsduel compare`.
#[derive(Debug, Args)]
pub struct CompareArguments {
    /// The earlier run, stored with --json.
    #[arg(value_name = "BASE.json", value_hint = ValueHint::FilePath)]
    pub base: PathBuf,
    /// The new run, of the same suite, scale, seed and size.
    #[arg(value_name = "NEW.json", value_hint = ValueHint::FilePath)]
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
    #[arg(value_hint = ValueHint::FilePath)]
    pub json: Option<PathBuf>,
}

/// Arguments of `fsduel report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A run that was stored with --json.
    #[arg(value_name = "RUN.json", value_hint = ValueHint::FilePath)]
    pub run: PathBuf,
    /// Format, to standard output or to PATH (repeatable) [default: table].
    #[arg(long = "report", value_name = "FORMAT[=PATH]", value_parser = named::report())]
    #[arg(hide_possible_values = true)]
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
    #[arg(value_name = "SUITE|FILE.toml", value_hint = ValueHint::FilePath)]
    pub suite: Option<String>,
    /// The scale of the suite, as `full`.
    #[arg(long, value_name = "NAME", requires = "suite")]
    pub scale: Option<String>,
    /// Folder of the images, or `memory` [default: /var/tmp].
    #[arg(long, value_name = "DIR|memory", env = "FSDUEL_STORE", hide_env_values = true)]
    #[arg(value_hint = ValueHint::DirPath)]
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
    #[arg(value_hint = ValueHint::DirPath)]
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
        // A disk is not lost by a variable that somebody forgot, and commands are told of theirs by one.
        let by_word_only = ["device", "destroy-data", "wipe"];
        for name in ["run", "exec", "shell", "postmark", "compare", "report"] {
            let command = command.find_subcommand(name).unwrap();
            let options = command.get_opts().filter(|option| option.get_id() != "help");
            let options: Vec<_> = options.collect();
            assert!(!options.is_empty());
            for option in options {
                let long = option.get_long().unwrap();
                let wanted = format!("FSDUEL_{}", long.to_uppercase().replace('-', "_"));
                let wanted = Some(wanted.as_str()).filter(|_| !by_word_only.contains(&long));
                assert_eq!(option.get_env().and_then(|name| name.to_str()), wanted, "--{long}");
            }
        }
    }
}
