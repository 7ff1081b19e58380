//! jfs, as IBM brought it from OS/2 and AIX.
//!
//! - `jfs_mkfs` makes blocks of 4 KiB, takes no UUID (it draws one) and never discards.
//! - Inodes are made 32 at a time, of 512 bytes; small directories and links are inside them.
//! - The journal holds metadata only, and `fsync` is what brings data to the disk.
//! - `jfs_fsck -n` checks everything and writes nothing: an image has the same hash afterwards,
//!   also a damaged one. With `-f` it is not so: then it opens the journal for a replay, and
//!   writes, `-n` or not.
//! - A file system that is mounted is marked clean if its journal is empty, so the words at the end
//!   count, not the mark.
//!
//! Measured with jfsutils 1.1.15 on Linux 6.1 and 6.12.

use std::path::Path;

use nix::errno::Errno;
use serde_json::Value;

use super::{Description, Filesystem, KernelVersion, LinuxVersions, MkfsOptions, Verdict};
use crate::command::Invocation;
use crate::error::Result;
use crate::require::Requirement;
use crate::result::{Checked, Which};
use crate::sys::statfs::StatFs;
use crate::units::Bytes;

/// Bytes of an inode. Source: Linux `fs/jfs/jfs_filsys.h`, `DISIZE`.
const INODE: u64 = 512;

/// See the module.
pub struct Jfs;

impl Filesystem for Jfs {
    fn name(&self) -> &'static str {
        "jfs"
    }

    fn requirements(&self) -> Vec<Requirement> {
        super::needs(self, "jfsutils", &["jfs_mkfs", "jfs_tune", "jfs_fsck"])
    }

    fn version(&self) -> Invocation {
        Invocation::new("jfs_mkfs", ["-V"])
    }

    /// Its first version in that series. Source: Linux 2.4.20, `fs/jfs`.
    fn in_linux(&self) -> LinuxVersions {
        LinuxVersions::since(2, 4)
    }

    /// The tools make no other. Source: Linux `fs/jfs/jfs_filsys.h`, `PSIZE`.
    fn block_sizes(&self, _kernel: KernelVersion) -> Vec<Bytes> {
        vec![Bytes::kib(4)]
    }

    /// `jfs_mkfs` says so itself.
    fn min_size(&self) -> Bytes {
        Bytes::mib(16)
    }

    /// A small directory is inside its inode.
    fn least_space(&self, files: u64, directories: u64, payload: Bytes, block_size: Bytes) -> Bytes {
        super::least_with_directories_of(INODE, files, directories, payload, block_size)
    }

    fn takes_uuid(&self) -> bool {
        false
    }

    fn mkfs(&self, device: &Path, options: &MkfsOptions) -> Invocation {
        super::mkfs("jfs_mkfs", &["-q"], options, device)
    }

    fn describe(&self, device: &Path, _mkfs_output: &str) -> Result<Description> {
        Ok(parse_superblock(&super::ask(&Invocation::new("jfs_tune", ["-l".as_ref(), device.as_os_str()]))?))
    }

    fn fsck(&self, device: &Path) -> Option<Invocation> {
        Some(Invocation::new("jfs_fsck", ["-n".as_ref(), device.as_os_str()]))
    }

    /// Statuses are those of fsck(8); 0 is clean if it says so. On a mounted device it checks
    /// anyway, and its word is worth nothing.
    fn verdict(&self, status: i32, output: &str) -> Verdict {
        let checked = match super::by_status(status) {
            _ if output.contains("currently mounted") => Checked::NotChecked,
            Checked::Clean if !output.contains("Filesystem is clean.") => Checked::Damaged,
            checked => checked,
        };
        super::verdict("jfs_fsck -n", checked, status, output)
    }

    fn limit(&self, errno: Errno, now: &StatFs, _space: Option<&super::SpaceDetail>) -> (Which, String) {
        super::limit_on_demand(errno, now, "no extent of inodes can be made")
    }
}

/// What `jfs_tune -l` prints, by its own names. It does not tell the size of the journal.
fn parse_superblock(text: &str) -> Description {
    let field = |name: &str| {
        let mut values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        values.next().map(str::trim)
    };
    let block_size = field("Aggregate block size").and_then(|value| value.split_whitespace().next());
    let mut features: Vec<String> =
        field("JFS flags").unwrap_or("").split_whitespace().map(Into::into).collect();
    features.sort();
    let entries = [
        ("block_size_bytes", block_size.and_then(|size| size.parse::<u64>().ok()).map(Value::from)),
        ("inode_size_bytes", Some(INODE.into())),
        ("inode_allocation", Some("on demand".into())),
        ("data_checksums", Some("none".into())),
        ("metadata_checksums", Some("none".into())),
    ];
    Description { features, ledger: super::ledger(entries) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `jfs_tune -l` 1.1.15.
    const SUPERBLOCK: &str = "\
jfs_tune version 1.1.15, 04-Mar-2011

JFS filesystem superblock:

JFS magic number:\t'JFS1'
JFS version:\t\t1
JFS state:\t\tclean
JFS flags:\t\tJFS_LINUX  JFS_COMMIT  JFS_GROUPCOMMIT  JFS_INLINELOG  
Aggregate block size:\t4096 bytes
Aggregate size:\t\t259680 blocks
Physical block size:\t512 bytes
";

    /// From `jfs_fsck -n` 1.1.15, shortened: unmounted, and copied while mounted.
    const CLEAN: &str = "\
jfs_fsck version 1.1.15, 04-Mar-2011
**Phase 8 - Verify Disk Allocation Maps
File system checked READ ONLY.
Filesystem is clean.
";
    const DIRTY: &str = "\
**Phase 7 - Verify File/Directory Allocation Maps
Errors detected in the Fileset File/Directory Allocation Map control information. (F)
**Phase 8 - Verify Disk Allocation Maps
Incorrect data detected in disk allocation control structures.
File system checked READ ONLY.
Filesystem is dirty.
Filesystem is dirty but is marked clean.  In its present state,
the results of accessing jfs.dirty (except by this utility) are undefined.
";

    #[test]
    fn the_superblock_tells_flags_and_block_size() {
        let told = parse_superblock(SUPERBLOCK);
        assert_eq!(told.features, ["JFS_COMMIT", "JFS_GROUPCOMMIT", "JFS_INLINELOG", "JFS_LINUX"]);
        assert_eq!(told.ledger["block_size_bytes"], 4096);
        assert!(!told.ledger.contains_key("journal_bytes"), "it is not told");
    }

    #[test]
    fn clean_is_what_it_calls_clean() {
        assert_eq!(Jfs.verdict(0, CLEAN).checked, Checked::Clean);
        assert_eq!(Jfs.verdict(0, "").checked, Checked::Damaged);
        let dirty = Jfs.verdict(4, DIRTY);
        assert_eq!(dirty.checked, Checked::Damaged);
        assert!(dirty.text.contains("Incorrect data detected"), "{}", dirty.text);
        assert!(!dirty.text.contains("Phase 7"), "{}", dirty.text);
    }

    #[test]
    fn a_superblock_that_is_gone_is_damage_and_a_mounted_device_is_not_checked() {
        let gone = "The superblock does not describe a correct jfs file system.\n";
        assert_eq!(Jfs.verdict(8, gone).checked, Checked::Damaged);
        let mounted = "Filesystem is currently mounted.\nFilesystem is clean.\n";
        assert_eq!(Jfs.verdict(0, mounted).checked, Checked::NotChecked);
    }
}
