//! The stored form of a run: every other report is made from it.
//!
//! Keys stand in the order of the structures. Metrics are `f64`, but bytes and counts among them
//! are whole, and a reader expects `4096`, not `4096.0`.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};
use serde_json::ser::{Formatter, PrettyFormatter};

use super::{Format, Style, write_text};
use crate::error::{Cannot, Error, Result};
use crate::result::{RunReport, SCHEMA_VERSION};

pub(super) const FORMAT: Format =
    Format { name: "json", meaning: "All results, for programs; the stored form of a run.", write };

fn write(report: &RunReport, to: &mut dyn Write, _style: &Style) -> Result<()> {
    write_text(&text(report)?, to)
}

/// A run as JSON, with a newline at its end.
///
/// # Errors
///
/// A value that JSON cannot hold.
pub fn text(report: &RunReport) -> Result<String> {
    pretty(report)
}

/// Anything in the same form.
pub(super) fn pretty(value: &impl Serialize) -> Result<String> {
    let mut bytes = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, Whole::default());
    value.serialize(&mut serializer).cannot(|| "write the report as JSON".into())?;
    bytes.push(b'\n');
    String::from_utf8(bytes).cannot(|| "write the report as JSON".into())
}

/// Read a run from its JSON.
///
/// # Errors
///
/// The text is cut short, not JSON, not a run, or from a newer fsduel. With line and column.
pub fn read(text: &str) -> Result<RunReport> {
    let head: Head = serde_json::from_str(text).map_err(refused)?;
    match head.schema_version {
        None => Err(Error::usage("read this JSON: it has no schema_version, so it is no run of fsduel")
            .next("give the file that `fsduel run --json PATH` wrote")),
        Some(version) if version > u64::from(SCHEMA_VERSION) => Err(newer(version)),
        Some(_) => serde_json::from_str(text).map_err(refused),
    }
}

/// The JSON Schema (draft 2020-12) of a stored run, made from the types themselves, so that what they
/// say of themselves is what a reader elsewhere learns. With a newline at its end.
///
/// # Errors
///
/// A value that JSON cannot hold.
pub fn schema() -> Result<String> {
    let settings = schemars::generate::SchemaSettings::draft2020_12();
    pretty(&settings.into_generator().into_root_schema_for::<RunReport>())
}

#[derive(Deserialize)]
struct Head {
    schema_version: Option<u64>,
}

fn newer(version: u64) -> Error {
    Error::usage(format!(
        "read this run: its schema_version is {version}, and this program knows up to {SCHEMA_VERSION}"
    ))
    .next("use the fsduel that wrote it, or a newer one")
}

fn refused(error: serde_json::Error) -> Error {
    if error.is_eof() {
        return Error::usage("read this run: the text is cut short")
            .because(error)
            .next("the run may not have ended; finished cases are in PATH.partial.jsonl");
    }
    Error::usage("read this run").because(error).next("give the file that `fsduel run --json PATH` wrote")
}

/// Pretty, with whole numbers as such.
#[derive(Default)]
struct Whole(PrettyFormatter<'static>);

/// Integers beyond this are not exact in an `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

impl Formatter for Whole {
    #[expect(clippy::cast_possible_truncation, reason = "whole and below 2^53")]
    fn write_f64<W: ?Sized + Write>(&mut self, to: &mut W, value: f64) -> io::Result<()> {
        if value.fract() == 0.0 && value.abs() < EXACT {
            return self.0.write_i64(to, value as i64);
        }
        self.0.write_f64(to, value)
    }
    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.begin_array(to)
    }
    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_array(to)
    }
    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(to, first)
    }
    fn end_array_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_array_value(to)
    }
    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.begin_object(to)
    }
    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_object(to)
    }
    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(to, first)
    }
    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.begin_object_value(to)
    }
    fn end_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.0.end_object_value(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use crate::report::example;

    #[test]
    fn whole_numbers_have_no_fraction_and_others_keep_theirs() {
        let text = text(&example::report()).unwrap();
        assert!(text.contains("\"space_used_bytes\": 655360,"), "{text}");
        assert!(text.contains("\"synced_s\": 0.412\n"), "{text}");
        assert!(!text.contains(".0,\n"), "{text}");
    }

    #[test]
    fn keys_stand_in_the_order_of_the_structures() {
        assert!(text(&example::report()).unwrap().starts_with("{\n  \"schema_version\": 1,\n  \"run_id\""));
    }

    #[test]
    fn what_is_written_reads_back_the_same() {
        let text = text(&example::report()).unwrap();
        assert_eq!(super::text(&read(&text).unwrap()).unwrap(), text);
    }

    #[test]
    fn text_that_is_cut_short_says_so() {
        let text = text(&example::report()).unwrap();
        let error = read(&text[..text.len() / 2]).unwrap_err();
        assert!(error.to_string().contains("cut short"), "{error}");
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.next_step().unwrap().contains("partial"));
    }

    #[test]
    fn a_newer_schema_is_refused_by_number() {
        let text =
            text(&example::report()).unwrap().replace("\"schema_version\": 1", "\"schema_version\": 2");
        assert!(read(&text).unwrap_err().to_string().contains("schema_version is 2"));
    }

    #[test]
    fn a_field_that_is_missing_is_named() {
        let text = text(&example::report()).unwrap().replacen("\"run_id\"", "\"other\"", 1);
        assert!(read(&text).unwrap_err().to_string().contains("missing field `run_id`"));
        assert!(read("{}").unwrap_err().to_string().contains("no schema_version"));
        assert!(read("fsduel").unwrap_err().to_string().contains("line 1"));
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let text = text(&example::report()).unwrap().replacen('{', "{ \"later\": [1],", 1);
        assert!(read(&text).is_ok());
    }
}
