//! A number of bytes: how it is written in suites and options, and shown to people.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize};

use super::{decimal, number_and_rest};
use crate::error::Error;

/// What a size may end in, and the bytes it stands for.
const UNITS: [(&str, u64); 15] = [
    ("", 1),
    ("B", 1),
    ("k", 1 << 10),
    ("K", 1 << 10),
    ("KiB", 1 << 10),
    ("M", 1 << 20),
    ("MiB", 1 << 20),
    ("G", 1 << 30),
    ("GiB", 1 << 30),
    ("T", 1 << 40),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

/// What [`Bytes`] accepts, for messages.
const ACCEPTED: &str = "write a number of bytes, or one with k, M, G, T (KiB, MiB, GiB, TiB: powers of 1024) or kB, MB, GB, TB \
     (powers of 1000), such as 512M or 2GiB";

/// A number of bytes.
///
/// Read from a number or from text with a unit; stored as a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// As figures are stored. Exact up to 2^53: 8 PiB.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "nothing here is larger than 2^53 bytes")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// 1024 bytes, `n` times.
    #[must_use]
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }
    /// 1024² bytes, `n` times.
    #[must_use]
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }
    /// 1024³ bytes, `n` times.
    #[must_use]
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }

    /// Exactly, as it is typed: `2GiB`, `2304MiB`.
    #[must_use]
    pub fn typed(self) -> String {
        let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
        let found = units.iter().find(|(_, power)| self.0 > 0 && self.0.is_multiple_of(1 << power));
        found.map_or_else(|| self.0.to_string(), |(unit, power)| format!("{}{unit}", self.0 >> power))
    }
}

impl FromStr for Bytes {
    type Err = Error;

    /// Read `512M`, `512MiB`, `4k` (powers of 1024), `53MB` (powers of 1000), `512B` or `512`.
    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = |cause: &str| {
            Error::usage(format!("take `{text}` as a size")).because(cause.to_owned()).next(ACCEPTED)
        };
        let (number, unit) = number_and_rest(text.trim());
        let unit = unit.trim_start();
        let Some((_, factor)) = UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(refuse(&format!("`{unit}` is not a unit of sizes")));
        };
        let bytes = decimal(number, u128::from(*factor))
            .ok_or_else(|| refuse(&format!("`{number}` is not a number that comes to whole bytes")))?;
        u64::try_from(bytes).map(Self).map_err(|_| refuse("it does not fit into 64 bits"))
    }
}

impl fmt::Display for Bytes {
    /// In the largest binary unit that leaves at least 1; one decimal where it is not whole.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = ["B", "KiB", "MiB", "GiB", "TiB"];
        let mut power = (1..names.len()).rev().find(|power| self.0 >> (10 * power) > 0).unwrap_or(0);
        let unit = |power: usize| 1u64 << (10 * power);
        if self.0.is_multiple_of(unit(power)) {
            return write!(f, "{} {}", self.0 / unit(power), names[power]);
        }
        let tenths =
            |power| (u128::from(self.0) * 10 + u128::from(unit(power)) / 2) / u128::from(unit(power));
        // Rounding may have reached the next unit.
        if tenths(power) >= 10_240 && power + 1 < names.len() {
            power += 1;
        }
        write!(f, "{}.{} {}", tenths(power) / 10, tenths(power) % 10, names[power])
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(NumberOrText)
    }
}

/// Takes a size as a suite writes it (text) or as a result stores it (a number).
struct NumberOrText;

impl Visitor<'_> for NumberOrText {
    type Value = Bytes;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size such as 4096 or \"4KiB\"")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Bytes, E> {
        Ok(Bytes(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Bytes, E> {
        u64::try_from(value).map(Bytes).map_err(|_| E::invalid_value(de::Unexpected::Signed(value), &self))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Bytes, E> {
        value.parse().map_err(|error: Error| match error.next_step() {
            Some(next) => E::custom(format!("{error}; {next}")),
            None => E::custom(error),
        })
    }
}

/// Read bytes per second, such as `44.5MB/s`.
///
/// # Errors
///
/// It does not end in `/s`, or what stands before is not a size.
pub fn parse_rate(text: &str) -> Result<Bytes, Error> {
    let size = text.trim().strip_suffix("/s").ok_or_else(|| {
        Error::usage(format!("take `{text}` as bytes per second"))
            .next("write a size and `/s`, such as 44.5MB/s")
    })?;
    size.parse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_a_power_of_1024_and_a_letter_with_b_a_power_of_1000() {
        let table = [
            ("0", 0),
            ("4096", 4096),
            ("512B", 512),
            ("4k", 4096),
            ("4K", 4096),
            ("4KiB", 4096),
            ("4kB", 4000),
            ("512M", 512 << 20),
            ("512MiB", 512 << 20),
            ("512 MiB", 512 << 20),
            ("53MB", 53_000_000),
            ("1G", 1 << 30),
            ("1.5GiB", 3 << 29),
            ("1.8GB", 1_800_000_000),
            ("2T", 2 << 40),
            ("2TB", 2_000_000_000_000),
            ("18446744073709551615", u64::MAX),
        ];
        for (text, bytes) in table {
            assert_eq!(text.parse::<Bytes>().unwrap(), Bytes(bytes), "{text}");
            let json = serde_json::Value::String(text.into());
            assert_eq!(serde_json::from_value::<Bytes>(json).unwrap(), Bytes(bytes), "{text} as JSON");
        }
    }

    #[test]
    fn anything_else_is_refused_with_what_is_accepted() {
        let wrong = [
            "",
            "M",
            "4KB",
            "4m",
            "4mb",
            "4 X",
            "-1",
            "+1",
            "1e3",
            "1,5G",
            "0x10",
            "0.3k",
            "1.5",
            "16777216T",
        ];
        for text in wrong {
            let error = text.parse::<Bytes>().unwrap_err();
            assert_eq!(error.kind(), crate::error::Kind::Usage, "{text}");
            assert!(error.next_step().unwrap().contains("GiB"), "{text}: {error}");
        }
    }

    #[test]
    fn a_size_for_people_has_one_decimal_where_it_is_not_whole() {
        let table = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1 KiB"),
            (1536, "1.5 KiB"),
            (512 << 20, "512 MiB"),
            (2 << 30, "2 GiB"),
            (53_000_000, "50.5 MiB"),
            ((1 << 30) - 1, "1.0 GiB"),
            ((1 << 30) - (1 << 20), "1023 MiB"),
            (u64::MAX, "16777216.0 TiB"),
        ];
        for (bytes, text) in table {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    #[test]
    fn a_whole_size_for_people_reads_back_as_itself() {
        for shift in 0..64 {
            let size = Bytes(1 << shift);
            assert_eq!(size.to_string().parse::<Bytes>().unwrap(), size);
        }
    }

    #[test]
    fn a_size_is_stored_as_a_number() {
        assert_eq!(serde_json::to_string(&Bytes::kib(4)).unwrap(), "4096");
        assert_eq!(serde_json::from_str::<Bytes>("4096").unwrap(), Bytes(4096));
        assert!(serde_json::from_str::<Bytes>("-1").is_err());
        let message = serde_json::from_str::<Bytes>("\"4Q\"").unwrap_err().to_string();
        assert!(message.contains("GiB"), "{message}");
    }

    #[test]
    fn a_rate_is_a_size_per_second() {
        assert_eq!(parse_rate("44.5MB/s").unwrap(), Bytes(44_500_000));
        assert!(parse_rate("44.5MB").is_err());
        assert!(parse_rate("44.5MBit/s").is_err());
    }
}
