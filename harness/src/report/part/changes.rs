//! A run against an earlier one: what differs beside the figures, then the figures.
//!
//! The headline metrics and those that a gate names; all others are in the JSON.

use super::differences::figure;
use super::{Page, unbroken, verdict};
use crate::report::human;
use crate::result::{Change, Changes, Estimate, GateResult, HEADLINE};

/// What differs, a row for each figure.
pub(in crate::report) fn write(title: &str, changes: &Changes, gates: &[GateResult], page: &mut Page) {
    page.title(title);
    for difference in &changes.differences {
        page.line(&format!("  differs: {difference}"), 4);
    }
    if changes.paired {
        page.line("  Both are one run, so samples are paired by case.", 4);
    }
    let all = in_order(changes, gates);
    let (zero, told): (Vec<&Change>, Vec<_>) =
        all.into_iter().partition(|change| change.old == Some(0.0) && change.new == Some(0.0));
    if told.is_empty() {
        return page.line("  No figure is in both runs.", 4);
    }
    let estimates: Vec<&Estimate> = told.iter().map(|change| &change.estimate).collect();
    let words = told.iter().map(|change| word(change));
    page.line(&format!("  {}", verdict::summary("figures", words)), 2);
    table(&told, page);
    if !zero.is_empty() {
        page.line("Figures that are 0 in both runs are left out.", 0);
    }
    if let Some(text) = verdict::open(&estimates) {
        page.line(&text, 0);
    }
}

/// What is told, of each step in the order of the report of a run.
fn in_order<'a>(changes: &'a Changes, gates: &[GateResult]) -> Vec<&'a Change> {
    let place =
        |change: &&Change| HEADLINE.iter().position(|key| *key == change.metric).unwrap_or(usize::MAX);
    let of = |change: &'a Change| (&change.configuration, &change.step);
    let mut all: Vec<&Change> =
        changes.changes.iter().filter(|change| is_told(&change.metric, gates)).collect();
    all.chunk_by_mut(|one, next| of(one) == of(next)).for_each(|step| step.sort_by_key(place));
    all
}

/// `fill.synced_s<=1.05` names its metric.
fn is_told(metric: &str, gates: &[GateResult]) -> bool {
    let named = |gate: &GateResult| {
        let figure = gate.gate.split(['<', '>']).next().unwrap_or_default();
        figure.rsplit('.').next() == Some(metric)
    };
    HEADLINE.contains(&metric) || gates.iter().any(named)
}

fn word(change: &Change) -> Option<&'static str> {
    verdict::word(&change.metric, frees(change), &change.estimate)
}

/// Whether space is given back on both sides.
fn frees(change: &Change) -> bool {
    [change.old, change.new].into_iter().all(|value| value.is_some_and(|value| value < 0.0))
}

/// On a narrow terminal old and new stand in one column, the ratio above its interval.
fn table(told: &[&Change], page: &mut Page) {
    let lead = ["file\nsystem", "step", "figure"];
    let interval = "95\u{a0}% interval";
    let wide = [&lead[..], &["old", "new", "ratio", interval, "verdict"]].concat();
    let rows: Vec<_> = told.iter().map(|change| row(change)).collect();
    if page.has_room(&wide, &rows) {
        return page.listed(&wide, rows, lead.len(), wide.len());
    }
    let header = format!("ratio\n{interval}");
    let narrow = [&lead[..], &["old\nnew", &header, "verdict"]].concat();
    let joined = |row: Vec<String>| match <[String; 8]>::try_from(row) {
        Ok([configuration, step, figure, old, new, ratio, interval, word]) => {
            vec![configuration, step, figure, format!("{old}\n{new}"), format!("{ratio}\n{interval}"), word]
        }
        Err(row) => row,
    };
    let rows = verdict::fitting(&narrow, rows.into_iter().map(joined).collect(), page);
    page.listed(&narrow, rows, lead.len(), narrow.len());
}

fn row(change: &Change) -> Vec<String> {
    let estimate = &change.estimate;
    let shown = |value: Option<f64>| {
        value.map_or_else(|| "-".into(), |value| unbroken(&human::by_key(&change.metric, value)))
    };
    vec![
        change.configuration.clone(),
        change.step.clone().unwrap_or_else(|| "-".into()),
        figure(&change.metric),
        shown(change.old),
        shown(change.new),
        verdict::ratio(estimate),
        verdict::interval(estimate).unwrap_or_else(|| "-".into()),
        verdict::cell(word(change), estimate),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn a_figure_is_told_if_a_gate_names_it_in_any_way() {
        let gate = |text: &str| GateResult { gate: text.into(), ..example::changes().1[0].clone() };
        for text in ["mount_s<=1.05", "mount_s>=0.9", "fill.mount_s<=1.05", "fill.mount_s>=2"] {
            assert!(is_told("mount_s", &[gate(text)]), "{text}");
            assert!(!is_told("unmount_s", &[gate(text)]) && !is_told("fill", &[gate(text)]), "{text}");
        }
        assert!(is_told("synced_s", &[]) && !is_told("mount_s", &[]));
    }
}
