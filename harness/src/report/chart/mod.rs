//! Charts of a run, as SVG with real text: in a page each stands among sentences, in a picture of
//! its own beside the others.
//!
//! A chart shows verified figures only, every sample as a dot beside its interval, and says in words
//! what it shows. It is as wide as a phone and as high as it takes: a page lays several out beside
//! each other where there is room, and never makes their text smaller. Its title is not in the
//! picture, since a page has headings of its own; kernel and machine are said once, by the page.

mod colour;
mod draw;
mod lines;
mod metric;
mod notes;
mod overview;
mod rows;
mod scale;
mod text;

use super::part::cells;
use super::part::cells::told;
use super::{human, pick};
use crate::result::{HEADLINE, RunReport};

pub(super) use colour::{Paint, THEME};
pub(super) use draw::{Drawing, Line, height};
pub(super) use text::{clean, escaped};

/// Of every chart, in CSS pixels: what a phone of 360 has room for.
pub(super) const WIDTH: f64 = 340.0;

/// Rows of a chart: a sheet of paper has room for them, with their axes and notes.
const HIGHEST: usize = 16;

/// One chart.
pub(super) struct Chart {
    /// What it shows: the step and the figure. It is not drawn.
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

impl Chart {
    fn new(title: String, text: String, height: f64, body: &str) -> Self {
        let style = format!("fill:{}", Paint::Text.css());
        let font = "font-family=\"system-ui, sans-serif\" direction=\"ltr\"";
        let body = format!("<g class=\"chart\" {font} style=\"{style}\">\n{body}</g>\n");
        Self { title: clean(&title), text: clean(&text), width: WIDTH, height, body }
    }
}

/// The figure that the suite's source printed, made again: its parts, side by side.
pub(super) fn figure(report: &RunReport) -> Vec<Chart> {
    let panels = report.suite.figures.iter().flat_map(|figure| &figure.panels);
    panels.flat_map(|panel| of_metric(report, &panel.step, &panel.metric, &panel.title)).collect()
}

/// What each figure of [`figure`] is called, with its source.
pub(super) fn figure_title(report: &RunReport) -> Option<String> {
    let titles = report.suite.figures.iter().map(|figure| match &figure.source {
        Some(source) => format!("{} ({source})", figure.title),
        None => figure.title.clone(),
    });
    Some(titles.collect::<Vec<_>>().join("; ")).filter(|title| !title.is_empty())
}

/// The ratio of the time of every step to that of the baseline: charts for each other configuration,
/// then for each file system on each other kernel.
/// Of a single step, its own charts say the same.
pub(super) fn overview(report: &RunReport) -> Vec<Chart> {
    if report.steps().len() < 2 {
        return vec![];
    }
    let ids = report.configuration_ids();
    let of = |axis: pick::Axis| {
        let pair =
            |(at, id): (usize, &&'_ str)| Some((at, axis(report, id)?, report.configuration_ids()[at]));
        let pairs = ids.iter().enumerate().filter_map(pair).filter(|(_, baseline, id)| baseline != id);
        pairs.flat_map(|(at, baseline, id)| overview::charts(report, baseline, id, at)).collect::<Vec<_>>()
    };
    [pick::FILESYSTEMS, pick::KERNELS].into_iter().flat_map(of).collect()
}

/// The headline figures of a step: time, space, CPU; those that were measured.
pub(super) fn step(report: &RunReport, step: &str) -> Vec<Chart> {
    let title = |key: &str| format!("{step}: {}", metric::name(key));
    let charts = HEADLINE.iter().filter(|key| !is_zero(report, step, key));
    charts.flat_map(|key| of_metric(report, step, key, &title(key))).collect()
}

/// What a step wrote or read over its time, a line for each configuration; nothing where no series
/// was kept, or none with enough points to see a course.
pub(super) fn series(report: &RunReport, step: &str) -> Option<Chart> {
    lines::chart(report, step)
}

/// Nothing was used by anyone, as by a step that only reads.
fn is_zero(report: &RunReport, step: &str, key: &str) -> bool {
    let ids = report.configuration_ids();
    let mut samples = ids.iter().flat_map(|id| pick::samples(report, id, step, key));
    samples.all(|(_, value)| value == 0.0)
}

/// One figure of a step, of all configurations.
fn of_metric(report: &RunReport, step: &str, key: &str, title: &str) -> Vec<Chart> {
    let each = cells::rows(report, pick::FILESYSTEMS, step);
    let rows: Vec<rows::Row> = each.iter().enumerate().map(|(at, row)| row_of(row, at, key)).collect();
    rows::charts(title, key, &pick::against(report), &rows)
}

/// Rows as a chart has room for them, each part below a title that tells which it is.
fn parted<'a, T>(title: &str, rows: &'a [T]) -> Vec<(String, &'a [T])> {
    let parts = rows.len().div_ceil(HIGHEST).max(1);
    let title = |at: usize| match parts {
        1 => title.to_owned(),
        _ => format!("{title}, part {} of {parts}", at + 1),
    };
    let each = rows.len().div_ceil(parts).max(1);
    rows.chunks(each).enumerate().map(|(at, rows)| (title(at), rows)).collect()
}

fn row_of<'a>(row: &cells::Row<'a>, at: usize, key: &str) -> rows::Row<'a> {
    let samples = pick::samples(row.report, row.configuration, row.step, key);
    let told = told(row, key);
    let ratio = told.as_ref().map(|told| {
        let ratio = told.ratio.map(human::ratio);
        ratio.into_iter().chain(told.word.map(Into::into)).collect::<Vec<String>>().join(" ")
    });
    rows::Row {
        name: row.configuration,
        at,
        samples: samples.into_iter().map(|(_, value)| value).collect(),
        median: row.number(key),
        judged: told.as_ref().and_then(|told| told.judged).filter(|estimate| estimate.ci95.is_some()),
        text: told.map_or_else(|| cells::missing(row), |told| told.text),
        ratio: ratio.filter(|ratio| !ratio.is_empty()),
    }
}

/// A sentence on lines that have room.
pub(super) fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let columns = (1..=1000_u16).rev().find(|columns| f64::from(*columns) * text::width("0", size) <= room);
    human::wrap(&clean(text), columns.unwrap_or(1).into(), 0)
}

#[cfg(test)]
mod tests;
