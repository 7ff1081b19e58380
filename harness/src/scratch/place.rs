//! Where scratch file systems are mounted: in a small tmpfs that exists in our mount namespace only.
//!
//! So the folders of mount points need no removing, and a process or thread that looks from outside
//! gets ENOENT instead of writing to the host by mistake.

use std::fs;
use std::path::{Path, PathBuf};

use sys_mount::MountFlags;

use super::mount::{DROP_PATIENCE, unmount};
use crate::error::{Cannot, Error, Result};
use crate::sys::retry::PATIENCE;

/// Folders that every system has, and that are usually empty. Source: hier(7).
const CANDIDATES: [&str; 4] = ["/mnt", "/media", "/srv", "/opt"];

/// A tmpfs of ours. Dropping it unmounts it.
#[derive(Debug)]
pub struct Place {
    root: PathBuf,
}

impl Place {
    /// Mount it where it does not hide `store`. The caller must be in a mount namespace of its own,
    /// or everybody sees it.
    ///
    /// # Errors
    ///
    /// There is no folder to mount on, or mounting is not allowed.
    pub fn new(store: Option<&Path>) -> Result<Self> {
        // One that is not there is told by the image, which needs it.
        let store = store.and_then(|store| store.canonicalize().ok());
        let root = choose(&CANDIDATES.map(Path::new), store.as_deref()).ok_or_else(|| {
            Error::unavailable("find a folder to mount on, other than that of the store")
                .next("mkdir /mnt /srv")
        })?;
        Self::at(root)
    }

    /// Mount it at a folder of ours.
    ///
    /// # Errors
    ///
    /// Mounting is not allowed.
    pub fn at(root: &Path) -> Result<Self> {
        // Without `nodev`: device nodes may have to be made here.
        sys_mount::Mount::builder()
            .fstype("tmpfs")
            .flags(MountFlags::NOSUID | MountFlags::NOEXEC)
            .data("mode=0755,size=1m")
            .mount("fsduel", root)
            .cannot(|| format!("mount a tmpfs on {}", root.display()))
            .map_err(|error| error.next("run as root (sudo), or in a container with --privileged"))?;
        Ok(Self { root: root.to_owned() })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// A folder for device nodes.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn node_folder(&self) -> Result<PathBuf> {
        self.folder("dev")
    }

    /// An empty folder to mount on.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn mount_point(&self, name: &str) -> Result<PathBuf> {
        self.folder(name)
    }

    fn folder(&self, name: &str) -> Result<PathBuf> {
        let path = self.root.join(name);
        match fs::create_dir(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                Err(error).cannot(|| format!("make {}", path.display()))
            }
            _ => Ok(path),
        }
    }

    /// Unmount it.
    ///
    /// # Errors
    ///
    /// Something still uses it, and is named.
    pub fn close(self) -> Result<()> {
        let place = std::mem::ManuallyDrop::new(self);
        unmount(&place.root, PATIENCE)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Err(error) = unmount(&self.root, DROP_PATIENCE) {
            log::warn!("{error}");
        }
    }
}

/// The first that is empty, so that nothing is hidden from a command that runs here; else the first
/// that exists. Never one that `store` is in: a disk that was just mounted on /mnt is empty, too.
fn choose<'a>(folders: &[&'a Path], store: Option<&Path>) -> Option<&'a Path> {
    let is_empty = |folder: &&Path| fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    let hides_the_store = |folder: &Path| {
        let real = folder.canonicalize();
        store.zip(real.ok()).is_some_and(|(store, real)| store.starts_with(real))
    };
    let free = || folders.iter().copied().filter(|folder| !hides_the_store(folder));
    free().find(is_empty).or_else(|| free().find(|folder| folder.is_dir()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_folder_is_preferred() {
        let folder = tempfile::tempdir().unwrap();
        let (full, empty) = (folder.path().join("full"), folder.path().join("empty"));
        fs::create_dir_all(full.join("something")).unwrap();
        assert_eq!(choose(&[&full, &empty], None), Some(full.as_path()));
        fs::create_dir(&empty).unwrap();
        assert_eq!(choose(&[&full, &empty], None), Some(empty.as_path()));
        assert_eq!(choose(&[&folder.path().join("absent")], None), None);
    }

    #[test]
    fn the_store_is_never_hidden() {
        let folder = tempfile::tempdir().unwrap();
        let (full, empty) = (folder.path().join("full"), folder.path().join("empty"));
        fs::create_dir_all(full.join("store")).unwrap();
        fs::create_dir(&empty).unwrap();
        assert_eq!(choose(&[&empty, &full], Some(&empty)), Some(full.as_path()));
        assert_eq!(choose(&[&full], Some(&full.join("store"))), None);
        assert_eq!(choose(&[&empty, &full], Some(&full.join("store"))), Some(empty.as_path()));
    }
}
