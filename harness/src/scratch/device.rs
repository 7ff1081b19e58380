//! The block device below a scratch file system: a loop device, or a whole disk.
//!
//! Both are held by a plain descriptor from before mkfs to the end of the last check, and both can
//! prove that nothing of them is mounted.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use nix::errno::Errno;

use super::disk::Disk;
use super::holders;
use super::loop_device::LoopDevice;
use crate::error::{Cannot, Error, Result};
use crate::result::LoopInfo;
use crate::sys::loop_ctl;
use crate::sys::retry::{PATIENCE, retry};

/// What a file system is made on.
#[derive(Debug)]
pub enum Device {
    /// An image as a loop device.
    Loop(LoopDevice),
    /// A whole disk.
    Disk(Disk),
}

impl Device {
    /// Its node, as `/dev/loop4`.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::Loop(device) => device.path(),
            Self::Disk(disk) => disk.path(),
        }
    }

    /// Its name in `/sys/block` and in the kernel log: `loop4`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Loop(device) => device.name(),
            Self::Disk(disk) => disk.name(),
        }
    }

    /// The loop device as the kernel set it up, where it is one.
    #[must_use]
    pub fn loop_info(&self) -> Option<LoopInfo> {
        match self {
            Self::Loop(device) => Some(device.info()),
            Self::Disk(_) => None,
        }
    }

    /// Prove that no superblock lives on it, in any mount namespace: only then an exclusive open
    /// succeeds. It is closed again at once, since it would make mkfs and mount fail.
    ///
    /// # Errors
    ///
    /// Something still uses the device, and is named.
    pub fn assert_unmounted(&self) -> Result<()> {
        let exclusive =
            || OpenOptions::new().read(true).custom_flags(libc::O_EXCL).open(self.path()).map(drop);
        retry(PATIENCE, |error| error.raw_os_error() == Some(Errno::EBUSY as i32), exclusive).map_err(
            |cause| {
                let held = held(self.path());
                Error::new(format!("prove that {} is unmounted ({held})", self.name())).because(cause)
            },
        )
    }

    /// Make the page cache forget this one device.
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn drop_cache(&self) -> Result<()> {
        loop_ctl::flush_buffers(&self.as_fd()).cannot(|| format!("drop the page cache of {}", self.name()))
    }

    /// Let the device go; of a loop device, prove that it went.
    ///
    /// # Errors
    ///
    /// Something still holds it, and is named.
    pub fn close(self) -> Result<()> {
        match self {
            Self::Loop(device) => device.close(),
            Self::Disk(_) => Ok(()),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Loop(device) => device.as_fd(),
            Self::Disk(disk) => disk.as_fd(),
        }
    }
}

/// Who has the device open or mounted, in a few words.
pub(super) fn held(path: &Path) -> String {
    let number = path.metadata().map_or(0, |node| node.rdev());
    holders::sentence(&holders::of_device(path, number))
}

/// A node, open for reading only: kernels built without `CONFIG_BLK_DEV_WRITE_MOUNTED` refuse to
/// mount a device that is open for writing.
pub(super) fn keep_open(path: &Path) -> Result<File> {
    File::open(path).cannot(|| format!("keep {} open", path.display()))
}
