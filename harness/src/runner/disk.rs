//! `--device` on this machine: a whole disk in place of images, for a whole run.
//!
//! It is claimed before the run starts and held exclusively until the first worker says that it makes
//! its file system; before each later case it is claimed again, without a look at what is on it, since
//! that is our own. There is one disk for one process at most, so the claim is kept here.

use std::sync::{Mutex, PoisonError};

use crate::case::{CaseSpec, Store};
use crate::error::Result;
use crate::scratch::disk::{self, Claim};
use crate::suite::Resolved;

/// From the first check to the first case.
static CLAIMED: Mutex<Option<Claim>> = Mutex::new(None);

/// Plan for the disk, if the run is to use one: the size of the file systems is that of the disk.
///
/// # Errors
///
/// It is no whole disk.
pub(super) fn plan(resolved: &mut Resolved) -> Result<()> {
    let Store::Disk(path) = &resolved.store else { return Ok(()) };
    let (path, size) = disk::look(path)?;
    let block = resolved.block_size.0.max(1);
    resolved.on_a_disk_of(crate::units::Bytes(size.0 / block * block));
    resolved.store = Store::Disk(path);
    Ok(())
}

/// Claim the disk of a run, if it has one, before anything is written.
///
/// # Errors
///
/// See [`disk::claim`].
pub(super) fn admit(case: &CaseSpec, wipe: bool) -> Result<()> {
    let Store::Disk(path) = &case.store else { return Ok(()) };
    let mut claimed = CLAIMED.lock().unwrap_or_else(PoisonError::into_inner);
    // Several suites of one command use it in turn.
    if claimed.as_ref().is_none_or(|claim| claim.path() != path) {
        *claimed = Some(disk::claim(path, wipe)?);
    }
    Ok(())
}

/// The claim for one case, to be let go when its worker makes the file system.
///
/// # Errors
///
/// See [`disk::claim`].
pub(super) fn of_case(case: &CaseSpec) -> Result<Option<Claim>> {
    let Store::Disk(path) = &case.store else { return Ok(None) };
    match CLAIMED.lock().unwrap_or_else(PoisonError::into_inner).take() {
        Some(claim) => Ok(Some(claim)),
        None => disk::claim(path, true).map(Some),
    }
}
