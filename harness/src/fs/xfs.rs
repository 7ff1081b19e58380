//! xfs. Without a reverse map, which is off by default and would be another file system, it cannot
//! tell data from metadata: `FS_IOC_GETFSMAP` calls all of it unknown. So there is no
//! `Filesystem::space` here, rather than a guess from `statfs`.

use std::path::Path;

use nix::errno::Errno;
use serde_json::Value;

use super::{Description, Filesystem, KernelVersion, LinuxVersions, MkfsOptions, Verdict};
use crate::command::Invocation;
use crate::error::{Error, Result};
use crate::require::Requirement;
use crate::result::{Checked, Which};
use crate::sys::page_size;
use crate::sys::statfs::StatFs;
use crate::units::Bytes;

/// See the module.
pub struct Xfs;

impl Filesystem for Xfs {
    fn name(&self) -> &'static str {
        "xfs"
    }

    fn requirements(&self) -> Vec<Requirement> {
        super::needs(self, "xfsprogs", &["mkfs.xfs", "xfs_repair"])
    }

    fn version(&self) -> Invocation {
        Invocation::new("mkfs.xfs", ["-V"])
    }

    /// Its first version. Source: Linux `fs/xfs` in 2.6.0 and, before that, in 2.4.25.
    fn in_linux(&self) -> LinuxVersions {
        LinuxVersions::since(2, 6)
    }

    /// Blocks above a page need Linux 6.12 and huge pages built in.
    /// Source: Linux `fs/xfs/xfs_super.c`, `xfs_fs_fill_super`.
    fn block_sizes(&self, kernel: KernelVersion) -> Vec<Bytes> {
        let page = page_size();
        let huge_pages = !kernel.here || Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        let large = huge_pages && kernel.version >= (6, 12);
        super::powers_of_two(1024, if large { 65536.max(page) } else { page }.min(65536))
    }

    /// `mkfs.xfs` refuses less since xfsprogs 5.19.
    fn min_size(&self) -> Bytes {
        Bytes::mib(300)
    }

    /// A small directory is inside its inode, which takes 512 bytes.
    fn least_space(&self, files: u64, directories: u64, payload: Bytes, block_size: Bytes) -> Bytes {
        super::least_with_directories_of(512, files, directories, payload, block_size)
    }

    fn mkfs(&self, device: &Path, options: &MkfsOptions) -> Invocation {
        let block_size = format!("size={}", options.block_size.0);
        let uuid = format!("uuid={}", options.uuid);
        super::mkfs("mkfs.xfs", &["-f", "-K", "-b", &block_size, "-m", &uuid], options, device)
    }

    fn describe(&self, _device: &Path, mkfs_output: &str) -> Result<Description> {
        parse_geometry(mkfs_output).ok_or_else(|| {
            Error::new(format!("understand what mkfs.xfs printed: `{}`", mkfs_output.trim()))
                .next("leave -q out of the mkfs options; else report this output and `mkfs.xfs -V`")
        })
    }

    fn fsck(&self, device: &Path) -> Option<Invocation> {
        Some(Invocation::new("xfs_repair", ["-n".as_ref(), device.as_os_str()]))
    }

    /// With `-n`, 0 is clean and 1 is damaged (xfs_repair(8)). A log that it had to ignore means
    /// that the file system was not unmounted as it must be.
    fn verdict(&self, status: i32, output: &str) -> Verdict {
        let checked = match status {
            0 if !output.contains("ALERT:") => Checked::Clean,
            126 | 127 => Checked::NotChecked,
            1 if output.contains("contains a mounted") => Checked::NotChecked,
            _ => Checked::Damaged,
        };
        super::verdict("xfs_repair -n", checked, status, output)
    }

    fn limit(&self, errno: Errno, now: &StatFs, _space: Option<&super::SpaceDetail>) -> (Which, String) {
        super::limit_on_demand(errno, now, "imaxpct allows no more")
    }
}

/// One `key=value` of the geometry, and the section it stands in.
struct Item<'a> {
    section: &'a str,
    key: &'a str,
    value: &'a str,
}

/// The geometry as `mkfs.xfs` prints it: a section's name in front of the first `=`, and nothing
/// there while it goes on.
fn items(text: &str) -> Vec<Item<'_>> {
    let mut section = "";
    let mut items = vec![];
    for (name, rest) in text.lines().filter_map(|line| line.split_once('=')) {
        if !name.trim().is_empty() {
            section = name.trim();
        }
        let pairs = rest.split([' ', ',']).filter_map(|word| word.split_once('='));
        items.extend(pairs.map(|(key, value)| Item { section, key, value }));
    }
    items
}

/// What was made, from the geometry; `None` where this is none.
fn parse_geometry(text: &str) -> Option<Description> {
    let items = items(text);
    let number = |section, key| {
        let item = items.iter().find(|item| item.section == section && item.key == key)?;
        item.value.parse::<u64>().ok()
    };
    let block_size = number("data", "bsize")?;
    let log = number("log", "blocks")?.saturating_mul(number("log", "bsize")?);
    let checksums = if number("meta-data", "crc")? == 1 { "crc32c" } else { "none" };
    let entries = [
        ("block_size_bytes", Some(block_size.into())),
        ("sector_size_bytes", number("meta-data", "sectsz").map(Value::from)),
        ("inode_size_bytes", number("meta-data", "isize").map(Value::from)),
        ("inode_allocation", Some("on demand".into())),
        ("journal_bytes", Some(log.into())),
        ("data_checksums", Some("none".into())),
        ("metadata_checksums", Some(checksums.into())),
    ];
    Some(Description { features: features(&items), ledger: super::ledger(entries) })
}

/// What is switched on, as `crc=1`.
fn features(items: &[Item]) -> Vec<String> {
    let is_feature = |item: &&Item| {
        let section = ["meta-data", "naming"].contains(&item.section);
        section && item.value == "1" && !["agcount", "agsize", "version"].contains(&item.key)
    };
    let mut names: Vec<_> = items.iter().filter(is_feature).map(|item| format!("{}=1", item.key)).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From `mkfs.xfs` 6.1.0.
    const GEOMETRY: &str = "\
meta-data=x                      isize=512    agcount=4, agsize=65536 blks
         =                       sectsz=512   attr=2, projid32bit=1
         =                       crc=1        finobt=1, sparse=1, rmapbt=0
         =                       reflink=1    bigtime=1 inobtcount=1 nrext64=0
data     =                       bsize=4096   blocks=262144, imaxpct=25
         =                       sunit=0      swidth=0 blks
naming   =version 2              bsize=4096   ascii-ci=0, ftype=1
log      =internal log           bsize=4096   blocks=16384, version=2
         =                       sectsz=512   sunit=0 blks, lazy-count=1
realtime =none                   extsz=4096   blocks=0, rtextents=0
";

    fn now(available: u64, inodes: u64) -> StatFs {
        let (total, free) = (Bytes(469_762_048), Bytes(available));
        StatFs { total, free, available: free, inodes, inodes_free: 0, read_only: false }
    }

    #[test]
    fn the_geometry_tells_features_log_and_inode_size() {
        let told = parse_geometry(GEOMETRY).unwrap();
        let features = ["bigtime=1", "crc=1", "finobt=1", "ftype=1", "inobtcount=1", "projid32bit=1"];
        assert_eq!(told.features[..6], features);
        assert_eq!(told.features[6..], ["reflink=1", "sparse=1"]);
        assert_eq!(told.ledger["journal_bytes"], 64 << 20);
        assert_eq!(told.ledger["inode_size_bytes"], 512);
        assert_eq!(told.ledger["block_size_bytes"], 4096);
        assert_eq!(told.ledger["metadata_checksums"], "crc32c");
    }

    #[test]
    fn what_is_no_geometry_is_an_error_with_a_next_step() {
        let error = Xfs.describe(Path::new("/dev/loop9"), "").unwrap_err();
        assert!(error.next_step().is_some_and(|next| next.contains("-q")));
    }

    #[test]
    fn no_free_inode_is_a_limit_of_inodes_only_while_there_is_room() {
        // A file system of 512 MiB, full; and one with `-i maxpct=1`.
        assert_eq!(Xfs.limit(Errno::ENOSPC, &now(0, 232), None).0, Which::Space);
        let (which, text) = Xfs.limit(Errno::ENOSPC, &now(433_709_056, 10432), None);
        assert_eq!(which, Which::Inodes);
        assert!(text.contains("10432") && text.contains("imaxpct"), "{text}");
    }

    #[test]
    fn an_ignored_log_or_a_mounted_device_is_not_clean() {
        assert_eq!(Xfs.verdict(0, "No modify flag set, skipping phase 5\n").checked, Checked::Clean);
        let log = "ALERT: The filesystem has valuable metadata changes in a log which is being ignored\n";
        assert_eq!(Xfs.verdict(0, log).checked, Checked::Damaged);
        assert_eq!(Xfs.verdict(1, "would have reset inode\n").checked, Checked::Damaged);
        let mounted = "xfs_repair: /dev/loop0 contains a mounted and writable filesystem\n";
        assert_eq!(Xfs.verdict(1, mounted).checked, Checked::NotChecked);
    }

    #[test]
    fn large_blocks_come_with_linux_6_12() {
        let sizes = |minor| Xfs.block_sizes(KernelVersion { version: (6, minor), here: false });
        assert!(!sizes(9).contains(&Bytes(2 * page_size())), "{:?}", sizes(9));
        assert!(sizes(12).contains(&Bytes::kib(64)), "{:?}", sizes(12));
    }
}
