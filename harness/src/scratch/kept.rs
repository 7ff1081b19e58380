//! Images that `--keep` gave a name, and how they are found again.
//!
//! The mark is an extended attribute of the file, so that a renamed image is still ours and a file
//! that only has such a name is not. A store without extended attributes keeps unmarked images.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{XattrFlags, fsetxattr, getxattr};

use crate::error::{Cannot, Error, Result};
use crate::units::Bytes;

const ATTRIBUTE: &str = "user.fsduel.tag";

/// An image that stayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where it is.
    pub path: PathBuf,
    /// What it takes of the store.
    pub allocated: Bytes,
}

/// Mark an image as ours.
pub(super) fn mark(image: &File, tag: &str) {
    if let Err(error) = fsetxattr(image, ATTRIBUTE, tag.as_bytes(), XattrFlags::empty()) {
        log::debug!("cannot mark the image that is kept: {error}");
    }
}

/// All marked images directly in `folder`, by name.
///
/// # Errors
///
/// The folder cannot be read.
pub fn find_kept(folder: &Path) -> Result<Vec<Kept>> {
    let entries = fs::read_dir(folder).cannot(|| format!("list {}", folder.display()))?;
    let mut kept: Vec<Kept> = entries.flatten().filter_map(|entry| look_at(entry.path())).collect();
    kept.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(kept)
}

fn look_at(path: PathBuf) -> Option<Kept> {
    let stat = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
    let mut value = [0; 64];
    getxattr(&path, ATTRIBUTE, &mut value).ok().filter(|length| *length > 0)?;
    Some(Kept { path, allocated: Bytes(stat.blocks() * 512) })
}

/// Remove an image that stayed.
///
/// # Errors
///
/// It is not marked any more, is attached to a loop device, or cannot be removed.
pub fn remove_kept(kept: &Kept) -> Result<()> {
    let shown = kept.path.display();
    if look_at(kept.path.clone()).is_none() {
        return Err(Error::new(format!("remove {shown}: it is not the image that was found")));
    }
    if let Some(device) = attached_to(&kept.path) {
        let doing = format!("remove {shown}: it is attached to {device}");
        return Err(
            Error::usage(doing).next(format!("losetup -d /dev/{device}, once nothing is mounted from it"))
        );
    }
    fs::remove_file(&kept.path).cannot(|| format!("remove {shown}"))
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

    #[test]
    fn only_marked_files_are_found_and_removed() {
        // Not in /tmp: a tmpfs takes such attributes only since Linux 6.6.
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let (ours, other) = (folder.path().join("ours.img"), folder.path().join("fsduel-1-ext4-1.img"));
        mark(&File::create(&ours).unwrap(), "fsduel:v1:1:2:x");
        File::create(&other).unwrap();
        let kept = find_kept(folder.path()).unwrap();
        assert_eq!(kept.iter().map(|kept| &kept.path).collect::<Vec<_>>(), [&ours]);
        remove_kept(&kept[0]).unwrap();
        assert!(!ours.exists() && other.exists());
        assert!(remove_kept(&Kept { path: other.clone(), allocated: Bytes(0) }).is_err());
        assert!(other.exists());
    }
}
