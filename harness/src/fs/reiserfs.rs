//! reiserfs, version 3.6: one tree that holds names, inodes and the ends of files (tails), several
//! to a block.
//!
//! - It left Linux in 6.13. Kernels before say at each mount that it is deprecated.
//! - It has no inodes that could run out, and `statfs` shows none.
//! - The journal takes 8193 blocks, 32 MiB of 4 KiB each, whatever the size of the image. The
//!   first mount reads all of it, to find that there is nothing to replay.
//! - It knows no discard, and neither `mkfs.reiserfs` nor a mount has an option for it.
//! - At the first mount the kernel makes `.reiserfs_priv`, a directory that no list shows.
//! - `reiserfsck --check` has no way to write nothing. It asks unless `-y` is given, which answers
//!   that one question and repairs nothing; it puts the time of the check and the number of mounts
//!   since into the superblock (two bytes of an image differ afterwards); and it replays the
//!   journal of a file system that was not unmounted, which is then called damaged.
//!
//! Measured with reiserfsprogs 3.6.27 on Linux 6.1 and 6.12.

use std::collections::BTreeMap;
use std::path::Path;

use nix::errno::Errno;
use serde_json::Value;

use super::{Description, Filesystem, KernelVersion, LinuxVersions, MkfsOptions, Verdict};
use crate::command::Invocation;
use crate::error::Result;
use crate::require::Requirement;
use crate::result::{Checked, Which};
use crate::sys::page_size;
use crate::sys::statfs::StatFs;
use crate::units::Bytes;

/// See the module.
pub struct Reiserfs;

impl Filesystem for Reiserfs {
    fn name(&self) -> &'static str {
        "reiserfs"
    }

    fn requirements(&self) -> Vec<Requirement> {
        super::needs(self, "reiserfsprogs", &["mkfs.reiserfs", "debugreiserfs", "reiserfsck"])
    }

    fn version(&self) -> Invocation {
        Invocation::new("mkfs.reiserfs", ["-V"])
    }

    /// Sources: the release notes of Linux 2.4.1; in 6.13, the commit "reiserfs: The last commit".
    fn in_linux(&self) -> LinuxVersions {
        LinuxVersions::since(2, 4).gone_in(6, 13)
    }

    /// Up to a page. Measured: 512 to 4096 are made and mounted, 8192 is made and refused.
    fn block_sizes(&self, _kernel: KernelVersion) -> Vec<Bytes> {
        super::powers_of_two(512, page_size().min(8192))
    }

    /// Its journal, and 512 blocks more. Measured: `mkfs.reiserfs` 3.6.27 refuses less.
    fn min_size(&self) -> Bytes {
        Bytes::mib(34)
    }

    /// There is no option for it.
    fn default_mount_options(&self) -> &'static str {
        "noatime"
    }

    /// The journal. Measured on Linux 6.12: 8196 pages after the first mount.
    fn read_by_mount(&self, ledger: &BTreeMap<String, Value>) -> Bytes {
        super::bytes_of(ledger, "journal_bytes")
    }

    /// Small files and directories are items of a tree, a few hundred bytes each.
    fn least_space(&self, _files: u64, _directories: u64, payload: Bytes, _block_size: Bytes) -> Bytes {
        payload
    }

    /// `-f` twice, so that nothing is asked.
    fn mkfs(&self, device: &Path, options: &MkfsOptions) -> Invocation {
        let block_size = options.block_size.0.to_string();
        let ours = ["-f", "-f", "-q", "-b", &block_size, "-u", &options.uuid];
        super::mkfs("mkfs.reiserfs", &ours, options, device)
    }

    fn describe(&self, device: &Path, _mkfs_output: &str) -> Result<Description> {
        Ok(parse_superblock(&super::ask(&Invocation::new("debugreiserfs", [device]))?))
    }

    fn fsck(&self, device: &Path) -> Option<Invocation> {
        let words = ["--check".as_ref(), "-y".as_ref(), "-q".as_ref(), device.as_os_str()];
        Some(Invocation::new("reiserfsck", words))
    }

    /// Statuses are those of reiserfsck(8). 0 is clean, unless the journal held something.
    fn verdict(&self, status: i32, output: &str) -> Verdict {
        let checked = match super::by_status(status) {
            _ if output.contains("is mounted with write permissions") => Checked::NotChecked,
            Checked::Clean if !journal_was_empty(output) => Checked::Damaged,
            checked => checked,
        };
        super::verdict("reiserfsck --check", checked, status, output)
    }

    fn limit(&self, errno: Errno, now: &StatFs, _space: Option<&super::SpaceDetail>) -> (Which, String) {
        super::limit_on_demand(errno, now, "as statfs tells")
    }
}

/// Whether it found nothing to replay: "No transactions found", or "... in blocks [18..8211]: 0
/// transactions replayed".
fn journal_was_empty(output: &str) -> bool {
    let mut counts = output.lines().filter_map(|line| line.strip_suffix(" transactions replayed"));
    output.contains("No transactions found")
        || counts.next().is_some_and(|line| line.rsplit(' ').next() == Some("0"))
}

/// What `debugreiserfs` prints, by its own names.
fn parse_superblock(text: &str) -> Description {
    let line = |start: &str| text.lines().map(str::trim).find_map(|line| line.strip_prefix(start));
    let first_number = |start: &str| line(start)?.split_whitespace().next()?.parse::<u64>().ok();
    let block = first_number("Blocksize:");
    let journal = || block?.checked_mul(first_number("Size ")?);
    // "in block 16 on 0x0 of format 3.6 with standard journal"
    let format = text.lines().find_map(|line| line.split_once(" of format ")?.1.split_whitespace().next());
    let hash = line("Hash function used to sort names:").map(|name| name.trim().trim_matches('"'));
    let features = [format.map(|format| format!("format={format}")), hash.map(|hash| format!("hash={hash}"))];
    let entries = [
        ("block_size_bytes", block.map(Value::from)),
        ("inode_allocation", Some("on demand".into())),
        ("journal_bytes", journal().map(Value::from)),
        ("data_checksums", Some("none".into())),
        ("metadata_checksums", Some("none".into())),
    ];
    Description { features: features.into_iter().flatten().collect(), ledger: super::ledger(entries) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `debugreiserfs` 3.6.27, shortened.
    const SUPERBLOCK: &str = "\
debugreiserfs 3.6.27


Filesystem state: consistent

Reiserfs super block in block 16 on 0x0 of format 3.6 with standard journal
Count of blocks on the device: 32768
Number of bitmaps: 1
Blocksize: 4096
Root block: 8211
Hash function used to sort names: \"r5\"
Objectid map size 2, max 972
Journal parameters:
\tDevice [0x0]
\tMagic [0x284b2c90]
\tSize 8193 blocks (including 1 for journal header) (first block 18)
\tMax transaction length 1024 blocks
UUID: 11111111-2222-4333-8444-555555555555
";

    /// From `reiserfsck --check -y -q` 3.6.27, shortened.
    const CLEAN: &str = "\
Replaying journal: Replaying journal: Done.
Reiserfs journal '/dev/vda' in blocks [18..8211]: 0 transactions replayed
Checking internal tree..  finished
No corruptions found
";
    /// Of an image that was copied while it was mounted.
    const REPLAYED: &str = "\
Replaying journal: Done.
Reiserfs journal 'rc' in blocks [18..8211]: 15 transactions replayed
Checking internal tree..  finished
Comparing bitmaps..finished
No corruptions found
";
    /// After bytes of leaves were flipped.
    const DAMAGED: &str = "\
Reiserfs journal 'x' in blocks [18..8211]: 0 transactions replayed
Checking internal tree..  \\\u{8}|\u{8}/finished
Comparing bitmaps..finished
Fatal corruptions were found, Semantic pass skipped
2 found corruptions can be fixed only when running with --rebuild-tree
";

    #[test]
    fn the_superblock_tells_format_hash_and_journal() {
        let told = parse_superblock(SUPERBLOCK);
        assert_eq!(told.features, ["format=3.6", "hash=r5"]);
        assert_eq!(told.ledger["block_size_bytes"], 4096);
        assert_eq!(told.ledger["journal_bytes"], 8193 * 4096);
        assert_eq!(Reiserfs.read_by_mount(&told.ledger), Bytes(8193 * 4096));
    }

    #[test]
    fn a_journal_that_held_something_is_not_clean() {
        assert_eq!(Reiserfs.verdict(0, CLEAN).checked, Checked::Clean);
        let fresh = "Replaying journal: No transactions found\nNo corruptions found\n";
        assert_eq!(Reiserfs.verdict(0, fresh).checked, Checked::Clean);
        let replayed = Reiserfs.verdict(0, REPLAYED);
        assert_eq!(replayed.checked, Checked::Damaged);
        assert!(replayed.text.contains("15 transactions replayed"), "{}", replayed.text);
        let ten = CLEAN.replace(": 0 tr", ": 10 tr");
        assert_eq!(Reiserfs.verdict(0, &ten).checked, Checked::Damaged);
    }

    #[test]
    fn damage_is_told_in_the_words_of_the_checker() {
        let damaged = Reiserfs.verdict(4, DAMAGED);
        assert_eq!(damaged.checked, Checked::Damaged);
        assert!(damaged.text.contains("2 found corruptions"), "{}", damaged.text);
        assert!(
            !damaged.text.contains('\u{8}') && !damaged.text.contains("internal tree"),
            "{}",
            damaged.text
        );
        let mounted = "Partition /dev/vda is mounted with write permissions, cannot check it\n";
        assert_eq!(Reiserfs.verdict(16, mounted).checked, Checked::NotChecked);
    }
}
