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
    let kind = std::fs::read_to_string("/proc/self/mountinfo")
        .ok()
        .zip(store.canonicalize().ok())
        .and_then(|(mounts, store)| filesystem_of(&mounts, &store));
    let kind = kind.unwrap_or_else(|| "unknown".into());
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

/// The type of the file system that `path` is on: the last mount whose place is the longest
/// beginning of it. Fields as in proc(5), `/proc/pid/mountinfo`.
fn filesystem_of(mounts: &str, path: &Path) -> Option<String> {
    let mount = |line: &str| {
        let (before, after) = line.split_once(" - ")?;
        let place = before.split(' ').nth(4)?.replace("\\040", " ");
        let depth = path.starts_with(&place).then(|| Path::new(&place).components().count())?;
        Some((depth, after.split(' ').next()?.to_owned()))
    };
    mounts.lines().filter_map(mount).max_by_key(|(depth, _)| *depth).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
30 22 0:26 / /tmp rw,nosuid shared:5 - tmpfs tmpfs rw
31 22 0:30 / /var/tmp/my\\040images rw shared:6 - btrfs /dev/vdb rw
";

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
    fn a_folder_is_on_the_deepest_mount_above_it() {
        let kind = |path| filesystem_of(MOUNTS, Path::new(path));
        assert_eq!(kind("/var/tmp").as_deref(), Some("ext4"));
        assert_eq!(kind("/tmp/x").as_deref(), Some("tmpfs"));
        assert_eq!(kind("/tmpfile").as_deref(), Some("ext4"));
        assert_eq!(kind("/var/tmp/my images/x").as_deref(), Some("btrfs"));
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
