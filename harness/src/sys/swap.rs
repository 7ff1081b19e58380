//! Swap files and devices.

use std::ffi::CString;
use std::io::{Error, Result};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::mount_table::unescape;

/// All that is swapped to, as the kernel tells its path. Source: proc_swaps(5).
#[must_use]
pub fn used() -> Vec<PathBuf> {
    let text = std::fs::read_to_string("/proc/swaps").unwrap_or_default();
    text.lines().skip(1).filter_map(|line| line.split_ascii_whitespace().next()).map(unescape).collect()
}

/// Swap there no longer.
///
/// # Errors
///
/// Nothing is swapped there, or what is there has no room elsewhere.
#[expect(unsafe_code, reason = "no crate has swapoff")]
pub fn off(path: &Path) -> Result<()> {
    let path = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: the string outlives the call.
    match unsafe { libc::swapoff(path.as_ptr()) } {
        0 => Ok(()),
        _ => Err(Error::last_os_error()),
    }
}
