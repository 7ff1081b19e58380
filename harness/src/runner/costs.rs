//! What a run will cost, said before it starts.

use std::time::Duration;

use crate::units::Bytes;

use super::preflight::Work;

/// Rough figures of a small machine with a virtual disk, only for the estimate of the time.
const OPERATIONS_PER_S: f64 = 25_000.0;
const FILL_BYTES_PER_S: f64 = 400e6;
/// mkfs, fsck, mounts.
const PER_CASE_S: f64 = 2.0;

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

impl Costs {
    pub(super) fn of(works: &[Work], image: Bytes, preallocate: bool) -> Self {
        let seconds: f64 = works.iter().map(|work| seconds(work, image)).sum();
        Self {
            cases: u32::try_from(works.len()).unwrap_or(u32::MAX),
            time: Duration::from_secs_f64(seconds),
            written: Bytes(works.iter().map(|work| written(work, image)).sum()),
            disk_highest: works.iter().map(|work| disk(work, image, preallocate)).max().unwrap_or_default(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn seconds(work: &Work, image: Bytes) -> f64 {
    // Everything is read back once, and a fill is done twice to prove that it can be.
    let fill = if work.fills { 3.0 * image.0 as f64 / FILL_BYTES_PER_S } else { 0.0 };
    PER_CASE_S + 2.0 * work.operations as f64 / OPERATIONS_PER_S + fill
}

/// Data, and about a block of metadata for each entry; a fill is done twice.
fn written(work: &Work, image: Bytes) -> u64 {
    let fill = if work.fills { image.0 } else { 0 };
    work.written.0 + fill + (work.files + work.directories) * 4096 * 2
}

fn disk(work: &Work, image: Bytes, preallocate: bool) -> Bytes {
    if preallocate || work.fills {
        return image;
    }
    // Journals and fixed tables: what mkfs writes, at most about an eighth of a small image.
    let fixed = (image.0 / 8).min(Bytes::mib(512).0);
    let entries = (work.files + work.directories) * 4096 * 2;
    Bytes((work.written.0 + entries + fixed).min(image.0))
}
