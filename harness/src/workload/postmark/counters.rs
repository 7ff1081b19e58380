//! What PostMark counts, and its sums in single precision beside the exact ones.

use crate::result::Postmark;
use crate::workload::postmark::settings::Settings;

/// Odd, and with its bits spread: 2^64 divided by the golden ratio.
const HASH_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The counts so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    pub(super) counts: Postmark,
    read: f32,
    written: f32,
    live_bytes: u64,
}

impl Counters {
    /// A file was read.
    pub(super) fn read(&mut self, bytes: u32) {
        self.counts.read_count += 1;
        self.counts.read_bytes += u64::from(bytes);
        add(&mut self.read, bytes);
    }

    /// Bytes were written.
    pub(super) fn written(&mut self, bytes: u32) {
        self.counts.written_bytes += u64::from(bytes);
        add(&mut self.written, bytes);
    }

    /// Bytes are in files that were not before.
    pub(super) fn grown(&mut self, bytes: u32) {
        self.live_bytes += u64::from(bytes);
        self.counts.live_peak_bytes = self.counts.live_peak_bytes.max(self.live_bytes);
    }

    /// A file was deleted.
    pub(super) fn deleted(&mut self, size: u32) {
        self.counts.deleted_count += 1;
        self.live_bytes -= u64::from(size);
    }

    /// A file is there that was not before.
    pub(super) fn created(&mut self) {
        self.counts.created_count += 1;
        let live = self.counts.created_count - self.counts.deleted_count;
        self.counts.live_peak_count = self.counts.live_peak_count.max(live);
    }

    /// An operation was done, on what the words tell.
    pub(super) fn operation(&mut self, words: [u32; 4]) {
        self.counts.file_operations_count += 1;
        let hash = &mut self.counts.operations_hash;
        for word in words {
            *hash = (*hash ^ u64::from(word)).wrapping_mul(HASH_FACTOR).rotate_left(29);
        }
    }

    /// The counts of the whole run, with those that follow from others.
    pub(super) fn finish(&self, settings: &Settings, draws: u64) -> Postmark {
        let counts = self.counts.clone();
        // PostMark prints the setting, whatever was made.
        let alone = u64::from(settings.number);
        Postmark {
            created_alone_count: alone,
            created_mixed_count: counts.created_count.saturating_sub(alone),
            deleted_mixed_count: counts.deleted_count - counts.deleted_alone_count,
            transactions_count: settings.transactions.into(),
            read_single_precision_bytes: whole(self.read),
            written_single_precision_bytes: whole(self.written),
            draws_count: draws,
            ..counts
        }
    }
}

/// Rounded to the nearest number of 24 bits, ties to even, as a C `float` is.
#[expect(clippy::cast_precision_loss, reason = "the loss is what is repeated here")]
fn add(sum: &mut f32, bytes: u32) {
    *sum += bytes as f32;
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a sum of whole numbers below 2^64"
)]
fn whole(sum: f32) -> u64 {
    sum as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_tells_the_order_and_each_part_of_operations() {
        let hash = |operations: &[[u32; 4]]| {
            let mut counters = Counters::default();
            operations.iter().for_each(|words| counters.operation(*words));
            counters.finish(&Settings::default(), 0).operations_hash
        };
        let (a, b) = ([67, 1, 0, 500], [68, 2, 0, 0]);
        assert_eq!(hash(&[a, b]), hash(&[a, b]));
        for other in [[b, a], [a, a], [a, [68, 2, 1, 0]], [a, [68, 3, 0, 0]], [[82, 1, 0, 500], b]] {
            assert_ne!(hash(&[a, b]), hash(&other), "{other:?}");
        }
    }

    #[test]
    fn a_sum_in_single_precision_sticks_where_half_a_step_exceeds_the_amount() {
        let mut counters = Counters { read: 16384.0 * 1_048_576.0, ..Counters::default() };
        counters.read(1000);
        let counts = counters.finish(&Settings::default(), 0);
        assert_eq!((counts.read_single_precision_bytes, counts.read_bytes), (16384 << 20, 1000));
    }
}
