//! PostMark's own figures, for comparison with what others published.
//!
//! They are worse than ours on purpose: whole seconds of the wall clock, 0 taken as 1, rates cut to
//! whole numbers, bytes added up in single precision, and nothing synced. A run that ran out of
//! files has no report in PostMark, so it has none of these numbers; nor has one that met a limit
//! or kept its files.

use super::{Measurement, Metric, Started, Stop, Target, number};
use crate::error::Result;
use crate::ops::Record;
use crate::result::{self, Metrics, Seconds};

/// See the module.
pub struct Postmark;

impl Measurement for Postmark {
    fn metrics(&self) -> &'static [Metric] {
        METRICS
    }

    fn is_of_the_process(&self) -> bool {
        true
    }

    fn start(&self, _target: &Target) -> Result<Box<dyn Started>> {
        Ok(Box::new(Recorded))
    }
}

const fn metric(key: &'static str, meaning: &'static str) -> Metric {
    Metric { key, meaning }
}

static METRICS: &[Metric] = &[
    metric("postmark_total_s", "PostMark's whole seconds from the first creation to the last deletion."),
    metric("postmark_creation_s", "PostMark's whole seconds of the creation phase."),
    metric("postmark_transactions_s", "PostMark's whole seconds of the transactions."),
    metric("postmark_deletion_s", "PostMark's whole seconds of the deletion phase."),
    metric("postmark_transactions_per_s", "PostMark's rate of transactions, cut to a whole number."),
    metric("postmark_created_per_s", "PostMark's rate of all files created, of its total."),
    metric("postmark_created_alone_per_s", "PostMark's rate of files created in the creation phase."),
    metric("postmark_created_mixed_per_s", "PostMark's rate of files created in transactions."),
    metric("postmark_read_per_s", "PostMark's rate of files read."),
    metric("postmark_appended_per_s", "PostMark's rate of files appended to."),
    metric("postmark_deleted_per_s", "PostMark's rate of all files deleted, of its total."),
    metric("postmark_deleted_alone_per_s", "PostMark's rate of files deleted in the deletion phase."),
    metric("postmark_deleted_mixed_per_s", "PostMark's rate of files deleted in transactions."),
    metric("postmark_read_bytes_per_s", "PostMark's rate of bytes read, in single precision, of its total."),
    metric(
        "postmark_written_bytes_per_s",
        "PostMark's rate of bytes written, in single precision, of its total.",
    ),
];

/// All of it stands in the record.
struct Recorded;

impl Started for Recorded {
    fn stop(&mut self, _stop: Stop, _target: &Target) -> Result<()> {
        Ok(())
    }

    fn finish(self: Box<Self>, record: &Record, metrics: &mut Metrics) {
        let counts = record.postmark.as_ref().filter(|counts| counts.has_report() && deleted(counts));
        let (Some(counts), Some(seconds)) = (counts, seconds(record)) else { return };
        for (key, seconds) in seconds.by_key() {
            metrics.set(key, number(seconds));
        }
        for rate in counts.rates(&seconds) {
            metrics.set(rate.key, number(rate.whole()));
        }
        for rate in counts.byte_rates(&seconds) {
            metrics.set(rate.key, f64::from(rate.single()));
        }
    }
}

/// Whether the files that the transactions left were removed, if there were any.
fn deleted(counts: &result::Postmark) -> bool {
    counts.deleted_alone_count > 0 || counts.created_count == counts.deleted_count
}

/// From the parts of the work, if it came to what follows them.
fn seconds(record: &Record) -> Option<Seconds> {
    let part = |name| record.phases.iter().find(|phase| phase.name == name);
    part("cleanup")?;
    let (creation, transactions, deletion) = (part("creation")?, part("transactions")?, part("deletion")?);
    let marks = [creation.begun, transactions.begun, transactions.ended, deletion.ended];
    Some(Seconds::of(record.begun_unix_s, marks.map(|mark| mark.as_secs_f64())))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::ops::Phase;

    /// Half a second of subdirectories, then 3, 7 and 2 s.
    fn record() -> Record {
        let phase = |name, begun, ended| Phase {
            name,
            begun: Duration::from_millis(begun),
            ended: Duration::from_millis(ended),
        };
        let phases = vec![
            phase("subdirectories", 0, 500),
            phase("creation", 500, 3500),
            phase("transactions", 3500, 10_500),
            phase("deletion", 10_500, 12_500),
            phase("cleanup", 12_500, 99_000),
        ];
        let counts = result::Postmark {
            transactions_count: 500,
            created_count: 764,
            created_alone_count: 500,
            deleted_count: 764,
            deleted_alone_count: 528,
            read_single_precision_bytes: 1_430_770,
            ..result::Postmark::default()
        };
        Record { begun_unix_s: 1_403_690_400.25, phases, postmark: Some(counts), ..Record::default() }
    }

    fn metrics(record: &Record) -> Metrics {
        let mut metrics = Metrics::default();
        Box::new(Recorded).finish(record, &mut metrics);
        metrics
    }

    #[test]
    fn every_documented_number_is_set_and_no_other() {
        let metrics = metrics(&record());
        let documented: std::collections::BTreeSet<_> = METRICS.iter().map(|metric| metric.key).collect();
        assert_eq!(
            metrics.0.keys().map(String::as_str).collect::<std::collections::BTreeSet<_>>(),
            documented
        );
        assert_eq!(metrics.get("postmark_total_s"), Some(12.0));
        assert_eq!(metrics.get("postmark_transactions_per_s"), Some(71.0));
        assert_eq!(metrics.get("postmark_created_alone_per_s"), Some(166.0));
        assert_eq!(metrics.get("postmark_read_bytes_per_s"), Some(f64::from(1_430_770f32 / 12f32)));
    }

    #[test]
    fn a_run_that_postmark_would_not_report_has_none() {
        let mut out_of_files = record();
        out_of_files.postmark.as_mut().unwrap().transactions_not_run_count = 1;
        let cut_short = Record { phases: record().phases[..4].to_vec(), ..record() };
        let mut kept = record();
        kept.postmark
            .iter_mut()
            .for_each(|counts| (counts.deleted_count, counts.deleted_alone_count) = (236, 0));
        for record in [out_of_files, cut_short, kept, Record { postmark: None, ..record() }] {
            assert!(metrics(&record).0.is_empty(), "{record:?}");
        }
    }
}
