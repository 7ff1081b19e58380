//! The clock, and the rates that follow from it.
//!
//! `CLOCK_MONOTONIC` (which `Instant` is on Linux): a step of the wall clock changes nothing.

use std::time::Instant;

use super::{Measurement, Metric, Started, Stop, Target, number};
use crate::error::Result;
use crate::ops::{Counts, Record};
use crate::result::Metrics;

/// See the module.
pub struct WallTime;

impl Measurement for WallTime {
    fn metrics(&self) -> &'static [Metric] {
        &[
            Metric { key: "returned_s", meaning: "Time until the last system call returned." },
            Metric { key: "synced_s", meaning: "Time until syncfs returned: the data are on the device." },
            Metric { key: "unmounted_s", meaning: "Time until unmount returned." },
            Metric { key: "operations_per_s", meaning: "Operations for each second of synced_s." },
            Metric {
                key: "payload_bytes_per_s",
                meaning: "Bytes written (in a step that only reads: read) for each second of synced_s.",
            },
        ]
    }

    fn is_of_the_process(&self) -> bool {
        true
    }

    fn start(&self, _target: &Target) -> Result<Box<dyn Started>> {
        Ok(Box::new(Clock { stops: Vec::with_capacity(3), started: Instant::now() }))
    }
}

struct Clock {
    started: Instant,
    stops: Vec<(&'static str, f64)>,
}

impl Started for Clock {
    fn stop(&mut self, stop: Stop, _target: &Target) -> Result<()> {
        let seconds = self.started.elapsed().as_secs_f64();
        self.stops.push((key(stop), seconds));
        Ok(())
    }

    fn finish(self: Box<Self>, record: &Record, metrics: &mut Metrics) {
        for (key, seconds) in &self.stops {
            metrics.set(key, *seconds - record.aside.time.as_secs_f64());
        }
        rates(&record.counts, metrics);
    }
}

fn key(stop: Stop) -> &'static str {
    match stop {
        Stop::Returned => "returned_s",
        Stop::Synced => "synced_s",
        Stop::Unmounted => "unmounted_s",
    }
}

/// Nothing done has no rate.
fn rates(counts: &Counts, metrics: &mut Metrics) {
    let Some(seconds) = metrics.get("synced_s") else { return };
    for (key, done) in [("operations_per_s", counts.total()), ("payload_bytes_per_s", counts.payload())] {
        if done > 0 {
            metrics.set(key, number(done) / seconds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Op;

    fn rates_of(counts: &Counts) -> Metrics {
        let mut metrics = Metrics::default();
        metrics.set("synced_s", 2.0);
        rates(counts, &mut metrics);
        metrics
    }

    #[test]
    fn rates_are_of_the_synced_time() {
        let mut counts = Counts { written_bytes: 4096, read_bytes: 9, ..Counts::default() };
        counts.add(Op::Create, 30);
        counts.add(Op::Write, 10);
        let metrics = rates_of(&counts);
        assert_eq!(metrics.get("operations_per_s"), Some(20.0));
        assert_eq!(metrics.get("payload_bytes_per_s"), Some(2048.0));
    }

    #[test]
    fn a_step_that_only_reads_has_the_rate_of_reading() {
        let metrics = rates_of(&Counts { read_bytes: 500, ..Counts::default() });
        assert_eq!(metrics.get("payload_bytes_per_s"), Some(250.0));
        assert_eq!(metrics.get("operations_per_s"), None);
    }
}
