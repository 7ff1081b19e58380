//! Folders that `--keep` left of a case, and how they are found again.
//!
//! The mark is an extended attribute of the folder, so that a renamed one is still ours and a folder
//! that only has such a name is not. Only files of ours are ever removed from it: what somebody has
//! put beside them stays, and with it the folder.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{XattrFlags, fsetxattr, getxattr};

use super::Tag;
use crate::error::{Cannot, Error, Result};
use crate::units::Bytes;

const ATTRIBUTE: &str = "user.fsduel.tag";

/// The image, in the folder of its case.
pub const IMAGE: &str = "image.img";
/// Every other file that we put there, and the mount point that the script makes.
pub const FILES: [&str; 6] = ["repeat.sh", "fsck.txt", "kernel.log", "worker.log", "again.img", "mkfs.conf"];
const MOUNT_POINT: &str = "mnt";

/// A folder that stayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it is.
    pub path: PathBuf,
    /// What its images take of the store.
    pub allocated: Bytes,
    /// Whether the process that made it still runs, so that more may come.
    pub alive: bool,
}

/// Make a folder, for root alone, and mark it as ours.
///
/// # Errors
///
/// There is one of that name, or it cannot be made.
pub fn create_kept(path: &Path, tag: &str) -> Result<()> {
    let doing = || format!("make the folder {}", path.display());
    DirBuilder::new().mode(0o700).create(path).cannot(doing)?;
    let folder = File::open(path).cannot(doing)?;
    if let Err(error) = fsetxattr(&folder, ATTRIBUTE, tag.as_bytes(), XattrFlags::empty()) {
        log::debug!("cannot mark the folder that is kept: {error}");
    }
    Ok(())
}

/// Whether there is a folder that is marked as ours.
pub(crate) fn is_kept(path: &Path) -> bool {
    look_at(path.to_owned()).is_some()
}

/// All marked folders directly in `store`, by name.
///
/// # Errors
///
/// The store cannot be read.
pub fn find_kept(store: &Path) -> Result<Vec<Kept>> {
    let entries = fs::read_dir(store).cannot(|| format!("list {}", store.display()))?;
    let mut kept: Vec<Kept> = entries.flatten().filter_map(|entry| look_at(entry.path())).collect();
    kept.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(kept)
}

fn look_at(path: PathBuf) -> Option<Kept> {
    fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_dir)?;
    let mut value = [0; 64];
    let length = getxattr(&path, ATTRIBUTE, &mut value).ok().filter(|length| *length > 0)?;
    let tag = std::str::from_utf8(&value[..length]).ok().and_then(Tag::parse);
    let size = |name: &str| fs::symlink_metadata(path.join(name)).map_or(0, |stat| stat.blocks() * 512);
    let allocated = Bytes([IMAGE].iter().chain(&FILES).map(|name| size(name)).sum());
    Some(Kept { path, allocated, alive: tag.is_some_and(|tag| tag.is_alive()) })
}

/// Remove a folder that stayed, with all that we have put there.
///
/// # Errors
///
/// It is not marked any more, an image of it is attached to a loop device, or it holds what is not
/// ours.
pub fn remove_kept(kept: &Kept) -> Result<()> {
    let shown = kept.path.display();
    if look_at(kept.path.clone()).is_none() {
        return Err(Error::new(format!("remove {shown}: it is not the folder that was found")));
    }
    let ours = || [IMAGE].into_iter().chain(FILES).map(|name| kept.path.join(name));
    if let Some((path, device)) = ours().find_map(|path| Some((path.clone(), attached_to(&path)?))) {
        let doing = format!("remove {}: it is attached to {device}", path.display());
        return Err(
            Error::usage(doing).next(format!("losetup -d /dev/{device}, once nothing is mounted from it"))
        );
    }
    let doing = || format!("remove {shown}");
    let removed = ours()
        .try_for_each(|path| absent_is_fine(fs::remove_file(path)))
        .and_then(|()| absent_is_fine(fs::remove_dir(kept.path.join(MOUNT_POINT))))
        .and_then(|()| fs::remove_dir(&kept.path));
    removed.cannot(doing).map_err(|error| error.next("look at what else is in it, and remove that by hand"))
}

fn absent_is_fine(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// The loop device, such as `loop4`, that has this file below it.
fn attached_to(path: &Path) -> Option<String> {
    let real = path.canonicalize().ok()?;
    fs::read_dir("/sys/block").ok()?.flatten().find_map(|entry| {
        let below = fs::read_to_string(entry.path().join("loop/backing_file")).ok()?;
        (Path::new(below.trim_end()) == real).then(|| entry.file_name().to_string_lossy().into_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Not in /tmp: a tmpfs takes such attributes only since Linux 6.6.
    fn store() -> tempfile::TempDir {
        tempfile::tempdir_in("/var/tmp").unwrap()
    }

    #[test]
    fn only_marked_folders_are_found_and_removed() {
        let store = store();
        let (ours, other) = (store.path().join("renamed"), store.path().join("fsduel-1-ext4-1"));
        create_kept(&ours, "fsduel:v1:1:2:x").unwrap();
        fs::write(ours.join(IMAGE), [1; 5000]).unwrap();
        fs::write(ours.join("fsck.txt"), "clean").unwrap();
        fs::create_dir(&other).unwrap();
        let kept = find_kept(store.path()).unwrap();
        assert_eq!(kept.iter().map(|kept| &kept.path).collect::<Vec<_>>(), [&ours]);
        assert!(kept[0].allocated >= Bytes(5000), "{:?}", kept[0]);
        remove_kept(&kept[0]).unwrap();
        assert!(!ours.exists() && other.exists());
        assert!(remove_kept(&Kept { path: other.clone(), allocated: Bytes(0), alive: false }).is_err());
        assert!(other.exists());
    }

    #[test]
    fn what_somebody_has_put_there_is_never_removed() {
        let store = store();
        let ours = store.path().join("kept");
        create_kept(&ours, "fsduel:v1:1:2:x").unwrap();
        fs::write(ours.join("notes"), "mine").unwrap();
        let error = remove_kept(&find_kept(store.path()).unwrap()[0]).unwrap_err();
        assert!(error.next_step().unwrap().contains("what else is in it"), "{error}");
        assert_eq!(fs::read_to_string(ours.join("notes")).unwrap(), "mine");
    }

    #[test]
    fn a_link_in_the_place_of_a_file_is_never_followed() {
        let (store, elsewhere) = (store(), store());
        let (ours, other) = (store.path().join("kept"), elsewhere.path().join("passwd"));
        fs::write(&other, "theirs").unwrap();
        create_kept(&ours, "fsduel:v1:1:2:x").unwrap();
        for name in [IMAGE].iter().chain(&FILES) {
            std::os::unix::fs::symlink(&other, ours.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(elsewhere.path(), ours.join(MOUNT_POINT)).unwrap();
        let found = find_kept(store.path()).unwrap();
        assert!(remove_kept(&found[0]).unwrap_err().next_step().is_some());
        fs::remove_file(ours.join(MOUNT_POINT)).unwrap();
        remove_kept(&found[0]).unwrap();
        assert!(!ours.exists());
        assert_eq!(fs::read_to_string(&other).unwrap(), "theirs");
    }

    #[test]
    fn a_folder_tells_whether_its_maker_still_runs() {
        let store = store();
        create_kept(&store.path().join("a"), &Tag::of_this_process("x").unwrap().to_string()).unwrap();
        create_kept(&store.path().join("b"), "fsduel:v1:1:2:x").unwrap();
        let alive: Vec<bool> = find_kept(store.path()).unwrap().iter().map(|kept| kept.alive).collect();
        assert_eq!(alive, [true, false]);
    }

    #[test]
    fn a_folder_that_is_there_is_not_taken_over() {
        let store = store();
        create_kept(store.path(), "fsduel:v1:1:2:x").unwrap_err();
        assert!(look_at(store.path().to_owned()).is_none());
    }
}
