//! A mounted file system, from the new mount interface to a proven unmount.
//!
//! `fsopen` takes one option per call, so that a wrong one is named, where `mount(2)` says no more
//! than EINVAL. Unmounting is never lazy: a lazy unmount hides a file system that lives on, and
//! its unwritten data would miss the measurement.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MoveMountFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string,
    fsmount, fsopen, move_mount,
};
use sys_mount::UnmountFlags;

use super::holders;
use super::mount_options::MountOptions;
use super::mount_warnings::MountWarnings;
use crate::error::{Cannot, Error, Kind, Result};
use crate::sys::errno;
use crate::sys::mount_table;
use crate::sys::retry::{PATIENCE, retry};

/// How long a mount that is dropped is tried to be unmounted.
pub(super) const DROP_PATIENCE: Duration = Duration::from_secs(2);

/// A mounted file system of ours.
#[derive(Debug)]
pub struct Mount {
    path: PathBuf,
    read_only: bool,
    mounted: bool,
}

impl Mount {
    /// Mount `device` at the empty folder `at`, always `nosuid,nodev`. `options` is as after `mount -o`.
    ///
    /// # Errors
    ///
    /// An option or value that the file system does not take (named), a file system that the
    /// kernel lacks, or a device that stays busy.
    pub fn new(device: &Path, filesystem: &str, options: &str, at: &Path) -> Result<Self> {
        let split = MountOptions::parse(options)?;
        let request = Request { device, filesystem, options: &split, at };
        let busy = |failure: &Failure| failure.errno == Errno::EBUSY;
        retry(PATIENCE, busy, || request.mount()).map_err(|failure| request.explain(failure))?;
        Ok(Self { path: at.to_owned(), read_only: split.read_only(), mounted: true })
    }

    /// Where it is mounted.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A descriptor of its top folder, for `openat` and `syncfs`. Close it before [`Mount::close`].
    ///
    /// # Errors
    ///
    /// It does not open.
    pub fn root(&self) -> Result<File> {
        let opened = File::options().read(true).custom_flags(libc::O_DIRECTORY).open(&self.path);
        opened.cannot(|| format!("open {}", self.path.display()))
    }

    /// All options as the kernel shows them, those of the file system too.
    ///
    /// # Errors
    ///
    /// `/proc` cannot be read, or the mount is gone.
    pub fn effective_options(&self) -> Result<String> {
        self.entry().map(|entry| entry.all_options())
    }

    /// The sign that something is wrong with it, if any: after an error a file system goes read-only by
    /// itself.
    ///
    /// # Errors
    ///
    /// `/proc` cannot be read, or the mount is gone.
    pub fn health(&self) -> Result<Option<String>> {
        Ok(unhealthy(&self.entry()?.all_options(), self.read_only))
    }

    fn entry(&self) -> Result<mount_table::MountEntry> {
        mount_table::find(&self.path)?
            .ok_or_else(|| Error::new(format!("find {} in /proc/thread-self/mountinfo", self.path.display())))
    }

    /// Unmount, and wait until it is done.
    ///
    /// # Errors
    ///
    /// Something still uses it, and is named.
    pub fn close(mut self) -> Result<()> {
        self.mounted = false;
        unmount(&self.path, PATIENCE)
    }

    /// Unmount, and wait until it is done; what is in use stays mounted.
    ///
    /// # Errors
    ///
    /// Something uses it, and is named.
    pub fn close_if_free(&mut self) -> Result<()> {
        unmount(&self.path, DROP_PATIENCE)?;
        self.mounted = false;
        Ok(())
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if !self.mounted {
            return;
        }
        if let Err(error) = unmount(&self.path, DROP_PATIENCE) {
            log::warn!("{error}");
        }
    }
}

/// `ro` where read-only was not asked for, or one of the words for an emergency. Source: Linux
/// `fs/ext4/super.c`, `emergency_ro` and `shutdown`; other file systems show `ro`.
fn unhealthy(options: &str, read_only: bool) -> Option<String> {
    let bad = ["emergency_ro", "shutdown", "ro"];
    let word = options.split(',').find(|word| bad.contains(word) && !(read_only && *word == "ro"))?;
    Some(format!("`{word}` in its mount options"))
}

/// Never lazy. Busy for a moment is normal: a child that is being started holds our descriptors.
pub(super) fn unmount(path: &Path, patience: Duration) -> Result<()> {
    let busy = |error: &std::io::Error| error.raw_os_error() == Some(Errno::EBUSY as i32);
    retry(patience, busy, || sys_mount::unmount(path, UnmountFlags::empty())).map_err(|cause| {
        let held = if busy(&cause) { holders::sentence(&holders::of_mount(path)) } else { String::new() };
        let text = [format!("unmount {}", path.display()), held].join(", ");
        Error::new(text.trim_end_matches(", ")).because(cause).next("end the process that holds it")
    })
}

/// What is to be mounted.
struct Request<'a> {
    device: &'a Path,
    filesystem: &'a str,
    options: &'a MountOptions,
    at: &'a Path,
}

/// What was refused, and what the kernel said about it.
struct Failure {
    errno: Errno,
    /// The option, where one was refused.
    option: Option<String>,
    said: Vec<String>,
}

impl From<Errno> for Failure {
    fn from(errno: Errno) -> Self {
        Self { errno, option: None, said: vec![] }
    }
}

impl Request<'_> {
    fn mount(&self) -> std::result::Result<(), Failure> {
        let mut log = MountWarnings::from_now();
        let context = match fsopen(self.filesystem, FsOpenFlags::FSOPEN_CLOEXEC).map_err(errno) {
            // Hidden by an older kernel, or by a seccomp profile.
            Err(Errno::ENOSYS | Errno::EPERM) => return self.mount_the_old_way(),
            context => context?,
        };
        self.through(&context).map_err(|mut failure| {
            failure.said = messages(context);
            if failure.said.is_empty() {
                let device = self.device.file_name().unwrap_or_default().to_string_lossy();
                failure.said = log.with_any(&[self.filesystem, &device]);
            }
            failure
        })
    }

    /// Each option, then the superblock, then the mount. The descriptor of the mount is closed on
    /// return: while it is open, the mount is busy.
    fn through(&self, context: &OwnedFd) -> std::result::Result<(), Failure> {
        fsconfig_set_string(context, "source", self.device).map_err(errno)?;
        for word in &self.options.superblock {
            set(context, word, None)?;
        }
        for (name, value) in &self.options.data {
            set(context, name, value.as_deref())?;
        }
        fsconfig_create(context).map_err(errno)?;
        let attributes = self.options.attributes;
        let mount = fsmount(context, FsMountFlags::FSMOUNT_CLOEXEC, attributes).map_err(errno)?;
        move_mount(&mount, "", CWD, self.at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH).map_err(errno)?;
        Ok(())
    }

    fn mount_the_old_way(&self) -> std::result::Result<(), Failure> {
        let mut log = MountWarnings::from_now();
        let data = self.options.data_string();
        let mounted = sys_mount::Mount::builder()
            .fstype(self.filesystem)
            .flags(self.options.flags)
            .data(&data)
            .mount(self.device, self.at);
        mounted.map(drop).map_err(|error| {
            let device = self.device.file_name().unwrap_or_default().to_string_lossy();
            let said = log.with_any(&[self.filesystem, &device]);
            let errno = error.raw_os_error().map_or(Errno::UnknownErrno, Errno::from_raw);
            Failure { errno, option: None, said }
        })
    }

    fn explain(&self, failure: Failure) -> Error {
        let (filesystem, device) = (self.filesystem, self.device.display());
        let said = failure.said.join("; ");
        let kind = self.blame(&failure);
        let doing = match &failure.option {
            Some(option) if !said.is_empty() => {
                return Error::usage(format!("mount with option `{option}`: {said}")).next(format!(
                    "see the mount options of {filesystem} on this kernel: man 5 {filesystem}"
                ));
            }
            Some(option) => format!("mount {filesystem} with option `{option}`"),
            None if kind == Kind::Unavailable => {
                format!("mount {filesystem}: this kernel has no such file system")
            }
            None => format!("mount {device} as {filesystem}{}{}", self.with_data(), in_kernel_words(&said)),
        };
        let next = match kind {
            Kind::Unavailable => "fsduel doctor tells which file systems run here",
            Kind::Usage => {
                "check the mount options; or mkfs is newer than this kernel, and made what it lacks"
            }
            _ if failure.errno == Errno::EBUSY => {
                "find what keeps the device open (desktop automounter, udev)"
            }
            _ => "dmesg may say more",
        };
        Error::new(doing).of_kind(kind).because(failure.errno).next(next)
    }

    fn with_data(&self) -> String {
        let data = self.options.data_string();
        if data.is_empty() { data } else { format!(" with `{data}`") }
    }

    /// At `create` the kernel does not say what it dislikes. Options are likelier than anything
    /// else, as the file system has just been made by its own tools.
    fn blame(&self, failure: &Failure) -> Kind {
        match failure.errno {
            Errno::ENODEV => Kind::Unavailable,
            _ if failure.option.is_some() => Kind::Usage,
            Errno::EINVAL | Errno::ENOENT if !self.options.data.is_empty() => Kind::Usage,
            _ => Kind::Harness,
        }
    }
}

fn in_kernel_words(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(" (the kernel says: {said})") }
}

fn set(context: &OwnedFd, name: &str, value: Option<&str>) -> std::result::Result<(), Failure> {
    let answer = match value {
        Some(value) => fsconfig_set_string(context, name, value),
        None => fsconfig_set_flag(context, name),
    };
    answer.map_err(|error| {
        let option = value.map_or_else(|| name.to_owned(), |value| format!("{name}={value}"));
        Failure { errno: errno(error), option: Some(option), said: vec![] }
    })
}

/// What the file system says about a failure: one message per read, after `e `, `w ` or `i `. Source:
/// Linux `Documentation/filesystems/mount_api.rst`.
fn messages(context: OwnedFd) -> Vec<String> {
    let (mut file, mut message, mut messages) = (File::from(context), [0; 1024], Vec::new());
    while let Ok(length @ 1..) = file.read(&mut message) {
        let text = String::from_utf8_lossy(&message[..length]);
        let text = text.trim_end();
        messages.extend(text.strip_prefix("e ").or(text.strip_prefix("w ")).map(str::to_owned));
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_system_that_went_read_only_by_itself_is_unhealthy() {
        assert_eq!(unhealthy("rw,nosuid,nodev,noatime", false), None);
        assert_eq!(unhealthy("ro,nosuid,nodev", true), None);
        assert!(unhealthy("rw,nodev,ro", false).is_some());
        assert!(unhealthy("rw,emergency_ro", true).unwrap().contains("emergency_ro"));
    }

    fn explained(errno: Errno, option: Option<&str>, said: &[&str], options: &str) -> Error {
        let split = MountOptions::parse(options).unwrap();
        let (device, at) = (Path::new("/dev/loop4"), Path::new("/mnt/x"));
        let request = Request { device, filesystem: "ext4", options: &split, at };
        let said = said.iter().map(|line| (*line).to_owned()).collect();
        request.explain(Failure { errno, option: option.map(str::to_owned), said })
    }

    #[test]
    fn a_wrong_option_is_named_as_the_kernel_names_it() {
        let error = explained(Errno::EINVAL, Some("bogus"), &["ext4: Unknown parameter 'bogus'"], "bogus");
        assert_eq!(error.kind(), Kind::Usage);
        assert_eq!(error.to_string(), "cannot mount with option `bogus`: ext4: Unknown parameter 'bogus'");
    }

    #[test]
    fn the_blame_follows_the_errno() {
        assert_eq!(explained(Errno::ENODEV, None, &[], "noatime").kind(), Kind::Unavailable);
        assert_eq!(explained(Errno::EINVAL, None, &[], "noatime").kind(), Kind::Harness);
        assert_eq!(explained(Errno::EINVAL, None, &[], "commit=0x").kind(), Kind::Usage);
    }
}
