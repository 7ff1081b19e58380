//! The folder where images are: what kind of storage it is, and whether there is room.
//!
//! Kinds are told apart by the number that `statfs` gives (Linux `include/uapi/linux/magic.h`), since
//! some need care: on tmpfs the image is in memory, network storage breaks direct I/O, and storage
//! that copies on write can run full although the image was allocated.

use std::path::Path;

use crate::error::{Cannot, Error, Result};
use crate::sys::errno;
use crate::sys::mount_table;
use crate::units::Bytes;

/// What kind of storage a folder is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// An ordinary file system on a disk, as far as is known.
    Disk,
    /// Memory: results measure RAM, and the image counts against it.
    Memory,
    /// A container's layers.
    Overlay,
    /// Writing in place needs new space: preallocation is no guarantee.
    CopyOnWrite,
    /// Another machine, or the host of a guest.
    Network,
}

/// The storage below a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreState {
    /// As `mount -t` spells it.
    pub filesystem: String,
    /// Free, for this user.
    pub free: Bytes,
    /// See [`StoreKind`].
    pub kind: StoreKind,
}

/// Look at the storage below `folder`.
///
/// # Errors
///
/// It does not exist, or is no folder.
pub fn store_info(folder: &Path) -> Result<StoreState> {
    let doing = || format!("look at the store {}", folder.display());
    check_folder(folder).map_err(|cause| {
        Error::usage(doing()).because(cause).next("give a folder that exists with --store")
    })?;
    let stat = rustix::fs::statfs(folder).map_err(errno).cannot(doing)?;
    let real = folder.canonicalize().cannot(doing)?;
    let filesystem = mount_table::covering(&real)?.map_or_else(|| "unknown".into(), |entry| entry.filesystem);
    let block = u64::try_from(stat.f_bsize).unwrap_or(0);
    Ok(StoreState {
        filesystem,
        free: Bytes(stat.f_bavail.saturating_mul(block)),
        kind: kind_of(stat.f_type),
    })
}

fn check_folder(folder: &Path) -> std::io::Result<()> {
    match folder.metadata()?.is_dir() {
        true => Ok(()),
        false => Err(std::io::ErrorKind::NotADirectory.into()),
    }
}

/// The numbers are those of magic.h; ZFS, bcachefs and exotic ones come from their own sources.
fn kind_of(magic: i64) -> StoreKind {
    match magic {
        // tmpfs, ramfs.
        0x0102_1994 | 0x8584_58f6 => StoreKind::Memory,
        0x794c_7630 => StoreKind::Overlay,
        // btrfs, ZFS, bcachefs.
        0x9123_683e | 0x2fc1_2fc1 | 0xca45_1a4e => StoreKind::CopyOnWrite,
        // NFS, SMB, SMB2, CIFS, 9p, FUSE (virtiofs too), Ceph, AFS.
        0x6969 | 0x517b | 0xfe53_4d42 | 0xff53_4d42 | 0x0102_1997 | 0x6573_5546 | 0x00c3_6400
        | 0x5346_414f => StoreKind::Network,
        _ => StoreKind::Disk,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_storage_are_told_apart() {
        assert_eq!(kind_of(0xef53), StoreKind::Disk);
        assert_eq!(kind_of(0x0102_1994), StoreKind::Memory);
        assert_eq!(kind_of(0x9123_683e), StoreKind::CopyOnWrite);
        assert_eq!(kind_of(0x6969), StoreKind::Network);
    }

    #[test]
    fn proc_holds_no_image() {
        let state = store_info(Path::new("/proc")).unwrap();
        assert_eq!((state.filesystem.as_str(), state.free), ("proc", Bytes(0)));
    }

    #[test]
    fn what_is_no_folder_is_wrong_usage_with_a_next_step() {
        for path in ["/no/such/folder", "", "/proc/self/stat"] {
            let error = store_info(Path::new(path)).unwrap_err();
            assert_eq!(error.kind(), crate::error::Kind::Usage, "{error}");
            assert!(error.next_step().is_some_and(|next| next.contains("--store")), "{error}");
        }
    }
}
