//! `fsduel list`: what there is to choose from, read from the tables.

use std::io::Write;

use fsduel_harness::Result;
use fsduel_harness::error::Cannot;

use crate::cli::{ListArguments, Topic};
use crate::destination::to_stdout;
use crate::{exit, parts};

const ALL: [(Topic, &str); 5] = [
    (Topic::Suites, "Suites"),
    (Topic::Filesystems, "File systems"),
    (Topic::Workloads, "Workloads"),
    (Topic::Metrics, "Metrics"),
    (Topic::Formats, "Formats"),
];

/// Print one topic, or all of them under headings.
pub fn list(arguments: &ListArguments) -> Result<u8> {
    to_stdout(|out| {
        for (at, (topic, heading)) in ALL.into_iter().enumerate() {
            match arguments.topic {
                Some(wanted) if wanted != topic => continue,
                Some(_) => {}
                None => writeln!(out, "{}{heading}", if at > 0 { "\n" } else { "" }).cannot(doing)?,
            }
            let indent = if arguments.topic.is_none() { "  " } else { "" };
            columns(out, indent, &rows(topic)).cannot(doing)?;
        }
        Ok(())
    })?;
    Ok(exit::OK)
}

fn doing() -> String {
    "write the list".into()
}

fn rows(topic: Topic) -> Vec<(String, String)> {
    let plain =
        |rows: Vec<parts::Row>| rows.into_iter().map(|row| (row.name.to_owned(), row.meaning)).collect();
    match topic {
        Topic::Suites => plain(parts::suites()),
        Topic::Filesystems => parts::filesystems().into_iter().map(filesystem).collect(),
        Topic::Workloads => plain(parts::workloads()),
        Topic::Metrics => plain(parts::metrics()),
        Topic::Formats => plain(parts::formats()),
    }
}

/// A file system with all that it lacks here.
fn filesystem(row: parts::FilesystemRow) -> (String, String) {
    let missing: Vec<_> = row.missing.iter().map(|missing| missing.text.as_str()).collect();
    let text = match missing.as_slice() {
        [] => "available".to_owned(),
        missing => format!("not here: {}", missing.join("; ")),
    };
    (row.name.to_owned(), text)
}

/// Two columns, the first as wide as its longest word.
fn columns(out: &mut dyn Write, indent: &str, rows: &[(String, String)]) -> std::io::Result<()> {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    for (name, text) in rows {
        writeln!(out, "{}", format!("{indent}{name:width$}  {text}").trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_column_is_aligned_and_no_line_ends_in_blanks() {
        let rows = [("a".into(), "one".into()), ("long".into(), String::new())];
        let mut out = Vec::new();
        columns(&mut out, "  ", &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "  a     one\n  long\n");
    }
}
