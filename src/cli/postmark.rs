//! Arguments of `fsduel postmark`.

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueEnum, ValueHint};

use super::Shared;

/// Arguments of `fsduel postmark`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct PostmarkArguments {
    /// A configuration of PostMark, as `set number 1000`; `run` may be left out.
    ///
    /// It is read as PostMark reads it; what surprises there is warned about, with
    /// its line. Standard input is never read.
    #[arg(value_name = "CONFIG", value_hint = ValueHint::FilePath)]
    pub config: PathBuf,
    /// What PostMark itself cannot be told.
    #[command(flatten)]
    pub beside: Beside,
    /// What `run` has, too.
    #[command(flatten)]
    pub shared: Shared,
}

const EXAMPLES: &str = "\
Without --fs: runs in the locations of the configuration, or here. No file
there may have a name of the run's (a plain number, or s0, s1, ...); at the end
they are as before. With --fs: on fresh file systems, with each location below
the mount.

Standard output has PostMark's report, and exact sums and our own times below
it; with --fs it has tables, and `--report postmark` gives that report.

Examples:
  fsduel postmark mail.pmrc --dry-run       counts and data figures, at once
  fsduel postmark mail.pmrc                 in its locations, or here
  sudo fsduel postmark mail.pmrc --fs 'btrfs:compress=lzo' --fs ext4
  sudo fsduel postmark mail.pmrc --fs ext4 --size 16GiB --json mail.json
  fsduel report mail.json --report postmark";

/// How much is verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Verify {
    /// Every read, and sizes of all files before the deletion phase.
    #[default]
    Reads,
    /// Also every byte of what is left, read back cold (with --fs).
    Full,
    /// Nothing: only what PostMark does.
    None,
}

/// What is in the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Content {
    /// Each write is the beginning of one text, as with PostMark.
    #[default]
    Pool,
    /// No two writes are alike, and none compresses.
    Unique,
}

/// What PostMark itself cannot be told.
#[derive(Debug, Args)]
#[command(next_help_heading = "Beside the configuration")]
pub struct Beside {
    /// How much is verified [default: reads].
    ///
    /// `full` reads everything back cold before the deletion phase, which then is
    /// a step of its own: cold, and not in PostMark's figures.
    #[arg(long, value_name = "HOW", env = "FSDUEL_VERIFY", hide_env_values = true)]
    pub verify: Option<Verify>,
    /// Verify nothing: as --verify none.
    #[arg(long, conflicts_with = "verify", env = "FSDUEL_NO_VERIFY", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub no_verify: bool,
    /// Go on after failures, and count them as PostMark does.
    #[arg(long, env = "FSDUEL_BUG_COMPATIBLE", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub bug_compatible: bool,
    /// What is in the files [default: pool].
    #[arg(long, value_name = "WHAT", env = "FSDUEL_CONTENT", hide_env_values = true)]
    pub content: Option<Content>,
}
