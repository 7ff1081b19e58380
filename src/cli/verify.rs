//! Arguments of `fsduel verify`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Arguments of `fsduel verify`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArguments {
    /// A run that was stored with --json.
    #[arg(value_name = "RUN.json", value_hint = ValueHint::FilePath)]
    pub run: PathBuf,
    /// The known facts: JSON, or a snapshot of insta (`.snap`).
    ///
    /// They must be of the same suite, scale, seed, sizes and steps.
    #[arg(long, value_name = "FACTS.json", value_hint = ValueHint::FilePath)]
    pub against: PathBuf,
    /// Take the facts of the run as known: make the file, or replace what differs.
    ///
    /// What the file has of other file systems and versions stays. A run in which
    /// a case did not pass is refused.
    #[arg(long)]
    pub accept: bool,
    /// Say nothing when all facts agree.
    #[arg(long, short)]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Facts are counts, bytes, hashes, errnos and what mkfs made: they have no noise.
What depends on the version of mkfs or the kernel is known for each version;
one that the file does not know is noted and is no difference.

Exit code 3 where a fact differs, 2 where the file is of other work, 4 where
run and file have no file system in common.

Examples:
  sudo fsduel run smoke --json run.json
  fsduel verify run.json --against fixtures/smoke/facts.snap
  fsduel verify run.json --against facts.json --accept";
