//! What PostMark counts, and the figures that it prints from it.
//!
//! PostMark adds up bytes in single precision, divides whole seconds and rounds in its own way. All
//! of that is repeated here, from stored numbers only, so that its report can be written anywhere.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Metrics;

/// What PostMark counts in one run, exact in every run of the same configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Postmark {
    /// Names handed out, in both phases.
    pub created_count: u64,
    /// Of the creation phase: the setting `number`.
    pub created_alone_count: u64,
    /// Of the transactions.
    pub created_mixed_count: u64,
    /// Transactions that read a file.
    pub read_count: u64,
    /// Transactions that appended to a file.
    pub appended_count: u64,
    /// Files deleted, in both phases.
    pub deleted_count: u64,
    /// Of the deletion phase.
    pub deleted_alone_count: u64,
    /// Of the transactions.
    pub deleted_mixed_count: u64,
    /// The setting `transactions`.
    pub transactions_count: u64,
    /// Transactions left when no file was there any more; PostMark prints no report then.
    pub transactions_not_run_count: u64,
    /// Creations that found no empty slot.
    pub creates_skipped_count: u64,
    /// Appends to files that had the largest size already.
    pub appends_skipped_count: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes read, added up in single precision as PostMark does.
    pub read_single_precision_bytes: u64,
    /// Bytes written, added up in single precision as PostMark does.
    pub written_single_precision_bytes: u64,
    /// Random numbers drawn.
    pub draws_count: u64,
    /// Operations: creations, reads, appends and deletions.
    pub file_operations_count: u64,
    /// Files at the fullest moment.
    pub live_peak_count: u64,
    /// Bytes in files at the fullest moment.
    pub live_peak_bytes: u64,
    /// A cheap hash of all operations in their order: equal counts alone do not prove that the
    /// operations of a plan were those of a run. It is not stored.
    #[serde(skip)]
    pub operations_hash: u64,
}

/// Whole seconds as PostMark takes them from `time()`; a difference of 0 is taken as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seconds {
    /// From the first creation to the last deletion.
    pub total: u64,
    /// Of the creation phase.
    pub creation: u64,
    /// Of the transactions.
    pub transactions: u64,
    /// Of the deletion phase.
    pub deletion: u64,
}

impl Seconds {
    /// What PostMark takes where every interval begins and ends in the same second.
    pub const SHORTEST: Self = Self { total: 1, creation: 1, transactions: 1, deletion: 1 };

    /// What `time()` would have said at the four marks: before the creation, before the
    /// transactions, after them, and after the deletion. Marks are seconds since `begun_unix_s`.
    #[must_use]
    pub fn of(begun_unix_s: f64, marks: [f64; 4]) -> Self {
        let [a, b, c, d] = marks.map(|mark| (begun_unix_s + mark).floor());
        Self {
            total: between(a, d),
            creation: between(a, b),
            transactions: between(b, c),
            deletion: between(c, d),
        }
    }

    /// Those that a step stored.
    #[must_use]
    pub fn stored(metrics: &Metrics) -> Option<Self> {
        let [total, creation, transactions, deletion] =
            Self::SHORTEST.by_key().map(|(key, _)| metrics.get(key).map(|seconds| between(0.0, seconds)));
        Some(Self { total: total?, creation: creation?, transactions: transactions?, deletion: deletion? })
    }

    /// By the key of their metric.
    #[must_use]
    pub fn by_key(&self) -> [(&'static str, u64); 4] {
        [
            ("postmark_total_s", self.total),
            ("postmark_creation_s", self.creation),
            ("postmark_transactions_s", self.transactions),
            ("postmark_deletion_s", self.deletion),
        ]
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and 1 or more")]
fn between(begin: f64, end: f64) -> u64 {
    (end - begin).max(1.0) as u64
}

/// A count and the time that PostMark divides it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Key of its metric.
    pub key: &'static str,
    /// What was done.
    pub count: u64,
    /// Whole seconds, 1 or more.
    pub seconds: u64,
}

impl Rate {
    /// For each second, cut to a whole number: as in the verbose report.
    #[must_use]
    pub fn whole(&self) -> u64 {
        self.count / self.seconds.max(1)
    }

    /// For each second, in single precision: as in the terse report.
    #[must_use]
    pub fn single(&self) -> f32 {
        self.all() / single(self.seconds.max(1))
    }

    /// The count in single precision.
    #[must_use]
    pub fn all(&self) -> f32 {
        single(self.count)
    }
}

impl Postmark {
    /// The rates of operations, in the order of both of PostMark's reports.
    #[must_use]
    pub fn rates(&self, seconds: &Seconds) -> [Rate; 9] {
        let rate = |key, count, seconds| Rate { key, count, seconds };
        let &Seconds { total, creation, transactions, deletion } = seconds;
        [
            rate("postmark_transactions_per_s", self.transactions_count, transactions),
            rate("postmark_created_per_s", self.created_count, total),
            rate("postmark_created_alone_per_s", self.created_alone_count, creation),
            rate("postmark_created_mixed_per_s", self.created_mixed_count, transactions),
            rate("postmark_read_per_s", self.read_count, transactions),
            rate("postmark_appended_per_s", self.appended_count, transactions),
            rate("postmark_deleted_per_s", self.deleted_count, total),
            rate("postmark_deleted_alone_per_s", self.deleted_alone_count, deletion),
            rate("postmark_deleted_mixed_per_s", self.deleted_mixed_count, transactions),
        ]
    }

    /// Bytes read, then bytes written, for each second of the whole run.
    #[must_use]
    pub fn byte_rates(&self, seconds: &Seconds) -> [Rate; 2] {
        let rate = |key, count| Rate { key, count, seconds: seconds.total };
        [
            rate("postmark_read_bytes_per_s", self.read_single_precision_bytes),
            rate("postmark_written_bytes_per_s", self.written_single_precision_bytes),
        ]
    }

    /// Whether PostMark prints a report: it does not where it ran out of files.
    #[must_use]
    pub fn has_report(&self) -> bool {
        self.transactions_not_run_count == 0
    }
}

/// As C converts an integer to a `float`: to the nearest, ties to even.
#[expect(clippy::cast_precision_loss, reason = "PostMark calculates in single precision")]
fn single(count: u64) -> f32 {
    count as f32
}

/// Bytes as PostMark prints them: the number, and the word for its unit. A megabyte has 2^20 bytes
/// here, and one that is exactly full is still 1024.00 kilobytes.
#[must_use]
pub fn data(bytes: f32) -> (String, &'static str) {
    match (bytes / 1_048_576.0, bytes / 1024.0) {
        (megabytes, _) if megabytes > 1.0 => (hundredths(megabytes), "megabytes"),
        (_, kilobytes) if kilobytes > 0.0 => (hundredths(kilobytes), "kilobytes"),
        _ => ("0.000000".into(), "bytes"),
    }
}

/// `%.2f` of C: the nearest hundredth, ties to even. The product is exact for any `f32`. What single
/// precision cannot hold is `-`.
#[must_use]
pub fn hundredths(value: f32) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    format!("{:.2}", (f64::from(value) * 100.0).round_ties_even() / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_seconds_are_differences_of_the_wall_clock_and_at_least_one() {
        // At 100.75 s: 100, 101 (a quarter later), 101 again, 103.
        let seconds = Seconds::of(100.75, [0.0, 0.25, 0.5, 2.25]);
        assert_eq!(seconds, Seconds { total: 3, creation: 1, transactions: 1, deletion: 2 });
        let seconds = Seconds::of(100.75, [0.125, 0.125, 9.25, 9.5]);
        assert_eq!(seconds, Seconds { total: 10, creation: 1, transactions: 10, deletion: 1 });
    }

    #[test]
    fn the_rates_are_those_that_the_mailing_list_printed_in_2014() {
        let counts = Postmark {
            transactions_count: 500_000,
            created_count: 450_001,
            created_alone_count: 200_000,
            created_mixed_count: 250_001,
            read_count: 250_007,
            appended_count: 249_940,
            deleted_count: 450_001,
            deleted_alone_count: 200_002,
            deleted_mixed_count: 249_999,
            read_single_precision_bytes: 15_420_171_264,
            written_single_precision_bytes: 28_786_898_944,
            ..Postmark::default()
        };
        let lzo = Seconds { total: 498, creation: 30, transactions: 454, deletion: 14 };
        let journal = Seconds { total: 1268, creation: 57, transactions: 1183, deletion: 28 };
        let printed = |seconds| counts.rates(seconds).map(|rate| rate.whole());
        assert_eq!(printed(&lzo), [1101, 903, 6666, 550, 550, 550, 903, 14285, 550]);
        assert_eq!(printed(&journal), [422, 354, 3508, 211, 211, 211, 354, 7142, 211]);
        let bytes = |seconds| counts.byte_rates(seconds).map(|rate| data(rate.single()).0);
        assert_eq!(bytes(&lzo), ["29.53", "55.13"]);
        assert_eq!(bytes(&journal), ["11.60", "21.65"]);
    }

    #[test]
    fn what_single_precision_cannot_hold_is_no_number() {
        for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let text = [data(value).0, hundredths(value)].concat().to_lowercase();
            assert!(!text.contains("nan") && !text.contains("inf"), "{text}");
        }
    }

    #[test]
    fn data_have_the_unit_and_the_rounding_of_c() {
        let table = [
            (0, "0.000000 bytes"),
            (5, "0.00 kilobytes"),
            (1_048_576, "1024.00 kilobytes"),
            (1_179_648, "1.12 megabytes"),
            (1_048_640, "1.00 megabytes"),
            (15_420_171_264, "14705.82 megabytes"),
        ];
        for (bytes, printed) in table {
            let (number, unit) = data(single(bytes));
            assert_eq!(format!("{number} {unit}"), printed, "{bytes} bytes");
        }
    }

    #[test]
    fn seconds_are_stored_as_metrics_and_found_again() {
        let seconds = Seconds { total: 12, creation: 3, transactions: 7, deletion: 2 };
        let mut metrics = Metrics::default();
        assert_eq!(Seconds::stored(&metrics), None);
        for (key, value) in seconds.by_key() {
            metrics.set(key, f64::from(u32::try_from(value).unwrap()));
        }
        assert_eq!(Seconds::stored(&metrics), Some(seconds));
    }
}
