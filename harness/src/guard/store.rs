//! What lies below the images and takes part in every figure. These are the host's file systems,
//! not those that are compared, so the table is here.

use super::warning as told;
use crate::result::{StoreInfo, Warning};

const STORES: &[(&str, &str, &str)] = &[
    ("memory", "store_memory", "results measure RAM"),
    ("tmpfs", "store_memory", "results measure RAM"),
    ("ramfs", "store_memory", "results measure RAM"),
    ("btrfs", "store_copy_on_write", "it copies on write below the images"),
    ("zfs", "store_copy_on_write", "it copies on write below the images"),
    ("bcachefs", "store_copy_on_write", "it copies on write below the images"),
    ("overlay", "store_overlay", "a container's layers lie below the images; mount a volume there"),
    ("nfs", "store_network", "results measure the network"),
    ("nfs4", "store_network", "results measure the network"),
    ("cifs", "store_network", "results measure the network"),
    ("smb3", "store_network", "results measure the network"),
    ("ceph", "store_network", "results measure the network"),
    ("9p", "store_network", "results measure the host of this machine"),
    ("virtiofs", "store_network", "results measure the host of this machine"),
];

pub(super) fn warning(store: &StoreInfo) -> Option<Warning> {
    // FUSE file systems say which one: fuse.sshfs.
    if store.filesystem.starts_with("fuse") {
        return Some(told("store_fuse", format!("the store {} is a FUSE file system", store.path)));
    }
    let (name, code, why) = STORES.iter().find(|(name, ..)| *name == store.filesystem)?;
    Some(told(code, format!("the store {} is on {name}: {why}", store.path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_that_take_part_in_the_figures_are_named() {
        let about = |filesystem: &str| {
            let store = StoreInfo { path: "/var/tmp".into(), filesystem: filesystem.into(), free_bytes: 1 };
            warning(&store).map(|warning| warning.code)
        };
        for (filesystem, code) in [
            ("tmpfs", "store_memory"),
            ("btrfs", "store_copy_on_write"),
            ("overlay", "store_overlay"),
            ("nfs4", "store_network"),
            ("fuse.sshfs", "store_fuse"),
        ] {
            assert_eq!(about(filesystem).as_deref(), Some(code));
        }
        assert_eq!(about("ext4"), None);
    }
}
