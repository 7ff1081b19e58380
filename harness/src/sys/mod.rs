//! The only `unsafe`: system calls that no crate offers as we need them.

pub mod activity;
pub mod block_stat;
pub mod cache;
pub mod caller;
pub mod cgroup;
pub mod clock;
pub mod confine;
pub mod counters;
pub mod cpu_time;
pub mod freeze;
pub mod inherited;
pub mod kmsg;
pub mod loop_ctl;
pub mod mount_table;
pub mod namespace;
pub mod proc;
pub mod retry;
pub mod rooted;
pub mod signal;
pub mod space;
pub mod spawn;
pub mod statfs;
pub mod swap;

use nix::errno::Errno;

/// Bytes in a page of memory. The kernel always tells it; 4096 is what it is nearly everywhere.
#[must_use]
pub fn page_size() -> u64 {
    let told = nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten();
    told.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(4096)
}

/// Processors that this process may run on, at least 1.
#[must_use]
pub fn processors() -> u32 {
    use nix::sched::{CpuSet, sched_getaffinity};
    let set = sched_getaffinity(nix::unistd::Pid::from_raw(0)).unwrap_or_default();
    let count = (0..CpuSet::count()).filter(|&cpu| set.is_set(cpu).unwrap_or(false)).count();
    u32::try_from(count).unwrap_or(u32::MAX).max(1)
}

/// The same errno in the type of which our errors show the name.
#[must_use]
pub fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_raw(error.raw_os_error())
}
