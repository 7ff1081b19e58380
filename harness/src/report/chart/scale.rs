//! From a figure to a place, and the few round figures that stand at an axis.

use crate::report::human;

/// Figures at an axis.
const MOST: f64 = 5.0;
/// Between two labels.
const GAP: f64 = 6.0;

/// Figures along a line: linear, or by ratio.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    from: f64,
    to: f64,
    /// Where the least and the most are.
    place: [f64; 2],
    by_ratio: bool,
}

impl Scale {
    /// From 0 to the figure that is farthest from it, so that a length means an amount.
    pub(super) fn linear(values: impl Iterator<Item = f64>, place: [f64; 2]) -> Self {
        let (from, to) =
            values.fold((0.0_f64, 0.0_f64), |(from, to), value| (from.min(value), to.max(value)));
        // Of what is too little to be halved there is no share.
        let to = if from / 2.0 < to / 2.0 { to } else { 1.0 };
        Self { from, to, place, by_ratio: false }
    }

    /// Equal ratios have equal lengths; ×1 is on it, with a margin.
    pub(super) fn by_ratio(values: impl Iterator<Item = f64>, place: [f64; 2]) -> Self {
        let bounds = (1.0 / RATIO_MARGIN, RATIO_MARGIN);
        let values = values.filter(|value| value.is_finite() && *value > 0.0);
        let (from, to) = values.fold(bounds, |(from, to), value| (from.min(value), to.max(value)));
        Self { from: from.ln(), to: to.ln(), place, by_ratio: true }
    }

    /// The most that is on it, in absolute terms.
    pub(super) fn most(&self) -> f64 {
        self.to.max(-self.from)
    }

    /// Where a figure is; one beyond the ends is at the end.
    pub(super) fn at(&self, value: f64) -> f64 {
        let value = if self.by_ratio { value.ln() } else { value };
        let [left, right] = self.place;
        // Halves, since the whole may be more than a number can hold.
        let share = (value / 2.0 - self.from / 2.0) / (self.to / 2.0 - self.from / 2.0);
        left + share.clamp(0.0, 1.0) * (right - left)
    }

    /// Round figures in a unit of so many, at most five.
    pub(super) fn ticks(&self, factor: f64) -> Vec<Tick> {
        let at = |(value, label)| Tick { at: self.at(value), label };
        if !self.by_ratio {
            let ticks = round(self.from / factor, self.to / factor);
            return ticks.into_iter().map(|(value, label)| at((value * factor, label))).collect();
        }
        let bounds = [self.from.exp() * (1.0 - NEARLY), self.to.exp() * (1.0 + NEARLY)];
        let sets =
            RATIOS.iter().map(|of| of(bounds).into_iter().map(|value| at((value, format!("×{value}")))));
        let fitting = |ticks: &Vec<Tick>| count(ticks.len()) <= MOST && apart(ticks, self.place);
        sets.map(Iterator::collect).find(fitting).unwrap_or_else(|| vec![at((1.0, "×1".into()))])
    }
}

/// Beyond ×1 on both sides, so that the margin of a verdict can be seen.
const RATIO_MARGIN: f64 = 1.1;

/// A figure at an axis.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// Logarithms and back are not exact.
const NEARLY: f64 = 1e-9;

/// Ratios within bounds that are round, from fine to coarse; ×1 is among all.
const RATIOS: [fn([f64; 2]) -> Vec<f64>; 7] = [
    |bounds| multiples(20.0, bounds),
    |bounds| multiples(10.0, bounds),
    |bounds| multiples(5.0, bounds),
    |bounds| powers(&[1.0, 2.0, 5.0], 1, bounds),
    |bounds| powers(&[1.0, 3.0], 1, bounds),
    |bounds| powers(&[1.0], 1, bounds),
    |bounds| powers(&[1.0], 3, bounds),
];

/// Of one part of so many.
fn multiples(parts: f64, [from, to]: [f64; 2]) -> Vec<f64> {
    // No more of them than have room.
    let first = (from * parts).ceil();
    let all = (0..=5_u8).map(|at| (first + f64::from(at)) / parts);
    all.filter(|value| *value <= to).collect()
}

/// Those digits, every so many powers of ten.
fn powers(digits: &[f64], every: usize, [from, to]: [f64; 2]) -> Vec<f64> {
    let of = |power: i32| {
        let (up, down) = (10_f64.powi(power.max(0)), 10_f64.powi(-power.min(0)));
        digits.iter().map(move |digit| digit * up / down)
    };
    let all = (-306..=306).step_by(every).flat_map(of);
    all.filter(|value| (from..=to).contains(value)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a few")]
fn count(of: usize) -> f64 {
    of as f64
}

/// The figures 1, 2 or 5 times a power of ten apart that are nearest to each other and at most five.
fn round(from: f64, to: f64) -> Vec<(f64, String)> {
    let steps = (-12..=308).flat_map(|power: i32| [1.0, 2.0, 5.0].map(|digit: f64| (digit, power)));
    let bounds = |(digit, power): (f64, i32)| {
        // Powers below 1 are divided by, since 0.1 is no exact number and 10 is one.
        let of = |value: f64| match power {
            ..0 => value * 10_f64.powi(-power) / digit,
            _ => value / 10_f64.powi(power) / digit,
        };
        (of(from).ceil(), of(to).floor())
    };
    let fits = |step: &(f64, i32)| {
        let (first, last) = bounds(*step);
        last - first < MOST
    };
    let Some((digit, power)) = steps.into_iter().find(fits) else { return vec![] };
    let (first, last) = bounds((digit, power));
    let decimals = usize::try_from(-power).unwrap_or(0);
    let tick = |at: u8| {
        let times = (first + f64::from(at)) * digit;
        let value = if power < 0 { times / 10_f64.powi(-power) } else { times * 10_f64.powi(power) };
        (value, if decimals == 0 { human::count(value) } else { format!("{value:.decimals$}") })
    };
    (0..5).filter(|at| first + f64::from(*at) <= last).map(tick).collect()
}

/// The place of a label of that width: below its tick, and not beyond the ends.
pub(super) fn inwards(at: f64, width: f64, [left, right]: [f64; 2]) -> f64 {
    (at - width / 2.0).min(right - width).max(left)
}

/// Of a label, in pixels.
pub(super) const LABEL: f64 = 11.0;

/// Left and right end of a label.
fn ends(tick: &Tick, place: [f64; 2]) -> [f64; 2] {
    let width = super::text::width(&tick.label, LABEL);
    let left = inwards(tick.at, width, place);
    [left, left + width]
}

fn apart(ticks: &[Tick], place: [f64; 2]) -> bool {
    ticks.windows(2).all(|pair| ends(&pair[0], place)[1] + GAP <= ends(&pair[1], place)[0])
}

/// Every tick whose label has room, or every second, or every fourth, ...
pub(super) fn thinned(mut ticks: Vec<Tick>, place: [f64; 2]) -> Vec<Tick> {
    while ticks.len() > 1 && !apart(&ticks, place) {
        let mut at = 0;
        ticks.retain(|_| {
            at += 1;
            at % 2 == 1
        });
    }
    ticks
}

/// A unit, as everywhere numbers are shown.
#[derive(Debug, PartialEq)]
pub(super) struct Unit {
    /// `MiB`; empty for a count.
    pub(super) name: String,
    /// How much of the stored unit it is.
    pub(super) factor: f64,
}

/// The unit in which a figure of that size is shown.
pub(super) fn unit(key: &str, most: f64) -> Unit {
    let shown = human::by_key(key, most);
    let name = match shown.rsplit_once(' ') {
        Some((_, name)) => name,
        None if shown.ends_with("/s") => "/s",
        None => "",
    };
    let factor = FACTORS.iter().find(|(known, _)| *known == name).map_or(1.0, |(_, factor)| *factor);
    Unit { name: name.to_owned(), factor }
}

/// What is not 1.
const FACTORS: [(&str, f64); 16] = [
    ("µs", 1e-6),
    ("ms", 1e-3),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("kB/s", 1e3),
    ("MB/s", 1e6),
    ("GB/s", 1e9),
    ("KiB/s", 1024.0),
    ("MiB/s", 1_048_576.0),
    ("GiB/s", 1_073_741_824.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], factor: f64) -> String {
        let scale = Scale::linear(values.iter().copied(), [0.0, 300.0]);
        scale.ticks(factor).into_iter().map(|tick| tick.label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn figures_at_an_axis_are_round_and_at_most_five() {
        assert_eq!(labels(&[0.412, 0.668], 1e-3), "0 200 400 600");
        assert_eq!(labels(&[39.4 * 1_048_576.0], 1_048_576.0), "0 10 20 30");
        assert_eq!(labels(&[1.0], 1.0), "0.0 0.5 1.0");
        assert_eq!(labels(&[0.4], 1.0), "0.0 0.1 0.2 0.3 0.4");
        assert_eq!(labels(&[-53.0, 0.0], 1.0), "-40 -20 0");
        assert_eq!(labels(&[-3.0, 4.0], 1.0), "-2 0 2 4");
        assert_eq!(labels(&[12_345.0], 1.0), "0 5,000 10,000");
        assert_eq!(labels(&[0.0], 1.0), "0.0 0.5 1.0", "all of nothing");
    }

    #[test]
    fn a_place_is_the_share_of_the_length() {
        let scale = Scale::linear([100.0].into_iter(), [10.0, 210.0]);
        assert!((scale.at(50.0) - 110.0).abs() < 1e-9 && (scale.at(0.0) - 10.0).abs() < 1e-9);
        assert!((scale.at(200.0) - 210.0).abs() < 1e-9, "nothing leaves the line");
        let scale = Scale::by_ratio([0.25, 4.0].into_iter(), [0.0, 100.0]);
        assert!((scale.at(1.0) - 50.0).abs() < 1e-9 && (scale.at(2.0) - 75.0).abs() < 1e-9);
    }

    #[test]
    fn the_largest_numbers_have_a_place() {
        let scale = Scale::linear([-f64::MAX, f64::MAX].into_iter(), [0.0, 100.0]);
        assert!((scale.at(0.0) - 50.0).abs() < 1e-9, "{}", scale.at(0.0));
        let scale = Scale::by_ratio([f64::MIN_POSITIVE, f64::MAX].into_iter(), [0.0, 100.0]);
        assert!(scale.at(1.0).is_finite() && !scale.ticks(1.0).is_empty());
    }

    #[test]
    fn the_least_numbers_have_a_place() {
        for least in [5e-324, f64::MIN_POSITIVE, 0.0] {
            for values in [[0.0, least], [-least, 0.0], [-least, least]] {
                let scale = Scale::linear(values.into_iter(), [0.0, 100.0]);
                assert!(values.iter().all(|value| scale.at(*value).is_finite()), "{values:?}");
            }
        }
    }

    fn of_ratios(from: f64, to: f64) -> String {
        let scale = Scale::by_ratio([from, to].into_iter(), [8.0, 332.0]);
        scale.ticks(1.0).into_iter().map(|tick| tick.label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn ratios_are_round_and_one_is_always_there() {
        assert_eq!(of_ratios(0.99, 1.02), "×0.95 ×1 ×1.05 ×1.1");
        assert_eq!(of_ratios(0.9, 1.64), "×1 ×1.2 ×1.4 ×1.6");
        assert_eq!(of_ratios(0.016, 1.1), "×0.03 ×0.1 ×0.3 ×1");
        for (from, to) in [(1e-9, 1e9), (0.3, 3.0), (0.001, 1.0), (1.0, 700.0), (1e-300, 1e300), (1e-5, 1.0)]
        {
            let labels = of_ratios(from, to);
            assert!(labels.split(' ').any(|label| label == "×1"), "{from} {to}: {labels}");
            assert!(labels.split(' ').count() <= 5, "{from} {to}: {labels}");
        }
    }

    #[test]
    fn a_unit_is_that_of_the_largest_figure() {
        assert_eq!(unit("synced_s", 0.668), Unit { name: "ms".into(), factor: 1e-3 });
        assert_eq!(unit("space_used_bytes", 41_287_680.0), Unit { name: "MiB".into(), factor: 1_048_576.0 });
        assert_eq!(unit("payload_bytes_per_s", 44.5e6), Unit { name: "MB/s".into(), factor: 1e6 });
        assert_eq!(unit("operations_per_s", 24_270.0), Unit { name: "/s".into(), factor: 1.0 });
        assert_eq!(unit("device_flush_count", 17.0), Unit { name: String::new(), factor: 1.0 });
    }

    #[test]
    fn labels_that_meet_are_left_out() {
        let tick = |at: f64| Tick { at, label: "1,000,000,000".into() };
        let ticks = [10.0, 60.0, 110.0, 160.0, 210.0].map(tick).to_vec();
        let kept = thinned(ticks, [0.0, 300.0]);
        assert_eq!(kept.iter().map(|tick| tick.at).collect::<Vec<_>>(), [10.0, 210.0]);
    }
}
