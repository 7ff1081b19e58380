//! A rate over the time of a step, a line for each configuration.
//!
//! A worker counts bytes several times a second; between two counts there is only their mean, so a
//! line goes in steps. One block stands for all: the one whose time is the median.

use super::colour::{Paint, dashes};
use super::draw::{Line, height, px};
use super::rows::Panel;
use super::scale::{LABEL, Scale, Tick, inwards, thinned, unit};
use super::text::width;
use super::{Chart, WIDTH};
use crate::report::{human, pick};
use crate::result::{RunReport, Series, StepResult};
use crate::stats::median;

/// With fewer, there is no course to see.
const INTERVALS: usize = 3;
/// Left and right end of the time.
const PLOT: [f64; 2] = [44.0, WIDTH - 100.0];
/// From one name to the next.
const STEP: f64 = 16.0;
/// The name is in the keys, and its unit in the rates.
const BYTES: &str = "payload_bytes";

/// A configuration.
struct Curve<'a> {
    name: &'a str,
    at: usize,
    rates: Vec<Rate>,
}

/// The mean of a rate between two times.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Rate {
    from: f64,
    to: f64,
    per_s: f64,
}

pub(super) fn chart(report: &RunReport, step: &str) -> Option<Chart> {
    let ids = report.configuration_ids();
    let curve = |(at, name): (usize, &&'_ str)| {
        let rates = rates(typical(report, name, step)?.series.iter().find(|one| one.name == BYTES)?);
        (rates.len() >= INTERVALS && rates.iter().any(|rate| rate.per_s > 0.0)).then_some((at, rates))
    };
    let curves: Vec<Curve> = ids
        .iter()
        .enumerate()
        .filter_map(|each| curve(each).map(|(at, rates)| Curve { name: ids[at], at, rates }))
        .collect();
    if curves.is_empty() {
        return None;
    }
    let blocks: Vec<usize> =
        curves.iter().map(|curve| pick::counted(report, curve.name, step).len()).collect();
    Some(draw(step, &curves, &super::notes::range(&blocks)))
}

/// The step in the block whose time is the median; the faster of two middle ones.
fn typical<'a>(report: &'a RunReport, configuration: &str, step: &str) -> Option<&'a StepResult> {
    let mut steps = pick::counted(report, configuration, step);
    // Of a fixed amount of work the time says it all; a fill gets slower as the room gets less.
    steps.retain(|step| {
        step.facts.file_size_bytes.is_some() && step.series.iter().any(|series| series.name == BYTES)
    });
    steps.sort_by(|one, other| time(one).total_cmp(&time(other)));
    steps.get(steps.len().saturating_sub(1) / 2).copied()
}

/// What was not timed is last.
fn time(step: &StepResult) -> f64 {
    step.metrics.get("synced_s").unwrap_or(f64::MAX)
}

/// From counts to rates. The last count is made at the end, which may be a moment after the one
/// before: what is shorter than half of the others joins its neighbour, since so short a time
/// measures nothing.
fn rates(series: &Series) -> Vec<Rate> {
    let points: Vec<(f64, f64)> = series.t_s.iter().copied().zip(series.value.iter().copied()).collect();
    let lengths = points.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    let least = median(lengths).unwrap_or(0.0) / 2.0;
    let Some(first) = points.first() else { return vec![] };
    let mut ends = vec![*first];
    for point in &points[1..] {
        let begun = ends[ends.len() - 1];
        if point.0 - begun.0 >= least && point.0 > begun.0 {
            ends.push(*point);
        } else if ends.len() > 1 && Some(point) == points.last() {
            ends.pop();
            ends.push(*point);
        }
    }
    let rate = |pair: &[(f64, f64)]| Rate {
        from: pair[0].0,
        to: pair[1].0,
        per_s: (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0),
    };
    let rates: Vec<Rate> = ends.windows(2).map(rate).collect();
    // A count that falls, or a time that stands, is no such series.
    let sound = rates.iter().all(|rate| rate.per_s.is_finite() && rate.per_s >= 0.0);
    if sound { rates } else { vec![] }
}

fn draw(step: &str, curves: &[Curve], n: &str) -> Chart {
    let all = || curves.iter().flat_map(|curve| &curve.rates);
    let most = all().map(|rate| rate.per_s).fold(0.0, f64::max);
    let unit = unit("payload_bytes_per_s", most);
    let axis = format!("payload rate ({}), more is better", unit.name);
    let mut panel = Panel::default();
    panel.lines(&axis, Paint::Text);
    let top = panel.y + height(LABEL) / 2.0 + 1.0;
    let bottom = top + names_height(curves.len()).max(130.0);
    let times = Scale::linear(all().map(|rate| rate.to), PLOT);
    let rates = Scale::linear(all().map(|rate| rate.per_s), [bottom, top]);
    vertical(&mut panel, &rates.ticks(unit.factor));
    curves.iter().for_each(|curve| line(&mut panel, curve, &times, &rates));
    names(&mut panel, curves, &times, &rates, [top, bottom]);
    panel.y = bottom + 3.0;
    horizontal(&mut panel, &times.ticks(1.0));
    let note = format!(
        "Time since the start of the step (s). The block whose time until synced is the median, {n}; each line goes in steps: \
         a mean for each part of the time. No interval."
    );
    panel.lines(&note, Paint::Muted);
    let title = format!("{step}: payload rate over time");
    let told: Vec<_> = curves.iter().map(Curve::told).collect();
    let text = format!("{title}. {axis}. {}. {note}", told.join("; "));
    panel.finish(title, text)
}

impl Curve<'_> {
    fn told(&self) -> String {
        let of = |wanted: fn(f64, f64) -> f64| {
            let rates = self.rates.iter().map(|rate| rate.per_s);
            human::by_key("payload_bytes_per_s", rates.reduce(wanted).unwrap_or_default())
        };
        let end = human::time(self.rates.last().map_or(0.0, |rate| rate.to));
        format!("{}: {} to {} over {end}", self.name, of(f64::min), of(f64::max))
    }
}

fn vertical(panel: &mut Panel, ticks: &[Tick]) {
    for tick in ticks {
        let path = format!("M{} {}H{}", px(PLOT[0]), px(tick.at), px(PLOT[1]));
        panel.grid.path(&path, 1.0, Paint::Grid, "none");
        let y = tick.at - height(LABEL) / 2.0;
        let mut label = Line::new(&tick.label, [PLOT[0] - 4.0, y], LABEL, PLOT[0] - 4.0);
        (label.right, label.paint) = (true, Paint::Muted);
        panel.drawing.text(&label);
    }
}

fn horizontal(panel: &mut Panel, ticks: &[Tick]) {
    let bounds = [PLOT[0] + 2.0, WIDTH];
    for tick in thinned(ticks.to_vec(), bounds) {
        let wide = width(&tick.label, LABEL);
        let x = inwards(tick.at, wide, bounds);
        let mut label = Line::new(&tick.label, [x, panel.y], LABEL, wide * 1.1);
        label.paint = Paint::Muted;
        panel.drawing.text(&label);
    }
    panel.y += height(LABEL);
}

fn line(panel: &mut Panel, curve: &Curve, times: &Scale, rates: &Scale) {
    let mut path = String::new();
    for (at, rate) in curve.rates.iter().enumerate() {
        let y = px(rates.at(rate.per_s));
        path.push_str(&match at {
            0 => format!("M{} {y}", px(times.at(rate.from))),
            _ => format!("V{y}"),
        });
        path.push_str(&format!("H{}", px(times.at(rate.to))));
    }
    panel.drawing.path(&path, 1.8, Paint::Configuration(curve.at), dashes(curve.at));
}

#[expect(clippy::cast_precision_loss, reason = "configurations are few")]
fn names_height(count: usize) -> f64 {
    count as f64 * STEP
}

/// Each name near the end of its line, with a piece of the line and a thread to it.
fn names(panel: &mut Panel, curves: &[Curve], times: &Scale, rates: &Scale, bounds: [f64; 2]) {
    let end = |curve: &Curve| {
        let last = curve.rates.last().copied().unwrap_or(Rate { from: 0.0, to: 0.0, per_s: 0.0 });
        [times.at(last.to), rates.at(last.per_s)]
    };
    let mut ends: Vec<([f64; 2], &Curve)> = curves.iter().map(|curve| (end(curve), curve)).collect();
    ends.sort_by(|(one, _), (other, _)| one[1].total_cmp(&other[1]));
    let places = spread(&ends.iter().map(|(end, _)| end[1]).collect::<Vec<_>>(), bounds);
    let x = PLOT[1] + 10.0;
    for (([from, level], curve), y) in ends.into_iter().zip(places) {
        let thread = format!("M{} {}L{} {}", px(from), px(level), px(x), px(y));
        panel.grid.path(&thread, 0.7, Paint::Muted, "none");
        let paint = Paint::Configuration(curve.at);
        let piece = format!("M{} {}h18", px(x), px(y));
        panel.drawing.path(&piece, 1.8, paint, dashes(curve.at));
        let room = WIDTH - x - 22.0;
        panel.drawing.text(&Line::new(curve.name, [x + 22.0, y - height(LABEL) / 2.0], LABEL, room));
    }
}

/// As near to where they want to be as there is room for all, in order.
fn spread(wanted: &[f64], [top, bottom]: [f64; 2]) -> Vec<f64> {
    let mut places: Vec<f64> = vec![];
    for place in wanted {
        let after = places.last().map_or(top + STEP / 2.0, |last| last + STEP);
        places.push(place.max(after));
    }
    let mut below = bottom - STEP / 2.0;
    for place in places.iter_mut().rev() {
        *place = place.min(below);
        below = *place - STEP;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(t_s: &[f64], value: &[f64]) -> Series {
        Series { name: BYTES.into(), unit: "bytes".into(), t_s: t_s.to_vec(), value: value.to_vec() }
    }

    fn per_s(t_s: &[f64], value: &[f64]) -> Vec<f64> {
        rates(&series(t_s, value)).iter().map(|rate| rate.per_s).collect()
    }

    #[test]
    fn a_rate_is_what_was_added_by_the_time_it_took() {
        assert_eq!(per_s(&[0.0, 0.5, 1.0, 1.5], &[0.0, 100.0, 150.0, 150.0]), [200.0, 100.0, 0.0]);
    }

    #[test]
    fn a_moment_at_the_end_joins_what_was_before() {
        let rates = rates(&series(&[0.0, 1.0, 2.0, 3.0, 3.25], &[0.0, 10.0, 20.0, 30.0, 35.0]));
        assert_eq!(rates.len(), 3);
        assert_eq!(rates[2], Rate { from: 2.0, to: 3.25, per_s: 12.0 });
    }

    #[test]
    fn counts_that_fall_and_times_that_stand_make_no_line() {
        assert!(per_s(&[0.0, 1.0, 2.0], &[0.0, 10.0, 5.0]).is_empty());
        assert!(per_s(&[0.0, 0.0, 0.0], &[0.0, 10.0, 20.0]).is_empty());
        assert!(per_s(&[], &[]).is_empty() && per_s(&[1.0], &[]).is_empty());
    }

    #[test]
    fn names_keep_their_distance_and_stay_inside() {
        let places = spread(&[10.0, 10.0, 11.0, 100.0], [0.0, 100.0]);
        assert_eq!(places, [10.0, 26.0, 42.0, 92.0]);
        let places = spread(&[99.0, 99.0, 99.0], [0.0, 100.0]);
        assert_eq!(places, [60.0, 76.0, 92.0]);
    }
}
