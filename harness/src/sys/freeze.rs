//! File systems that were frozen (fsfreeze): all who write wait, and an unmount does not end them.

use std::ffi::c_int;
use std::os::fd::AsRawFd;

use nix::errno::Errno;

mod raw {
    // Linux `include/uapi/linux/fs.h`.
    nix::ioctl_readwrite!(fithaw, b'X', 120, super::c_int);
}

/// Let the file system of `file` go on.
///
/// # Errors
///
/// `EINVAL`: it is not frozen.
#[expect(unsafe_code, reason = "an ioctl")]
pub fn thaw(file: &impl AsRawFd) -> Result<(), Errno> {
    let mut unused = 0;
    // SAFETY: the request takes a number that the kernel does not look at, and which outlives the call.
    unsafe { raw::fithaw(file.as_raw_fd(), &raw mut unused) }.map(drop)
}
