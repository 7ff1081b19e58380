//! What a run will cost, said before it starts.

use std::time::Duration;

use crate::units::Bytes;

use super::preflight::{Work, sum};

/// Rough figures of a small machine with a virtual disk, only for the estimate of the time.
const OPERATIONS_PER_S: f64 = 40_000.0;
const FILL_BYTES_PER_S: f64 = 600e6;
/// mkfs, fsck, mounts.
const PER_CASE_S: f64 = 2.0;

/// From the start of a machine to the first step.
const BOOT: Duration = Duration::from_secs(2);
const BOOT_EMULATED: Duration = Duration::from_secs(6);

/// What a run will cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    /// Cases that can run.
    pub cases: u32,
    /// A rough estimate.
    pub time: Duration,
    /// Written to the store by all cases, at most about.
    pub written: Bytes,
    /// Taken in the store by the largest image.
    pub disk_highest: Bytes,
}

/// What must be free in a store that takes so much: 5 % to spare, for its own metadata.
#[must_use]
pub fn free_needed(taken: Bytes) -> Bytes {
    Bytes(taken.0.saturating_add(taken.0 / 20))
}

impl Costs {
    /// What must be free in the store.
    #[must_use]
    pub fn free_needed(&self) -> Bytes {
        free_needed(self.disk_highest)
    }

    /// The same, so many times, each case after a second of quiet.
    #[must_use]
    pub(super) fn repeated(self, blocks: u32) -> Self {
        let cases = self.cases.saturating_mul(blocks);
        let quiet = Duration::from_secs(if blocks > 1 { cases.into() } else { 0 });
        Self {
            cases,
            time: self.time.saturating_mul(blocks) + quiet,
            written: Bytes(self.written.0.saturating_mul(blocks.into())),
            disk_highest: self.disk_highest,
        }
    }

    /// The same in virtual machines, each with a boot of its own. Where nothing but an emulated processor
    /// is to be expected, the work takes several times as long: four to eight times was seen.
    #[must_use]
    pub(super) fn in_guests(self, emulated: bool) -> Self {
        let (times, boot) = if emulated { (6, BOOT_EMULATED) } else { (1, BOOT) };
        Self { time: self.time.saturating_mul(times) + boot.saturating_mul(self.cases), ..self }
    }

    pub(super) fn of(works: &[Work], image: Bytes, preallocate: bool) -> Self {
        let seconds: f64 = works.iter().map(seconds).sum();
        Self {
            cases: u32::try_from(works.len()).unwrap_or(u32::MAX),
            time: Duration::from_secs_f64(seconds),
            written: Bytes(sum(works.iter().map(written))),
            disk_highest: works.iter().map(|work| disk(work, image, preallocate)).max().unwrap_or_default(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn seconds(work: &Work) -> f64 {
    // Everything is written once and read back once; `written` has a fill that is done twice.
    let bytes = work.written.0.saturating_add(work.filled.0) as f64;
    PER_CASE_S + 2.0 * work.operations as f64 / OPERATIONS_PER_S + bytes / FILL_BYTES_PER_S
}

/// Data, and about a block of metadata for each entry, twice.
fn written(work: &Work) -> u64 {
    let entries = work.files.saturating_add(work.directories);
    work.written.0.saturating_add(entries.saturating_mul(4096 * 2))
}

fn disk(work: &Work, image: Bytes, preallocate: bool) -> Bytes {
    if preallocate {
        return image;
    }
    // Journals and fixed tables: what mkfs writes, at most about an eighth of a small image.
    let fixed = (image.0 / 8).min(Bytes::mib(512).0);
    Bytes(written(work).saturating_add(fixed).min(image.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fill_with_a_cap_costs_its_cap_and_one_without_the_whole_image() {
        let image = Bytes::gib(2);
        let costs = |filled, written| {
            Costs::of(&[Work { files: 1, filled, written, ..Work::default() }], image, false)
        };
        let capped = costs(Bytes::mib(64), Bytes::mib(64));
        assert!(capped.written < Bytes::mib(65) && capped.disk_highest < Bytes::mib(400), "{capped:?}");
        let twice = costs(image, Bytes::gib(4));
        assert!(twice.written >= Bytes::gib(4) && twice.disk_highest == image, "{twice:?}");
        assert!(twice.time > capped.time);
    }

    #[test]
    fn a_guest_takes_its_boot_and_an_emulated_one_several_times_the_work() {
        let here = Costs { cases: 2, time: Duration::from_secs(10), ..Costs::default() };
        assert_eq!(here.in_guests(false).time, Duration::from_secs(14));
        assert_eq!(here.in_guests(true).time, Duration::from_secs(72));
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let most = Bytes(u64::MAX);
        let work = Work { files: u64::MAX, directories: 1, written: most, filled: most, ..Work::default() };
        let costs = Costs::of(&[work, work], most, false);
        assert_eq!((costs.written, costs.disk_highest, costs.free_needed()), (most, most, most));
    }

    #[test]
    fn a_preallocated_image_takes_all_its_size() {
        let costs = Costs::of(&[Work::default()], Bytes::gib(2), true);
        assert_eq!(costs.disk_highest, Bytes::gib(2));
    }
}
