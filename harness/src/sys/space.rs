//! Space as btrfs itself counts it: `BTRFS_IOC_SPACE_INFO`.
//!
//! `statfs` cannot tell data from metadata, and on btrfs either may be full while the other has
//! room. The ioctl takes 0.1 ms and agrees with `btrfs filesystem df -b` to the byte. The like for
//! ext4 and xfs, `FS_IOC_GETFSMAP`, gives most of their space as "unknown", so it is not here.

use std::os::fd::{AsFd, AsRawFd};

use crate::error::{Cannot, Result};
use crate::units::Bytes;

/// File contents. Source of the flags: Linux `include/uapi/linux/btrfs_tree.h`.
pub const DATA: u64 = 1;
/// The chunk tree.
pub const SYSTEM: u64 = 1 << 1;
/// All other trees.
pub const METADATA: u64 = 1 << 2;
/// Two copies on two devices.
pub const RAID1: u64 = 1 << 4;
/// Two copies on one device.
pub const DUP: u64 = 1 << 5;
/// Two copies, striped.
pub const RAID10: u64 = 1 << 6;
/// Three copies.
pub const RAID1C3: u64 = 1 << 9;
/// Four copies.
pub const RAID1C4: u64 = 1 << 10;
/// The part of metadata that is kept for emergencies; never on the device as such.
pub const GLOBAL_RESERVE: u64 = 1 << 49;

/// More slots than there are kinds and profiles.
const SLOTS: usize = 64;

/// One kind of space, in one profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpaceInfo {
    /// Kind and profile: [`DATA`], [`METADATA`], [`DUP`], ...
    pub flags: u64,
    /// Allocated on the device, before copies.
    pub total: Bytes,
    /// Used of it, before copies. Only what was written: call `syncfs` first.
    pub used: Bytes,
}

impl SpaceInfo {
    /// How often each byte is on the device.
    #[must_use]
    pub fn copies(&self) -> u64 {
        match self.flags {
            flags if flags & RAID1C4 != 0 => 4,
            flags if flags & RAID1C3 != 0 => 3,
            flags if flags & (DUP | RAID1 | RAID10) != 0 => 2,
            _ => 1,
        }
    }
}

/// `struct btrfs_ioctl_space_args`; the records follow it.
#[repr(C)]
struct Head {
    slots: u64,
    count: u64,
}

mod request {
    nix::ioctl_readwrite!(space_info, 0x94, 20, super::Head);
}

/// Every kind of space of the btrfs that `file` is on.
///
/// # Errors
///
/// It is not btrfs (`ENOTTY`).
#[expect(unsafe_code, reason = "no crate offers this ioctl")]
pub fn btrfs_space_info(file: impl AsFd) -> Result<Vec<SpaceInfo>> {
    let mut words = vec![0_u64; 2 + 3 * SLOTS];
    words[0] = SLOTS as u64;
    let head: *mut Head = words.as_mut_ptr().cast();
    // SAFETY: `words` is alive, aligned for u64, and has room for the head and for as many
    // records of three u64 as the head says, which is all that the kernel writes.
    unsafe { request::space_info(file.as_fd().as_raw_fd(), head) }
        .cannot(|| "ask btrfs for its space (BTRFS_IOC_SPACE_INFO)".into())?;
    Ok(records(&words))
}

/// The records behind the head.
fn records(words: &[u64]) -> Vec<SpaceInfo> {
    let count = usize::try_from(words[1]).unwrap_or(usize::MAX);
    words[2..]
        .chunks_exact(3)
        .take(count)
        .map(|word| SpaceInfo { flags: word[0], total: Bytes(word[1]), used: Bytes(word[2]) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_as_many_records_are_read_as_the_kernel_counted() {
        let words = [64, 2, DATA, 100, 10, METADATA | DUP, 50, 5, 7, 7, 7];
        let read = records(&words);
        assert_eq!(read.len(), 2);
        assert_eq!(read[1], SpaceInfo { flags: METADATA | DUP, total: Bytes(50), used: Bytes(5) });
        assert_eq!((read[0].copies(), read[1].copies()), (1, 2));
    }

    #[test]
    fn a_file_that_is_not_on_btrfs_is_refused() {
        let file = std::fs::File::open("/proc/self/status").unwrap();
        let error = btrfs_space_info(&file).unwrap_err();
        assert_eq!(error.errno(), Some(nix::errno::Errno::ENOTTY));
    }
}
