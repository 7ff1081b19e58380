//! How long the parts of the work took, where a workload has parts.
//!
//! A mail server's day is not its first minute: making the files, using them and removing them are
//! timed apart, as PostMark does it, but exactly. A pause in which the tree was looked at lies in
//! none of them and in no other time; its own is told here. What the kernel does by itself goes on
//! meanwhile: it may write back, which shortens the sync that comes later.

use super::{Measurement, Metric, Started, Stop, Target};
use crate::error::Result;
use crate::ops::Record;
use crate::result::Metrics;

/// See the module.
pub struct Phases;

impl Measurement for Phases {
    fn metrics(&self) -> &'static [Metric] {
        &[
            Metric {
                key: "creation_s",
                meaning: "Time of the creation phase, until its last call returned.",
            },
            Metric {
                key: "transactions_s",
                meaning: "Time of the transactions, until the last call returned.",
            },
            Metric {
                key: "deletion_s",
                meaning: "Time of the deletion phase, until its last call returned.",
            },
            Metric {
                key: "paused_s",
                meaning: "Time of the pause in which the tree was looked at; it is in no other time.",
            },
        ]
    }

    fn is_of_the_process(&self) -> bool {
        true
    }

    fn start(&self, _target: &Target) -> Result<Box<dyn Started>> {
        Ok(Box::new(Recorded))
    }
}

/// The parts by the names that workloads give them.
const KEYS: [(&str, &str); 3] =
    [("creation", "creation_s"), ("transactions", "transactions_s"), ("deletion", "deletion_s")];

/// All of it stands in the record.
struct Recorded;

impl Started for Recorded {
    fn stop(&mut self, _stop: Stop, _target: &Target) -> Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, record: &Record, metrics: &mut Metrics) {
        for phase in &record.phases {
            if let Some((_, key)) = KEYS.iter().find(|(name, _)| *name == phase.name) {
                metrics.set(key, phase.ended.saturating_sub(phase.begun).as_secs_f64());
            }
        }
        if !record.aside.time.is_zero() {
            metrics.set("paused_s", record.aside.time.as_secs_f64());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::ops::{Aside, Phase};

    fn phase(name: &'static str, begun: u64, ended: u64) -> Phase {
        Phase { name, begun: Duration::from_millis(begun), ended: Duration::from_millis(ended) }
    }

    fn metrics(record: &Record) -> Metrics {
        let mut metrics = Metrics::default();
        Box::new(Recorded).finish(record, &mut metrics);
        metrics
    }

    #[test]
    fn each_part_has_its_time_and_parts_without_a_name_of_ours_have_none() {
        let phases =
            vec![phase("subdirectories", 0, 500), phase("creation", 500, 1750), phase("cleanup", 1750, 2000)];
        let aside = Aside { time: Duration::from_millis(250), ..Aside::default() };
        let metrics = metrics(&Record { phases, aside, ..Record::default() });
        let expected = [("creation_s".to_owned(), 1.25), ("paused_s".to_owned(), 0.25)];
        assert_eq!(metrics.0.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn work_without_parts_and_pauses_has_none_of_these_numbers() {
        assert!(metrics(&Record::default()).0.is_empty());
    }
}
