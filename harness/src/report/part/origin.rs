//! What somebody needs who wants to judge or repeat a run: the program, its options as resolved, the
//! tools, and the command that made each file system.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Page;
use crate::report::human;
use crate::result::RunReport;

/// The program and its command line, tools, file systems, options.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    let manifest = &report.manifest;
    page.title("How it was run");
    page.field("run", &report.run_id);
    page.field("program", &format!("{} {}", report.tool.name, report.tool.version));
    page.field("started", &manifest.started_at);
    if let Some(load) = manifest.load_average {
        page.field("load average", &human::significant(load));
    }
    tools(report, page);
    if !manifest.argv.is_empty() {
        page.command(&manifest.argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
    }
    made(report, page);
    let mut options = vec![];
    flatten(None, &report.suite.resolved, &mut options);
    if !options.is_empty() {
        page.title("Options as resolved");
        page.table(&["option", "value"], options, 2);
    }
}

/// Each version line once.
fn tools(report: &RunReport, page: &mut Page) {
    let lines: BTreeSet<(&String, &String)> = report.environments.iter().flat_map(|one| &one.tools).collect();
    lines.into_iter().for_each(|(name, version)| page.field(name, version));
}

/// A word for a shell.
fn quoted(word: &str) -> String {
    let plain = |sign: char| sign.is_alphanumeric() || "-_./=:,+@%^".contains(sign);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The first that was made of each configuration: seeds and UUIDs differ from block to block.
fn made(report: &RunReport, page: &mut Page) {
    let of = |id: &str| {
        let case = report.measured(id).into_iter().find(|case| !case.mkfs_command.is_empty())?;
        let command = case.mkfs_command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        let mounted = case.mount_options_effective.clone().unwrap_or_else(|| "-".into());
        let features = if case.features.is_empty() { "-".into() } else { case.features.join(" ") };
        Some(vec![id.to_owned(), command, mounted.replace(',', ", "), features])
    };
    let rows: Vec<_> = report.configuration_ids().into_iter().filter_map(of).collect();
    if !rows.is_empty() {
        page.title("How the file systems were made");
        page.table(&["file system", "made by", "mounted with", "features"], rows, 4);
    }
}

/// A row for each value, with its path: `steps.small-files.parameters.count`.
fn flatten(path: Option<&str>, value: &Value, rows: &mut Vec<Vec<String>>) {
    let below = |key: &str| path.map_or_else(|| key.to_owned(), |path| format!("{path}.{key}"));
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| flatten(Some(&below(key)), value, rows));
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for (at, value) in list.iter().enumerate() {
                let name = ["name", "id"].iter().find_map(|key| value.get(key)?.as_str());
                flatten(Some(&below(&name.map_or_else(|| at.to_string(), str::to_owned))), value, rows);
            }
        }
        Value::Null => {}
        value => rows.push(vec![path.unwrap_or("-").to_owned(), shown(value)]),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) if !text.is_empty() => text.clone(),
        Value::Array(list) if !list.is_empty() => list.iter().map(shown).collect::<Vec<_>>().join(" "),
        Value::String(_) | Value::Array(_) => "none".into(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::report::part::tests::text;

    #[test]
    fn every_option_has_a_row_under_its_path() {
        let value = serde_json::json!({
            "size_bytes": 2_147_483_648_u64, "timeout_s": null, "mkfs": [],
            "steps": [{ "name": "small-files", "parameters": { "count": 9999 } }],
        });
        let mut rows = vec![];
        flatten(None, &value, &mut rows);
        let rows: Vec<_> = rows.iter().map(|row| row.join("=")).collect();
        let expected =
            ["mkfs=none", "size_bytes=2147483648", "steps.small-files.name=small-files", "steps.small-files.parameters.count=9999"];
        assert_eq!(rows, expected);
    }

    #[test]
    fn the_command_line_can_be_copied_into_a_shell() {
        let mut report = example::report();
        report.manifest.argv = ["fsduel", "exec", "--", "sh", "-c", "echo it's $HOME"].map(Into::into).into();
        let mut page = Page::new(100);
        write(&report, &mut page);
        let text = text(&page);
        assert!(text.contains(r"fsduel exec -- sh -c 'echo it'\''s $HOME'"), "{text}");
        assert!(text.contains("mke2fs 1.47.0") && text.contains("mkfs.btrfs /dev/loop4"), "{text}");
    }
}
