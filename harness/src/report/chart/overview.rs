//! The first look: every step of a configuration, by the ratio of its time to the baseline's.

use super::colour::Paint;
use super::rows::{Panel, Ratio, ratio_scale};
use super::scale::Scale;
use super::{Chart, notes, parted};
use crate::report::human;
use crate::report::part::cells::{Row, told};
use crate::report::part::verdict;
use crate::result::{Estimate, RunReport};

/// A ratio, how sure it is, and both in words.
struct Found<'a> {
    step: &'a str,
    text: String,
    ratio: f64,
    judged: Option<&'a Estimate>,
}

const AXIS: &str = "ratio of the time until synced, less is better";

/// Of a configuration at its place, as many as it takes; none where no step has a ratio.
pub(super) fn charts(report: &RunReport, baseline: &str, id: &str, at: usize) -> Vec<Chart> {
    let steps = report.steps();
    let rows = steps.iter().map(|step| Row { report, configuration: id, baseline, step: &step.name });
    let found: Vec<Found> = rows.filter_map(|row| found(&row)).collect();
    let note = note(&found);
    let rows: Vec<Ratio> = found.iter().map(|one| one.row(at)).collect();
    let scale = ratio_scale(&rows);
    let title = format!("{id} to {baseline}: time until synced");
    parted(&title, &rows).into_iter().map(|(title, rows)| chart(title, rows, &scale, &note)).collect()
}

fn chart(title: String, rows: &[Ratio], scale: &Scale, note: &str) -> Chart {
    let mut panel = Panel::default();
    panel.ratio_rows(rows, scale);
    panel.lines(AXIS, Paint::Text);
    panel.lines(note, Paint::Muted);
    let told: Vec<_> = rows.iter().map(|one| format!("{}: {}", one.name, one.told)).collect();
    let text = format!("{title}, {AXIS}. {}. {note}", told.join("; "));
    panel.finish(title, text)
}

fn found<'a>(row: &Row<'a>) -> Option<Found<'a>> {
    let told = told(row, "synced_s")?;
    let ratio = told.ratio?;
    let parts =
        [Some(human::ratio(ratio)), told.judged.and_then(verdict::interval), told.word.map(Into::into)];
    let text = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(Found { step: row.step, text, ratio, judged: told.judged })
}

impl<'a> Found<'a> {
    fn row(&self, at: usize) -> Ratio<'a> {
        let ci95 = self.judged.and_then(|estimate| estimate.ci95);
        Ratio { name: self.step, told: self.text.clone(), ratio: self.ratio, ci95, at }
    }
}

fn note(found: &[Found]) -> String {
    let counts: Vec<u32> = found.iter().filter_map(|one| Some(one.judged?.n)).collect();
    let margin = verdict::margin();
    match counts.is_empty() {
        true => format!("One pair each (n = 1), so there is no interval; band: within {margin}."),
        false => {
            let n = notes::range(&counts);
            format!("Mean ratio within blocks and its 95 % interval, {n}; band: within {margin}.")
        }
    }
}
