//! The most memory that the process had resident during the step.
//!
//! `VmHWM`, reset before the step; `ru_maxrss` would begin with the parent's.

use super::{Measurement, Metric, Started, Stop, Target, number};
use crate::error::Result;
use crate::ops::Record;
use crate::result::Metrics;
use crate::sys::proc::{peak_memory, reset_peak_memory};
use crate::units::Bytes;

/// See the module.
pub struct Memory;

impl Measurement for Memory {
    fn metrics(&self) -> &'static [Metric] {
        &[Metric {
            key: "peak_memory_bytes",
            meaning: "Most resident memory of the process during the step (VmHWM), or of all of a command's processes at once (sampled); without the page cache.",
        }]
    }

    fn is_of_the_process(&self) -> bool {
        true
    }

    /// A kernel without `clear_refs` is no reason to measure nothing: the number stays absent.
    fn start(&self, _target: &Target) -> Result<Box<dyn Started>> {
        let reset = reset_peak_memory().inspect_err(|error| log::debug!("{error}")).is_ok();
        Ok(Box::new(Reading { reset, peak: None }))
    }
}

struct Reading {
    reset: bool,
    peak: Option<Bytes>,
}

impl Started for Reading {
    fn stop(&mut self, stop: Stop, target: &Target) -> Result<()> {
        if stop == target.last_stop() && self.reset {
            self.peak = Some(peak_memory()?);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _record: &Record, metrics: &mut Metrics) {
        if let Some(peak) = self.peak {
            metrics.set("peak_memory_bytes", number(peak.0));
        }
    }
}
