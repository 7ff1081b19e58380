//! Arguments of `fsduel exec`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueHint};

use super::Shared;

/// Arguments of `fsduel exec`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ExecArguments {
    /// The command and its arguments; it starts in the root of the file system.
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    #[arg(value_hint = ValueHint::CommandWithArguments)]
    pub words: Vec<OsString>,
    /// What belongs to the command.
    #[command(flatten)]
    pub around: Around,
    /// What `run` has, too.
    #[command(flatten)]
    pub shared: Shared,
}

const EXAMPLES: &str = "\
Without --fs: each common file system that this machine has.

Options stand before the command, which begins behind `--`. A program by a path
such as ./run is that of --copy, or else the one here; all other words are as the
command sees them, from the root of the file system.

The command runs as the user who called sudo, who owns the root of the file
system; what --copy brings keeps its owners. Mounts are nosuid,nodev. It ends
when all that it started has ended: what it leaves in the background is ended
after 2 s, and the case is an error. What it writes outside of the file system,
as to /tmp, is neither prevented nor seen: set TMPDIR where that matters. With
one case it has this terminal; with several nothing to read, and what it prints
is shown where it fails. All that it prints comes on standard error.

In a virtual machine (--backend vm) it reads nothing. Of this machine it finds
there the programs on PATH, with their libraries, and the files by their full
path that are words of the command, of the lines around it, or of shell scripts
among them; and all that is in --copy. With --root DIR it finds DIR instead.

In its environment: FSDUEL_MOUNT, where it is mounted; FSDUEL_DEVICE, root's;
FSDUEL_FILESYSTEM, as ext4; FSDUEL_CONFIGURATION, the ID of --fs; FSDUEL_BLOCK,
the number of the repetition; and the names of xfstests: FSTYP, SCRATCH_MNT,
SCRATCH_DEV.

The exit code is that of the first command that failed (128+n for signal n), if
nothing else went wrong; 126 if it cannot be executed, 127 if it is not there. A
check that fails: 5; what prepares, or something left running: 1. The last line
tells whose a code is.

Examples:
  sudo fsduel exec --fs btrfs -- pytest /home/me/project
  sudo fsduel exec --fs ext4 --fs btrfs:compress=zstd --fs xfs --repeat 5 -- \\
       sh -c 'tar xf /srv/linux.tar && sync'
  sudo fsduel exec --copy ./tree --check 'sha256sum -c SUMS' -- ./convert .
  fsduel exec --backend vm --kernel linux-6.1.deb --root ./debian -- make test";

/// What belongs to the command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Around the command")]
pub struct Around {
    /// A line for the shell, run in the file system before the clock.
    ///
    /// Then the file system is mounted again, with cold caches.
    #[arg(long, value_name = "LINE", env = "FSDUEL_PREPARE", hide_env_values = true)]
    #[arg(value_hint = ValueHint::CommandString)]
    pub prepare: Option<String>,
    /// A line for the shell, run after the clock, with cold caches.
    ///
    /// Where it fails, the case has failed: exit code 5.
    #[arg(long, value_name = "LINE", env = "FSDUEL_CHECK", hide_env_values = true)]
    #[arg(value_hint = ValueHint::CommandString)]
    pub check: Option<String>,
    /// A directory whose content is put into the file system before the clock.
    #[arg(long, value_name = "DIR", env = "FSDUEL_COPY", hide_env_values = true)]
    #[arg(value_hint = ValueHint::DirPath)]
    pub copy: Option<PathBuf>,
    /// In a virtual machine: a directory that is its root, as one of debootstrap.
    ///
    /// Its content is put into the guest's memory: twice its size is needed.
    #[arg(long, value_name = "DIR", env = "FSDUEL_ROOT", hide_env_values = true)]
    #[arg(value_hint = ValueHint::DirPath)]
    pub root: Option<PathBuf>,
    /// Run it as root, although another user called.
    #[arg(long, env = "FSDUEL_AS_ROOT", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub as_root: bool,
    /// Go on after a command that failed; without it, the first ends the run.
    #[arg(long, env = "FSDUEL_KEEP_GOING", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub keep_going: bool,
}
