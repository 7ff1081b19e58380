//! A mount namespace of our own, so that no mount of ours is ever seen by, or outlives us in,
//! another process.
//!
//! Propagation is `MS_SLAVE`, never `MS_PRIVATE`: a private copy of the mounts that exist would
//! pin other people's file systems, so that their devices stay busy after they unmount.

use std::fs::File;
use std::marker::PhantomData;
use std::os::fd::{AsFd, OwnedFd};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};

use crate::error::{Cannot, Result};

/// Give the calling thread, and the children it will have, mounts of its own.
///
/// Threads that exist already keep the old view.
///
/// # Errors
///
/// `CAP_SYS_ADMIN` is missing.
pub fn enter_private_mounts() -> Result<()> {
    let next = "run as root (sudo), or in a container started with --privileged";
    unshare(CloneFlags::CLONE_NEWNS)
        .cannot(|| "enter a mount namespace (unshare)".into())
        .map_err(|error| error.next(next))?;
    mount(None::<&str>, "/", None::<&str>, MsFlags::MS_REC | MsFlags::MS_SLAVE, None::<&str>)
        .cannot(|| "keep our mounts to ourselves (mount MS_SLAVE on /)".into())
        .map_err(|error| error.next(next))
}

/// The mount namespace of the calling thread, as a descriptor.
///
/// # Errors
///
/// `/proc` is not there.
pub fn mounts_of_this_thread() -> Result<OwnedFd> {
    let path = "/proc/thread-self/ns/mnt";
    File::open(path).map(OwnedFd::from).cannot(|| format!("open {path}"))
}

/// The calling thread is in another mount namespace. Dropping this brings it back to where it was, and
/// to the folder where it was.
#[derive(Debug)]
pub struct Inside {
    before: OwnedFd,
    folder: OwnedFd,
    /// Namespaces are those of a thread.
    stays: PhantomData<*const ()>,
}

impl Inside {
    /// Bring the calling thread there. From now on it has a root and a working folder of its own.
    ///
    /// # Errors
    ///
    /// `CAP_SYS_ADMIN` or `CAP_SYS_CHROOT` is missing.
    pub fn of(namespace: impl AsFd) -> Result<Self> {
        let doing = || "enter a mount namespace (setns)".to_owned();
        let before = mounts_of_this_thread()?;
        let folder = File::open(".").map(OwnedFd::from).cannot(|| "open the working folder".into())?;
        // Threads share root and working folder, and then none may change its mounts.
        unshare(CloneFlags::CLONE_FS).cannot(doing)?;
        setns(namespace, CloneFlags::CLONE_NEWNS).cannot(doing)?;
        Ok(Self { before, folder, stays: PhantomData })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        let back =
            setns(&self.before, CloneFlags::CLONE_NEWNS).and_then(|()| nix::unistd::fchdir(&self.folder));
        if let Err(errno) = back {
            log::warn!("cannot leave a mount namespace: {errno}");
        }
    }
}
