//! PostMark: beside the real program, on file systems that are full, and on fresh ones.
//!
//! The real program is the best proof there is that ours does the same, so wherever it can run,
//! it runs, on the same configuration. Where it cannot, the vectors hold what it printed.

mod calls;
mod faults;
mod fresh;
mod reports;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fsduel_harness::require::Requirement;
use libtest_mimic::Trial;
use serde_json::Value;

use crate::lab::{Lab, told};

pub const POSTMARK: Requirement = Requirement::Tool { program: "postmark", package: "postmark" };
const STRACE: Requirement = Requirement::Tool { program: "strace", package: "strace" };

pub fn trials() -> Vec<Trial> {
    [reports::trials(), calls::trials(), faults::trials(), fresh::trials()].into_iter().flatten().collect()
}

/// A folder `name` of a lab with a configuration `c` and the places `a`, `b` and `d`.
fn folder(lab: &Lab, name: &str, configuration: &str) -> PathBuf {
    let folder = lab.path(name);
    for place in ["a", "b", "d"] {
        fs::create_dir_all(folder.join(place)).unwrap();
    }
    fs::write(folder.join("c"), configuration).unwrap();
    folder
}

/// `command`, in a folder; it must succeed. What it printed.
fn printed(command: &mut Command, folder: &Path) -> String {
    let output = command.current_dir(folder).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    text(&output)
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Counts and amounts of every verbose report in a text, in order: the lines below `Files:` and
/// `Data:` without the rates behind them, which depend on the time.
pub fn figures(text: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut figures = vec![];
    for line in text.lines() {
        if !line.starts_with('\t') {
            is_inside = line == "Files:" || line == "Data:";
        } else if is_inside {
            let figure = line.split_once(" (").map_or(line, |(figure, _)| figure);
            figures.push(figure.to_owned());
        }
    }
    figures
}

fn vector(file: &str, name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/postmark").join(file);
    let all: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    all.into_iter().find(|vector| vector["name"] == name).unwrap()
}

/// The configuration of a vector.
fn configuration(vector: &Value) -> String {
    let lines = vector["config_lines"].as_array().unwrap();
    let lines = lines.iter().map(|line| format!("{}\n", line.as_str().unwrap()));
    lines.chain(["run\nquit\n".to_owned()]).collect()
}

/// The figures of a vector, as [`figures`] has them.
fn expected(vector: &Value) -> Vec<String> {
    let of = |key: &str| {
        let value = &vector["expected"][key];
        value.as_str().map_or_else(|| value.to_string(), str::to_owned)
    };
    vec![
        format!("\t{} created", of("created")),
        format!("\t\tCreation alone: {} files", of("created_alone")),
        format!("\t\tMixed with transactions: {} files", of("created_mixed")),
        format!("\t{} read", of("read")),
        format!("\t{} appended", of("appended")),
        format!("\t{} deleted", of("deleted")),
        format!("\t\tDeletion alone: {} files", of("deleted_alone")),
        format!("\t\tMixed with transactions: {} files", of("deleted_mixed")),
        format!("\t{} read", of("bytes_read_printed")),
        format!("\t{} written", of("bytes_written_printed")),
    ]
}
