//! Watches the store under a sparse image: when it fills up, every number above it is a lie.
//!
//! The host's ENOSPC reaches the guest file system late, once, or not at all: xfs loses data and
//! the second fsync succeeds, ext4 goes on as if nothing had happened. So no single sign is
//! trusted. The store's free space, the image itself, the kernel's log and the mount's flags all
//! speak, and the first sync error sticks.

use std::cell::Cell;
use std::path::PathBuf;

use crate::error::{Error, Kind, Result};
use crate::scratch::{Image, Scratch};
use crate::sys::statfs::statfs;
use crate::units::Bytes;
use crate::verify::kernel_log::KernelLog;

/// With less than this free, a store counts as full: file systems keep a little for themselves.
const FULL: Bytes = Bytes::mib(1);

/// The store of one case.
pub(super) struct StoreWatch {
    folder: Option<PathBuf>,
    preallocated: bool,
    /// It was full at a moment: others fill a store too, and free it again.
    was_full: Cell<bool>,
}

impl StoreWatch {
    pub(super) fn new(folder: Option<PathBuf>, preallocated: bool) -> Self {
        Self { folder, preallocated, was_full: Cell::new(false) }
    }

    /// Look while the work goes on; what is seen is told by [`check`](Self::check).
    pub(super) fn glance(&self, scratch: &Scratch, log: &mut KernelLog) {
        log.drain();
        if !self.preallocated && self.full(scratch).unwrap_or(false) {
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
            return Err(match words.contains("space") {
                true => self.out_of_space(scratch, "the kernel logged a space allocation error"),
                false => Error::environment(format!(
                    "use what was measured: the store failed under the image ({words})"
                ))
                .next("look at the kernel log for errors of the store's disk, or choose another --store"),
            });
        }
        if self.was_full.get() {
            return Err(self.out_of_space(scratch, "the store has no space left"));
        }
        if let Some(mount) = scratch.mounted()
            && let Some(flags) = mount.health()?
        {
            return Err(Error::environment(format!(
                "use what was measured: the file system went read-only in the middle ({flags})"
            ))
            .next("look at the kernel log for errors of the store's disk"));
        }
        Ok(())
    }

    /// Whether the image has grown by what was written: zeros that read back as zeros prove nothing
    /// where the store has dropped them.
    ///
    /// # Errors
    ///
    /// It has not: an error of the environment.
    pub(super) fn holds(&self, scratch: &Scratch, written: Bytes) -> Result<()> {
        let Some(image) = scratch.image() else { return Ok(()) };
        let allocated = image.allocated()?;
        if allocated >= written {
            return Ok(());
        }
        let doing =
            format!("use what was measured: {written} were written, and the image has only {allocated}");
        Err(Error::environment(doing).next("a --store that does not compress, or --set pattern=random"))
    }

    fn full(&self, scratch: &Scratch) -> Result<bool> {
        match (&self.folder, scratch.image()) {
            (Some(_), Some(image)) => Ok(statfs(image)?.free < FULL),
            _ => Ok(false),
        }
    }

    fn out_of_space(&self, scratch: &Scratch, sign: &str) -> Error {
        let place = self.folder.as_ref().map_or("memory".into(), |folder| folder.display().to_string());
        let (size, got) = scratch
            .image()
            .map_or((Bytes(0), Bytes(0)), |image| (image.size(), image.allocated().unwrap_or_default()));
        Error::environment(format!(
            "use what was measured: {place} ran out of space under the image ({sign}; the image of {size} got {got})"
        ))
        .next("free space there, choose another place with --store, or a smaller --size")
    }
}
