//! Whether a folder can hold images: unlinked files, direct I/O, and how much room there is.

use std::os::fd::AsFd;
use std::path::Path;

use fsduel_harness::sys::statfs::statfs;
use fsduel_harness::units::Bytes;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;

use super::Check;
use crate::parts::{self, Store};

const NEXT: &str = "choose another folder with --store";

/// The checks of a store, which must have room for `image`.
pub fn checks(store: &Store, image: Option<Bytes>) -> Vec<Check> {
    match store {
        Store::Directory(folder) => vec![room(folder, image), unlinked(folder), direct(folder)],
        Store::Disk(_) => vec![],
        Store::Memory => vec![enough("store memory".into(), "memory", parts::memory_available(), image)],
    }
}

fn name(store: &Path, what: &str) -> String {
    format!("store {}: {what}", store.display())
}

/// Open an unlinked file in the folder: how every image begins.
fn temporary(store: &Path, more: OFlag) -> nix::Result<std::os::fd::OwnedFd> {
    open(store, OFlag::O_TMPFILE | OFlag::O_RDWR | OFlag::O_CLOEXEC | more, Mode::from_bits_truncate(0o600))
}

/// The file system of the folder, and its free bytes.
fn room(store: &Path, image: Option<Bytes>) -> Check {
    let free = std::fs::File::open(store)
        .map_err(|error| error.to_string())
        .and_then(|folder| statfs(folder.as_fd()).map_err(|error| error.to_string()));
    let kind = parts::store_info(store).map_or_else(|_| "unknown".into(), |store| store.filesystem);
    match free {
        Ok(now) if now.read_only => bad(name(store, "room"), format!("{kind}, read-only"), NEXT),
        Ok(now) => enough(name(store, "room"), &kind, now.available, image),
        Err(error) => bad(name(store, "room"), error, NEXT),
    }
}

/// Whether `free` has room for an image that gets full; any amount will do where its size is not
/// known.
fn enough(name: String, kind: &str, free: Bytes, image: Option<Bytes>) -> Check {
    match image {
        None => good(name, format!("{kind}, {free} free")),
        Some(image) => {
            let needed = parts::free_needed(image);
            let found = format!("{kind}, {free} free, an image of {image} needs up to {needed}");
            if needed <= free {
                return good(name, found);
            }
            let next = "free space there, choose another folder with --store, or run with a smaller --size";
            bad(name, found, next)
        }
    }
}

fn unlinked(store: &Path) -> Check {
    let name = name(store, "O_TMPFILE");
    match temporary(store, OFlag::empty()) {
        Ok(_) => good(name, "yes".into()),
        // An image is then made with a name, which is removed at once.
        Err(Errno::EOPNOTSUPP | Errno::EISDIR) => good(name, "no; images have a name for a moment".into()),
        Err(errno) => bad(name, errno.desc().into(), NEXT),
    }
}

/// Without direct I/O the host's page cache is a second cache below every file system.
fn direct(store: &Path) -> Check {
    let name = name(store, "direct I/O");
    match temporary(store, OFlag::O_DIRECT) {
        Ok(_) => good(name, "yes".into()),
        Err(Errno::EINVAL) => good(name, "no; the host's page cache takes part".into()),
        Err(errno) => good(name, format!("not known: {}", errno.desc())),
    }
}

fn good(name: String, found: String) -> Check {
    Check { name, found, good: true, next: None }
}

fn bad(name: String, found: String, next: &str) -> Check {
    Check { name, found, good: false, next: Some(next.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_is_too_small_for_the_image_is_bad() {
        let check = |free| enough("store".into(), "ext4", Bytes::gib(free), Some(Bytes::gib(32)));
        assert!(check(34).good && !check(32).good, "some room is to spare, as for a run");
        let small = check(33);
        let told = "ext4, 33 GiB free, an image of 32 GiB needs up to 33.6 GiB";
        assert_eq!((small.good, small.found.as_str()), (false, told));
        assert!(small.next.is_some());
    }

    #[test]
    fn a_folder_that_is_not_there_is_bad_and_one_that_is_there_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!room(&folder.path().join("missing"), None).good);
        assert!(!unlinked(&folder.path().join("missing")).good);
        let store = Store::Directory(folder.path().to_owned());
        assert!(checks(&store, Some(Bytes(1))).iter().all(|check| check.good));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
