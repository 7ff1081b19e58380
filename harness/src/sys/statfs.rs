//! `statfs` of a mount.

use std::os::fd::AsFd;

use crate::error::Result;
use crate::units::Bytes;

/// What `statfs` tells, in bytes where it counts blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatFs {
    /// All blocks.
    pub total: Bytes,
    /// Free for root.
    pub free: Bytes,
    /// Free for others.
    pub available: Bytes,
    /// All inodes; 0 where they are made on demand.
    pub inodes: u64,
    /// Free inodes.
    pub inodes_free: u64,
    /// Mounted read-only.
    pub read_only: bool,
}

impl StatFs {
    /// (f_blocks - f_bfree) * f_frsize.
    #[must_use]
    pub fn used(&self) -> Bytes {
        Bytes(self.total.0.saturating_sub(self.free.0))
    }
}

/// Ask the file system that `file` is on.
///
/// # Errors
///
/// The call fails.
pub fn statfs(file: impl AsFd) -> Result<StatFs> {
    use crate::error::Cannot;
    let stat = rustix::fs::fstatvfs(file.as_fd()).cannot(|| "ask for free space (fstatvfs)".into())?;
    let bytes = |blocks: u64| Bytes(blocks.saturating_mul(stat.f_frsize));
    Ok(StatFs {
        total: bytes(stat.f_blocks),
        free: bytes(stat.f_bfree),
        available: bytes(stat.f_bavail),
        inodes: stat.f_files,
        inodes_free: stat.f_ffree,
        read_only: stat.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY),
    })
}
