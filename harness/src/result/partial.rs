//! What a run that did not end has left: its head on the first line, a finished case on each after.
//!
//! Whatever kills a run may cut the last line short; what is above it was written whole.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::{CaseResult, RunReport, Warning};
use crate::error::{Error, Result};

/// Whether a text has the form of a run that did not end: on its first line a whole run, which has no
/// case yet or more below it. A finished run is one object and has cases.
#[must_use]
pub fn is_partial(text: &str) -> bool {
    let mut lines = text.lines();
    let Ok(head) = serde_json::from_str::<Head>(lines.next().unwrap_or_default()) else { return false };
    head.cases.is_empty() || lines.any(|line| !line.trim().is_empty())
}

/// As much of a run as tells whether it has cases.
#[derive(Deserialize)]
struct Head {
    cases: Vec<IgnoredAny>,
}

/// Put the finished cases behind the head, with a warning that the run did not end. `read` reads
/// the head.
///
/// # Errors
///
/// The head is no run, or a line but the last is no case.
pub fn read(text: &str, read: impl FnOnce(&str) -> Result<RunReport>) -> Result<RunReport> {
    let (head, cases) = text.split_once('\n').unwrap_or((text, ""));
    let mut report = read(head)?;
    let lines: Vec<(usize, &str)> =
        (2..).zip(cases.lines()).filter(|(_, line)| !line.trim().is_empty()).collect();
    let whole = text.ends_with('\n');
    for (at, (number, line)) in lines.iter().enumerate() {
        match serde_json::from_str::<CaseResult>(line) {
            Ok(case) => report.cases.push(case),
            Err(_) if at + 1 == lines.len() && !whole => {}
            Err(error) => {
                return Err(Error::usage(format!("read the case on line {number}"))
                    .because(error)
                    .next("take the line out; the others can be read without it"));
            }
        }
    }
    let finished = match report.cases.len() {
        0 => "no case".into(),
        1 => "1 case".into(),
        count => format!("{count} cases"),
    };
    let text = format!("the run did not end; {finished} had finished");
    report.manifest.warnings.push(Warning { code: "partial".into(), text });
    Ok(report)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn head(text: &str) -> Result<RunReport> {
        serde_json::from_str(text).map_err(|error| Error::usage("read this run").because(error))
    }

    fn case(block: u32) -> String {
        json!({
            "id": format!("a/{block}"), "block": block, "order": 1, "started_s": 0.0, "image_bytes": 0,
            "status": "passed",
            "configuration": { "id": "a", "filesystem": "a", "mount_options": "", "mkfs_options": [],
                               "block_size_bytes": 4096, "environment": 0 },
        })
        .to_string()
    }

    fn partial() -> String {
        let head = json!({
            "schema_version": 1, "run_id": "r", "tool": { "name": "fsduel", "version": "0" },
            "manifest": { "kernel": "", "os": "", "cpu": "", "cpus_count": 1, "memory_bytes": 0, "seed": "1",
                          "store": { "path": "", "filesystem": "", "free_bytes": 0 }, "started_at": "",
                          "argv": [] },
            "suite": { "name": "s", "title": "", "scale": "base", "resolved": {} },
            "environments": [], "cases": [],
        });
        format!("{head}\n{}\n{}\n", case(0), case(1))
    }

    #[test]
    fn finished_cases_follow_the_head_and_the_reader_is_warned() {
        assert!(is_partial(&partial()));
        let report = read(&partial(), head).unwrap();
        assert_eq!(report.cases.iter().map(|case| case.block).collect::<Vec<_>>(), [0, 1]);
        assert!(report.manifest.warnings[0].text.contains("2 cases"));
    }

    #[test]
    fn a_run_that_ended_before_its_first_case_is_no_finished_one() {
        let text = partial();
        for head in [text.lines().next().unwrap(), &text[..=text.find('\n').unwrap()]] {
            assert!(is_partial(head));
            let report = read(head, super::tests::head).unwrap();
            assert_eq!(report.manifest.warnings[0].text, "the run did not end; no case had finished");
        }
        let mut finished: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        finished["cases"] = json!([serde_json::from_str::<serde_json::Value>(&case(1)).unwrap()]);
        assert!(!is_partial(&finished.to_string()) && !is_partial(&format!("{finished}\n")));
    }

    #[test]
    fn cut_anywhere_below_the_head_the_whole_lines_are_read() {
        let text = partial();
        let start = text.find('\n').unwrap() + 1;
        for end in start..=text.len() {
            let cut = &text[..end];
            let whole = cut[start..].lines().filter(|line| line.ends_with("\"passed\"}")).count();
            assert_eq!(read(cut, head).unwrap().cases.len(), whole, "{end}");
        }
    }

    #[test]
    fn a_line_that_is_no_case_is_refused_with_its_number() {
        let text = partial().replacen("\"block\":0", "\"block\":\"x\"", 1);
        let error = read(&text, head).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
        assert!(error.next_step().is_some());
    }

    #[test]
    fn one_object_is_no_partial_run_however_it_is_laid_out() {
        for text in ["{}", "{}\n", "{\n}", "{\n}\n{}", "", "fsduel\n{}"] {
            assert!(!is_partial(text), "{text}");
        }
    }
}
