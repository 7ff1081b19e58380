//! Processor time of the kernel's own threads: writeback, journal, checksums, loop device.
//!
//! A file system does a third to three quarters of its work there, so a comparison that leaves it
//! out favours the one that moves more work away. It is a sum over the whole machine: the name of
//! a kernel worker is that of its last task, so nothing can be told apart. An idle machine adds 2
//! to 4 ms a second; other work on the machine adds all of its own.

use super::{Measurement, Metric, Started, Stop, Target, number};
use crate::error::Result;
use crate::ops::Record;
use crate::result::Metrics;
use crate::sys::proc::{self, kernel_threads};

/// See the module.
pub struct KernelThreads;

impl Measurement for KernelThreads {
    fn metrics(&self) -> &'static [Metric] {
        &[Metric {
            key: "kernel_threads_cpu_s",
            meaning: "Processor time of all kernel threads of the machine, until unmount returned.",
        }]
    }

    fn start(&self, _target: &Target) -> Result<Box<dyn Started>> {
        Ok(Box::new(Reading { before: kernel_threads()?, after: None }))
    }
}

struct Reading {
    before: proc::KernelThreads,
    after: Option<proc::KernelThreads>,
}

impl Started for Reading {
    fn stop(&mut self, stop: Stop, _target: &Target) -> Result<()> {
        if stop == Stop::Unmounted {
            self.after = Some(kernel_threads()?);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _record: &Record, metrics: &mut Metrics) {
        if let Some(nanoseconds) = self.after.as_ref().and_then(|after| spent(&self.before, after)) {
            metrics.set("kernel_threads_cpu_s", number(nanoseconds) / 1e9);
        }
    }
}

/// Nanoseconds between two readings; none where no kernel thread is to be seen (a container).
///
/// A thread that was born in between counts in full. One that ended takes its last part with it.
fn spent(before: &proc::KernelThreads, after: &proc::KernelThreads) -> Option<u64> {
    if before.is_empty() || after.is_empty() {
        return None;
    }
    let gone = before.keys().filter(|thread| !after.contains_key(thread)).count();
    if gone > 0 {
        log::debug!("{gone} kernel threads ended during the step; their last processor time is not counted");
    }
    Some(after.iter().map(|(thread, run)| run.saturating_sub(before.get(thread).copied().unwrap_or(0))).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sys::proc::ThreadId;

    fn threads(of: &[(u32, u64, u64)]) -> proc::KernelThreads {
        of.iter().map(|&(pid, started, run)| (ThreadId { pid, started }, run)).collect()
    }

    #[test]
    fn a_number_that_is_used_again_is_another_thread() {
        let before = threads(&[(2, 1, 100), (9, 5, 1_000_000)]);
        let after = threads(&[(2, 1, 150), (9, 77, 30)]);
        assert_eq!(spent(&before, &after), Some(50 + 30));
    }

    #[test]
    fn where_no_kernel_thread_is_seen_the_number_is_absent() {
        assert_eq!(spent(&threads(&[]), &threads(&[])), None);
    }
}
