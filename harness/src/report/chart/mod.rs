//! Charts of a run, as SVG with real text: in a page each stands among sentences, in a picture of
//! its own beside the others.
//!
//! A chart shows verified figures only, every sample as a dot beside its interval, and says in words
//! what it shows.

use crate::result::RunReport;

/// One chart.
pub(super) struct Chart {
    /// What it shows, with the metric and its unit.
    pub(super) title: String,
    /// The same in words, with the figures: for those who do not see it.
    pub(super) text: String,
    /// Of the picture, in CSS pixels.
    pub(super) width: f64,
    /// Of the picture, in CSS pixels.
    pub(super) height: f64,
    /// What is within `<svg>`: elements that are drawn from (0, 0) to (`width`, `height`).
    pub(super) body: String,
}

/// The figure that the suite's source printed, made again: its parts, side by side.
pub(super) fn figure(report: &RunReport) -> Vec<Chart> {
    let _ = report;
    vec![]
}

/// The headline figures of a step: time, space, CPU; those that were measured.
pub(super) fn step(report: &RunReport, step: &str) -> Vec<Chart> {
    let _ = (report, step);
    vec![]
}

/// What a step wrote or read over its time, a line for each configuration; nothing where no series
/// was kept.
pub(super) fn series(report: &RunReport, step: &str) -> Option<Chart> {
    let _ = (report, step);
    None
}
