//! Ways to write a stored `RunReport`: one file and one row of the table for each.
//!
//! They read results only, so any report can be made anywhere, without root, from the JSON of an
//! earlier run; and they are tested that way.

pub mod changes;
mod chart;
mod csv;
mod html;
mod human;
pub mod json;
mod junit;
mod markdown;
mod page;
mod part;
mod pick;
pub mod postmark;
mod svg;
mod table;

#[cfg(test)]
mod example;

use std::io::Write;

use crate::error::{Cannot, Result};
use crate::result::RunReport;

/// How a report looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; no line is longer.
    pub width: u16,
    /// Draw lines and signs with ASCII only.
    pub ascii: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { width: 80, ascii: false }
    }
}

/// A way to write a report.
pub struct Format {
    /// On the command line.
    pub name: &'static str,
    /// In a sentence.
    pub meaning: &'static str,
    /// Write it.
    pub write: fn(&RunReport, &mut dyn Write, &Style) -> Result<()>,
}

/// All formats.
pub static ALL: &[Format] = &[
    table::FORMAT,
    html::FORMAT,
    svg::FORMAT,
    markdown::FORMAT,
    csv::FORMAT,
    junit::FORMAT,
    json::FORMAT,
    postmark::FORMAT,
    postmark::TERSE,
];

/// The format of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.name == name)
}

fn write_text(text: &str, to: &mut dyn Write) -> Result<()> {
    to.write_all(text.as_bytes()).and_then(|()| to.flush()).cannot(|| "write the report".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    /// Files of this folder that formats share.
    const SHARED: [&str; 7] = ["mod", "changes", "chart", "example", "human", "page", "pick"];

    #[test]
    fn every_file_of_this_folder_has_a_row_in_the_table() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/report");
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(
                path.is_dir() || SHARED.contains(&name) || find(name).is_some(),
                "report/{name}.rs has no row in report::ALL"
            );
        }
    }

    #[test]
    fn every_format_writes_the_example_and_ends_its_last_line() {
        for format in ALL {
            let mut written = Vec::new();
            (format.write)(&example::postmark(), &mut written, &Style::default()).unwrap();
            assert!(written.ends_with(b"\n"), "{}", format.name);
            assert!(format.meaning.ends_with('.'), "{}", format.name);
        }
    }

    #[test]
    fn a_report_without_cases_can_be_written() {
        let empty = RunReport { cases: vec![], environments: vec![], ..example::report() };
        for format in ALL {
            let written = (format.write)(&empty, &mut Vec::new(), &Style::default());
            match format.name.starts_with("postmark") {
                true => assert_eq!(written.unwrap_err().kind(), Kind::Empty, "{}", format.name),
                false => written.unwrap(),
            }
        }
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let mut full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        for format in ALL {
            let error = (format.write)(&example::postmark(), &mut full, &Style::default()).unwrap_err();
            assert_eq!(error.errno(), Some(nix::errno::Errno::ENOSPC), "{}", format.name);
        }
    }
}
