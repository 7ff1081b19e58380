//! What `/proc` tells of threads and memory.
//!
//! Kernel threads are seen through the `/proc` that a process inherits, even from inside a new
//! PID namespace; a `/proc` mounted there would hide them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::error::{Cannot, Error, Result};
use crate::units::Bytes;

/// `PF_KTHREAD`. Source: Linux `include/linux/sched.h`.
const KERNEL_THREAD: u64 = 0x0020_0000;

/// A thread over its whole life: a number is used again, together with its start time never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ThreadId {
    /// In the PID namespace of `/proc`.
    pub pid: u32,
    /// Clock ticks since the machine started.
    pub started: u64,
}

/// Nanoseconds on a processor, by kernel thread.
pub type KernelThreads = BTreeMap<ThreadId, u64>;

/// Read the processor time of every kernel thread. Takes 2 to 30 ms.
///
/// Empty where `/proc` shows none, as in a container.
///
/// # Errors
///
/// `/proc` cannot be listed.
pub fn kernel_threads() -> Result<KernelThreads> {
    let entries = fs::read_dir("/proc").cannot(|| "list /proc".into())?;
    // A thread may end between two reads: whatever is gone is not there.
    Ok(entries.flatten().filter_map(|entry| kernel_thread(&entry.path())).collect())
}

fn kernel_thread(folder: &Path) -> Option<(ThreadId, u64)> {
    let pid: u32 = folder.file_name()?.to_str()?.parse().ok()?;
    let started = kernel_thread_start(&fs::read_to_string(folder.join("stat")).ok()?)?;
    let run = run_nanoseconds(&fs::read_to_string(folder.join("schedstat")).ok()?)?;
    Some((ThreadId { pid, started }, run))
}

/// Start time of a kernel thread; none for any other process. Fields 9 and 22 of `proc_pid_stat(5)`;
/// field 2 is a name in brackets, which may hold blanks and brackets.
fn kernel_thread_start(stat: &str) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    let field = |number: usize| after_name.split_ascii_whitespace().nth(number - 3)?.parse::<u64>().ok();
    (field(9)? & KERNEL_THREAD != 0).then(|| field(22))?
}

/// Source: Linux `Documentation/scheduler/sched-stats.rst`, "time spent on the cpu".
/// Whether a process was stopped by a signal and not continued. Field 3 of `proc_pid_stat(5)`.
#[must_use]
pub fn is_stopped(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, after_name)| after_name.trim_start().starts_with('T'))
}

fn run_nanoseconds(schedstat: &str) -> Option<u64> {
    schedstat.split_ascii_whitespace().next()?.parse().ok()
}

/// Begin a new peak of this process' resident memory.
///
/// # Errors
///
/// The kernel lacks `clear_refs`, or `/proc` is read-only.
pub fn reset_peak_memory() -> Result<()> {
    fs::write("/proc/self/clear_refs", "5")
        .cannot(|| "reset the peak of memory (/proc/self/clear_refs)".into())
}

/// The most memory that was resident since the last reset.
///
/// # Errors
///
/// `/proc/self/status` cannot be read, or has no `VmHWM`.
pub fn peak_memory() -> Result<Bytes> {
    let path = "/proc/self/status";
    let text = fs::read_to_string(path).cannot(|| format!("read {path}"))?;
    kib_field(&text, "VmHWM").ok_or_else(|| Error::new(format!("find VmHWM in {path}")))
}

/// A field such as `MemTotal:  24689328 kB` of `/proc/meminfo` and `/proc/self/status`.
#[must_use]
pub fn kib_field(text: &str, name: &str) -> Option<Bytes> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim_end().parse().ok()?;
    kib.checked_mul(1024).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KTHREADD: &str = "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 23 0 0 18446744073709551615 0 0 0 0 0 0 0 2147483647 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n";
    const ODD_NAME: &str = "77 (a) b (c) S 2 0 0 0 -1 69238880 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0 0\n";
    const SHELL: &str = "812 (bash) S 1 812 812 0 -1 4194560 1209 0 0 0 2 1 0 0 20 0 1 0 5120 4608000 900\n";

    #[test]
    fn only_kernel_threads_are_counted() {
        assert_eq!(kernel_thread_start(KTHREADD), Some(23));
        assert_eq!(kernel_thread_start(SHELL), None);
    }

    #[test]
    fn a_name_may_hold_blanks_and_brackets() {
        assert_eq!(kernel_thread_start(ODD_NAME), Some(4711));
    }

    #[test]
    fn the_first_number_of_schedstat_is_time_on_a_processor() {
        assert_eq!(run_nanoseconds("233601 195800 2\n"), Some(233_601));
        assert_eq!(run_nanoseconds(""), None);
    }

    #[test]
    fn a_kb_is_1024_bytes() {
        let text = "VmHWMX:\t1 kB\nVmPeak:\t    9000 kB\nVmHWM:\t    2284 kB\n";
        assert_eq!(kib_field(text, "VmHWM"), Some(Bytes::kib(2284)));
        assert_eq!(kib_field(text, "VmSwap"), None);
    }

    #[test]
    fn the_peak_is_at_least_what_is_touched() {
        let before = peak_memory().unwrap();
        let block = vec![1_u8; 64 << 20];
        let after = peak_memory().unwrap();
        assert!(after >= Bytes::mib(60), "{before:?} {after:?} {}", block.len());
    }

    #[test]
    fn a_process_that_was_stopped_is_told_until_it_goes_on() {
        use nix::sys::signal::{Signal, kill};
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let becomes = |stopped| {
            let seen = (0..500).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(10));
                is_stopped(pid) == stopped
            });
            assert!(seen, "{stopped}");
        };
        becomes(false);
        kill(nix::unistd::Pid::from_raw(pid), Signal::SIGSTOP).unwrap();
        becomes(true);
        kill(nix::unistd::Pid::from_raw(pid), Signal::SIGCONT).unwrap();
        becomes(false);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_stopped(pid));
    }
}
