//! Kinds of file system: how each is made, mounted, checked and asked about its space.
//!
//! A file system's name is matched nowhere but here. To add one: one file, one row in [`ALL`].

mod btrfs;
mod ext4;
mod f2fs;
mod jfs;
mod nilfs2;
mod reiserfs;
mod xfs;

use std::collections::BTreeMap;
use std::path::Path;

use nix::errno::Errno;
use serde_json::Value;

use crate::command::{self, Invocation};
use crate::error::{Error, Result};
use crate::require::{self, Missing, Requirement};
use crate::result::{Checked, Which};
use crate::sys::statfs::StatFs;
use crate::units::{Bytes, Seed};

pub use crate::require::{KernelVersion, LinuxVersions};

/// All kinds, in the order of reports.
pub static ALL: &[&dyn Filesystem] =
    &[&btrfs::Btrfs, &ext4::Ext4, &xfs::Xfs, &f2fs::F2fs, &jfs::Jfs, &nilfs2::Nilfs2, &reiserfs::Reiserfs];

/// Those that nearly every kernel has: what is compared where nothing else is asked for.
#[must_use]
pub fn common() -> &'static [&'static dyn Filesystem] {
    &ALL[..3]
}

/// The kind that `mount -t` calls `name`.
#[must_use]
pub fn by_name(name: &str) -> Option<&'static dyn Filesystem> {
    ALL.iter().copied().find(|filesystem| filesystem.name() == name)
}

/// What is missing where the kernel `release` (`uname -r`) has no such file system; `found` says how
/// that is known.
#[must_use]
pub fn lacking(filesystem: &dyn Filesystem, release: &str, found: &str) -> Missing {
    require::lacking(filesystem.name(), filesystem.in_linux(), release, found)
}

/// Names that people may ask for, and why there is no row for them.
pub const LEFT_OUT: [(&str, &str); 2] = [
    ("bcachefs", "in Linux 6.7 to 6.17 only, and not tried here yet: Debian 12 has no tools for it"),
    ("reiser4", "in no released kernel: it was always a patch of its own"),
];

/// Which limit an errno stands for on a file system that somebody else made, with a sentence: what
/// any of them tells by `statfs`.
#[must_use]
pub fn limit_of_any(errno: Errno, now: &StatFs) -> (Which, String) {
    let no_inode = now.inodes > 0 && now.inodes_free == 0;
    limit_by_errno(errno).unwrap_or_else(|| match errno {
        Errno::EDQUOT => (Which::Space, "the quota of this user is used up".into()),
        _ if no_inode => (Which::Inodes, out_of_inodes(now, "as statfs tells")),
        _ => (Which::Space, out_of_space(now)),
    })
}

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
    /// Part of `metadata_total` that is kept for emergencies.
    pub metadata_reserve: Option<Bytes>,
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
    /// The versions of Linux that have it.
    fn in_linux(&self) -> LinuxVersions;
    /// Block sizes that `kernel` mounts and `mkfs` makes.
    fn block_sizes(&self, kernel: KernelVersion) -> Vec<Bytes>;
    /// Smallest image that `mkfs` accepts, where a fixed number is known.
    fn min_size(&self) -> Bytes;
    /// Mount options that switch discard off, and others every run needs.
    fn default_mount_options(&self) -> &'static str {
        "noatime,nodiscard"
    }
    /// Those, then what was asked for: the later one wins.
    fn mount_options(&self, asked: &str) -> String {
        let parts = [self.default_mount_options(), asked];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(",")
    }
    /// Inodes that are free in an image of this size after `mkfs`; `None` where they are made on
    /// demand.
    ///
    /// # Errors
    ///
    /// The tool fails.
    fn inodes(&self, _image: Bytes, _options: &MkfsOptions) -> Result<Option<u64>> {
        Ok(None)
    }
    /// What tells `mkfs` to make so many inodes, where their number is fixed.
    fn inodes_option(&self, _count: u64) -> Option<Vec<String>> {
        None
    }
    /// Least space that so many entries and so much payload take, to refuse what can never fit.
    ///
    /// `files` are those that are not empty. By default a block for each of them and for each
    /// directory, and the payload if it is more.
    fn least_space(&self, files: u64, directories: u64, payload: Bytes, block_size: Bytes) -> Bytes {
        let files = files.saturating_mul(block_size.0).max(payload.0);
        Bytes(files.saturating_add(directories.saturating_mul(block_size.0)))
    }
    /// Names of kernel threads that run only while this file system has work left that was put off.
    fn late_work(&self) -> &'static [&'static str] {
        &[]
    }
    /// What a mount reads of the device, beyond superblocks and bitmaps, into a cache that no step
    /// reads from: a journal or a log. `ledger` tells what was made.
    fn read_by_mount(&self, _ledger: &BTreeMap<String, Value>) -> Bytes {
        Bytes(0)
    }
    /// Whether `mkfs` takes the UUID. Where it does not, the tool draws a random one, which nobody
    /// is told.
    fn takes_uuid(&self) -> bool {
        true
    }
    /// Why the space of deleted files is not free again soon, where that is so: what a full file
    /// system does after a delete is then no fault.
    fn keeps_deleted_space(&self) -> Option<&'static str> {
        None
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
    /// It counts what was written: call `syncfs` first.
    ///
    /// # Errors
    ///
    /// The ioctl fails.
    fn space(&self, _mount: &std::fs::File) -> Result<Option<SpaceDetail>> {
        Ok(None)
    }
    /// Which limit an errno stands for, given the file system at that moment; with a sentence.
    fn limit(&self, errno: Errno, now: &StatFs, space: Option<&SpaceDetail>) -> (Which, String);
    /// Errors that the file system itself counted on `device` (`loop4`), in a sentence. Ask while
    /// it is mounted. ext4 counts a full directory index too, which is a limit and no error.
    fn counted_errors(&self, _device: &str) -> Option<String> {
        None
    }
    /// Whether these mount options make the file system compress.
    fn compresses(&self, _mount_options: &str) -> bool {
        false
    }
}

/// Whether any caller could still write: more is free than a full file system leaves unused. An
/// ext4 of 64 MiB without reserve was full with 0.7 MB left, an xfs of 300 MiB with 0.9 MB.
fn has_room(now: &StatFs) -> bool {
    now.available.0 > Bytes::mib(1).0.max(now.total.0 / 100)
}

/// The limits that an errno names by itself.
fn limit_by_errno(errno: Errno) -> Option<(Which, String)> {
    match errno {
        Errno::EMLINK => Some((Which::Links, "one inode has as many links as it can have".into())),
        Errno::EFBIG => Some((Which::FileSize, "one file is as large as it can be".into())),
        _ => None,
    }
}

/// The limit where inodes are made on demand: their number shrinks with the free space, so that
/// none is free on a full file system either. Only with room left was it `why` that ended it.
fn limit_on_demand(errno: Errno, now: &StatFs, why: &str) -> (Which, String) {
    limit_by_errno(errno).unwrap_or_else(|| match now.inodes > 0 && now.inodes_free == 0 && has_room(now) {
        true => (Which::Inodes, out_of_inodes(now, why)),
        false => (Which::Space, out_of_space(now)),
    })
}

/// A size of the ledger; 0 where the tools did not tell it.
fn bytes_of(ledger: &BTreeMap<String, Value>, name: &str) -> Bytes {
    Bytes(ledger.get(name).and_then(Value::as_u64).unwrap_or_default())
}

/// `statfs` in a sentence about space.
fn out_of_space(now: &StatFs) -> String {
    let (total, free, available) = (now.total.0, now.free.0, now.available.0);
    format!("out of space: of {total} bytes, {free} are free for root and {available} for others")
}

/// `statfs` in a sentence about inodes.
fn out_of_inodes(now: &StatFs, why: &str) -> String {
    let (inodes, free, total) = (now.inodes, now.free.0, now.total.0);
    format!("out of inodes: none of {inodes} is free ({why}), while {free} of {total} bytes are")
}

/// What the statuses of fsck(8) mean where a checker keeps to them: 16 (usage), 32 (cancelled) and
/// 126, 127 (no such program) mean that nothing was checked; 8 (operational error) is what a broken
/// superblock gives.
fn by_status(status: i32) -> Checked {
    match status {
        0 => Checked::Clean,
        16 | 32 | 126 | 127 => Checked::NotChecked,
        _ => Checked::Damaged,
    }
}

/// How lines of a checker begin that only tell how far it is, and how large.
const PROGRESS: [&str; 23] = [
    "Phase ",
    "Pass ",
    "- ",
    "[",
    "Opening filesystem",
    "Checking filesystem",
    "UUID:",
    "total ",
    "btree space",
    "file data blocks",
    "referenced ",
    "**Phase ",
    "Info: ",
    "\"Linux version ",
    "from \"Linux version ",
    "to \"Linux version ",
    "Will ",
    "###",
    "Replaying journal",
    "Trans replayed",
    "Checking internal tree",
    "Checking Semantic tree",
    "Comparing bitmaps",
];

/// What a checker said: nothing where all is well, else its status and its first words.
fn verdict(checker: &str, checked: Checked, status: i32, output: &str) -> Verdict {
    /// Lines of a checker that are worth keeping.
    const LINES: usize = 12;
    if checked == Checked::Clean {
        return Verdict { checked, text: String::new() };
    }
    let found = |line: &&str| ["[Fail]", "[ASSERT]"].iter().any(|word| line.contains(word));
    let progress = |line: &&str| PROGRESS.iter().any(|start| line.starts_with(start)) && !found(line);
    let lines = output.lines().map(str::trim).filter(|line| !line.is_empty() && !progress(line));
    let said: Vec<_> = lines.take(LINES).map(printable).collect();
    Verdict { checked, text: format!("{checker} ended with {status}: {}", said.join("\n")) }
}

/// Without the backspaces and the like of a progress display.
fn printable(line: &str) -> String {
    line.chars().filter(|sign| !sign.is_control()).collect()
}

/// What a file system must have: the kernel's part and programs of one package.
fn needs(filesystem: &dyn Filesystem, package: &'static str, programs: &[&'static str]) -> Vec<Requirement> {
    let kernel = Requirement::Kernel { filesystem: filesystem.name(), linux: filesystem.in_linux() };
    let tools = programs.iter().map(|program| Requirement::Tool { program, package });
    std::iter::once(kernel).chain(tools).collect()
}

/// The command line of a `mkfs`: our words, those added, and the device.
fn mkfs(program: &'static str, ours: &[&str], options: &MkfsOptions, device: &Path) -> Invocation {
    let words = ours.iter().copied().chain(options.extra.iter().map(String::as_str)).map(Into::into);
    Invocation::new(program, words.chain([device.as_os_str().to_owned()]))
}

/// [`Filesystem::least_space`] where a small directory is inside its inode.
fn least_with_directories_of(
    inode: u64,
    files: u64,
    directories: u64,
    payload: Bytes,
    block_size: Bytes,
) -> Bytes {
    let files = files.saturating_mul(block_size.0).max(payload.0);
    Bytes(files.saturating_add(directories.saturating_mul(inode)))
}

/// The text of a tool that must succeed.
fn ask(invocation: &Invocation) -> Result<String> {
    let told = command::run(invocation)?;
    if told.status == 0 {
        return Ok(told.text);
    }
    let words = invocation.words().join(" ");
    Err(Error::new(format!("run `{words}`: it ended with {}: {}", told.status, told.text.trim()))
        .next("run it by hand"))
}

/// The entries of a ledger that were told.
fn ledger<const N: usize>(entries: [(&str, Option<Value>); N]) -> BTreeMap<String, Value> {
    entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// All powers of two from `from` to `to`.
fn powers_of_two(from: u64, to: u64) -> Vec<Bytes> {
    std::iter::successors(Some(from), |size| size.checked_mul(2))
        .take_while(|size| *size <= to)
        .map(Bytes)
        .collect()
}

#[cfg(test)]
mod tests;
