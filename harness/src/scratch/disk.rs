//! A whole disk that was given away, or the disk of a virtual machine: no image is below it.
//!
//! A disk of this machine may be somebody's. [`claim`] refuses one that is used in any way that the
//! kernel knows of, and one on which anything is written that a tool would recognise. It holds the disk
//! open exclusively, which the kernel grants to one at a time (a mount, swap, RAID and the device mapper
//! all hold their disks so), until the first file system is made on it.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::stat::{major, minor};

use super::device::{held, keep_open};
use crate::command::{self, Invocation};
use crate::error::{Cannot, Error, Result};
use crate::sys::mount_table;
use crate::sys::retry::retry;
use crate::units::Bytes;

/// How long a disk may be busy: udev looks at one for a moment after each change.
const PATIENCE: Duration = Duration::from_secs(2);

/// A whole disk that is kept open.
#[derive(Debug)]
pub struct Disk {
    keeper: File,
    node: Node,
}

impl Disk {
    /// Keep the disk at `path` open.
    ///
    /// # Errors
    ///
    /// It is not there, may not be opened, or is a partition.
    pub fn open(path: &Path) -> Result<Self> {
        let node = Node::of(path)?;
        Ok(Self { keeper: keep_open(&node.path)?, node })
    }

    /// Its node, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.node.path
    }

    /// Its name in `/sys/block`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.node.name
    }

    /// Make the disk forget what was on it, so that no tool finds a part of an earlier file system. A
    /// virtual machine has no `wipefs`, and needs none: its disk is new.
    ///
    /// # Errors
    ///
    /// `wipefs` fails.
    pub(super) fn forget(&self) -> Result<()> {
        if command::find("wipefs").is_none() {
            return Ok(());
        }
        let arguments = [OsStr::new("--all"), self.path().as_os_str()];
        let output = command::run(&Invocation::new("wipefs", arguments))?;
        match output.status {
            0 => Ok(()),
            status => Err(Error::new(format!("wipe {}: wipefs ended with {status}", self.path().display()))
                .because(output.text.trim().to_owned())),
        }
    }
}

impl AsFd for Disk {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.keeper.as_fd()
    }
}

/// A disk that nobody else can use while this lives.
#[derive(Debug)]
pub struct Claim {
    node: Node,
    /// Open exclusively.
    _held: File,
}

impl Claim {
    /// Its node, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.node.path
    }
}

/// Claim the whole disk at `path`, on which all will be lost; with `wipe` even where a file system is on
/// it.
///
/// # Errors
///
/// It is no whole disk, has partitions, is read-only, is mounted or used in another way (by what, as far
/// as it can be found), or something is written on it.
pub fn claim(path: &Path, wipe: bool) -> Result<Claim> {
    let node = Node::of(path)?;
    node.refuse_partitions()?;
    node.refuse_read_only()?;
    node.refuse_mounted()?;
    node.refuse_held()?;
    let held = node.hold()?;
    node.refuse_written(wipe)?;
    Ok(Claim { node, _held: held })
}

/// The node of the disk at `path` without links, and its size.
///
/// # Errors
///
/// It is no whole disk.
pub fn look(path: &Path) -> Result<(PathBuf, Bytes)> {
    let node = Node::of(path)?;
    let size = node.size();
    Ok((node.path, size))
}

/// A whole disk, by its number: nodes can have any name.
#[derive(Clone, Debug)]
struct Node {
    path: PathBuf,
    number: u64,
    /// Its folder in sysfs.
    folder: PathBuf,
    name: String,
}

impl Node {
    fn of(path: &Path) -> Result<Self> {
        let shown = path.display();
        let real = path.canonicalize().cannot(|| format!("find {shown}")).map_err(lsblk)?;
        let found = real.metadata().cannot(|| format!("look at {shown}"))?;
        if !found.file_type().is_block_device() {
            return Err(refusal(&format!("use {shown}: it is no disk (no block device)")));
        }
        let number = found.rdev();
        let (major, minor) = (major(number), minor(number));
        let folder = Path::new("/sys/dev/block").join(format!("{major}:{minor}"));
        let folder = folder
            .canonicalize()
            .cannot(|| format!("find {shown} in sysfs ({major}:{minor})"))
            .map_err(lsblk)?;
        if folder.join("partition").exists() {
            let disk = folder.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
            return Err(refusal(&format!("use {shown}: it is no whole disk, but a partition of {disk}")));
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self { path: real, number, folder, name })
    }

    /// sysfs counts it in sectors of 512 bytes. Source: Linux `Documentation/ABI/stable/sysfs-block`.
    fn size(&self) -> Bytes {
        Bytes(self.attribute("size").parse::<u64>().unwrap_or(0).saturating_mul(512))
    }

    /// A file of its folder in sysfs; empty where there is none.
    fn attribute(&self, file: &str) -> String {
        fs::read_to_string(self.folder.join(file)).unwrap_or_default().trim().to_owned()
    }

    /// `/dev/vdb (QEMU HARDDISK, 8 GiB)`.
    fn words(&self) -> String {
        let removable = if self.attribute("removable") == "1" { "removable" } else { "" };
        let (vendor, model) = (self.attribute("device/vendor"), self.attribute("device/model"));
        // The vendor of a virtio disk is a number.
        let vendor = if vendor.starts_with("0x") { String::new() } else { vendor };
        let model = format!("{vendor} {model}").trim().to_owned();
        let parts = [removable.to_owned(), model, self.size().to_string()];
        let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("{} ({})", self.path.display(), parts.join(", "))
    }

    fn refuse_partitions(&self) -> Result<()> {
        let names = children(&self.folder).into_iter().filter(|child| child.join("partition").exists());
        let names: Vec<_> =
            names.filter_map(|child| Some(child.file_name()?.to_string_lossy().into_owned())).collect();
        if names.is_empty() {
            return Ok(());
        }
        Err(refusal(&format!("use {}: it has partitions ({})", self.words(), names.join(", "))))
    }

    fn refuse_read_only(&self) -> Result<()> {
        if self.attribute("ro") != "1" {
            return Ok(());
        }
        Err(Error::unavailable(format!("use {}: it is read-only", self.words()))
            .next(format!("blockdev --setrw {}, or another disk", self.path.display())))
    }

    fn refuse_mounted(&self) -> Result<()> {
        let number = format!("{}:{}", major(self.number), minor(self.number));
        let is_this = |path: &str| path.starts_with('/') && number_of(Path::new(path)) == Some(self.number);
        let mount =
            mount_table::read()?.into_iter().find(|entry| entry.device == number || is_this(&entry.source));
        if let Some(mount) = mount {
            let at = mount.point.display();
            return Err(Error::unavailable(format!("use {}: it is mounted at {at}", self.words()))
                .next(format!("another disk, or umount {at}")));
        }
        let swaps = fs::read_to_string("/proc/swaps").unwrap_or_default();
        if swaps.lines().skip(1).any(|line| is_this(line.split(' ').next().unwrap_or_default())) {
            return Err(Error::unavailable(format!("use {}: it is swap space", self.words()))
                .next(format!("another disk, or swapoff {}", self.path.display())));
        }
        Ok(())
    }

    /// RAID, LVM and the device mapper stand in `holders`.
    fn refuse_held(&self) -> Result<()> {
        let words = |holder: PathBuf| {
            let name = holder.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match fs::read_to_string(holder.join("dm/name")) {
                Ok(mapped) => format!("{name} ({})", mapped.trim()),
                Err(_) => name,
            }
        };
        let holders: Vec<_> = children(&self.folder.join("holders")).into_iter().map(words).collect();
        if holders.is_empty() {
            return Ok(());
        }
        Err(Error::unavailable(format!("use {}: it is part of {}", self.words(), holders.join(", ")))
            .next("another disk; `lsblk` shows what is above this one"))
    }

    /// Open exclusively: fails where it is mounted in any namespace, or in use in any other way.
    fn hold(&self) -> Result<File> {
        let open = || OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(&self.path);
        retry(PATIENCE, |error| error.raw_os_error() == Some(Errno::EBUSY as i32), open).map_err(|cause| {
            let doing = match cause.raw_os_error() {
                Some(number) if number == Errno::EBUSY as i32 => {
                    format!("use {}: it is in use ({})", self.words(), held(&self.path))
                }
                _ => format!("open {}", self.words()),
            };
            Error::unavailable(doing).because(cause).next("another disk, or end what uses this one")
        })
    }

    /// What libblkid recognises; by low-level probing, never from its cache.
    fn refuse_written(&self, wipe: bool) -> Result<()> {
        let arguments = ["--probe", "--output", "export"].map(OsStr::new);
        let arguments = arguments.into_iter().chain([self.path.as_os_str()]);
        let output = command::run(&Invocation::new("blkid", arguments))?;
        let found = Written::of(output.status, &output.text)
            .cannot(|| format!("see what is on {} (blkid)", self.words()))?;
        match found {
            Written::Nothing => Ok(()),
            Written::Something(_) if wipe => Ok(()),
            Written::Something(what) => Err(Error::usage(format!("use {}: {what} is on it", self.words()))
                .next("another disk; or --wipe, and all that is on it is lost")),
            Written::Partitions(table) => {
                Err(refusal(&format!("use {}: it has a partition table ({table})", self.words()))
                    .next(format!("another disk; or wipefs --all {}, and it is empty", self.path.display())))
            }
        }
    }
}

/// What is on a disk.
#[derive(Debug, PartialEq, Eq)]
enum Written {
    Nothing,
    /// A file system, a member of a RAID, ...; in words.
    Something(String),
    /// Only a table of partitions, of this kind.
    Partitions(String),
}

impl Written {
    /// What `blkid --probe --output export` tells: 2 is nothing, 8 more than one thing. Source: blkid(8).
    fn of(status: i32, text: &str) -> Result<Self, String> {
        let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        match (status, value("TYPE"), value("PTTYPE")) {
            (2, ..) => Ok(Self::Nothing),
            (8, ..) => Ok(Self::Something("more than one file system or partition table".into())),
            (0, Some(kind), _) => {
                let label = value("LABEL").map(|label| format!(" named `{label}`")).unwrap_or_default();
                Ok(Self::Something(format!("{kind}{label}")))
            }
            (0, None, Some(table)) => Ok(Self::Partitions(table.into())),
            (0, None, None) => Ok(Self::Something("something that blkid knows".into())),
            _ => Err(format!("exit status {status}: {}", text.trim())),
        }
    }
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn number_of(path: &Path) -> Option<u64> {
    path.metadata().ok().filter(|node| node.file_type().is_block_device()).map(|node| node.rdev())
}

/// The wrong disk was named.
fn refusal(doing: &str) -> Error {
    lsblk(Error::usage(doing))
}

fn lsblk(error: Error) -> Error {
    error.of_kind(crate::error::Kind::Usage).next("`lsblk -d` lists whole disks")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn what_is_no_whole_disk_is_refused_with_what_it_is() {
        for (path, words) in
            [("/dev/null", "no block device"), ("/dev/no-such-disk", "find"), ("/tmp", "no disk")]
        {
            let error = claim(Path::new(path), true).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage, "{error}");
            assert!(error.to_string().contains(words) && error.next_step().is_some(), "{error}");
        }
    }

    #[test]
    fn what_blkid_tells_is_understood() {
        let something = |text: &str| Ok(Written::Something(text.into()));
        assert_eq!(Written::of(2, ""), Ok(Written::Nothing));
        assert_eq!(Written::of(0, "DEVNAME=/dev/vdb\nLABEL=mail\nTYPE=xfs\n"), something("xfs named `mail`"));
        assert_eq!(Written::of(0, "DEVNAME=/dev/vdb\nPTTYPE=gpt\n"), Ok(Written::Partitions("gpt".into())));
        // A FAT file system looks like a table of partitions, too.
        assert_eq!(Written::of(0, "TYPE=vfat\nPTTYPE=dos\n"), something("vfat"));
        assert!(matches!(Written::of(8, ""), Ok(Written::Something(_))));
        assert!(Written::of(4, "blkid: error").is_err());
    }
}
