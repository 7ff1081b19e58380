//! How often a run is repeated.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};

/// How many blocks are measured; each holds every configuration once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// So many.
    Times(u32),
    /// Until every comparison is resolved, at most the last of [`Repeat::LOOKS`].
    Auto,
}

impl Default for Repeat {
    fn default() -> Self {
        Self::Times(1)
    }
}

impl Repeat {
    /// The numbers of blocks after which `auto` looks whether it may stop. Few, and each half as
    /// many again: every look is another chance to see a winner where there is none.
    pub const LOOKS: [u32; 6] = [5, 8, 12, 18, 27, 40];

    /// More than anyone waits for.
    const MOST: u32 = 10_000;

    /// Measured blocks, at most.
    #[must_use]
    pub fn blocks(self) -> u32 {
        match self {
            Self::Times(times) => times,
            Self::Auto => Self::LOOKS[Self::LOOKS.len() - 1],
        }
    }

    /// Whether one more block runs first, is stored as block 0 and enters nothing.
    #[must_use]
    pub fn warms_up(self) -> bool {
        self.blocks() > 2
    }

    /// How often the results are looked at with the freedom to stop.
    #[must_use]
    pub fn looks(self) -> u32 {
        match self {
            Self::Times(_) => 1,
            Self::Auto => u32::try_from(Self::LOOKS.len()).unwrap_or(u32::MAX),
        }
    }
}

impl FromStr for Repeat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let times = text.parse().ok().filter(|times| (1..=Self::MOST).contains(times));
        times.map(Self::Times).ok_or_else(|| {
            Error::usage(format!("repeat a run `{text}` times"))
                .next(format!("write a whole number from 1 to {}, or auto", Self::MOST))
        })
    }
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(times) => write!(f, "{times}"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

impl Serialize for Repeat {
    /// A number, or `"auto"`.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Times(times) => to.serialize_u32(*times),
            Self::Auto => to.serialize_str("auto"),
        }
    }
}

impl<'de> Deserialize<'de> for Repeat {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let written = serde_json::Value::deserialize(from)?;
        let text = written.as_str().map_or_else(|| written.to_string(), str::to_owned);
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_or_auto_is_read_and_anything_else_refused() {
        for text in ["1", "6", "10000", "auto"] {
            let repeat: Repeat = text.parse().unwrap();
            assert_eq!(repeat.to_string(), text);
            let json = serde_json::to_string(&repeat).unwrap();
            assert_eq!(serde_json::from_str::<Repeat>(&json).unwrap(), repeat);
        }
        for wrong in ["", "0", "-1", "1.5", "10001", "Auto", "6x"] {
            let error = wrong.parse::<Repeat>().unwrap_err();
            assert!(error.next_step().is_some(), "{wrong}: {error}");
            assert!(serde_json::from_value::<Repeat>(wrong.into()).is_err(), "{wrong}");
        }
        for wrong in [serde_json::json!(0), serde_json::json!(1.5), serde_json::json!(10_001)] {
            assert!(serde_json::from_value::<Repeat>(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_block_to_warm_up_comes_before_more_than_two() {
        let warms = |text: &str| text.parse::<Repeat>().unwrap().warms_up();
        assert!(!warms("1") && !warms("2") && warms("3") && warms("auto"));
    }
}
