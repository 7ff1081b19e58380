//! Processor time of this process, to the last stop.
//!
//! Commands that the process started and waited for are part of it: a step that runs a command
//! does its work there. What the kernel's own threads do for the process is not: see
//! `kernel_threads`.

use super::{Measurement, Metric, Started, Stop, Target};
use crate::error::Result;
use crate::ops::Record;
use crate::result::Metrics;
use crate::sys::cpu_time::{CpuTime, cpu_time};

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

    fn is_of_the_process(&self) -> bool {
        true
    }

    fn start(&self, _target: &Target) -> Result<Box<dyn Started>> {
        Ok(Box::new(Reading { before: cpu_time(), after: None }))
    }
}

struct Reading {
    before: CpuTime,
    after: Option<CpuTime>,
}

impl Started for Reading {
    fn stop(&mut self, stop: Stop, target: &Target) -> Result<()> {
        if stop == target.last_stop() {
            self.after = Some(cpu_time());
        }
        Ok(())
    }

    fn finish(self: Box<Self>, record: &Record, metrics: &mut Metrics) {
        let Some(after) = self.after else { return };
        let spent = after.since(self.before).since(record.aside.cpu);
        metrics.set("user_cpu_s", spent.user.as_secs_f64());
        metrics.set("kernel_cpu_s", spent.kernel.as_secs_f64());
    }
}
