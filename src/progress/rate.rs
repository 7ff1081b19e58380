//! How fast something grows, over the last twenty seconds: a number, and a small chart.

use std::collections::VecDeque;
use std::time::Instant;

/// Intervals that are kept: one a second.
const KEPT: usize = 20;
/// From little to much.
const SIGNS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// The same where the terminal has ASCII only.
const ASCII: [char; 8] = ['_', '.', ':', '-', '=', '+', '*', '#'];

/// A number that grows, as it was at some moments.
pub struct Rate {
    seen: VecDeque<(Instant, u64)>,
}

impl Rate {
    /// Nothing at first.
    pub fn begin(now: Instant) -> Self {
        Self { seen: VecDeque::from([(now, 0)]) }
    }

    /// It is so much now.
    pub fn add(&mut self, now: Instant, value: u64) {
        self.seen.push_back((now, value));
        if self.seen.len() > KEPT + 1 {
            self.seen.pop_front();
        }
    }

    /// For each second, over all that is kept; nothing before it has grown.
    pub fn per_s(&self) -> Option<f64> {
        let growth = between(self.seen.front()?, self.seen.back()?)?;
        (growth > 0.0).then_some(growth)
    }

    /// A sign for each interval; the highest is the fastest.
    pub fn chart(&self, utf8: bool) -> String {
        let pairs = self.seen.iter().zip(self.seen.iter().skip(1));
        let rates: Vec<f64> = pairs.filter_map(|(from, to)| between(from, to)).collect();
        let fastest = rates.iter().copied().fold(0.0, f64::max);
        rates.iter().map(|rate| sign(rate / fastest, if utf8 { &SIGNS } else { &ASCII })).collect()
    }
}

/// The sign of a part of 1; the lowest for what is no number, as where nothing grows.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 7 after the rounding")]
fn sign(part: f64, signs: &[char; 8]) -> char {
    signs[(part * 7.0).round().clamp(0.0, 7.0) as usize]
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people to look at")]
fn between(from: &(Instant, u64), to: &(Instant, u64)) -> Option<f64> {
    let seconds = to.0.saturating_duration_since(from.0).as_secs_f64();
    (seconds > 0.0).then(|| to.1.saturating_sub(from.1) as f64 / seconds)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// One value a second.
    fn rate(values: &[u64]) -> Rate {
        let (begun, mut second) = (Instant::now(), Duration::ZERO);
        let mut rate = Rate::begin(begun);
        for value in values {
            second += Duration::from_secs(1);
            rate.add(begun + second, *value);
        }
        rate
    }

    #[test]
    fn a_rate_is_growth_for_each_second_and_absent_where_there_is_none() {
        assert_eq!(rate(&[]).per_s(), None);
        assert_eq!(rate(&[0, 0]).per_s(), None);
        assert_eq!(rate(&[100, 300]).per_s(), Some(150.0));
        let begun = Instant::now();
        let mut at_once = Rate::begin(begun);
        at_once.add(begun, 7);
        assert_eq!((at_once.per_s(), at_once.chart(true)), (None, String::new()));
    }

    #[test]
    fn only_the_last_twenty_seconds_count() {
        let mut values: Vec<u64> = (1..=30).map(|second| 1_000_000 * second).collect();
        values.extend((1..=20).map(|second| 30_000_000 + second));
        assert_eq!(rate(&values).per_s(), Some(1.0));
        assert_eq!(rate(&values).chart(true).chars().count(), KEPT);
    }

    #[test]
    fn the_chart_has_a_sign_for_each_second_and_the_highest_is_the_fastest() {
        assert_eq!(rate(&[700, 700, 1000, 1100, 1101]).chart(true), "█▁▄▂▁");
        assert_eq!(rate(&[700, 700, 1000, 1100, 1101]).chart(false), "#_-._");
        assert_eq!(rate(&[0, 0]).chart(true), "▁▁");
        assert!(ASCII.iter().all(char::is_ascii));
    }
}
