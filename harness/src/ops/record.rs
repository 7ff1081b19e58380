//! What `Real` writes down: latency by kind of operation, and bytes over time.
//!
//! Histograms are made on first use (35 KiB each) and samples are thinned out, so that a record
//! stays small however long a step takes. Recording costs 4 to 6 ns, one time stamp 25 ns.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;

use super::{Counts, Failure, Op};
use crate::result::{Latency, Postmark, Series};
use crate::sys::cpu_time::CpuTime;

/// What the calls came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// When the first call began, by the wall clock: seconds since 1970.
    pub begun_unix_s: f64,
    /// Successful operations, and bytes.
    pub counts: Counts,
    /// By the name of the operation.
    pub latency: BTreeMap<String, Latency>,
    /// `payload_bytes`: bytes written and read, over the time since the first call.
    pub series: Vec<Series>,
    /// The first failures, in order; those that a workload looks for are among them.
    pub errnos: Vec<Failure>,
    /// The parts of the work, in order.
    pub phases: Vec<Phase>,
    /// What looking at the tree in pauses took; nothing else holds it.
    pub aside: Aside,
    /// What the file system answered when it was asked for its block size.
    pub block_size: Option<u64>,
    /// What only PostMark knows.
    pub postmark: Option<Postmark>,
}

/// A part of the work. Times are since the first call, without pauses.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Its name.
    pub name: &'static str,
    /// When it began.
    pub begun: Duration,
    /// When it ended.
    pub ended: Duration,
}

/// What pauses took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aside {
    /// Elapsed time.
    pub time: Duration,
    /// Processor time.
    pub cpu: CpuTime,
}

impl Aside {
    /// One more pause.
    pub(super) fn add(&mut self, time: Duration, cpu: CpuTime) {
        self.time += time;
        self.cpu += cpu;
    }
}

/// The parts of the work so far: each ends where the next begins.
#[derive(Default)]
pub(super) struct Phases(Vec<Phase>);

impl Phases {
    /// The next part begins.
    pub(super) fn begin(&mut self, name: &'static str, at: Duration) {
        self.end(at);
        self.0.push(Phase { name, begun: at, ended: at });
    }

    /// All of them; the last one ends with the last call.
    pub(super) fn finish(mut self, at: Duration) -> Vec<Phase> {
        self.end(at);
        self.0
    }

    fn end(&mut self, at: Duration) {
        if let Some(last) = self.0.last_mut() {
            last.ended = at;
        }
    }
}

/// Longest latency that is told apart.
const LONGEST_NS: u64 = 600_000_000_000;
/// Two significant digits: buckets of at most 1 %. With three, the tables of a few kinds of operations
/// push each other out of the processor's cache, and recording takes several times as long.
const DIGITS: u8 = 2;
/// Samples of a series before every second one is dropped.
const SAMPLES: usize = 4096;
/// Time between samples at first; it doubles each time they are thinned out, so it stays below
/// one second for half an hour.
const INTERVAL: Duration = Duration::from_millis(250);

/// Latency of each kind of operation.
#[derive(Default)]
pub(super) struct Latencies([Option<Timed>; Op::ALL.len()]);

/// All of one kind; the longest exactly, in nanoseconds.
struct Timed {
    histogram: Histogram<u64>,
    longest: u64,
}

impl Latencies {
    /// Add one operation.
    pub(super) fn record(&mut self, op: Op, took: Duration) {
        let nanoseconds = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let timed = self.0[op as usize].get_or_insert_with(|| Timed {
            histogram: Histogram::new_with_bounds(1, LONGEST_NS, DIGITS).expect("the bounds are valid"),
            longest: 0,
        });
        timed.histogram.saturating_record(nanoseconds.max(1));
        timed.longest = timed.longest.max(nanoseconds);
    }

    /// In numbers, by the name of the operation.
    pub(super) fn summary(&self) -> BTreeMap<String, Latency> {
        let kinds = Op::ALL.into_iter().zip(&self.0);
        kinds.filter_map(|(op, timed)| Some((op.name().to_owned(), latency(timed.as_ref()?)))).collect()
    }
}

#[expect(clippy::cast_precision_loss, reason = "below 600 s in ns, which is exact")]
fn latency(Timed { histogram, longest }: &Timed) -> Latency {
    // A bucket ends above the values in it.
    let quantile = |q| histogram.value_at_quantile(q).min(*longest) as f64 / 1e9;
    let buckets: Vec<String> = histogram
        .iter_recorded()
        .map(|bucket| format!("{}:{}", bucket.value_iterated_to(), bucket.count_at_value()))
        .collect();
    Latency {
        count: histogram.len(),
        p50_s: quantile(0.5),
        p90_s: quantile(0.9),
        p99_s: quantile(0.99),
        p999_s: quantile(0.999),
        max_s: *longest as f64 / 1e9,
        histogram: buckets.join(" "),
    }
}

/// Bytes over time.
pub(super) struct Samples {
    series: Series,
    interval: Duration,
}

impl Samples {
    /// Begins with 0 bytes at 0 s.
    pub(super) fn new() -> Self {
        let mut series = Series { name: "payload_bytes".into(), unit: "bytes".into(), ..Series::default() };
        series.t_s.push(0.0);
        series.value.push(0.0);
        Self { series, interval: INTERVAL }
    }

    /// Time until the next sample is due.
    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Add a sample, and thin out where there are too many.
    #[expect(clippy::cast_precision_loss, reason = "exact below 9 PB")]
    pub(super) fn add(&mut self, at: Duration, bytes: u64) {
        self.series.t_s.push(at.as_secs_f64());
        self.series.value.push(bytes as f64);
        if self.series.t_s.len() >= SAMPLES {
            thin_out(&mut self.series.t_s);
            thin_out(&mut self.series.value);
            self.interval *= 2;
        }
    }

    /// The series.
    pub(super) fn finish(self) -> Series {
        self.series
    }
}

/// Keep the first, the third, ...
fn thin_out(numbers: &mut Vec<f64>) {
    let mut keep = false;
    numbers.retain(|_| {
        keep = !keep;
        keep
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_operations_that_were_done_have_a_latency() {
        let mut latencies = Latencies::default();
        for milliseconds in 1..=100 {
            latencies.record(Op::Fsync, Duration::from_millis(milliseconds));
        }
        let summary = latencies.summary();
        assert_eq!(summary.keys().collect::<Vec<_>>(), ["fsync"]);
        let fsync = &summary["fsync"];
        assert_eq!(fsync.count, 100);
        assert!((fsync.p50_s - 0.05).abs() < 0.0005, "{}", fsync.p50_s);
        assert!((fsync.max_s - 0.1).abs() < f64::EPSILON, "{}", fsync.max_s);
    }

    #[test]
    fn a_histogram_is_written_as_upper_nanoseconds_and_count() {
        let mut latencies = Latencies::default();
        for nanoseconds in [5, 5, 900] {
            latencies.record(Op::Write, Duration::from_nanos(nanoseconds));
        }
        assert_eq!(latencies.summary()["write"].histogram, "5:2 903:1");
    }

    #[test]
    fn a_long_series_is_thinned_out_and_keeps_its_begin() {
        let mut samples = Samples::new();
        for second in 1..100_000 {
            samples.add(Duration::from_secs(second), second);
        }
        assert!(samples.interval() > INTERVAL);
        let series = samples.finish();
        assert!(series.t_s.len() < SAMPLES && series.t_s.len() == series.value.len());
        assert_eq!((series.t_s[0], series.t_s.last()), (0.0, Some(&99_999.0)));
    }
}
