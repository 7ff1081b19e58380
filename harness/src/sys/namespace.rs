//! A mount namespace of our own, so that no mount of ours is ever seen by, or outlives us in,
//! another process.
//!
//! Propagation is `MS_SLAVE`, never `MS_PRIVATE`: a private copy of the mounts that exist would
//! pin other people's file systems, so that their devices stay busy after they unmount.

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

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
