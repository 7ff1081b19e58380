//! Who differs from the baseline, by how much, and how sure that is.
//!
//! Only where blocks were repeated: one pair has a ratio and nothing that says how much of it is
//! noise.

use super::{Page, verdict};
use crate::report::pick;
use crate::result::{Comparison, Estimate, RunReport, Verdict};

/// A row for each headline comparison.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    let all = pick::headlines(report, pick::FILESYSTEMS);
    if all.iter().any(|one| one.estimate.n >= 2) {
        list(report, &format!("Differences (ratio to {}", pick::against(report)), all, page);
    }
}

/// A row for each of these; the title is still open.
pub(super) fn list(report: &RunReport, title: &str, all: Vec<&Comparison>, page: &mut Page) {
    let counts: Vec<u32> = all.iter().map(|one| one.estimate.n).collect();
    let alike = counts.iter().all(|count| *count == counts[0]);
    let blocks = if alike { format!("over {} blocks", counts[0]) } else { "by block".into() };
    page.title(&format!("{title}, 95 % interval, paired {blocks})"));
    let (zero, told): (Vec<&Comparison>, Vec<_>) = all.into_iter().partition(|one| is_zero(report, one));
    let mut header = vec!["step", "figure", "file\nsystem", "ratio", "95\u{a0}% interval", "verdict"];
    if !alike {
        header.insert(header.len() - 1, "n");
    }
    let rows = told.iter().map(|one| row(report, one, alike)).collect();
    let rows = verdict::fitting(&header, rows, page);
    page.listed(&header, rows, LEAD, header.len());
    legend(&told.iter().map(|one| &one.estimate).collect::<Vec<_>>(), !zero.is_empty(), page);
}

/// How many words there are of each, a line for each file system: the answer, before the tables that
/// it rests on.
pub(in crate::report) fn answer(report: &RunReport, page: &mut Page) {
    let all = pick::headlines(report, pick::FILESYSTEMS);
    if all.iter().all(|one| one.estimate.n < 2) {
        return;
    }
    for id in report.configuration_ids() {
        let own: Vec<_> = all.iter().filter(|one| one.candidate == id && !is_zero(report, one)).collect();
        if let Some(first) = own.first() {
            let words = own.iter().map(|one| word(report, one));
            let told = verdict::summary("comparisons", words);
            page.line(&format!("{id} to {}: {told}", first.baseline), 2);
        }
    }
}

/// What the interval supports; of times on an emulated processor that they are such.
pub(super) fn word(report: &RunReport, one: &Comparison) -> Option<&'static str> {
    if report.withholds(&one.metric, &[&one.baseline, &one.candidate]) {
        return Some(verdict::EMULATED);
    }
    verdict::word(&one.metric, frees(report, one), &one.estimate)
}

/// Whether the step gives space back.
pub(super) fn frees(report: &RunReport, one: &Comparison) -> bool {
    pick::number(report, &one.baseline, &one.step, &one.metric).is_some_and(|value| value < 0.0)
}

/// Step, figure, file system.
const LEAD: usize = 3;

fn row(report: &RunReport, one: &Comparison, alike: bool) -> Vec<String> {
    let estimate = &one.estimate;
    let lead = [one.step.clone(), figure(&one.metric), one.candidate.clone()];
    let ratio = [verdict::ratio(estimate), verdict::interval(estimate).unwrap_or_else(|| "-".into())];
    let count = (!alike).then(|| estimate.n.to_string());
    let word = verdict::cell(word(report, one), estimate);
    lead.into_iter().chain(ratio).chain(count).chain([word]).collect()
}

/// As short as a column wants it; the tables of the steps say what it is.
pub(super) fn figure(metric: &str) -> String {
    match metric {
        "space_used_bytes" => "space".into(),
        "kernel_cpu_s" => "CPU".into(),
        other => crate::report::human::words(other),
    }
}

/// Nothing was used on either side in any block, as by a step that only reads.
pub(super) fn is_zero(report: &RunReport, one: &Comparison) -> bool {
    let zero = |configuration: &str| {
        let steps = pick::counted(report, configuration, &one.step);
        let mut values = steps.iter().filter_map(|step| step.number(&one.metric)).peekable();
        values.peek().is_some() && values.all(|value| value == 0.0)
    };
    zero(&one.baseline) && zero(&one.candidate)
}

/// What the words mean, and what is missing.
fn legend(told: &[&Estimate], left_out: bool, page: &mut Page) {
    let margin = verdict::margin();
    let mut text = format!(
        "Ratios are geometric means over the blocks. A word needs the whole interval beyond {margin}, for all \
         comparisons together (Holm)."
    );
    if told.iter().any(|one| one.verdict == Some(Verdict::NoDifference)) {
        text.push_str(&format!(" Same: within {margin}."));
    }
    if left_out {
        text.push_str(" Figures that are 0 on both sides are left out.");
    }
    page.line(&text, 0);
    if let Some(text) = verdict::open(told) {
        page.line(&text, 0);
    }
}
