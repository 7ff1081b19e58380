//! Durations: how they are written in suites and options, and shown to people.

use std::time::Duration;

use super::{decimal, number_and_rest};
use crate::error::{Error, Result};

/// Units from the longest to the shortest, in nanoseconds.
const UNITS: [(&str, u128); 4] =
    [("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000)];

/// Read `90s`, `2m`, `1m30s`, `250ms`, `1h` or `1.5s`.
///
/// # Errors
///
/// A number without a unit, a unit that is none, or units that do not go from long to short.
pub fn parse_duration(text: &str) -> Result<Duration> {
    let refuse = || {
        Error::usage(format!("take `{text}` as a duration"))
            .next("write numbers with h, m, s or ms, such as 90s, 1m30s or 250ms")
    };
    let (mut rest, mut nanoseconds, mut next_unit) = (text.trim(), 0u128, 0);
    while !rest.is_empty() || next_unit == 0 {
        let (number, after) = number_and_rest(rest);
        let end = after.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(after.len());
        let (name, after) = after.split_at(end);
        let place = UNITS.iter().position(|(unit, _)| *unit == name).ok_or_else(refuse)?;
        if place < next_unit {
            return Err(refuse());
        }
        let part = decimal(number, UNITS[place].1).ok_or_else(refuse)?;
        nanoseconds = nanoseconds.checked_add(part).ok_or_else(refuse)?;
        (rest, next_unit) = (after, place + 1);
    }
    u64::try_from(nanoseconds).map(Duration::from_nanos).map_err(|_| refuse())
}

/// A duration for people: `1h 2m 3s`, `90 s` as `1m 30s`, below a minute `1.5 s`, `250 ms`.
#[must_use]
pub fn duration_text(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 if !duration.is_zero() => format!("{} ms", (duration.as_secs_f64() * 1000.0 * 10.0).round() / 10.0),
        0..60 => format!("{} s", (duration.as_secs_f64() * 10.0).round() / 10.0),
        60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        _ => format!("{}h {}m {}s", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_numbers_with_units_from_long_to_short() {
        let table = [
            ("90s", 90_000),
            ("2m", 120_000),
            ("1m30s", 90_000),
            ("250ms", 250),
            ("1h", 3_600_000),
            ("1h2m3s4ms", 3_723_004),
            ("1.5s", 1500),
            ("0s", 0),
        ];
        for (text, milliseconds) in table {
            assert_eq!(parse_duration(text).unwrap(), Duration::from_millis(milliseconds), "{text}");
        }
    }

    #[test]
    fn a_duration_without_a_unit_or_with_a_wrong_one_is_refused() {
        let wrong = ["", "90", "s", "30s1m", "1m1m", "-1s", "1d", "5 minutes", "1M", "99999999999999h"];
        for text in wrong {
            let error = parse_duration(text).unwrap_err();
            assert!(error.next_step().unwrap().contains("1m30s"), "{text}");
        }
    }

    #[test]
    fn a_duration_for_people_is_short() {
        let table =
            [(0, "0 s"), (250, "250 ms"), (1500, "1.5 s"), (90_000, "1m 30s"), (3_723_000, "1h 2m 3s")];
        for (milliseconds, text) in table {
            assert_eq!(duration_text(Duration::from_millis(milliseconds)), text);
        }
    }
}
