//! The parts of a report, in the order in which a reader asks.
//!
//! Each says its own into a [`Page`] and nothing where it has nothing to say. A
//! missing number is `-`, never 0.

pub(super) mod answer;
pub(super) mod cells;
pub(super) mod changes;
pub(super) mod differences;
pub(super) mod gates;
pub(super) mod head;
pub(super) mod kernels;
pub(super) mod latency;
pub(super) mod ledger;
pub(super) mod origin;
pub(super) mod outcome;
pub(super) mod overview;
mod postmark;
pub(super) mod samples;
pub(super) mod source;
pub(super) mod space;
pub(super) mod steps;
pub(super) mod verdict;

use super::page::{Page, UNBROKEN, unbroken};
use crate::result::RunReport;

/// All parts: where it ran, who was faster, what it took, how sure that is, on which kernel, what changed, whether it
/// was fair, what the source said, what did not run, what was verified, and how to run it again.
pub(super) fn all(report: &RunReport, page: &mut Page) {
    head::write(report, page);
    overview::write(report, page);
    steps::write(report, page);
    differences::write(report, page);
    kernels::write(report, page);
    samples::write(report, page);
    if let Some(changes) = &report.changes {
        let title = format!("Against the earlier run {}", changes.base_run_id);
        changes::write(&title, changes, &report.gates, page);
    }
    gates::write(&report.gates, report.changes.as_ref(), page);
    ledger::write(report, page);
    source::write(report, page);
    outcome::write(report, page);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Style, table};

    /// The whole report.
    pub(super) fn written(report: &RunReport, style: Style) -> String {
        let mut page = Page::new(style.width);
        all(report, &mut page);
        table::text(&page, &style)
    }

    /// A page on a terminal of its width.
    pub(super) fn text(page: &Page) -> String {
        let width = u16::try_from(page.width).unwrap();
        table::text(page, &Style { width, ascii: false })
    }
}
