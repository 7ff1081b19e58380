//! Kinds of file system: how each is made, mounted, checked and asked about its space.
//!
//! A file system's name is matched nowhere but here. To add one: one file, one row in [`ALL`].

use std::collections::BTreeMap;
use std::path::Path;

use nix::errno::Errno;
use serde_json::Value;

use crate::command::Invocation;
use crate::error::Result;
use crate::require::Requirement;
use crate::result::{Checked, Which};
use crate::sys::statfs::StatFs;
use crate::units::{Bytes, Seed};

/// What a file system is made with.
#[derive(Clone, Debug)]
pub struct MkfsOptions {
    /// Block size (sector size on btrfs).
    pub block_size: Bytes,
    /// Random; decides nothing.
    pub uuid: String,
    /// Decides ext4's directory hash seed, and so its layout.
    pub seed: Seed,
    /// Added as given.
    pub extra: Vec<String>,
}

/// What the tools say of a file system that was made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    /// Features in the tools' words, sorted.
    pub features: Vec<String>,
    /// What may differ between file systems: inode size, journal, profiles, checksums, ...
    pub ledger: BTreeMap<String, Value>,
}

/// Space as the file system itself counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SpaceDetail {
    /// Bytes that hold file contents.
    pub data_used: Option<Bytes>,
    /// Bytes that hold anything else, copies counted.
    pub metadata_used: Option<Bytes>,
    /// Bytes that can hold file contents, as allocated now.
    pub data_total: Option<Bytes>,
    /// Bytes that can hold metadata, as allocated now.
    pub metadata_total: Option<Bytes>,
}

/// What a checker said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// In a word.
    pub checked: Checked,
    /// The tool's own words, where they matter.
    pub text: String,
}

/// One kind of file system: how to make it, check it and mount it.
pub trait Filesystem: Sync {
    /// Name as `mount -t` and `/proc/filesystems` spell it (`FSTYP` in fstests).
    fn name(&self) -> &'static str;
    /// What the machine must have.
    fn requirements(&self) -> Vec<Requirement>;
    /// The tool whose version line stands for the file system in reports.
    fn version(&self) -> Invocation;
    /// Block sizes this kernel mounts.
    fn block_sizes(&self) -> Vec<Bytes>;
    /// Smallest image that `mkfs` accepts, where a fixed number is known.
    fn min_size(&self) -> Bytes;
    /// Mount options that switch discard off, and others every run needs.
    fn default_mount_options(&self) -> &'static str {
        "noatime,nodiscard"
    }
    /// Inodes that `mkfs` makes in an image of this size; `None` where they are made on demand.
    ///
    /// # Errors
    ///
    /// The tool fails.
    fn inodes(&self, _image: Bytes, _options: &MkfsOptions) -> Result<Option<u64>> {
        Ok(None)
    }
    /// The `mkfs` command line for `device`. Never asks a question.
    fn mkfs(&self, device: &Path, options: &MkfsOptions) -> Invocation;
    /// What was made. `mkfs_output` is what `mkfs` printed.
    ///
    /// # Errors
    ///
    /// The tool that tells fails.
    fn describe(&self, device: &Path, mkfs_output: &str) -> Result<Description>;
    /// The check-only command line for `device`, or `None` where no checker exists.
    ///
    /// It never repairs. `None` is reported as "not checked", never as clean.
    fn fsck(&self, device: &Path) -> Option<Invocation>;
    /// What the checker's exit status and output mean; checkers disagree.
    fn verdict(&self, status: i32, output: &str) -> Verdict;
    /// Space as the file system itself counts it, where `statfs` does not say enough.
    ///
    /// # Errors
    ///
    /// The ioctl fails.
    fn space(&self, _mount: &std::fs::File) -> Result<Option<SpaceDetail>> {
        Ok(None)
    }
    /// Which limit an errno stands for, given the file system at that moment; with a sentence.
    fn limit(&self, errno: Errno, now: &StatFs, space: Option<&SpaceDetail>) -> (Which, String);
    /// Errors that the file system itself counted on `device` (`loop4`), in a sentence.
    fn counted_errors(&self, _device: &str) -> Option<String> {
        None
    }
    /// Whether these mount options make the file system compress.
    fn compresses(&self, _mount_options: &str) -> bool {
        false
    }
}
