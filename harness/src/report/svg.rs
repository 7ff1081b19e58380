//! The report as one picture, to be looked at or put into another document.
//!
//! What a reader needs to trust a chart is in it: machine, kernel, number of blocks, date, what did
//! not pass, and the command that makes it again. Light or dark, as the reader has it.

use std::io::Write;

use super::chart::{self, Chart, Drawing, Line, Paint, THEME, WIDTH, clean, escaped, height, wrapped};
use super::page::{Block, Page};
use super::part::{head, outcome, steps};
use super::{Format, Style, write_text};
use crate::error::Result;
use crate::result::RunReport;

pub(super) const FORMAT: Format =
    Format { name: "svg", meaning: "Charts of every step, as one picture.", write };

/// Around all, and between charts.
const MARGIN: f64 = 24.0;
/// Charts beside each other.
const COLUMNS: usize = 3;
/// Of the picture.
const ROOM: f64 = 3.0 * WIDTH + 2.0 * MARGIN;
/// Sizes of text.
const TITLE: f64 = 20.0;
const HEADING: f64 = 15.0;
const CHART: f64 = 13.0;
const NOTE: f64 = 12.0;

fn write(report: &RunReport, to: &mut dyn Write, _style: &Style) -> Result<()> {
    let mut sheet = Sheet { y: MARGIN, ..Sheet::default() };
    let title = title(report);
    sheet.line(&title, TITLE, true);
    first(report, &mut sheet);
    for step in report.steps() {
        let charts = chart::step(report, &step.name).into_iter().chain(chart::series(report, &step.name));
        sheet.group(&steps::heading(report, step), &charts.collect::<Vec<_>>());
    }
    if sheet.told.is_empty() {
        sheet.line("No figure was verified: there is nothing to draw.", NOTE, false);
    }
    let mut page = Page::boundless();
    head::write(report, &mut page);
    page.field("date", &report.manifest.started_at);
    outcome::write(report, &mut page);
    sheet.foot(&page);
    write_text(&sheet.finish(&title), to)
}

fn title(report: &RunReport) -> String {
    let suite = &report.suite;
    clean(if suite.title.is_empty() { &suite.name } else { &suite.title })
}

/// The figure of the suite's source; where there is none, every step at a glance.
fn first(report: &RunReport, sheet: &mut Sheet) {
    let figure = chart::figure(report);
    match chart::figure_title(report).filter(|_| !figure.is_empty()) {
        Some(title) => sheet.group(&title, &figure),
        None => sheet.group("Every step at a glance", &chart::overview(report)),
    }
}

/// A picture that grows downwards.
#[derive(Default)]
struct Sheet {
    drawing: Drawing,
    y: f64,
    /// What is shown, in words.
    told: Vec<String>,
}

impl Sheet {
    fn line(&mut self, text: &str, size: f64, strong: bool) {
        let mut line = Line::new(text, [MARGIN, self.y], size, ROOM);
        line.strong = strong;
        self.drawing.text(&line);
        self.y += height(size);
    }

    /// Charts below a heading, in rows.
    fn group(&mut self, title: &str, charts: &[Chart]) {
        if charts.is_empty() {
            return;
        }
        self.y += MARGIN;
        self.line(title, HEADING, true);
        for row in charts.chunks(COLUMNS) {
            self.y += MARGIN / 2.0;
            let mut x = MARGIN;
            for chart in row {
                let mut line = Line::new(&chart.title, [x, self.y], CHART, chart.width);
                line.strong = true;
                self.drawing.text(&line);
                self.drawing.group([x, self.y + height(CHART) + 4.0], &chart.body);
                x += chart.width + MARGIN;
                self.told.push(chart.text.clone());
            }
            self.y += height(CHART) + 4.0 + row.iter().map(|chart| chart.height).fold(0.0, f64::max);
        }
    }

    /// Where it comes from, and what did not pass.
    fn foot(&mut self, page: &Page) {
        self.y += MARGIN;
        self.drawing.rect([MARGIN, self.y], [ROOM, 1.0], Paint::Grid);
        for block in &page.blocks {
            match block {
                Block::Title(title) => {
                    self.y += height(NOTE) / 2.0;
                    self.line(title, NOTE, true);
                }
                Block::Field { name, text } => self.note(&format!("{name}: {text}")),
                Block::Line { text, .. } => self.note(text),
                Block::Command(command) => self.note(command),
                // The charts tell what tables would.
                Block::Table { .. } => {}
            }
        }
    }

    fn note(&mut self, text: &str) {
        for line in wrapped(text, NOTE, ROOM) {
            self.line(&line, NOTE, false);
        }
    }

    fn finish(self, title: &str) -> String {
        let (width, height) = (ROOM + 2.0 * MARGIN, (self.y + MARGIN).ceil());
        let size = format!("viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\"");
        let (title, told) = (escaped(title), escaped(&self.told.join("\n")));
        let mut ground = Drawing::default();
        ground.rect([0.0, 0.0], [width, height], Paint::Ground);
        let font = "font-family=\"system-ui, sans-serif\" direction=\"ltr\"";
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" {size} role=\"img\" aria-labelledby=\"title told\">\n\
             <title id=\"title\">{title}</title>\n<desc id=\"told\">{told}</desc>\n<style>{THEME}</style>\n\
             {}<g {font} style=\"fill:{}\">\n{}</g>\n</svg>\n",
            ground.body,
            Paint::Text.css(),
            self.drawing.body,
        )
    }
}
