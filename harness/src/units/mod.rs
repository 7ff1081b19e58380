//! Sizes, times and seeds as types.
//!
//! A size is written as `mkfs` and `truncate` write it: a bare letter is a power of 1024. The
//! letters with a `B` are powers of 1000, as `dd` and the sellers of disks use them, so a figure
//! can be copied from a source as it was printed. Anything else is refused, because a wrong guess
//! is a factor nobody notices.

use serde::{Deserialize, Serialize};

mod bytes;
pub mod human;
pub mod plain;
mod time;

pub use bytes::{Bytes, parse_rate};
pub use time::{duration_text, parse_duration};

/// Decides every name, size, byte and order of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// A seed of its own for one part of a run, such as a step.
    #[must_use]
    pub fn derive(self, part: &str) -> Self {
        Self(xxhash_rust::xxh3::xxh3_64_with_seed(part.as_bytes(), self.0))
    }
}

/// A decimal number such as `1.5`, times `unit`; `None` unless that is a whole number that fits.
fn decimal(text: &str, unit: u128) -> Option<u128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let scale = 10u128.checked_pow(u32::try_from(fraction.len()).ok()?)?;
    let digits = |text: &str| {
        let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| text.parse::<u128>().ok()).flatten()
    };
    let parts = digits(fraction)?.checked_mul(unit)?;
    if parts % scale != 0 {
        return None;
    }
    digits(whole)?.checked_mul(unit)?.checked_add(parts / scale)
}

/// Split `12.5MiB` into its number and the rest.
fn number_and_rest(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_run_has_a_seed_of_its_own() {
        assert_ne!(Seed(1).derive("small-files"), Seed(1).derive("directories"));
        assert_ne!(Seed(1).derive("small-files"), Seed(2).derive("small-files"));
        assert_eq!(Seed(1).derive("small-files"), Seed(1).derive("small-files"));
    }

    #[test]
    fn a_fraction_must_come_to_a_whole_number() {
        assert_eq!(decimal("1.5", 2), Some(3));
        assert_eq!(decimal("1.25", 2), None);
        for wrong in ["", ".", "1.", ".5", "1.2.3", "-1", "+1", "1_000", "٣"] {
            assert_eq!(decimal(wrong, 1024), None, "{wrong:?}");
        }
    }
}
