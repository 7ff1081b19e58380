//! What a cell says of a configuration in a step.

use super::{UNBROKEN, differences, unbroken};
use crate::report::pick::Axis;
use crate::report::{human, pick};
use crate::result::{Checked, Comparison, Estimate, RunReport, Status, StepResult};

/// A configuration in a step.
#[derive(Clone, Copy)]
pub(in crate::report) struct Row<'a> {
    pub(in crate::report) report: &'a RunReport,
    pub(in crate::report) configuration: &'a str,
    pub(in crate::report) baseline: &'a str,
    pub(in crate::report) step: &'a str,
}

impl<'a> Row<'a> {
    pub(in crate::report) fn number(&self, key: &str) -> Option<f64> {
        pick::number(self.report, self.configuration, self.step, key)
    }

    /// Of all blocks that count.
    pub(super) fn steps(&self) -> Vec<&'a StepResult> {
        pick::counted(self.report, self.configuration, self.step)
    }

    pub(super) fn cut_short(&self) -> bool {
        self.steps().into_iter().any(StepResult::cut_short)
    }

    pub(super) fn shown(&self, key: &str) -> Option<String> {
        Some(unbroken(&human::by_key(key, self.number(key)?)))
    }
}

/// The configurations in a step, each with what it is held against.
pub(in crate::report) fn rows<'a>(report: &'a RunReport, axis: Axis, step: &'a str) -> Vec<Row<'a>> {
    let row = |configuration| {
        let baseline = axis(report, configuration).unwrap_or(configuration);
        Row { report, configuration, baseline, step }
    };
    report.configuration_ids().into_iter().map(row).collect()
}

impl Row<'_> {
    /// Median and 99th percentile of a kind of operation, as `3.1 µs, 8.2 µs`.
    pub(super) fn latency(&self, operation: &str) -> Option<String> {
        let (p50, p99) = pick::latency(self.report, self.configuration, self.step, operation)?;
        Some(unbroken(&format!("{}, {}", human::time(p50), human::time(p99))))
    }
}

/// The headline with its ratio to the baseline, or why there is none.
pub(super) fn headline(row: &Row) -> String {
    let Some(told) = told(row, "synced_s") else { return missing(row) };
    let ratio = told.ratio.map(human::ratio);
    match (told.judged, ratio, told.word) {
        (Some(_), ratio, Some(word)) => {
            let ratio = ratio.map(|ratio| format!("{ratio} ")).unwrap_or_default();
            format!("{}\n{ratio}{word}", told.text)
        }
        (_, Some(ratio), _) => format!("{} {}", told.text, padded(&ratio)),
        (_, None, Some(word)) => format!("{} {word}", told.text),
        (_, None, None) => told.text,
    }
}

/// A figure of a configuration in a step, and how it compares with the baseline's.
pub(in crate::report) struct Told<'a> {
    /// With its unit.
    pub(in crate::report) text: String,
    pub(in crate::report) ratio: Option<f64>,
    /// What the interval supports; of work that was cut short, that it was.
    pub(in crate::report) word: Option<&'static str>,
    /// Of more than one pair: a single one has a ratio and no word.
    pub(in crate::report) judged: Option<&'a Estimate>,
}

/// Nothing where there is no verified figure.
pub(in crate::report) fn told<'a>(row: &Row<'a>, metric: &str) -> Option<Told<'a>> {
    let number = row.number(metric)?;
    let text = unbroken(&human::by_key(metric, number));
    let baseline = Row { configuration: row.baseline, ..*row };
    let of_baseline = baseline.number(metric);
    if let Some(found) = judged(row, metric) {
        let (word, estimate) = (differences::word(row.report, found), &found.estimate);
        return Some(Told { text, ratio: estimate.ratio, word, judged: Some(estimate) });
    }
    // Who did less was not faster.
    let comparable = row.configuration != row.baseline && !row.cut_short() && !baseline.cut_short();
    let ratio = of_baseline.filter(|_| comparable).map(|value| number / value);
    let ratio = ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    let word = row.cut_short().then_some("limit");
    Some(Told { text, ratio, word, judged: None })
}

fn judged<'a>(row: &Row<'a>, metric: &str) -> Option<&'a Comparison> {
    let found = pick::comparison(row.report, [row.baseline, row.configuration], row.step, metric)?;
    Some(found).filter(|found| found.estimate.n >= 2 && differences::word(row.report, found).is_some())
}

/// As wide as any ratio from 0.1 to 1000, so that the times before it stay in line.
fn padded(ratio: &str) -> String {
    let blanks = 6usize.saturating_sub(ratio.chars().count());
    ratio.chars().chain(std::iter::repeat_n(UNBROKEN, blanks)).collect()
}

/// How the case ended, if that is why there is no number.
pub(in crate::report) fn missing(row: &Row) -> String {
    let cases = row.report.measured(row.configuration);
    let other = cases.iter().find(|case| case.status != Status::Passed);
    other.map_or_else(|| "-".into(), |case| human::word(case.status))
}

/// The configuration, and how many of its cases passed.
pub(super) fn name(row: &Row) -> String {
    let id = row.configuration;
    let cases = row.report.measured(id);
    let passed = cases.iter().filter(|case| case.status == Status::Passed).count();
    match cases.iter().find(|case| case.status != Status::Passed) {
        None => id.to_owned(),
        Some(case) if passed == 0 => format!("{id}\n{}", human::word(case.status)),
        Some(_) => format!("{id}\n{passed} of {} passed", cases.len()),
    }
}

pub(super) fn space(row: &Row) -> Option<String> {
    row.shown("space_used_bytes")
}

pub(super) fn synced(row: &Row) -> Option<String> {
    row.shown("synced_s")
}

pub(super) fn kernel_cpu(row: &Row) -> Option<String> {
    row.shown("kernel_cpu_s")
}

pub(super) fn kernel_threads(row: &Row) -> Option<String> {
    row.shown("kernel_threads_cpu_s")
}

pub(super) fn device_read(row: &Row) -> Option<String> {
    row.shown("device_read_bytes")
}

pub(super) fn operations(row: &Row) -> Option<String> {
    row.number("operations_per_s").map(human::count)
}

pub(super) fn files(row: &Row) -> Option<String> {
    pick::files_per_s(row.report, row.configuration, row.step).map(human::count)
}

pub(super) fn bytes(row: &Row) -> Option<String> {
    row.shown("payload_bytes_per_s")
}

pub(super) fn reached(row: &Row) -> Option<String> {
    row.shown("file_size_bytes")
}

/// The limit; and what was done before, where it was less than asked for.
pub(super) fn ended(row: &Row) -> Option<String> {
    let steps = row.steps();
    let Some(step) = steps.iter().find(|step| step.limit.is_some()) else {
        return steps.first().map(|_| "all done".into());
    };
    let limit = step.limit.as_ref()?;
    let which = human::word(limit.which);
    let text = limit.errno.as_ref().map_or_else(|| which.clone(), |errno| format!("{errno} ({which})"));
    let files = step.facts.files_created_count.filter(|_| step.cut_short());
    Some(files.map_or_else(|| text.clone(), |files| format!("{text} after {} files", grouped(files))))
}

#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn grouped(count: u64) -> String {
    human::count(count as f64)
}

/// The worst of all blocks.
pub(super) fn read_back(row: &Row) -> Option<String> {
    let steps = row.steps();
    steps.first()?;
    let other = steps.iter().map(|step| step.read_back).find(|checked| *checked != Checked::Clean);
    Some(other.map_or_else(|| "✓".into(), human::word))
}
