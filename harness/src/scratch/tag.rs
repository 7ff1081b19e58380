//! The name that our loop devices carry, and those that were left behind.
//!
//! Only `LOOP_GET_STATUS64` shows it: `losetup -l` and sysfs show the path of the image, which for
//! an unlinked file is of no use. The tag names the process that made the device with its start
//! time, so that a process id that was given out again is not taken for it. It is the id on the
//! host: a worker is 1 in its own namespace, but the /proc it inherits tells the other.

use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use nix::errno::Errno;

use super::loop_device::wait_until_detached;
use super::pins;
use crate::error::{Cannot, Error, Result};
use crate::sys::loop_ctl;
use crate::units::Bytes;

const PREFIX: &str = "fsduel:v1";

/// `fsduel:v1:PID:STARTTIME:RUN`, at most 63 bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Process that made the device, as the host counts.
    pub pid: u32,
    /// Clock ticks from boot to its start: field 22 of `/proc/PID/stat`, proc(5).
    pub start_time: u64,
    /// Id of the run.
    pub run_id: String,
}

impl Tag {
    /// The tag of this process. `/proc` must be the one of the host.
    ///
    /// # Errors
    ///
    /// `/proc` is not mounted, or not understood.
    pub fn of_this_process(run_id: &str) -> Result<Self> {
        let text = fs::read_to_string("/proc/self/stat").cannot(|| "read /proc/self/stat".into())?;
        let (pid, start_time) = parse_stat(&text)
            .ok_or_else(|| Error::new(format!("understand /proc/self/stat: `{}`", text.trim())))?;
        let run_id = run_id.chars().filter(char::is_ascii_graphic).take(24).collect();
        Ok(Self { pid, start_time, run_id })
    }

    /// Read what [`fmt::Display`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut fields = text.strip_prefix(PREFIX)?.strip_prefix(':')?.splitn(3, ':');
        let pid = fields.next()?.parse().ok()?;
        let start_time = fields.next()?.parse().ok()?;
        Some(Self { pid, start_time, run_id: fields.next()?.to_owned() })
    }

    /// Whether the process that made the device still runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.pid));
        stat.is_ok_and(|text| !has_ended(&text) && parse_stat(&text) == Some((self.pid, self.start_time)))
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}:{}:{}:{}", self.pid, self.start_time, self.run_id)
    }
}

/// A process stays in the table until its parent has looked; that of some containers never does.
fn has_ended(stat: &str) -> bool {
    stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with(['Z', 'X']))
}

/// Process id and start time. The command in field 2 may hold spaces and parentheses.
fn parse_stat(text: &str) -> Option<(u32, u64)> {
    let pid = text.split_once(' ')?.0.parse().ok()?;
    let after_command = text.rsplit_once(')')?.1;
    Some((pid, after_command.split_ascii_whitespace().nth(19)?.parse().ok()?))
}

/// A loop device that some run of ours made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// `/dev/loop4`.
    pub device: PathBuf,
    /// Who made it.
    pub tag: Tag,
    /// Whether that process still runs.
    pub alive: bool,
    /// Whether its image has no name.
    pub deleted: bool,
    /// Size of the device.
    pub bytes: Bytes,
}

/// All loop devices on this machine that carry our tag. Those of others are not touched.
///
/// # Errors
///
/// `/sys/block` cannot be read.
pub fn find_ours() -> Result<Vec<Found>> {
    let folder = fs::read_dir("/sys/block").cannot(|| "list /sys/block".into())?;
    let mut names: Vec<_> = folder
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.starts_with("loop") && block(name, "loop").is_dir())
        .collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    Ok(names.iter().filter_map(|name| find_one(name)).collect())
}

fn find_one(name: &str) -> Option<Found> {
    let device = Path::new("/dev").join(name);
    // Without O_EXCL: an exclusive open would make the device busy for its user.
    let status = loop_ctl::status(&File::open(&device).ok()?).ok()?;
    let tag = Tag::parse(&status.name)?;
    let backing = fs::read_to_string(block(name, "loop/backing_file")).unwrap_or_default();
    let sectors: u64 = fs::read_to_string(block(name, "size")).ok()?.trim().parse().ok()?;
    let (alive, deleted) = (tag.is_alive(), backing.trim_end().ends_with(" (deleted)"));
    Some(Found { device, tag, alive, deleted, bytes: Bytes(sectors * 512) })
}

fn block(name: &str, attribute: &str) -> PathBuf {
    Path::new("/sys/block").join(name).join(attribute)
}

/// Detach a device whose maker is dead.
///
/// A maker in another container looks dead from here. That does no harm: on a device that is open,
/// `LOOP_CLR_FD` only sets auto-clear, which ours have anyway. Source: Linux `drivers/block/loop.c`.
///
/// # Errors
///
/// It is not ours any more, its maker lives, or something still holds it (which is named).
pub fn free(found: &Found) -> Result<()> {
    let shown = found.device.display();
    let device = File::open(&found.device).cannot(|| format!("open {shown}"))?;
    let status = match loop_ctl::status(&device) {
        Err(Errno::ENXIO) => return Ok(()),
        status => status.cannot(|| format!("read what {shown} is"))?,
    };
    if Tag::parse(&status.name).as_ref() != Some(&found.tag) {
        return Err(Error::new(format!("free {shown}: it is not the device that was found")));
    }
    if found.tag.is_alive() {
        return Err(Error::usage(format!("free {shown}: process {} uses it", found.tag.pid)));
    }
    pins::detach_on(&device)?;
    loop_ctl::clear(&device).cannot(|| format!("free {shown}"))?;
    drop(device);
    wait_until_detached(&found.device, status.inode, &status.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_nobody_has_waited_for_has_ended() {
        assert!(has_ended("7 (a) b) Z 1 7 7"));
        assert!(!has_ended("7 (Z) S 1 7 7") && !has_ended(""));
    }

    #[test]
    fn a_tag_is_read_back_and_fits() {
        let tag = Tag { pid: u32::MAX, start_time: 1 << 40, run_id: "0123456789abcdef01234567".into() };
        assert_eq!(Tag::parse(&tag.to_string()), Some(tag.clone()));
        assert!(tag.to_string().len() <= loop_ctl::NAME_MAX);
    }

    #[test]
    fn names_of_others_are_no_tags() {
        for name in ["", "/var/tmp/image", "fsduel:v2:1:2:x", "fsduel:v1:x:2:y", "fsduel:v1:1:2"] {
            assert_eq!(Tag::parse(name), None, "{name}");
        }
    }

    #[test]
    fn this_process_is_alive_and_another_start_time_is_not() {
        let tag = Tag::of_this_process("run with spaces, and a very long name").unwrap();
        assert!(tag.is_alive());
        assert!(!Tag { start_time: tag.start_time + 1, ..tag.clone() }.is_alive());
        assert_eq!(Tag::parse(&tag.to_string()), Some(tag));
    }

    #[test]
    fn a_command_with_parentheses_does_not_shift_the_start_time() {
        let text = "42 (a) b) (c) S 1 42 42 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 77 0 0";
        assert_eq!(parse_stat(text), Some((42, 77)));
    }
}
