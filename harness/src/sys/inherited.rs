//! Descriptors that another process of ours handed over by their numbers.

use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use crate::error::{Error, Result};

/// The descriptor with this number, which nobody else in this process may know of.
///
/// # Errors
///
/// Nothing is open under it, or it is one of the standard streams.
#[expect(unsafe_code, reason = "an inherited descriptor is a number")]
pub fn take(number: RawFd) -> Result<OwnedFd> {
    // SAFETY: asking for the flags of a number that is no descriptor does nothing.
    let is_open = number > 2 && unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) } >= 0;
    if !is_open {
        return Err(Error::new(format!("use descriptor {number}: it was not handed over")));
    }
    // SAFETY: it is open, and nobody else in this process knows of it: it was inherited.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}
