//! Arguments of `fsduel shell`.

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{Args, ValueHint};
use fsduel_harness::units::Bytes;

use super::{Keep, named};
use crate::parts;

/// Arguments of `fsduel shell`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ShellArguments {
    /// The file system, as `btrfs` or with mount options `btrfs:compress=zstd`.
    #[arg(long = "fs", value_name = "SPEC", env = "FSDUEL_FS", hide_env_values = true)]
    #[arg(value_parser = named::filesystem(), hide_possible_values = true)]
    pub filesystem: String,
    /// Size of the image, as 512M [default: 2GiB].
    #[arg(long, value_parser = parts::size, env = "FSDUEL_SIZE", hide_env_values = true)]
    pub size: Option<Bytes>,
    /// Block size of the file system [default: 4KiB].
    #[arg(long, value_name = "SIZE", value_parser = parts::size)]
    #[arg(env = "FSDUEL_BLOCK_SIZE", hide_env_values = true)]
    pub block_size: Option<Bytes>,
    /// Options of mkfs, as `ext4=-O ^has_journal`.
    #[arg(long = "mkfs-options", value_name = "NAME=OPTIONS", allow_hyphen_values = true)]
    #[arg(env = "FSDUEL_MKFS_OPTIONS", hide_env_values = true)]
    pub mkfs_options: Vec<String>,
    /// Folder of the image, or `memory` [default: /var/tmp].
    #[arg(long, value_name = "DIR|memory", env = "FSDUEL_STORE", hide_env_values = true)]
    #[arg(value_hint = ValueHint::DirPath)]
    pub store: Option<String>,
    /// Memory for the shell and its page cache, as 512M.
    #[arg(long, value_name = "SIZE", value_parser = parts::size)]
    #[arg(env = "FSDUEL_MEMORY", hide_env_values = true)]
    pub memory: Option<Bytes>,
    /// A directory whose content is put into the file system first.
    #[arg(long, value_name = "DIR", env = "FSDUEL_COPY", hide_env_values = true)]
    #[arg(value_hint = ValueHint::DirPath)]
    pub copy: Option<PathBuf>,
    /// Work as root, although another user called through sudo.
    #[arg(long, env = "FSDUEL_AS_ROOT", hide_env_values = true)]
    #[arg(value_parser = BoolishValueParser::new())]
    pub as_root: bool,
    /// Keep the image at the end, and say how to mount it again.
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "all", env = "FSDUEL_KEEP", hide_env_values = true)]
    pub keep: Option<Keep>,
}

const EXAMPLES: &str = "\
The shell is that of the user who called sudo, or /bin/sh. It starts in the root of the file
system, which is seen from there only. All is gone when it ends, with what it
left running; its exit status is that of fsduel. What is written outside of the
file system stays.

In its environment are the names that `fsduel exec` has, as FSDUEL_MOUNT.

Examples:
  sudo fsduel shell --fs btrfs
  sudo fsduel shell --fs xfs:noquota --size 8GiB --copy ./tree --keep
  echo 'df -h .' | sudo fsduel shell --fs ext4";
