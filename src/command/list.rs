//! `fsduel list`: what there is to choose from, read from the tables.
//!
//! The parameters of workloads are shown only where workloads are asked for: the list of
//! everything is for finding a name.

use std::io::{self, Write};

use fsduel_harness::Result;
use fsduel_harness::error::Cannot;
use fsduel_harness::require::{Missing, Requirement};

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

/// Width of the lists: that of the help texts.
const WIDTH: usize = 80;

/// Print one topic, or all of them under headings.
pub fn list(arguments: &ListArguments) -> Result<u8> {
    to_stdout(|out| {
        let written = match arguments.topic {
            Some(Topic::Workloads) => workloads(out),
            Some(topic) => columns(out, 0, &rows(topic)),
            None => everything(out),
        };
        written.cannot(|| "write the list".into())
    })?;
    Ok(exit::OK)
}

fn everything(out: &mut dyn Write) -> io::Result<()> {
    for (topic, heading) in ALL {
        writeln!(out, "{heading}")?;
        columns(out, 2, &rows(topic))?;
        writeln!(out)?;
    }
    writeln!(out, "`fsduel list workloads` shows what a suite can set for each workload.")
}

fn rows(topic: Topic) -> Vec<(String, String)> {
    let plain =
        |rows: Vec<parts::Row>| rows.into_iter().map(|row| (row.name.to_owned(), row.meaning)).collect();
    match topic {
        Topic::Suites => plain(parts::suites()),
        Topic::Filesystems => {
            let known = parts::filesystems().into_iter().map(filesystem);
            known.chain(plain(parts::left_out())).collect()
        }
        Topic::Workloads => {
            parts::workloads().iter().map(|row| (row.name.to_owned(), row.meaning.to_owned())).collect()
        }
        Topic::Metrics => plain(parts::metrics()),
        Topic::Formats => plain(parts::formats()),
    }
}

/// A file system with all that it lacks here, and whether a virtual machine does not.
fn filesystem(row: parts::FilesystemRow) -> (String, String) {
    let lacks_kernel = |missing: &Missing| match missing.requirement {
        Requirement::Kernel { linux, .. } => Some(linux),
        _ => None,
    };
    let mut texts: Vec<_> = row.missing.iter().map(|missing| missing.text.clone()).collect();
    let elsewhere = row.missing.iter().find_map(lacks_kernel);
    texts.extend(elsewhere.map(|linux| format!("with --backend vm: a kernel of {linux}")));
    let text = match texts.as_slice() {
        [] => "available".to_owned(),
        texts => format!("not here: {}", texts.join("; ")),
    };
    (row.name.to_owned(), text)
}

/// Every workload with its parameters, as a step of a suite spells them with their defaults.
fn workloads(out: &mut dyn Write) -> io::Result<()> {
    for row in parts::workloads() {
        writeln!(out, "{}\n  {}", row.name, row.meaning)?;
        let parameters: Vec<_> = row.parameters.iter().map(parameter).collect();
        columns(out, 4, &parameters)?;
        writeln!(out)?;
    }
    columns(out, 0, &[(String::new(), STEPS.to_owned())])
}

const STEPS: &str = "The values are the defaults. A step of any workload may also say \
    allow-limit = true: then a full file system is no failure of it.";

fn parameter(parameter: &parts::Parameter) -> (String, String) {
    (format!("{} = {}", parameter.key, parameter.default), parameter.meaning.to_owned())
}

/// Two columns, the first as wide as its longest word, the second wrapped.
fn columns(out: &mut dyn Write, indent: usize, rows: &[(String, String)]) -> io::Result<()> {
    let width = rows.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let gap = if width > 0 { 2 } else { 0 };
    let start = indent + width + gap;
    for (name, text) in rows {
        let text = wrapped(text, WIDTH.saturating_sub(start)).join(&format!("\n{:start$}", ""));
        writeln!(out, "{}", format!("{:indent$}{name:width$}{:gap$}{text}", "", "").trim_end())?;
    }
    Ok(())
}

/// The words of `text` in lines of at most `width`, where no word is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use fsduel_harness::require::{LinuxVersions, lacking};

    use super::*;

    fn written(indent: usize, rows: &[(String, String)]) -> String {
        let mut out = Vec::new();
        columns(&mut out, indent, rows).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_second_column_is_aligned_and_no_line_ends_in_blanks() {
        let rows = [("a".into(), "one".into()), ("long".into(), String::new())];
        assert_eq!(written(2, &rows), "  a     one\n  long\n");
    }

    #[test]
    fn a_long_text_goes_on_below_itself() {
        let text = written(2, &[("name".into(), "word ".repeat(20))]);
        assert_eq!(text, format!("  name  {}word\n        {}word\n", "word ".repeat(13), "word ".repeat(5)));
        assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
    }

    #[test]
    fn a_file_system_that_this_kernel_lacks_is_told_with_the_kernels_that_have_it() {
        let linux = LinuxVersions::since(2, 4).gone_in(6, 13);
        let missing = lacking("oldfs", linux, "6.18.44", "no module");
        let row = |missing: Vec<Missing>| parts::FilesystemRow {
            name: "oldfs",
            common: false,
            requirements: vec![missing[0].requirement.clone()],
            missing,
        };
        let told = "not here: oldfs left Linux in 6.13; kernel 6.18.44 has none; with --backend vm: a kernel of \
                    Linux 5.8 or later, before 6.13";
        assert_eq!(filesystem(row(vec![missing])).1, told);
        let tool = Missing {
            requirement: Requirement::Tool { program: "mkfs.oldfs", package: "oldfs-tools" },
            text: "mkfs.oldfs is not on PATH".into(),
            next: String::new(),
        };
        assert_eq!(filesystem(row(vec![tool])).1, "not here: mkfs.oldfs is not on PATH");
    }

    #[test]
    fn what_no_kernel_has_is_listed_with_the_reason() {
        let listed = rows(Topic::Filesystems);
        let reiser4 = listed.iter().find(|(name, _)| name == "reiser4").unwrap();
        assert!(reiser4.1.starts_with("in no released kernel"), "{}", reiser4.1);
    }

    #[test]
    fn every_parameter_is_told_with_its_default() {
        let mut out = Vec::new();
        workloads(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for parameter in parts::workloads().iter().flat_map(|row| row.parameters) {
            assert!(text.contains(&format!("{} = {}", parameter.key, parameter.default)), "{text}");
        }
    }
}
