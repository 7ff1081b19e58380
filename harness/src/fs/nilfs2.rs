//! nilfs2, a log of the whole file system, in which every write makes a checkpoint that can be
//! mounted.
//!
//! - What is deleted or written over stays until a cleaner frees whole segments. The cleaner
//!   (`nilfs_cleanerd`) is a program that mount(8) starts. It is not run here: it would write for
//!   an hour (`protection_period`) after the work, and in no step's account. So a delete gives no
//!   space back, and a full file system stays full: names can still be deleted, none can be made.
//! - `statfs` counts whole segments of 2048 blocks, so that small work takes no space at all, or
//!   8 MiB of it. It still counts reserved segments (5 %, and what a log needs) as free when a
//!   write is refused.
//! - There is no checker in its tools, so it is "not checked".
//! - `mkfs.nilfs2` takes no UUID (it draws one), and takes `-K` for no discard.
//! - Its kernel thread (`segctord`) lives as long as the mount does, whether it has work or not.
//!
//! Measured with nilfs-utils 2.2.9 on Linux 6.1 and 6.12. Source of the rest: nilfs(5), Linux
//! `Documentation/filesystems/nilfs2.rst`.

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
pub struct Nilfs2;

impl Filesystem for Nilfs2 {
    fn name(&self) -> &'static str {
        "nilfs2"
    }

    fn requirements(&self) -> Vec<Requirement> {
        super::needs(self, "nilfs-tools", &["mkfs.nilfs2", "nilfs-tune"])
    }

    fn version(&self) -> Invocation {
        Invocation::new("mkfs.nilfs2", ["-V"])
    }

    /// Source: the release notes of Linux 2.6.30.
    fn in_linux(&self) -> LinuxVersions {
        LinuxVersions::since(2, 6)
    }

    /// Up to a page. Source: mkfs.nilfs2(8); measured: 512 and 8192 are refused.
    fn block_sizes(&self, _kernel: KernelVersion) -> Vec<Bytes> {
        super::powers_of_two(1024, page_size())
    }

    /// What `mkfs.nilfs2` says that it needs, with 4 KiB blocks.
    fn min_size(&self) -> Bytes {
        Bytes(134_221_824)
    }

    fn takes_uuid(&self) -> bool {
        false
    }

    fn keeps_deleted_space(&self) -> Option<&'static str> {
        Some("only its cleaner gives the space of deleted files back, a program that is not run here")
    }

    /// To find its newest super root it reads the segment of the last log ahead, and the next one,
    /// and where the log has gone on there one more. Measured on Linux 6.12: 4097 pages, two segments.
    fn read_by_mount(&self, ledger: &BTreeMap<String, Value>) -> Bytes {
        Bytes(super::bytes_of(ledger, "segment_size_bytes").0.saturating_mul(3))
    }

    fn mkfs(&self, device: &Path, options: &MkfsOptions) -> Invocation {
        let block_size = options.block_size.0.to_string();
        super::mkfs("mkfs.nilfs2", &["-f", "-q", "-K", "-b", &block_size], options, device)
    }

    fn describe(&self, device: &Path, _mkfs_output: &str) -> Result<Description> {
        Ok(parse_tune(&super::ask(&Invocation::new("nilfs-tune", ["-l".as_ref(), device.as_os_str()]))?))
    }

    fn fsck(&self, _device: &Path) -> Option<Invocation> {
        None
    }

    /// Of a checker that there is not.
    fn verdict(&self, status: i32, output: &str) -> Verdict {
        super::verdict("no checker", Checked::NotChecked, status, output)
    }

    fn limit(&self, errno: Errno, now: &StatFs, _space: Option<&super::SpaceDetail>) -> (Which, String) {
        super::limit_on_demand(errno, now, "as statfs tells")
    }
}

/// What `nilfs-tune -l` prints, by its own names.
fn parse_tune(text: &str) -> Description {
    let field = |name: &str| {
        let mut values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        values.next().map(str::trim)
    };
    let number = |name: &str| field(name).and_then(|value| value.parse::<u64>().ok());
    let block = number("Block size");
    let segment = || block?.checked_mul(number("# of blocks per segment")?);
    let names = field("Filesystem features").filter(|names| *names != "(none)").unwrap_or("");
    let mut features: Vec<String> = names.split_whitespace().map(Into::into).collect();
    features.sort();
    let entries = [
        ("block_size_bytes", block.map(Value::from)),
        ("segment_size_bytes", segment().map(Value::from)),
        ("inode_size_bytes", number("Inode size").map(Value::from)),
        ("inode_allocation", Some("on demand".into())),
        ("journal_bytes", Some(0.into())),
        ("deleted_space", Some("kept: no cleaner runs".into())),
        ("data_checksums", Some("crc32 of each log, read after a crash only".into())),
        ("metadata_checksums", Some("crc32 of each log, read after a crash only".into())),
    ];
    Description { features, ledger: super::ledger(entries) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `nilfs-tune -l` 2.2.9, shortened.
    const TUNE: &str = "\
nilfs-tune 2.2.9
Filesystem volume name:\t  (none)
Filesystem UUID:\t  bd562914-313f-482f-91c6-666324d972fa
Filesystem revision #:\t  2.0
Filesystem features:      (none)
Block size:\t\t  4096
First inode:\t\t  11
Inode size:\t\t  128
Number of segments:\t  17
Device size:\t\t  146800640
# of blocks per segment:  2048
Reserved segments %:\t  5
";

    #[test]
    fn the_superblock_tells_blocks_and_segments() {
        let told = parse_tune(TUNE);
        assert!(told.features.is_empty());
        assert_eq!(told.ledger["block_size_bytes"], 4096);
        assert_eq!(told.ledger["segment_size_bytes"], 8 << 20);
        assert_eq!(Nilfs2.read_by_mount(&told.ledger), Bytes::mib(24));
        assert_eq!(told.ledger["inode_size_bytes"], 128);
        let with = parse_tune(&TUNE.replace("(none)", "block_count"));
        assert_eq!(with.features, ["block_count"]);
    }

    #[test]
    fn nothing_checks_it_and_that_is_never_clean() {
        assert_eq!(Nilfs2.fsck(Path::new("/dev/loop9")), None);
        assert_eq!(Nilfs2.verdict(0, "").checked, Checked::NotChecked);
    }

    #[test]
    fn a_refused_write_is_a_limit_of_space_although_reserved_segments_count_as_free() {
        // A file system of 192 MiB at the moment of ENOSPC.
        let now = StatFs {
            total: Bytes(49151 * 4096),
            free: Bytes(18432 * 4096),
            available: Bytes(2048 * 4096),
            inodes: 33_554_432,
            inodes_free: 33_554_128,
            read_only: false,
        };
        assert_eq!(Nilfs2.limit(Errno::ENOSPC, &now, None).0, Which::Space);
    }
}
