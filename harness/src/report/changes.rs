//! A run against an earlier one, without the rest of a report: what a program that compares two
//! files shows.

use std::io::Write;

use serde::Serialize;

use super::{Style, json, table, write_text};
use crate::error::Result;
use crate::result::{Changes, GateResult, SCHEMA_VERSION};

/// Tables for a terminal: which runs, as the title says, what differs, and whether the gates hold.
///
/// # Errors
///
/// It cannot be written.
pub fn write(
    title: &str,
    changes: &Changes,
    gates: &[GateResult],
    to: &mut dyn Write,
    style: &Style,
) -> Result<()> {
    write_text(&table::of_changes(title, changes, gates, style), to)
}

/// The same for programs: one object, with a newline at its end.
///
/// # Errors
///
/// A value that JSON cannot hold.
pub fn json(changes: &Changes, gates: &[GateResult]) -> Result<String> {
    json::pretty(&Stored { schema_version: SCHEMA_VERSION, changes, gates })
}

#[derive(Serialize)]
struct Stored<'a> {
    schema_version: u32,
    #[serde(flatten)]
    changes: &'a Changes,
    gates: &'a [GateResult],
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn written(width: u16) -> String {
        let (changes, gates) = example::changes();
        let mut bytes = vec![];
        write("new.json against old.json", &changes, &gates, &mut bytes, &Style { width, ascii: false })
            .unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn two_runs_and_what_is_between_them() {
        insta::assert_snapshot!("changes_80", written(80));
        insta::assert_snapshot!("changes_120", written(120));
    }

    #[test]
    fn no_line_is_longer_than_the_width() {
        for width in [40, 60, 80, 100, 132] {
            let text = written(width);
            let long = text.lines().find(|line| line.chars().count() > usize::from(width));
            assert_eq!(long, None, "at {width}");
        }
    }

    #[test]
    fn the_json_is_one_object_with_whole_numbers_and_reads_back() {
        let (changes, gates) = example::changes();
        let text = json(&changes, &gates).unwrap();
        assert!(text.starts_with("{\n  \"schema_version\": 1,\n  \"base_run_id\""), "{text}");
        assert!(text.contains("\"old\": 41287680,") && text.ends_with("}\n"), "{text}");
        let read: Changes = serde_json::from_str(&text).unwrap();
        assert_eq!(read, changes);
        let gate = &serde_json::from_str::<serde_json::Value>(&text).unwrap()["gates"][1];
        assert_eq!(gate["gate_verdict"], "broken");
    }
}
