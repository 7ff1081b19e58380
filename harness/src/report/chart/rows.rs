//! A figure of all configurations, a row for each: every sample as a dot, the median as a bar; and,
//! where blocks were repeated, the ratio to the baseline with its interval.
//!
//! Two scales, since an interval is one of ratios within blocks and says nothing about a figure
//! alone. Lengths begin at 0, so that they can be compared; ratios are told by their logarithm, so
//! that a half is as far from ×1 as a double.

use super::colour::{Paint, hollow};
use super::draw::{Drawing, Line, height, px};
use super::notes::Notes;
use super::scale::{LABEL, Scale, Tick, Unit, inwards, thinned, unit};
use super::text::width;
use super::{Chart, HIGHEST, WIDTH, metric, parted};
use crate::report::human;
use crate::report::part::verdict;
use crate::result::{Estimate, MARGIN};

/// A configuration.
pub(super) struct Row<'a> {
    pub(super) name: &'a str,
    /// Place in the order of the suite.
    pub(super) at: usize,
    /// In the order of blocks.
    pub(super) samples: Vec<f64>,
    pub(super) median: Option<f64>,
    /// The median, or why there is none.
    pub(super) text: String,
    /// With its word.
    pub(super) ratio: Option<String>,
    /// Of at least three pairs.
    pub(super) judged: Option<&'a Estimate>,
}

/// Size of a name.
const NAME: f64 = 12.0;
/// Height of the line that dots stand on.
const TRACK: f64 = 16.0;
/// Below a track.
const SPACE: f64 = 8.0;
/// A dot at an end stays within the picture.
const ENDS: [f64; 2] = [6.0, WIDTH - 6.0];

/// One figure: in one chart, or, where that is higher than a sheet of paper, in several, and the
/// ratios in charts of their own. Nothing where no configuration has it.
pub(super) fn charts(title: &str, key: &str, baseline: &str, rows: &[Row]) -> Vec<Chart> {
    let Some(figure) = Figure::of(key, baseline, rows) else { return vec![] };
    let ratios = ratios(rows);
    if rows.len() + ratios.len() <= HIGHEST {
        return vec![figure.chart(title.into(), rows, &ratios)];
    }
    let lengths = parted(title, rows).into_iter().map(|(title, rows)| figure.chart(title, rows, &[]));
    let title = format!("{title}, ratio to {baseline}");
    let ratios = parted(&title, &ratios).into_iter().map(|(title, part)| figure.chart(title, &[], part));
    lengths.chain(ratios).collect()
}

/// What its charts have in common.
struct Figure<'a> {
    baseline: &'a str,
    axis: String,
    scale: Scale,
    unit: Unit,
    /// The number of samples that most configurations have.
    most: usize,
    notes: Notes,
    ratios: Scale,
}

impl<'a> Figure<'a> {
    fn of(key: &str, baseline: &'a str, rows: &[Row]) -> Option<Self> {
        let most = rows.iter().map(|row| row.samples.len()).max().filter(|most| *most > 0)?;
        let all = || rows.iter().flat_map(|row| &row.samples).copied();
        let scale = Scale::linear(all(), ENDS);
        let unit = unit(key, scale.most());
        let axis = metric::axis(key, &unit.name, all().any(|value| value < 0.0));
        let notes = Notes::of(rows, baseline);
        Some(Self { baseline, axis, scale, unit, most, notes, ratios: ratio_scale(&ratios(rows)) })
    }

    /// Of some of its rows, and of some of its ratios.
    fn chart(&self, title: String, rows: &[Row], ratios: &[Ratio]) -> Chart {
        let mut panel = Panel::default();
        let mut parts = vec![];
        if !rows.is_empty() {
            panel.figures(rows, self);
            panel.lines(&self.axis, Paint::Text);
            panel.lines(&self.notes.samples, Paint::Muted);
            parts.extend([self.axis.clone(), told(rows), self.notes.samples.clone()]);
        }
        if let Some(note) = self.notes.ratios.as_ref().filter(|_| !ratios.is_empty()) {
            let axis = format!("ratio to {}, with its 95 % interval", self.baseline);
            panel.y += if rows.is_empty() { 0.0 } else { SPACE };
            panel.lines(&axis, Paint::Text);
            panel.ratio_rows(ratios, &self.ratios);
            panel.lines(note, Paint::Muted);
            // The rows tell of their ratios.
            let each = ratios.iter().map(|one| format!("{}: {}", one.name, one.told)).collect::<Vec<_>>();
            parts.extend(rows.is_empty().then(|| [axis, each.join("; ")]).into_iter().flatten());
            parts.push(note.clone());
        }
        let text = sentences(&title, &parts);
        panel.finish(title, text)
    }
}

/// A title and what is said below it.
fn sentences(title: &str, parts: &[String]) -> String {
    let parts = [title].into_iter().chain(parts.iter().map(String::as_str));
    let ended = parts.map(|part| if part.ends_with('.') { part.to_owned() } else { format!("{part}.") });
    ended.collect::<Vec<_>>().join(" ")
}

/// The ratio of each to the baseline, with its interval.
fn ratios<'a>(rows: &[Row<'a>]) -> Vec<Ratio<'a>> {
    let judged = rows.iter().filter_map(|row| {
        let ratio = row.judged?.ratio?;
        let interval = verdict::interval(row.judged?).unwrap_or_default();
        let told = format!("{} {interval}", human::ratio(ratio));
        Some(Ratio { name: row.name, told, ratio, ci95: row.judged?.ci95, at: row.at })
    });
    judged.collect()
}

/// One for all, so that parts of a chart can be compared.
pub(super) fn ratio_scale(rows: &[Ratio]) -> Scale {
    Scale::by_ratio(rows.iter().flat_map(|row| row.ci95.into_iter().flatten().chain([row.ratio])), ENDS)
}

/// All rows in words.
fn told(rows: &[Row]) -> String {
    rows.iter().map(Row::told).collect::<Vec<_>>().join("; ")
}

impl Row<'_> {
    fn told(&self) -> String {
        let mut parts = vec![format!("{}: {}", self.name, self.text)];
        parts.extend(self.ratio.clone());
        let interval = self.judged.and_then(verdict::interval);
        parts.extend(interval.map(|interval| format!("95 % interval {interval}")));
        parts.extend((!self.samples.is_empty()).then(|| format!("n = {}", self.samples.len())));
        parts.join(", ")
    }

    fn paint(&self) -> Paint {
        Paint::Configuration(self.at)
    }
}

/// A chart that grows downwards.
#[derive(Default)]
pub(super) struct Panel {
    /// Behind what is drawn.
    pub(super) grid: Drawing,
    pub(super) drawing: Drawing,
    pub(super) y: f64,
}

impl Panel {
    /// Names, figures, samples, and the axis.
    fn figures(&mut self, rows: &[Row], figure: &Figure) {
        let mut tracks = vec![];
        for row in rows {
            let ratio = row.ratio.as_ref().map(|ratio| format!("  {ratio}")).unwrap_or_default();
            // The number of all but a few is told once, below.
            let fewer = !row.samples.is_empty() && row.samples.len() != figure.most;
            let n = if fewer { format!("  n = {}", row.samples.len()) } else { String::new() };
            self.heading(row.name, &format!("{}{ratio}{n}", row.text));
            if row.samples.is_empty() {
                self.y += SPACE / 2.0;
                continue;
            }
            tracks.push(self.y);
            self.samples(row, &figure.scale);
            self.y += TRACK + SPACE;
        }
        self.axis(&figure.scale.ticks(figure.unit.factor), &tracks);
    }

    /// A name at the left and what is told of it at the right.
    pub(super) fn heading(&mut self, name: &str, told: &str) {
        // A font that is wider than the estimate shall not meet the name.
        let room = (width(told, LABEL) * 1.1).min(WIDTH * 0.75);
        let mut line = Line::new(told, [WIDTH, self.y + NAME - LABEL], LABEL, room);
        line.right = true;
        self.drawing.text(&line);
        let mut line = Line::new(name, [0.0, self.y], NAME, WIDTH - room - SPACE);
        line.strong = true;
        self.drawing.text(&line);
        self.y += height(NAME) + 1.0;
    }

    /// A bar to the median, a line from the least to the most, and every sample: the first block
    /// stands above, so that a trend can be seen.
    fn samples(&mut self, row: &Row, scale: &Scale) {
        let (y, paint) = (self.y, row.paint());
        let middle = y + TRACK / 2.0;
        let at: Vec<f64> = row.samples.iter().map(|value| scale.at(*value)).collect();
        if let Some(median) = row.median {
            let (zero, end) = (scale.at(0.0), scale.at(median));
            let size = [(end - zero).abs(), TRACK];
            self.drawing.faint_rect([zero.min(end), y], size, paint, 0.28);
            if let [_, _, ..] = at[..] {
                let (least, most) = at.iter().fold((WIDTH, 0.0_f64), |(l, m), at| (l.min(*at), m.max(*at)));
                let path = format!("M{} {}H{}", px(least), px(middle), px(most));
                self.drawing.path(&path, 1.0, Paint::Muted, "none");
                self.drawing.rect([end - 1.25, y], [2.5, TRACK], Paint::Text);
            }
        }
        let places: Vec<_> = at.iter().zip(offsets(at.len())).map(|(at, by)| [*at, middle + by]).collect();
        let radius = if at.len() > 12 { 2.0 } else { 2.6 };
        self.drawing.dots(&places, radius, paint, hollow(row.at));
    }

    /// The axis below all tracks, and its marks behind them.
    fn axis(&mut self, ticks: &[Tick], tracks: &[f64]) {
        self.grid.bands(tracks, [0.0, WIDTH], TRACK, Paint::Track);
        let marks = ticks.iter().flat_map(|tick| {
            tracks.iter().map(move |y| format!("M{} {}v{}", px(tick.at), px(*y), px(TRACK)))
        });
        self.grid.path(&marks.collect::<String>(), 1.0, Paint::Grid, "none");
        let bounds = [0.0, WIDTH];
        self.y -= SPACE - 2.0;
        for tick in thinned(ticks.to_vec(), bounds) {
            let wide = width(&tick.label, LABEL);
            let x = inwards(tick.at, wide, bounds);
            let mut line = Line::new(&tick.label, [x, self.y], LABEL, (wide * 1.1).min(WIDTH));
            line.paint = Paint::Muted;
            self.drawing.text(&line);
        }
        self.y += height(LABEL);
    }

    /// On a scale of their own: a line at ×1, and the margin of a verdict around it.
    pub(super) fn ratio_rows(&mut self, rows: &[Ratio], scale: &Scale) {
        let mut tracks = vec![];
        for row in rows {
            self.heading(row.name, &row.told);
            tracks.push(self.y);
            let (middle, paint) = (self.y + TRACK / 2.0, Paint::Configuration(row.at));
            if let Some([low, high]) = row.ci95 {
                let (low, high) = (px(scale.at(low)), px(scale.at(high)));
                let (top, size) = (px(self.y + 3.0), px(TRACK - 6.0));
                let path = format!("M{low} {top}v{size}M{high} {top}v{size}M{low} {}H{high}", px(middle));
                self.drawing.path(&path, 2.0, paint, "none");
            }
            self.drawing.dots(&[[scale.at(row.ratio), middle]], 3.5, paint, hollow(row.at));
            self.y += TRACK + SPACE;
        }
        let (low, high, one) = (scale.at(1.0 / MARGIN), scale.at(MARGIN), px(scale.at(1.0)));
        self.axis(&scale.ticks(1.0), &tracks);
        self.grid.bands(&tracks, [low, high], TRACK, Paint::Band);
        let marks = tracks.iter().map(|y| format!("M{one} {}v{}", px(y - 1.0), px(TRACK + 2.0)));
        self.grid.path(&marks.collect::<String>(), 1.5, Paint::Muted, "none");
    }

    /// A sentence, on as many lines as it takes.
    pub(super) fn lines(&mut self, text: &str, paint: Paint) {
        for line in super::wrapped(text, LABEL, WIDTH) {
            let mut line = Line::new(&line, [0.0, self.y], LABEL, WIDTH);
            line.paint = paint;
            self.drawing.text(&line);
            self.y += height(LABEL);
        }
    }

    /// What is drawn, with what is behind it.
    pub(super) fn finish(self, title: String, text: String) -> Chart {
        let body = format!("{}{}", self.grid.body, self.drawing.body);
        Chart::new(title, text, self.y + 2.0, &body)
    }
}

/// A ratio in a row.
pub(super) struct Ratio<'a> {
    pub(super) name: &'a str,
    /// At the right.
    pub(super) told: String,
    pub(super) ratio: f64,
    pub(super) ci95: Option<[f64; 2]>,
    /// Place of its colour.
    pub(super) at: usize,
}

/// From above to below the middle of a track.
#[expect(clippy::cast_precision_loss, reason = "blocks are few")]
fn offsets(count: usize) -> impl Iterator<Item = f64> {
    let (last, room) = (count.saturating_sub(1).max(1) as f64, if count > 1 { TRACK - 6.0 } else { 0.0 });
    (0..count).map(move |at| (at as f64 / last - 0.5) * room)
}
