//! A whole disk that was given away, or the disk of a virtual machine: no image is below it.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use super::device::keep_open;
use crate::error::{Cannot, Error, Result};
use crate::units::Bytes;

/// A whole disk that is kept open.
#[derive(Debug)]
pub struct Disk {
    keeper: File,
    path: PathBuf,
    name: String,
}

impl Disk {
    /// Keep the disk at `path` open.
    ///
    /// # Errors
    ///
    /// It is not there, may not be opened, or is a partition.
    pub fn open(path: &Path) -> Result<Self> {
        let keeper = keep_open(path)?;
        let real = path.canonicalize().cannot(|| format!("find {}", path.display()))?;
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !Path::new("/sys/block").join(&name).exists() {
            return Err(Error::usage(format!("use {}: it is no whole disk", path.display()))
                .next("`lsblk -d` lists whole disks"));
        }
        Ok(Self { keeper, path: real, name })
    }

    /// Its node, without links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name in `/sys/block`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its size, which sysfs counts in sectors of 512 bytes. Source: Linux
    /// `Documentation/ABI/stable/sysfs-block`.
    ///
    /// # Errors
    ///
    /// sysfs does not tell.
    pub fn size(&self) -> Result<Bytes> {
        let path = Path::new("/sys/block").join(&self.name).join("size");
        let doing = || format!("read {}", path.display());
        let text = std::fs::read_to_string(&path).cannot(doing)?;
        let sectors: u64 = text.trim().parse().cannot(doing)?;
        Ok(Bytes(sectors.saturating_mul(512)))
    }
}

impl AsFd for Disk {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.keeper.as_fd()
    }
}
