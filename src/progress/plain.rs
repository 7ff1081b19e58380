//! Lines for a log: where nobody sees a line move, one each ten seconds says that work goes on.

use std::time::{Duration, Instant};

use super::state::Words;
use super::words::roughly;

/// Between two lines about the same case.
const EVERY: Duration = Duration::from_secs(10);

/// When a line is due.
pub struct Plain {
    last: Instant,
}

impl Plain {
    pub fn begin(now: Instant) -> Self {
        Self { last: now }
    }

    /// A case has begun, or a line was written.
    pub fn wrote(&mut self, now: Instant) {
        self.last = now;
    }

    /// Whether the next one is due.
    pub fn is_due(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.last) >= EVERY
    }
}

/// `[3/18] btrfs/1 fill: 1.20 GiB, 812 MiB/s, 40 s left; run: 3 min left`. What has no number says
/// how long it has gone on, or nothing where it has only begun.
pub fn line(words: &Words) -> String {
    let amount = words.amount.as_ref().map(|amount| format!("{amount}{}", words.unit));
    let mut parts: Vec<String> =
        [amount, words.rate.clone(), words.left.clone()].into_iter().flatten().collect();
    if parts.is_empty() && words.since >= Duration::from_secs(1) {
        parts.push(format!("for {}", roughly(words.since)));
    }
    let run_left = words.run_left.as_ref().map(|left| format!("; {left}")).unwrap_or_default();
    let colon = if parts.is_empty() { "" } else { ": " };
    format!("{} {}{colon}{}{run_left}", words.case, words.doing, parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_how_far_the_step_and_the_run_are() {
        let words = Words {
            case: "[3/18] btrfs/1".into(),
            doing: "fill".into(),
            amount: Some("1.20 GiB".into()),
            rate: Some("812 MiB/s".into()),
            chart: Some("▁▂".into()),
            left: Some("40 s left".into()),
            run_left: Some("run: 3 min left".into()),
            ..Words::default()
        };
        let told = line(&words);
        assert_eq!(told, "[3/18] btrfs/1 fill: 1.20 GiB, 812 MiB/s, 40 s left; run: 3 min left");
        let counted = Words { amount: Some("5 of 9".into()), unit: " operations", run_left: None, ..words };
        assert_eq!(line(&counted), "[3/18] btrfs/1 fill: 5 of 9 operations, 812 MiB/s, 40 s left");
    }

    #[test]
    fn what_has_no_number_says_how_long_it_has_gone_on() {
        let since = Duration::from_secs(12);
        let words = Words { case: "[1/3] a/1".into(), doing: "fsck".into(), since, ..Words::default() };
        assert_eq!(line(&words), "[1/3] a/1 fsck: for 12 s");
        let begun = Words { since: Duration::from_millis(999), ..words };
        assert_eq!(line(&begun), "[1/3] a/1 fsck");
    }

    #[test]
    fn a_line_is_due_each_ten_seconds() {
        let now = Instant::now();
        let mut plain = Plain::begin(now);
        assert!(!plain.is_due(now + EVERY / 2) && plain.is_due(now + EVERY));
        plain.wrote(now + EVERY);
        assert!(!plain.is_due(now + EVERY + EVERY / 2) && plain.is_due(now + 2 * EVERY));
    }
}
