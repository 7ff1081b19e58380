//! What is read before, during and after a step: one file and one row of the table for each.
//!
//! A clock has three stops: the last call returned, `syncfs` returned, unmount returned. The
//! headline is *synced*. Nothing is printed between start and stop.
//!
//! The order of [`ALL`] is part of the measurement. The clock is the first row: at a stop it is
//! read first, and it is started last, so that no other reading falls into the time it tells.
//! So [`Running`] starts the rows from the last to the first and stops them from the first to the
//! last. Whatever is dear to read (2 to 30 ms for the kernel's threads) is read at the last stop
//! only, and stands at the end.

mod block_io;
mod cpu;
mod image;
mod kernel_threads;
mod memory;
mod phases;
mod postmark;
mod space;
mod wall_time;

use std::os::fd::BorrowedFd;
use std::path::Path;

use crate::error::{Error, Result};
use crate::ops::Record;
use crate::result::Metrics;

/// All measurements, in the order in which they are stopped.
pub static ALL: &[&dyn Measurement] = &[
    &wall_time::WallTime,
    &phases::Phases,
    &postmark::Postmark,
    &cpu::Cpu,
    &block_io::BlockIo,
    &space::Space,
    &image::Image,
    &memory::Memory,
    &kernel_threads::KernelThreads,
];

/// Of a whole case; the worker takes these times itself.
pub static OF_A_CASE: &[Metric] = &[
    Metric { key: "mkfs_s", meaning: "Time of mkfs." },
    Metric { key: "mount_s", meaning: "Time of the first mount." },
    Metric { key: "fsck_s", meaning: "Time of the read-only check at the end of the case." },
];

/// Of a step that fills the file system; the worker takes these after it.
pub static OF_A_FILL: &[Metric] = &[
    Metric { key: "recovered_s", meaning: "Time until the space of the deleted file was free again." },
    Metric { key: "second_file_size_bytes", meaning: "Size of a second file that filled it once more." },
];

/// Every metric that a report may hold: those of a step, then those of a case.
pub fn documented() -> impl Iterator<Item = &'static Metric> {
    ALL.iter().flat_map(|row| row.metrics()).chain(OF_A_FILL).chain(OF_A_CASE)
}

/// All measurements, started.
pub struct Running(Vec<Box<dyn Started>>);

impl Running {
    /// Start all that this target allows, the clock last. A file system that was made is mounted and
    /// was just synced.
    ///
    /// # Errors
    ///
    /// One of them cannot be read.
    pub fn start(target: &Target) -> Result<Self> {
        let possible = ALL.iter().filter(|row| target.made.is_some() || row.is_of_the_process());
        let mut rows = possible.rev().map(|row| row.start(target)).collect::<Result<Vec<_>>>()?;
        rows.reverse();
        Ok(Self(rows))
    }

    /// Stop all, the clock first. Call it for each stop, in order, right after the call that the
    /// stop is named after has returned.
    ///
    /// # Errors
    ///
    /// One of them cannot be read.
    pub fn stop(&mut self, stop: Stop, target: &Target) -> Result<()> {
        self.0.iter_mut().try_for_each(|row| row.stop(stop, target))
    }

    /// The numbers, given what was done.
    #[must_use]
    pub fn finish(self, record: &Record) -> Metrics {
        let mut metrics = Metrics::default();
        self.0.into_iter().for_each(|row| row.finish(record, &mut metrics));
        metrics
    }
}

/// A stop of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// The last system call returned.
    Returned,
    /// `syncfs` returned.
    Synced,
    /// Unmount returned.
    Unmounted,
}

/// What is measured on. Nothing of it changes during a step.
#[derive(Default)]
pub struct Target<'a> {
    /// The file system that was made; nothing where a directory of somebody else's is used.
    pub made: Option<Made<'a>>,
}

/// A file system that was made for the measurement.
pub struct Made<'a> {
    /// Name of the loop device, such as `loop4`.
    pub device: &'a str,
    /// The image, where there is one.
    pub image: Option<BorrowedFd<'a>>,
    /// Where the file system is mounted (not at [`Stop::Unmounted`]).
    pub mount: &'a Path,
    /// The file system.
    pub filesystem: &'static dyn crate::fs::Filesystem,
}

impl<'a> Target<'a> {
    /// What was made.
    fn made(&self) -> Result<&Made<'a>> {
        self.made.as_ref().ok_or_else(|| Error::new("measure a device where none was made"))
    }

    /// The stop that ends a step: a directory is neither synced, since that would write back
    /// what others wrote, nor unmounted.
    fn last_stop(&self) -> Stop {
        if self.made.is_some() { Stop::Unmounted } else { Stop::Returned }
    }
}

/// A key of a measurement, and what it means.
pub struct Metric {
    /// Ends in its unit.
    pub key: &'static str,
    /// In a sentence.
    pub meaning: &'static str,
}

/// Something that is read before and after.
pub trait Measurement: Sync {
    /// What it measures, by key.
    fn metrics(&self) -> &'static [Metric];
    /// Whether it can be measured where nothing was made, too.
    fn is_of_the_process(&self) -> bool {
        false
    }
    /// Read it before the work.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    fn start(&self, target: &Target) -> Result<Box<dyn Started>>;
}

/// A measurement that was started.
pub trait Started {
    /// The clock has stopped: read what belongs to this stop.
    ///
    /// # Errors
    ///
    /// It cannot be read.
    fn stop(&mut self, stop: Stop, target: &Target) -> Result<()>;
    /// The numbers, given what was done. Those of other measurements are in `metrics` already,
    /// in the order of the table.
    fn finish(self: Box<Self>, record: &Record, metrics: &mut Metrics);
}

/// A count as it is stored. Exact up to 2^53: 8 PiB.
#[expect(clippy::cast_precision_loss, reason = "counts and bytes of a step stay below 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}

/// Growth, which is negative when something was removed.
fn growth(before: u64, after: u64) -> f64 {
    if after >= before { number(after - before) } else { -number(before - after) }
}

/// A ratio; absent (not stored) where there is nothing to divide by.
fn set_ratio(metrics: &mut Metrics, key: &str, of: Option<f64>, to: u64) {
    if let (Some(of), true) = (of, to > 0) {
        metrics.set(key, of / number(to));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_file_of_this_folder_has_a_row_in_the_table() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/measure");
        let files = std::fs::read_dir(folder).unwrap().count() - 1;
        assert_eq!(files, ALL.len(), "a file of src/measure is missing in measure::ALL");
    }

    #[test]
    fn every_key_is_unique_and_ends_in_its_unit() {
        let mut seen = BTreeSet::new();
        for Metric { key, meaning } in documented() {
            assert!(seen.insert(*key), "{key} is there twice");
            assert!(["_s", "_bytes", "_count", "_ratio"].iter().any(|unit| key.ends_with(unit)), "{key}");
            assert!(meaning.ends_with('.'), "{key} has no sentence");
        }
    }

    /// A gate, a claim and `fsduel list metrics` know documented keys only.
    #[test]
    fn every_key_that_the_worker_sets_is_documented() {
        let known: BTreeSet<&str> = documented().map(|metric| metric.key).collect();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/worker");
        let texts = std::fs::read_dir(folder).unwrap().filter_map(|file| {
            let path = file.unwrap().path();
            path.extension().is_some_and(|end| end == "rs").then(|| std::fs::read_to_string(path).unwrap())
        });
        let text: String = texts.collect();
        let set: Vec<&str> =
            text.split("metrics.set(\"").skip(1).filter_map(|it| it.split('"').next()).collect();
        assert!(set.contains(&"mkfs_s"), "{set:?}");
        let unknown: Vec<_> = set.iter().filter(|key| !known.contains(**key)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn the_page_about_metrics_explains_every_key_and_no_other() {
        let page = include_str!("../metrics.md");
        // `* **KEYS**: what they mean`, which may be broken after any key.
        let items = page.split("\n* **").skip(1).filter_map(|item| item.split_once("**:"));
        let keys = items.flat_map(|(keys, _)| keys.split(','));
        let explained: Vec<&str> = keys.map(|key| key.trim().trim_matches('`')).collect();
        let known: Vec<&str> = documented().map(|metric| metric.key).collect();
        let missing: Vec<_> = known.iter().filter(|key| !explained.contains(key)).collect();
        let unknown: Vec<_> = explained.iter().filter(|key| !known.contains(key)).collect();
        assert!(missing.is_empty() && unknown.is_empty(), "not explained {missing:?}, no metric {unknown:?}");
        assert_eq!(explained.len(), known.len(), "each once");
    }

    #[test]
    fn the_clock_is_the_first_row() {
        assert_eq!(ALL[0].metrics()[0].key, "returned_s");
    }

    #[test]
    fn a_ratio_to_nothing_is_absent() {
        let mut metrics = Metrics::default();
        set_ratio(&mut metrics, "a_ratio", Some(4096.0), 0);
        set_ratio(&mut metrics, "b_ratio", None, 4096);
        set_ratio(&mut metrics, "c_ratio", Some(4096.0), 1024);
        assert_eq!(metrics.0.into_iter().collect::<Vec<_>>(), [("c_ratio".to_owned(), 4.0)]);
    }

    #[test]
    fn space_that_was_freed_is_negative() {
        assert!((growth(8192, 4096) + 4096.0).abs() < f64::EPSILON);
        assert!((growth(4096, 8192) - 4096.0).abs() < f64::EPSILON);
    }
}
