//! Processor time of this process, to the third stop.
//!
//! Commands that the process started and waited for are part of it: a step that runs a command
//! does its work there. What the kernel's own threads do for the process is not: see
//! `kernel_threads`.

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use super::{Measurement, Metric, Started, Stop, Target};
use crate::error::{Cannot, Result};
use crate::ops::Counts;
use crate::result::Metrics;

/// See the module.
pub struct Cpu;

impl Measurement for Cpu {
    fn metrics(&self) -> &'static [Metric] {
        &[
            Metric {
                key: "user_cpu_s",
                meaning: "Processor time in the process itself (and in commands it ran).",
            },
            Metric {
                key: "kernel_cpu_s",
                meaning: "Processor time in the kernel on behalf of the process (and of commands it ran).",
            },
        ]
    }

    fn start(&self, _target: &Target) -> Result<Box<dyn Started>> {
        let before = used()?;
        Ok(Box::new(Reading { before, after: None }))
    }
}

/// Microseconds.
#[derive(Clone, Copy)]
struct Used {
    user: i64,
    kernel: i64,
}

fn used() -> Result<Used> {
    let mut sum = Used { user: 0, kernel: 0 };
    for who in [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN] {
        let usage = getrusage(who).cannot(|| "ask for processor time (getrusage)".into())?;
        sum.user += usage.user_time().num_microseconds();
        sum.kernel += usage.system_time().num_microseconds();
    }
    Ok(sum)
}

struct Reading {
    before: Used,
    after: Option<Used>,
}

impl Started for Reading {
    fn stop(&mut self, stop: Stop, _target: &Target) -> Result<()> {
        if stop == Stop::Unmounted {
            self.after = Some(used()?);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _counts: &Counts, metrics: &mut Metrics) {
        let Some(after) = self.after else { return };
        metrics.set("user_cpu_s", seconds(after.user - self.before.user));
        metrics.set("kernel_cpu_s", seconds(after.kernel - self.before.kernel));
    }
}

#[expect(clippy::cast_precision_loss, reason = "exact for 285 years of microseconds")]
fn seconds(microseconds: i64) -> f64 {
    microseconds as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted_in_seconds() {
        let before = used().unwrap();
        let begun = std::time::Instant::now();
        let mut sum = 0_u64;
        while begun.elapsed().as_millis() < 60 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let after = used().unwrap();
        let spent = seconds(after.user - before.user + after.kernel - before.kernel);
        assert!((0.001..60.0).contains(&spent), "{spent}");
    }
}
