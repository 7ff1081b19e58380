//! The only `unsafe`: system calls that no crate offers as we need them.

pub mod block_stat;
pub mod cache;
pub mod caller;
pub mod loop_ctl;
pub mod namespace;
pub mod proc;
pub mod signal;
pub mod space;
pub mod spawn;
pub mod statfs;

use nix::errno::Errno;

/// The same errno in the type of which our errors show the name.
#[must_use]
pub fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_raw(error.raw_os_error())
}
