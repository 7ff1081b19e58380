//! Parameters of a step: read strictly, with one source of defaults for the program and its help.

use std::fmt;
use std::ops::RangeInclusive;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::units::Bytes;
use crate::workload::Build;

/// A parameter of a workload, for help and lists.
pub struct Parameter {
    /// As suites spell it.
    pub key: &'static str,
    /// In a sentence.
    pub meaning: &'static str,
    /// The value where a suite gives none, as a suite spells it.
    pub default: &'static str,
}

/// See [`Span`].
pub const FILE_SIZE: Parameter = Parameter {
    key: "file-size",
    meaning: "Bytes in a file: a size as \"4KiB\", or a range with both ends included.",
    default: "\"1..9\"",
};

/// See [`Fsync`].
pub const FSYNC: Parameter = Parameter {
    key: "fsync",
    meaning: "`none`, each `file` before its close, or all files opened again at the `end`.",
    default: "\"none\"",
};

/// See [`Pattern`](crate::content::Pattern).
pub const PATTERN: Parameter =
    Parameter { key: "pattern", meaning: "`random`, `zero` or `text`.", default: "\"random\"" };

/// Read the parameters of a step into the workload's own struct, in which each has a default.
pub fn read<T: DeserializeOwned>(build: &Build) -> Result<T> {
    let given = build.parameters.as_object().cloned().unwrap_or_default();
    let alone = |(key, value): &(&String, &Value)| {
        serde_json::from_value::<T>(serde_json::json!({ key.as_str(): value })).is_err()
    };
    let wrong = given.iter().find(alone).map(|(key, value)| format!("`{key} = {value}`"));
    serde_json::from_value(Value::Object(given.clone())).map_err(|cause| {
        let what = wrong.unwrap_or_else(|| "the parameters".into());
        Error::usage(format!("use {what} in step `{}`", build.step))
            .because(in_words(&cause.to_string()))
            .next("`fsduel list workloads` shows what each workload takes")
    })
}

/// What serde says, with words of suites in place of Rust's types.
fn in_words(cause: &str) -> String {
    cause
        .replace("expected u64", "expected a whole number")
        .replace("expected a boolean", "expected true or false")
}

/// A step cannot do nothing.
pub fn at_least_one(build: &Build, key: &str, value: u64) -> Result<()> {
    if value > 0 {
        return Ok(());
    }
    Err(Error::usage(format!("run step `{}` with {key} = 0", build.step))
        .next(format!("set {key} to 1 or more")))
}

/// When files are brought to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fsync {
    /// Never; `syncfs` of the measurement does it.
    #[default]
    None,
    /// Each file before its close.
    File,
    /// Each file, opened again, after all have been made.
    End,
}

/// A number, or all numbers from one to another, both included: `"1..9"`, `4096`, `"4KiB"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The smallest.
    pub low: u64,
    /// The largest.
    pub high: u64,
}

impl Span {
    /// For a draw.
    pub fn range(self) -> RangeInclusive<u64> {
        self.low..=self.high
    }

    fn parse(text: &str) -> std::result::Result<Self, String> {
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        let size = |text: &str| text.trim().parse::<Bytes>().map_err(|error| error.to_string());
        let (Bytes(low), Bytes(high)) = (size(low)?, size(high)?);
        if low > high {
            return Err(format!("the range `{text}` is reversed; write the smaller number first"));
        }
        Ok(Self { low, high })
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high {
            write!(f, "{}", self.low)
        } else {
            write!(f, "{}..{}", self.low, self.high)
        }
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = match Value::deserialize(deserializer)? {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text,
            other => return Err(D::Error::custom(format!("`{other}` is no number, size or range"))),
        };
        Self::parse(&text).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_a_number_a_size_or_a_range() {
        for (text, low, high) in
            [("\"1..9\"", 1, 9), ("7", 7, 7), ("\"4k\"", 4096, 4096), ("\"1KiB .. 1MB\"", 1024, 1_000_000)]
        {
            let span: Span = serde_json::from_str(text).unwrap();
            assert_eq!(span, Span { low, high }, "{text}");
            let again: Span = serde_json::from_value(serde_json::to_value(span).unwrap()).unwrap();
            assert_eq!(again, span);
        }
    }

    #[test]
    fn what_is_no_span_is_refused_with_the_reason() {
        for (text, reason) in [
            ("\"9..1\"", "reversed"),
            ("\"4 Kb\"", "as a size"),
            ("-1", "as a size"),
            ("1.5", "as a size"),
            ("\"..9\"", "as a size"),
            ("\"99999999T\"", "as a size"),
            ("true", "no number, size or range"),
        ] {
            let error = serde_json::from_str::<Span>(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
