//! What PostMark can be told, with its own names and defaults.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::sys::proc::kib_field;
use crate::units::Bytes;

/// The longest name of a file that PostMark has room for: location, subdirectory and number.
pub const LONGEST_NAME: usize = 80;
/// The least transactions: PostMark divides by a tenth of them, and is killed by SIGFPE below.
pub const LEAST_TRANSACTIONS: u32 = 10;
/// Sizes and numbers must stay below this: PostMark doubles them in 32 bits.
pub const TOO_LARGE: u32 = 1 << 30;

/// The settings of one run of PostMark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// Smallest size of a file, in bytes.
    pub size_low: u32,
    /// Size that appends do not pass; a new file stays below it, unless it is `size_low`.
    pub size_high: u32,
    /// Files made before the transactions.
    pub number: u32,
    /// Transactions.
    pub transactions: u32,
    /// Of PostMark's own generator.
    pub seed: u32,
    /// Where files are; empty: the current directory.
    pub locations: Vec<Location>,
    /// Subdirectories of each location; there are none below 2.
    pub subdirectories: u32,
    /// Bytes read at once.
    pub read: u32,
    /// Bytes written at once.
    pub write: u32,
    /// Through the streams of the C library, or by bare system calls.
    pub buffering: bool,
    /// Chance in tenths of a read rather than an append; -1: neither.
    pub bias_read: i32,
    /// Chance in tenths of a creation rather than a deletion; -1: neither.
    pub bias_create: i32,
    /// How the report is printed.
    pub report: ReportStyle,
}

/// A place for files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Location {
    /// As typed.
    pub path: String,
    /// How often it is chosen, beside the others.
    #[serde(default = "one")]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

/// How PostMark prints its report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportStyle {
    /// Lines with words.
    #[default]
    Verbose,
    /// One line of numbers.
    Terse,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            size_low: 500,
            size_high: 10_000,
            number: 500,
            transactions: 500,
            seed: 42,
            locations: vec![],
            subdirectories: 0,
            read: 512,
            write: 512,
            buffering: true,
            bias_read: 5,
            bias_create: 5,
            report: ReportStyle::Verbose,
        }
    }
}

impl Settings {
    /// No file can have a higher number: each transaction makes one at most.
    #[must_use]
    pub fn highest_number(&self) -> u64 {
        u64::from(self.number) + u64::from(self.transactions)
    }

    /// Refuse what PostMark itself cannot run.
    ///
    /// # Errors
    ///
    /// Fewer than 10 transactions, sizes or numbers from 2^30, names over 80 characters, or more
    /// memory than is free.
    pub fn check(&self) -> Result<()> {
        self.check_numbers()?;
        self.check_names()?;
        let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
        kib_field(&meminfo, "MemAvailable").map_or(Ok(()), |available| self.check_memory(available))
    }

    /// The table has two slots of 16 bytes for each file, and 12 bytes for what was written to it;
    /// the text is as long as the longest file.
    fn check_memory(&self, available: Bytes) -> Result<()> {
        let needed = Bytes(u64::from(self.number) * (2 * 16 + 12) + u64::from(self.size_high));
        if needed <= available {
            return Ok(());
        }
        let doing = format!("run PostMark with number {} and size {}", self.number, self.size_high);
        Err(Error::usage(doing)
            .because(format!("it takes {needed} of memory, and {available} are free"))
            .next("set a smaller number or size"))
    }

    fn check_numbers(&self) -> Result<()> {
        if self.transactions < LEAST_TRANSACTIONS {
            let doing = format!("run PostMark with {} transactions", self.transactions);
            return Err(Error::usage(doing)
                .because("it divides by a tenth of them, and is killed by SIGFPE below 10")
                .next("set transactions 10 or more"));
        }
        for (what, value) in [("number", self.number), ("size", self.size_low.max(self.size_high))] {
            if value == 0 || value >= TOO_LARGE {
                return Err(Error::usage(format!("run PostMark with {what} {value}"))
                    .because("it doubles the number in 32 bits")
                    .next(format!("set {what} to 1 or more, and below {TOO_LARGE}")));
            }
        }
        for (what, value) in [("read", self.read), ("write", self.write), ("size", self.size_low)] {
            if value == 0 {
                return Err(Error::usage(format!("run PostMark with {what} 0"))
                    .next(format!("set {what} to 1 or more")));
            }
        }
        for (what, value) in [("read", self.bias_read), ("create", self.bias_create)] {
            if !(-1..=10).contains(&value) {
                return Err(
                    Error::usage(format!("run PostMark with bias {what} {value}")).next("use -1 to 10")
                );
            }
        }
        self.check_weights()?;
        if self.size_high < self.size_low {
            return Err(Error::usage(format!(
                "run PostMark with sizes from {} to {}",
                self.size_low, self.size_high
            ))
            .next("write the smaller size first"));
        }
        Ok(())
    }

    fn check_weights(&self) -> Result<()> {
        let weights = self.locations.iter().map(|location| u64::from(location.weight));
        let sum: u64 = weights.clone().sum();
        if weights.min() == Some(0) || sum >= TOO_LARGE.into() {
            return Err(Error::usage(format!("run PostMark with weights of locations that sum up to {sum}"))
                .because("each location stands in a table as often as its weight tells")
                .next(format!("set each weight to 1 or more, and all below {TOO_LARGE}")));
        }
        Ok(())
    }

    /// The longest name: of the last file, in the last subdirectory.
    fn check_names(&self) -> Result<()> {
        let most = self.highest_number();
        let below = match self.subdirectories {
            0 | 1 => most.to_string(),
            count => format!("s{}/{most}", count - 1),
        };
        let named = self.locations.iter().map(|location| format!("{}/{below}", location.path));
        let longest = named.chain([below.clone()]).max_by_key(String::len).unwrap_or_default();
        if longest.len() <= LONGEST_NAME {
            return Ok(());
        }
        Err(Error::usage(format!("make files with names such as {longest}"))
            .because(format!(
                "they have {} characters, and PostMark has room for {LONGEST_NAME}",
                longest.len()
            ))
            .next("set a shorter location"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_that_make_no_table_are_refused() {
        let location = |weight| Location { path: "a".into(), weight };
        let check = |weights: &[u32]| {
            let locations = weights.iter().copied().map(location).collect();
            Settings { locations, ..Settings::default() }.check()
        };
        for weights in [&[0][..], &[0, 0], &[1, 0], &[u32::MAX, u32::MAX], &[TOO_LARGE]] {
            check(weights).unwrap_err();
        }
        check(&[1, TOO_LARGE - 2]).unwrap();
    }

    #[test]
    fn a_table_or_a_text_that_memory_has_no_room_for_is_refused_with_both_sizes() {
        let settings = Settings { number: TOO_LARGE - 1, ..Settings::default() };
        let error = settings.check_memory(Bytes(16 << 30)).unwrap_err().to_string();
        assert!(error.contains("44.0 GiB") && error.contains("16 GiB"), "{error}");
        let settings = Settings { size_high: TOO_LARGE - 1, ..Settings::default() };
        settings.check_memory(Bytes(512 << 20)).unwrap_err();
        settings.check_memory(Bytes(2 << 30)).unwrap();
    }
}
