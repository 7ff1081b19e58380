//! btrfs. It counts data and metadata apart, and metadata twice by default (DUP), so that what
//! `statfs` says is not enough to name the limit that was reached.

use std::fs::File;
use std::path::Path;

use nix::errno::Errno;
use serde_json::Value;

use super::{Description, Filesystem, KernelVersion, LinuxVersions, MkfsOptions, SpaceDetail, Verdict};
use crate::command::Invocation;
use crate::error::Result;
use crate::require::Requirement;
use crate::result::{Checked, Which};
use crate::sys::page_size;
use crate::sys::space::{self, SpaceInfo};
use crate::sys::statfs::StatFs;
use crate::units::Bytes;

/// See the module.
pub struct Btrfs;

impl Filesystem for Btrfs {
    fn name(&self) -> &'static str {
        "btrfs"
    }

    fn requirements(&self) -> Vec<Requirement> {
        super::needs(self, "btrfs-progs", &["mkfs.btrfs", "btrfs"])
    }

    fn version(&self) -> Invocation {
        Invocation::new("mkfs.btrfs", ["-V"])
    }

    /// Source: the release notes of Linux 2.6.29.
    fn in_linux(&self) -> LinuxVersions {
        LinuxVersions::since(2, 6)
    }

    /// As the kernel lists them, which it does once btrfs is loaded; a kernel that cannot be asked
    /// has at least those of a page.
    fn block_sizes(&self, kernel: KernelVersion) -> Vec<Bytes> {
        let listed = match kernel.here {
            true => std::fs::read_to_string("/sys/fs/btrfs/features/supported_sectorsizes").ok(),
            false => None,
        };
        let sizes: Vec<_> = listed
            .iter()
            .flat_map(|text| text.split_whitespace())
            .filter_map(|size| size.parse().ok())
            .collect();
        if sizes.is_empty() { vec![Bytes(page_size())] } else { sizes.into_iter().map(Bytes).collect() }
    }

    /// With the default profiles. Measured: `mkfs.btrfs` 6.2 refuses one byte less.
    fn min_size(&self) -> Bytes {
        Bytes(114_294_784)
    }

    /// Small files and directories are items of a tree, a few hundred bytes each.
    fn least_space(&self, _files: u64, _directories: u64, payload: Bytes, _block_size: Bytes) -> Bytes {
        payload
    }

    /// Without `-q`, because only `mkfs.btrfs` tells the profiles of an unmounted file system.
    fn mkfs(&self, device: &Path, options: &MkfsOptions) -> Invocation {
        let block_size = options.block_size.0.to_string();
        let ours = ["-f", "-K", "-s", &block_size, "-U", &options.uuid];
        super::mkfs("mkfs.btrfs", &ours, options, device)
    }

    fn describe(&self, device: &Path, mkfs_output: &str) -> Result<Description> {
        let words = ["inspect-internal".as_ref(), "dump-super".as_ref(), device.as_os_str()];
        let superblock = super::ask(&Invocation::new("btrfs", words))?;
        Ok(parse_description(&superblock, mkfs_output))
    }

    fn fsck(&self, device: &Path) -> Option<Invocation> {
        let words = ["check".as_ref(), "--readonly".as_ref(), device.as_os_str()];
        Some(Invocation::new("btrfs", words))
    }

    /// 0 is clean, unless it complained and went on: a second copy of metadata hides that the
    /// first is bad. It refuses a device that is mounted, and then has checked nothing.
    fn verdict(&self, status: i32, output: &str) -> Verdict {
        let complains = ["ERROR:", "checksum verify failed", "bad tree block", "errors found"]
            .iter()
            .any(|complaint| output.contains(complaint));
        let checked = match status {
            0 if !complains => Checked::Clean,
            126 | 127 => Checked::NotChecked,
            1 if output.contains("is currently mounted") => Checked::NotChecked,
            _ => Checked::Damaged,
        };
        super::verdict("btrfs check --readonly", checked, status, output)
    }

    fn space(&self, mount: &File) -> Result<Option<SpaceDetail>> {
        Ok(detail(&space::btrfs_space_info(mount)?))
    }

    fn limit(&self, errno: Errno, now: &StatFs, space: Option<&SpaceDetail>) -> (Which, String) {
        if let Some(other) = super::limit_by_errno(errno) {
            return other;
        }
        let Some(numbers) = space.and_then(Numbers::of) else {
            return (Which::Space, super::out_of_space(now));
        };
        let which = if numbers.only_metadata_is_full() { Which::Metadata } else { Which::Space };
        (which, numbers.sentence(which))
    }

    /// Writes, reads, flushes, checksums and generations that failed, from sysfs (Linux 5.14 or
    /// later). Checksum errors of metadata are not among them.
    fn counted_errors(&self, device: &str) -> Option<String> {
        let folders = std::fs::read_dir("/sys/fs/btrfs").ok()?;
        let ours = folders
            .flatten()
            .map(|entry| entry.path())
            .find(|uuid| uuid.join("devices").join(device).exists())?;
        let stats = std::fs::read_to_string(ours.join("devinfo/1/error_stats")).ok()?;
        counted(device, &stats)
    }

    /// The last word of several counts, and not storing in place of copies does away with it.
    /// Source: btrfs(5).
    fn compresses(&self, mount_options: &str) -> bool {
        mount_options.split(',').fold(false, |compresses, option| match option.trim() {
            "compress=no" | "compress=none" | "compress-force=no" | "compress-force=none" => false,
            "nodatacow" | "nodatasum" => false,
            "compress" | "compress-force" => true,
            option if option.starts_with("compress=") || option.starts_with("compress-force=") => true,
            _ => compresses,
        })
    }
}

/// The counters that are not 0, in a sentence.
fn counted(device: &str, stats: &str) -> Option<String> {
    let bad: Vec<_> =
        stats.lines().map(str::trim).filter(|line| !line.is_empty() && !line.ends_with(" 0")).collect();
    (!bad.is_empty()).then(|| format!("btrfs counted errors on {device}: {}", bad.join(", ")))
}

/// The sums over all profiles, copies counted. `None` for mixed block groups, which hold data and
/// metadata together.
fn detail(infos: &[SpaceInfo]) -> Option<SpaceDetail> {
    let sum = |kinds: u64, number: fn(&SpaceInfo) -> Bytes| {
        let of_kind =
            infos.iter().filter(|info| info.flags & kinds != 0 && info.flags & space::GLOBAL_RESERVE == 0);
        Some(Bytes(of_kind.map(|info| number(info).0.saturating_mul(info.copies())).sum()))
    };
    let mixed = space::DATA | space::METADATA;
    if infos.iter().any(|info| info.flags & mixed == mixed) {
        return None;
    }
    let metadata = space::METADATA | space::SYSTEM;
    let copies = infos
        .iter()
        .filter(|info| info.flags & space::METADATA != 0 && info.flags & space::GLOBAL_RESERVE == 0);
    let copies = copies.map(SpaceInfo::copies).max().unwrap_or(1);
    let reserve = infos.iter().find(|info| info.flags & space::GLOBAL_RESERVE != 0);
    Some(SpaceDetail {
        data_used: sum(space::DATA, |info| info.used),
        metadata_used: sum(metadata, |info| info.used),
        data_total: sum(space::DATA, |info| info.total),
        metadata_total: sum(metadata, |info| info.total),
        metadata_reserve: reserve.map(|info| Bytes(info.total.0.saturating_mul(copies))),
    })
}

/// Less than this is full: a fill of 256 MiB left 0.4 MB unused.
const DATA_ROOM: Bytes = Bytes::mib(1);

/// What decides which kind of space is full.
struct Numbers {
    data_used: u64,
    data_total: u64,
    metadata_used: u64,
    metadata_total: u64,
    reserve: u64,
}

impl Numbers {
    fn of(space: &SpaceDetail) -> Option<Self> {
        Some(Self {
            data_used: space.data_used?.0,
            data_total: space.data_total?.0,
            metadata_used: space.metadata_used?.0,
            metadata_total: space.metadata_total?.0,
            reserve: space.metadata_reserve.unwrap_or_default().0,
        })
    }

    /// Data has room, and metadata has not much more left than its reserve.
    ///
    /// "Not much" is an eighth: btrfs refuses before the last block is used, because it reserves
    /// for the worst case.
    fn only_metadata_is_full(&self) -> bool {
        let data_free = self.data_total.saturating_sub(self.data_used);
        let metadata_free = self.metadata_total.saturating_sub(self.metadata_used);
        let usable = metadata_free.saturating_sub(self.reserve);
        data_free >= DATA_ROOM.0 && usable < self.metadata_total / 8
    }

    fn sentence(&self, which: Which) -> String {
        let Self { data_used, data_total, metadata_used, metadata_total, reserve } = self;
        let what = if which == Which::Metadata { "metadata space" } else { "space" };
        format!(
            "out of {what}: metadata {metadata_used} of {metadata_total} bytes used \
             (copies counted, {reserve} in reserve), data {data_used} of {data_total}"
        )
    }
}

/// What `dump-super` and `mkfs.btrfs` print.
fn parse_description(superblock: &str, mkfs_output: &str) -> Description {
    let field = |name: &str| {
        let mut lines = superblock.lines().filter_map(|line| line.split_once(char::is_whitespace));
        lines.find(|(key, _)| *key == name).map(|(_, value)| value.trim())
    };
    let number = |name| field(name).and_then(|value| value.parse::<u64>().ok()).map(Value::from);
    // "0 (crc32c)"
    let checksum = field("csum_type").and_then(|value| value.split(['(', ')']).nth(1)).map(Value::from);
    let entries = [
        ("block_size_bytes", number("sectorsize")),
        ("node_size_bytes", number("nodesize")),
        ("inode_allocation", Some("on demand".into())),
        ("data_profile", profile(mkfs_output, "Data").map(Value::from)),
        ("metadata_profile", profile(mkfs_output, "Metadata").map(Value::from)),
        ("data_checksums", checksum.clone()),
        ("metadata_checksums", checksum),
    ];
    Description { features: features(superblock), ledger: super::ledger(entries) }
}

/// DUP of "  Metadata:         DUP              51.19MiB"; both kinds share a line when mixed.
fn profile<'a>(mkfs_output: &'a str, kind: &str) -> Option<&'a str> {
    let lines = mkfs_output.lines().filter_map(|line| line.trim().split_once(':'));
    let mut of_kind = lines.filter(|(kinds, _)| kinds.split('+').any(|one| one == kind));
    of_kind.next()?.1.split_whitespace().next()
}

/// The names in parentheses below `compat_flags`, `compat_ro_flags` and `incompat_flags`.
fn features(superblock: &str) -> Vec<String> {
    let mut names = vec![];
    let mut within = false;
    for line in superblock.lines() {
        if !line.starts_with(char::is_whitespace) {
            let key = line.split_whitespace().next().unwrap_or("");
            within = key.ends_with("compat_flags") || key == "compat_ro_flags";
        } else if within {
            let words = line.split(['(', ')', '|']).map(str::trim);
            names.extend(words.filter(|word| !word.is_empty()).map(String::from));
        }
    }
    names.sort();
    names
}

#[cfg(test)]
mod tests;
