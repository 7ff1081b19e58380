//! f2fs, made for flash: a log of segments of 2 MiB, cleaned by the kernel while it is idle.
//!
//! - Inodes and directories are blocks of their own, and a small file is inside its inode
//!   (`inline_data`), so that it takes one block in all.
//! - About a tenth of a large image, and half of a small one, is kept for cleaning
//!   (overprovisioning) and cannot be written; `statfs` counts it as used.
//! - There is no journal. `fsync` writes the node blocks of a file, and the rest is as of the last
//!   checkpoint.
//! - `fsck.f2fs --dry-run` checks everything and writes nothing: an image has the same hash
//!   afterwards, also a damaged one. It does not mind a file system that was not unmounted, and
//!   tells of it by the state of the checkpoint only.
//! - Its kernel threads (`f2fs_gc`, `f2fs_ckpt`, `f2fs_flush`) live as long as the mount does,
//!   whether they have work or not.
//!
//! Measured with f2fs-tools 1.15 on Linux 6.1 and 6.12. Source of the rest: Linux
//! `Documentation/filesystems/f2fs.rst`.

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

/// The only size of a block that `mkfs.f2fs` before 1.16 makes.
const BLOCK: u64 = 4096;

/// See the module.
pub struct F2fs;

impl Filesystem for F2fs {
    fn name(&self) -> &'static str {
        "f2fs"
    }

    fn requirements(&self) -> Vec<Requirement> {
        super::needs(self, "f2fs-tools", &["mkfs.f2fs", "dump.f2fs", "fsck.f2fs"])
    }

    fn version(&self) -> Invocation {
        Invocation::new("mkfs.f2fs", ["-V"])
    }

    /// Source: the release notes of Linux 3.8.
    fn in_linux(&self) -> LinuxVersions {
        LinuxVersions::since(3, 8)
    }

    /// A block is a page. Source: Linux `fs/f2fs/super.c`, `sanity_check_raw_super`.
    fn block_sizes(&self, _kernel: KernelVersion) -> Vec<Bytes> {
        if page_size() == BLOCK { vec![Bytes(BLOCK)] } else { vec![] }
    }

    /// Measured: `mkfs.f2fs` 1.15 refuses 51 MiB.
    fn min_size(&self) -> Bytes {
        Bytes::mib(52)
    }

    fn mkfs(&self, device: &Path, options: &MkfsOptions) -> Invocation {
        super::mkfs("mkfs.f2fs", &["-f", "-t", "0", "-U", &options.uuid], options, device)
    }

    fn describe(&self, device: &Path, _mkfs_output: &str) -> Result<Description> {
        let words = ["-d".as_ref(), "1".as_ref(), device.as_os_str()];
        Ok(parse_dump(&super::ask(&Invocation::new("dump.f2fs", words))?))
    }

    fn fsck(&self, device: &Path) -> Option<Invocation> {
        Some(Invocation::new("fsck.f2fs", ["--dry-run".as_ref(), device.as_os_str()]))
    }

    /// 0 is clean if the file system was unmounted. It refuses a device in use, and then has
    /// checked nothing.
    fn verdict(&self, status: i32, output: &str) -> Verdict {
        let has = |words: &[&str]| words.iter().any(|word| output.contains(word));
        let checked = match super::by_status(status) {
            Checked::Clean if has(&["[Fail]", "[ASSERT]", "Mismatch"]) => Checked::Damaged,
            Checked::Clean if !was_unmounted(output) => Checked::Damaged,
            Checked::Damaged if has(&["on mounted device", "In use by the system"]) => Checked::NotChecked,
            checked => checked,
        };
        super::verdict("fsck.f2fs --dry-run", checked, status, output)
    }

    fn limit(&self, errno: Errno, now: &StatFs, _space: Option<&super::SpaceDetail>) -> (Which, String) {
        super::limit_on_demand(errno, now, "the table of nodes has no room for more")
    }

    /// Only files of the extensions named are compressed, `*` for all. Source: Linux
    /// `Documentation/filesystems/f2fs.rst`, `compress_extension`.
    fn compresses(&self, mount_options: &str) -> bool {
        mount_options.split(',').any(|option| option.trim().starts_with("compress_extension="))
    }
}

/// Whether the last checkpoint is that of an unmount, in what `fsck.f2fs` prints: `checkpoint
/// state = c5 :  nat_bits crc compacted_summary unmount`.
fn was_unmounted(output: &str) -> bool {
    let mut states = output.lines().filter_map(|line| line.split_once("checkpoint state = "));
    states.any(|(_, state)| state.split_whitespace().any(|word| word == "unmount"))
}

/// What `dump.f2fs -d 1` prints: `log_blocksize   [0x       c : 12]`.
fn parse_dump(text: &str) -> Description {
    let number = |name: &str| {
        let mut lines = text.lines().filter(|line| line.split_whitespace().next() == Some(name));
        lines.next()?.rsplit(':').next()?.trim().trim_end_matches(']').parse::<u64>().ok()
    };
    let power = |name| 1_u64.checked_shl(u32::try_from(number(name)?).ok()?);
    let block = power("log_blocksize");
    let segment = || block?.checked_mul(power("log_blocks_per_seg")?);
    let overprovision = || segment()?.checked_mul(number("overprov_segment_count")?);
    let line = text.lines().find_map(|line| line.split_once("superblock features = "));
    let names = line.and_then(|(_, rest)| rest.split_once(':')).map_or("", |(_, names)| names);
    let mut features: Vec<String> = names.split_whitespace().map(Into::into).collect();
    features.sort();
    let checksums = features.iter().any(|feature| feature == "inode_checksum");
    let entries = [
        ("block_size_bytes", block.map(Value::from)),
        ("segment_size_bytes", segment().map(Value::from)),
        ("inode_size_bytes", block.map(Value::from)),
        ("inode_allocation", Some("on demand".into())),
        ("journal_bytes", Some(0.into())),
        ("reserved_bytes", overprovision().map(Value::from)),
        ("data_checksums", Some("none".into())),
        (
            "metadata_checksums",
            Some(if checksums { "crc32 of inodes" } else { "crc32 of checkpoints" }.into()),
        ),
    ];
    Description { features, ledger: super::ledger(entries) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `dump.f2fs -d 1` 1.15.0, of an image of 140 MiB made with
    /// `-O extra_attr,inode_checksum,compression`; lines that are not read are left out.
    const DUMP: &str = "\
Info: superblock features = 2028 :  extra_attr inode_checksum compression
Info: superblock encrypt level = 0, salt = 00000000000000000000000000000000
log_blocksize                 \t\t[0x       c : 12]
log_blocks_per_seg            \t\t[0x       9 : 9]
overprov_segment_count        \t\t[0x      1a : 26]
";

    /// From `fsck.f2fs --dry-run` 1.15.0, shortened: unmounted, and copied while mounted.
    const CLEAN: &str = "\
Info: Dry run
Info: checkpoint state = c5 :  nat_bits crc compacted_summary unmount

[FSCK] Max image size: 22 MB, Free space: 120 MB
[FSCK] Unreachable nat entries                        [Ok..] [0x0]
[FSCK] other corrupted bugs                           [Ok..]

Done: 0.000000 secs
";
    const MOUNTED: &str = "Info: checkpoint state = c4 :  nat_bits crc compacted_summary sudden-power-off\n";

    /// The same, after six bytes of a node were flipped.
    const DAMAGED: &str = "\
Info: checkpoint state = c5 :  nat_bits crc compacted_summary unmount
[ASSERT] (sanity_check_nid: 423)  --> nid[0x120] footer.nid[0x1df] footer.ino[0x120]

NID[0x120] is unreachable, blkaddr:0x131b
[FSCK] Max image size: 22 MB, Free space: 120 MB
[FSCK] Unreachable nat entries                        [Fail] [0x1]
[FSCK] Hard link checking for regular file            [Ok..] [0x0]
Do you want to restore lost files into ./lost_found/? [Y/N] [ASSERT] (fsck_verify:3330) res >= 0
";

    #[test]
    fn the_dump_tells_features_blocks_and_what_is_kept_for_cleaning() {
        let told = parse_dump(DUMP);
        assert_eq!(told.features, ["compression", "extra_attr", "inode_checksum"]);
        assert_eq!(told.ledger["block_size_bytes"], 4096);
        assert_eq!(told.ledger["segment_size_bytes"], 2 << 20);
        assert_eq!(told.ledger["reserved_bytes"], 52 << 20);
        assert_eq!(told.ledger["metadata_checksums"], "crc32 of inodes");
    }

    #[test]
    fn what_the_dump_does_not_tell_is_absent() {
        let told = parse_dump("Info: superblock features = 0 : \n");
        assert!(told.features.is_empty() && !told.ledger.contains_key("block_size_bytes"));
        assert!(!told.ledger.contains_key("reserved_bytes"));
    }

    #[test]
    fn only_an_unmounted_file_system_without_complaint_is_clean() {
        assert_eq!(F2fs.verdict(0, CLEAN).checked, Checked::Clean);
        assert_eq!(F2fs.verdict(0, MOUNTED).checked, Checked::Damaged);
        assert_eq!(F2fs.verdict(0, "").checked, Checked::Damaged);
        let damaged = F2fs.verdict(255, DAMAGED);
        assert_eq!(damaged.checked, Checked::Damaged);
        assert!(damaged.text.contains("NID[0x120] is unreachable"), "{}", damaged.text);
        assert!(!damaged.text.contains("[Ok..]"), "{}", damaged.text);
    }

    #[test]
    fn a_superblock_that_is_gone_is_damage_and_a_device_in_use_is_not_checked() {
        let gone =
            "\tMagic Mismatch, valid(0xf2f52010) - read(0x0)\n\tCan't find a valid F2FS superblock at 0x1\n";
        assert_eq!(F2fs.verdict(255, gone).checked, Checked::Damaged);
        assert_eq!(F2fs.verdict(255, "\tError: In use by the system!\n").checked, Checked::NotChecked);
        assert_eq!(
            F2fs.verdict(255, "\tError: Not available on mounted device!\n").checked,
            Checked::NotChecked
        );
    }

    #[test]
    fn it_compresses_where_extensions_are_named() {
        assert!(F2fs.compresses("noatime,compress_algorithm=zstd,compress_extension=*"));
        assert!(!F2fs.compresses("noatime,compress_algorithm=zstd") && !F2fs.compresses("nodiscard"));
    }
}
