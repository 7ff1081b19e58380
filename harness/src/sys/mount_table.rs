//! The kernel's table of mounts, as the calling thread sees it.

use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use crate::error::{Cannot, Result};

/// One line of `mountinfo`. Source: proc_pid_mountinfo(5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MountEntry {
    /// Number of its device, as `259:4`; file systems that own no single device make one up.
    pub device: String,
    /// The folder of the file system that is mounted there; `/` for all of it.
    pub root: PathBuf,
    /// Where it is mounted.
    pub point: PathBuf,
    /// Options of this mount: `rw,nosuid,nodev,noatime`.
    pub options: String,
    /// Type of the file system.
    pub filesystem: String,
    /// What is mounted, such as a device.
    pub source: String,
    /// Options of the file system itself.
    pub super_options: String,
}

impl MountEntry {
    /// All options, those of the mount first, none twice.
    #[must_use]
    pub fn all_options(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        for word in self.options.split(',').chain(self.super_options.split(',')) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        words.join(",")
    }
}

/// The topmost mount at exactly `point`.
///
/// # Errors
///
/// `/proc` cannot be read.
pub fn find(point: &Path) -> Result<Option<MountEntry>> {
    Ok(read()?.into_iter().rev().find(|entry| entry.point == point))
}

/// The mount that `path` is on.
///
/// # Errors
///
/// `/proc` cannot be read.
pub fn covering(path: &Path) -> Result<Option<MountEntry>> {
    let entries = read()?.into_iter().filter(|entry| path.starts_with(&entry.point));
    // `max_by_key` takes the last of equals, and so the upper of two mounts at one point.
    Ok(entries.max_by_key(|entry| entry.point.components().count()))
}

/// All mounts. Of the thread, not of the process: only the thread may have a mount namespace of its own.
///
/// # Errors
///
/// `/proc` cannot be read.
pub fn read() -> Result<Vec<MountEntry>> {
    let path = "/proc/thread-self/mountinfo";
    Ok(parse(&fs::read_to_string(path).cannot(|| format!("read {path}"))?))
}

/// Read the whole table. Lines of another shape are left out.
#[must_use]
pub fn parse(text: &str) -> Vec<MountEntry> {
    text.lines().filter_map(parse_line).collect()
}

fn parse_line(line: &str) -> Option<MountEntry> {
    let (mount, filesystem) = line.split_once(" - ")?;
    let mount: Vec<&str> = mount.split(' ').collect();
    let mut filesystem = filesystem.split(' ');
    Some(MountEntry {
        device: (*mount.get(2)?).to_owned(),
        root: unescape(mount.get(3)?),
        point: unescape(mount.get(4)?),
        options: (*mount.get(5)?).to_owned(),
        filesystem: filesystem.next()?.to_owned(),
        source: unescape(filesystem.next()?).to_string_lossy().into_owned(),
        super_options: filesystem.next()?.to_owned(),
    })
}

/// Space, tab, newline and backslash are written as `\040` and the like.
/// A path as the kernel writes it, with `\\040` for a blank.
pub(super) fn unescape(text: &str) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..3).filter(|_| *first == b'\\');
        let octal =
            digits.and_then(|d| std::str::from_utf8(d).ok()).and_then(|d| u8::from_str_radix(d, 8).ok());
        bytes.push(octal.unwrap_or(*first));
        rest = if octal.is_some() { &tail[3..] } else { tail };
    }
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard,resv_strict
25 24 0:23 / /dev/shm rw,relatime shared:4 - tmpfs tmpfs rw,size=24683656k
90 27 7:4 / /mnt/m\\040sp\\040ü rw,nosuid,nodev,noatime - ext4 /dev/loop4 rw,emergency_ro
";

    #[test]
    fn a_line_is_read_with_and_without_optional_fields() {
        let entries = parse(TEXT);
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[1].super_options, "rw,size=24683656k");
        assert_eq!(entries[2].source, "/dev/loop4");
        assert_eq!((entries[2].device.as_str(), entries[2].root.as_path()), ("7:4", Path::new("/")));
    }

    #[test]
    fn a_path_is_unescaped() {
        assert_eq!(parse(TEXT)[2].point, Path::new("/mnt/m sp ü"));
        assert_eq!(unescape("a\\134b\\"), Path::new("a\\b\\"));
    }

    #[test]
    fn options_of_mount_and_file_system_are_told_once() {
        assert_eq!(parse(TEXT)[2].all_options(), "rw,nosuid,nodev,noatime,emergency_ro");
    }

    #[test]
    fn every_path_is_on_some_mount() {
        let covering = covering(Path::new("/proc/self")).unwrap().unwrap();
        assert_eq!(covering.filesystem, "proc");
    }
}
