//! Watches the store under a sparse image: when it fills up, every number above it is a lie.
//!
//! The host's ENOSPC reaches the guest file system late, once, or not at all: xfs loses data and
//! the second fsync succeeds, ext4 goes on as if nothing had happened. So no single sign is
//! trusted. The store's free space, the image itself, the kernel's log and the mount's flags all
//! speak, and the first sync error sticks.

use std::cell::Cell;

use crate::error::{Error, Kind, Result};
use crate::scratch::{Image, Scratch};
use crate::verify::kernel_log::KernelLog;

/// The store of one case.
#[derive(Default)]
pub(super) struct StoreWatch {
    /// It was full at a moment: others fill a store too, and free it again.
    was_full: Cell<bool>,
}

impl StoreWatch {
    /// Look while the work goes on; what is seen is told by [`check`](Self::check).
    pub(super) fn glance(&self, scratch: &Scratch, log: &mut KernelLog) {
        log.drain();
        if scratch.image().is_some_and(Image::lacks_room) {
            self.was_full.set(true);
        }
    }

    /// Why something failed, whatever it was: a store without space breaks mkfs, mounts and checks
    /// as well, and none of them can tell.
    pub(super) fn blame(&self, error: Error, scratch: &Scratch, log: &mut KernelLog) -> Error {
        match error.kind() {
            Kind::Stopped | Kind::Environment => error,
            _ => match self.check(scratch, log) {
                Err(cause) if cause.kind() == Kind::Environment => cause,
                _ => error,
            },
        }
    }

    /// Whether the environment, not the file system, has broken something.
    ///
    /// # Errors
    ///
    /// It has: an error of the environment, with the sign that told.
    pub(super) fn check(&self, scratch: &Scratch, log: &mut KernelLog) -> Result<()> {
        self.glance(scratch, log);
        scratch.image().map_or(Ok(()), Image::check_unchanged)?;
        let device = scratch.device().name();
        if let Some(words) = log.store_fault(device) {
            return Err(match scratch.image().filter(|_| words.contains("space")) {
                Some(image) => image.out_of_space("the kernel logged a space allocation error"),
                None => Error::environment(format!(
                    "use what was measured: the store failed under the image ({words})"
                ))
                .next("look at the kernel log for errors of the store's disk, or choose another --store"),
            });
        }
        if let Some(image) = scratch.image().filter(|_| self.was_full.get()) {
            return Err(image.out_of_space("the store has no space left"));
        }
        if let Some(mount) = scratch.mounted()
            && let Some(sign) = mount.health()?
        {
            return Err(Error::environment(format!(
                "use what was measured: the file system went read-only in the middle ({sign})"
            ))
            .next("look at the kernel log for errors of the store's disk; without one, a command has remounted it"));
        }
        Ok(())
    }
}
