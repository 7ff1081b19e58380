//! What is read before, during and after a step: one file and one row of the table for each.
//!
//! A clock has three stops: the last call returned, `syncfs` returned, unmount returned. The
//! headline is *synced*. Nothing is printed between start and stop.

use std::os::fd::BorrowedFd;
use std::path::Path;

use crate::error::Result;
use crate::ops::Counts;
use crate::result::Metrics;

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
pub struct Target<'a> {
    /// Name of the loop device, such as `loop4`.
    pub device: &'a str,
    /// The image.
    pub image: BorrowedFd<'a>,
    /// Where the file system is mounted (not at [`Stop::Unmounted`]).
    pub mount: &'a Path,
    /// The file system.
    pub filesystem: &'static dyn crate::fs::Filesystem,
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
    fn finish(self: Box<Self>, counts: &Counts, metrics: &mut Metrics);
}
