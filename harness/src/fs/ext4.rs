//! ext4. Its inodes are a fixed number and its directory layout depends on a hash seed, so both
//! are decided, or told, before the start.

mod config;

use std::path::Path;

use nix::errno::Errno;
use serde_json::Value;

use super::{Description, Filesystem, KernelVersion, LinuxVersions, MkfsOptions, Verdict};
use crate::command::{self, Invocation};
use crate::error::{Error, Result};
use crate::require::Requirement;
use crate::result::{Checked, Which};
use crate::sys::page_size;
use crate::sys::statfs::StatFs;
use crate::units::{Bytes, Seed};

/// Inodes that a fresh file system has in use: ten reserved ones and `lost+found`; one more with
/// the feature `orphan_file`.
fn inodes_taken(extra: &[String]) -> u64 {
    let features = extra.iter().flat_map(|word| word.trim_start_matches("-O").split(','));
    11 + u64::from(features.into_iter().any(|feature| feature == "orphan_file"))
}

/// See the module.
pub struct Ext4;

impl Filesystem for Ext4 {
    fn name(&self) -> &'static str {
        "ext4"
    }

    fn requirements(&self) -> Vec<Requirement> {
        super::needs(self, "e2fsprogs", &["mke2fs", "dumpe2fs", "e2fsck"])
    }

    fn version(&self) -> Invocation {
        Invocation::new("mke2fs", ["-V"])
    }

    /// Source: the release notes of Linux 2.6.28 (before that as `ext4dev`).
    fn in_linux(&self) -> LinuxVersions {
        LinuxVersions::since(2, 6)
    }

    fn block_sizes(&self, _kernel: KernelVersion) -> Vec<Bytes> {
        super::powers_of_two(1024, page_size().min(4096))
    }

    /// Below it, there is no room for a journal.
    fn min_size(&self) -> Bytes {
        Bytes::mib(2)
    }

    /// Those that are free afterwards: all but those that `mke2fs` takes itself.
    ///
    /// `mke2fs -n` is asked, because the number does not grow with the size everywhere: from
    /// 512 MiB on, there are fewer than just below.
    fn inodes(&self, image: Bytes, options: &MkfsOptions) -> Result<Option<u64>> {
        let file = config::sparse_image(image)?;
        let mut dry_run = self.mkfs(&config::by_proc(&file)?, options);
        dry_run.arguments.insert(0, "-n".into());
        let told = command::run(&dry_run)?;
        let inodes = parse_inodes(&told.text).ok_or_else(|| {
            Error::usage(format!("learn from mke2fs -n how many inodes it makes: {}", told.text.trim()))
                .next("check the mkfs options and the size of the image")
        })?;
        Ok(Some(inodes.saturating_sub(inodes_taken(&options.extra))))
    }

    fn inodes_option(&self, count: u64) -> Option<Vec<String>> {
        Some(vec!["-N".into(), count.to_string()])
    }

    /// Fills in inode tables and the journal that `mkfs` left for later, on any mounted ext4.
    fn late_work(&self) -> &'static [&'static str] {
        &["ext4lazyinit"]
    }

    fn mkfs(&self, device: &Path, options: &MkfsOptions) -> Invocation {
        let (extended, extra) = split_extended(&options.extra);
        let block_size = options.block_size.0.to_string();
        let mut extended_all = format!("hash_seed={},{}", hash_seed(options.seed), config::initialisation());
        for more in extended {
            extended_all.push(',');
            extended_all.push_str(more);
        }
        let ours = ["-t", "ext4", "-F", "-b", &block_size, "-U", &options.uuid, "-E", &extended_all];
        let words = ours.into_iter().chain(extra).map(Into::into);
        Invocation::new("mke2fs", words.chain([device.as_os_str().to_owned()]))
            .env("MKE2FS_CONFIG", config::path())
    }

    fn describe(&self, device: &Path, _mkfs_output: &str) -> Result<Description> {
        let told = super::ask(&Invocation::new("dumpe2fs", ["-h".as_ref(), device.as_os_str()]))?;
        Ok(parse_dumpe2fs(&told))
    }

    fn fsck(&self, device: &Path) -> Option<Invocation> {
        Some(Invocation::new("e2fsck", ["-fn".as_ref(), device.as_os_str()]))
    }

    /// The status is a mask of bits. Source: e2fsck(8). On a device in use it checks anyway, and
    /// its word is worth nothing.
    fn verdict(&self, status: i32, output: &str) -> Verdict {
        let in_use = output.contains("is in use.") || output.contains("is mounted.");
        let checked = match super::by_status(status) {
            Checked::Clean if in_use => Checked::NotChecked,
            checked => checked,
        };
        super::verdict("e2fsck -fn", checked, status, output)
    }

    fn limit(&self, errno: Errno, now: &StatFs, _space: Option<&super::SpaceDetail>) -> (Which, String) {
        if let Some(other) = super::limit_by_errno(errno) {
            return other;
        }
        if now.inodes > 0 && now.inodes_free == 0 {
            return (Which::Inodes, super::out_of_inodes(now, "11 of them reserved or lost+found"));
        }
        if super::has_room(now) {
            let (free, inodes) = (now.available.0, now.inodes_free);
            let text =
                format!("the index of one directory is full: {free} bytes and {inodes} inodes are free");
            return (Which::DirectoryIndex, text);
        }
        (Which::Space, super::out_of_space(now))
    }

    /// `errors_count` and `warning_count` of `/sys/fs/ext4`, kept in the superblock.
    ///
    /// The file system also warns when the index of a directory is full (eight times for one
    /// failed create), so that warnings after [`Which::DirectoryIndex`] are not a fault.
    fn counted_errors(&self, device: &str) -> Option<String> {
        let count = |name: &str| -> u64 {
            let path = Path::new("/sys/fs/ext4").join(device).join(name);
            std::fs::read_to_string(path).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0)
        };
        counted(device, count("errors_count"), count("warning_count"))
    }
}

/// The counters in a sentence, unless both are 0.
fn counted(device: &str, errors: u64, warnings: u64) -> Option<String> {
    let any = errors > 0 || warnings > 0;
    any.then(|| format!("ext4 counted {errors} errors and {warnings} warnings on {device}"))
}

/// The hash seed of the directories, in the form of a UUID.
fn hash_seed(seed: Seed) -> String {
    let half = |part| seed.derive(part).0;
    let digits = format!("{:016x}{:016x}", half("ext4 hash seed 1"), half("ext4 hash seed 2"));
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

/// The values of `-E`, and the rest. `mke2fs` obeys only the last `-E`, so that one of the user's
/// would undo ours.
fn split_extended(extra: &[String]) -> (Vec<&str>, Vec<&str>) {
    let (mut extended, mut rest) = (vec![], vec![]);
    let mut words = extra.iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word.strip_prefix("-E") {
            Some("") => extended.extend(words.next()),
            Some(value) => extended.push(value),
            None => rest.push(word),
        }
    }
    (extended, rest)
}

/// N of "Creating filesystem with M 4k blocks and N inodes".
fn parse_inodes(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("Creating filesystem with"))?;
    line.strip_suffix(" inodes")?.split(' ').next_back()?.parse().ok()
}

/// What `dumpe2fs -h` prints, by its own names.
fn parse_dumpe2fs(text: &str) -> Description {
    let field = |name: &str| {
        let mut values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        values.next().map(str::trim)
    };
    let number = |name: &str| field(name).and_then(|value| value.parse::<u64>().ok());
    let block_size = number("Block size");
    let bytes = |name: &str| Some(number(name)?.saturating_mul(block_size?));
    let mut features: Vec<String> =
        field("Filesystem features").unwrap_or("").split_whitespace().map(Into::into).collect();
    features.sort();
    let has = |feature: &str| features.iter().any(|have| have == feature);
    let journal = if has("has_journal") {
        // e2fsprogs before 1.46 calls it length, newer ones total blocks.
        bytes("Total journal blocks").or_else(|| bytes("Journal length"))
    } else {
        Some(0)
    };
    let metadata_checksums =
        if has("metadata_csum") { field("Checksum type").unwrap_or("crc32c") } else { "none" };
    let ledger = [
        ("block_size_bytes", block_size.map(Value::from)),
        ("inode_size_bytes", number("Inode size").map(Value::from)),
        ("inodes_count", number("Inode count").map(Value::from)),
        ("inode_allocation", Some("fixed".into())),
        ("journal_bytes", journal.map(Value::from)),
        ("reserved_bytes", bytes("Reserved block count").map(Value::from)),
        ("data_checksums", Some("none".into())),
        ("metadata_checksums", Some(metadata_checksums.into())),
    ];
    Description { ledger: super::ledger(ledger), features }
}

#[cfg(test)]
mod tests;
