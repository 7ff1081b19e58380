//! A `-o` string, split the way the kernel takes it.
//!
//! Options such as `noatime` belong to the mount, not to the file system: passed on as data they
//! are refused by ext4, btrfs and xfs alike. Source: mount(8), "Filesystem-independent mount options".

use rustix::mount::MountAttrFlags;
use sys_mount::MountFlags;

use crate::error::{Error, Result};

/// A mount's own attributes, and what is left for the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MountOptions {
    /// For `fsmount`.
    pub attributes: MountAttrFlags,
    /// The same, and `superblock`, for `mount(2)`.
    pub flags: MountFlags,
    /// Words that every file system takes through `fsconfig`, such as `sync`.
    pub superblock: Vec<String>,
    /// For the file system: name, and value where there is one.
    pub data: Vec<(String, Option<String>)>,
}

/// Words of a mount: name, attribute of the mount, flag of `mount(2)`.
const ATTRIBUTES: [(&str, MountAttrFlags, MountFlags); 8] = [
    ("noatime", MountAttrFlags::MOUNT_ATTR_NOATIME, MountFlags::NOATIME),
    ("relatime", MountAttrFlags::MOUNT_ATTR_RELATIME, MountFlags::RELATIME),
    ("strictatime", MountAttrFlags::MOUNT_ATTR_STRICTATIME, MountFlags::STRICTATIME),
    ("nodiratime", MountAttrFlags::MOUNT_ATTR_NODIRATIME, MountFlags::NODIRATIME),
    ("nosuid", MountAttrFlags::MOUNT_ATTR_NOSUID, MountFlags::NOSUID),
    ("nodev", MountAttrFlags::MOUNT_ATTR_NODEV, MountFlags::NODEV),
    ("noexec", MountAttrFlags::MOUNT_ATTR_NOEXEC, MountFlags::NOEXEC),
    ("ro", MountAttrFlags::MOUNT_ATTR_RDONLY, MountFlags::RDONLY),
];

/// Words of every superblock, and their flags for `mount(2)`. Source: Linux `fs/fs_context.c`,
/// `common_set_sb_flag`.
const SUPERBLOCK: [(&str, MountFlags); 5] = [
    ("ro", MountFlags::RDONLY),
    ("sync", MountFlags::SYNCHRONOUS),
    ("dirsync", MountFlags::DIRSYNC),
    ("mand", MountFlags::MANDLOCK),
    // MS_LAZYTIME, which sys-mount lacks. Source: Linux include/uapi/linux/mount.h.
    ("lazytime", MountFlags::from_bits_retain(1 << 25)),
];

/// Words of one choice, of which the last counts.
const ACCESS_TIMES: [&str; 4] = ["noatime", "relatime", "strictatime", "atime"];

/// Words that say what is so anyway.
const DEFAULTS: [&str; 7] = ["", "defaults", "rw", "atime", "diratime", "exec", "async"];

impl MountOptions {
    /// Split `options`; every mount is `nosuid,nodev` besides.
    ///
    /// # Errors
    ///
    /// `suid` or `dev`, or a NUL byte.
    pub fn parse(options: &str) -> Result<Self> {
        let mut split = Self {
            attributes: MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV,
            flags: MountFlags::NOSUID | MountFlags::NODEV,
            superblock: vec![],
            data: vec![],
        };
        for word in options.split(',') {
            if ACCESS_TIMES.contains(&word) {
                split.forget_access_time();
            }
            if DEFAULTS.contains(&word) {
                continue;
            }
            if matches!(word, "suid" | "dev") || word.contains('\0') {
                let doing = format!("mount with option `{word}`: every mount is nosuid,nodev");
                return Err(Error::usage(doing).next(format!("leave `{word}` out")));
            }
            split.add(word);
        }
        Ok(split)
    }

    fn forget_access_time(&mut self) {
        self.attributes.remove(MountAttrFlags::MOUNT_ATTR__ATIME);
        self.flags.remove(MountFlags::NOATIME | MountFlags::RELATIME | MountFlags::STRICTATIME);
    }

    fn add(&mut self, word: &str) {
        let attribute = ATTRIBUTES.iter().find(|(name, ..)| *name == word);
        let superblock = SUPERBLOCK.iter().find(|(name, _)| *name == word);
        if let Some((_, attribute, flag)) = attribute {
            self.attributes |= *attribute;
            self.flags |= *flag;
        }
        if let Some((name, flag)) = superblock {
            self.superblock.push((*name).to_owned());
            self.flags |= *flag;
        }
        if attribute.is_none() && superblock.is_none() {
            let (name, value) = word.split_once('=').map_or((word, None), |(n, v)| (n, Some(v.to_owned())));
            self.data.push((name.to_owned(), value));
        }
    }

    /// Whether the file system is to be read-only.
    pub fn read_only(&self) -> bool {
        self.flags.contains(MountFlags::RDONLY)
    }

    /// What is left for the file system, as `mount(2)` takes it.
    pub fn data_string(&self) -> String {
        let words = self.data.iter().map(|(name, value)| match value {
            Some(value) => format!("{name}={value}"),
            None => name.clone(),
        });
        words.collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_mount_are_kept_from_the_file_system() {
        let split = MountOptions::parse("noatime,nodiscard,compress=zstd:3,sync").unwrap();
        assert!(split.attributes.contains(MountAttrFlags::MOUNT_ATTR_NOATIME));
        assert!(split.flags.contains(MountFlags::NOATIME | MountFlags::SYNCHRONOUS));
        assert_eq!(split.superblock, ["sync"]);
        assert_eq!(split.data_string(), "nodiscard,compress=zstd:3");
    }

    #[test]
    fn every_mount_is_nosuid_and_nodev() {
        let split = MountOptions::parse("").unwrap();
        assert_eq!(split.attributes, MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV);
        assert!(split.data.is_empty() && !split.read_only());
        assert!(MountOptions::parse("noatime,suid").is_err());
    }

    #[test]
    fn of_the_ways_to_count_accesses_the_last_counts() {
        for (options, attribute, flag) in [
            ("noatime,strictatime", MountAttrFlags::MOUNT_ATTR_STRICTATIME, MountFlags::STRICTATIME),
            ("strictatime,noatime", MountAttrFlags::MOUNT_ATTR_NOATIME, MountFlags::NOATIME),
            ("noatime,relatime", MountAttrFlags::MOUNT_ATTR_RELATIME, MountFlags::RELATIME),
            ("noatime,atime", MountAttrFlags::empty(), MountFlags::empty()),
        ] {
            let split = MountOptions::parse(options).unwrap();
            let always = MountOptions::parse("").unwrap();
            assert_eq!(split.attributes, always.attributes | attribute, "{options}");
            assert_eq!(split.flags, always.flags | flag, "{options}");
        }
    }

    #[test]
    fn read_only_is_meant_for_mount_and_superblock() {
        let split = MountOptions::parse("ro").unwrap();
        assert!(split.read_only() && split.attributes.contains(MountAttrFlags::MOUNT_ATTR_RDONLY));
        assert_eq!(split.superblock, ["ro"]);
    }
}
