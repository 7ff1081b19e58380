//! What was matched between the configurations, and what differs.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value;

use super::Page;
use crate::report::{human, pick};
use crate::result::{CaseResult, RunReport};

/// A property, and its value for each configuration.
type Property = (String, Vec<String>);

/// First what is equal for all, then what is not; in several tables where one is too wide.
pub(super) fn write(report: &RunReport, page: &mut Page) {
    let cases = made(report);
    if cases.is_empty() {
        return;
    }
    page.title("Fairness ledger");
    let (matched, differs) = sorted(&cases);
    let mut at_once = cases.len();
    while at_once > 1
        && !tables(&cases, &matched, &differs, at_once).all(|(header, rows)| page.has_room(&header, &rows))
    {
        at_once -= 1;
    }
    for (header, rows) in tables(&cases, &matched, &differs, at_once) {
        page.table(&header, rows, header.len());
    }
}

/// What is equal for all, and what is not.
fn sorted(cases: &[&CaseResult]) -> (Vec<Property>, Vec<Property>) {
    let equal = |(_, values): &Property| values.iter().all(|value| *value == values[0]);
    properties(cases).into_iter().partition(equal)
}

/// Header and rows of each table, with as many configurations as there is room for beside each
/// other.
fn tables<'a>(
    cases: &'a [&CaseResult],
    matched: &'a [Property],
    differs: &'a [Property],
    at_once: usize,
) -> impl Iterator<Item = (Vec<&'a str>, Vec<Vec<String>>)> {
    (0..cases.len()).step_by(at_once).map(move |from| {
        let these = from..cases.len().min(from + at_once);
        let ids = cases[these.clone()].iter().map(|case| case.configuration.id.as_str());
        let rows = group("matched", matched, these.clone()).chain(group("differs", differs, these));
        (["", "property"].into_iter().chain(ids).collect(), rows.collect())
    })
}

/// A case of each configuration, of those whose file system was made.
fn made(report: &RunReport) -> Vec<&CaseResult> {
    let made = |case: &&CaseResult| !case.mkfs_command.is_empty() || !case.ledger.is_empty();
    let ids = pick::configurations(report).into_iter();
    ids.filter_map(|id| pick::cases(report, id).into_iter().find(made)).collect()
}

/// The word stands beside the first property only.
fn group<'a>(
    word: &'a str,
    properties: &'a [Property],
    these: Range<usize>,
) -> impl Iterator<Item = Vec<String>> + 'a {
    properties.iter().enumerate().map(move |(at, (name, values))| {
        let word = if at == 0 { word } else { "" };
        [word, name].map(str::to_owned).into_iter().chain(values[these.clone()].iter().cloned()).collect()
    })
}

fn properties(cases: &[&CaseResult]) -> Vec<Property> {
    let of_all = |name: &str, value: fn(&CaseResult) -> Option<String>| {
        let values = cases.iter().map(|case| value(case).unwrap_or_else(|| "-".into()));
        (name.to_owned(), values.collect())
    };
    let mut properties = vec![
        of_all("block size", |case| Some(human::size(f64::from(case.configuration.block_size_bytes)))),
        of_all("mkfs options", |case| Some(none_if_empty(case.configuration.mkfs_options.join(" ")))),
        of_all("mount options asked", |case| Some(none_if_empty(case.configuration.mount_options.clone()))),
        of_all("mount options in effect", |case| case.mount_options_effective.clone().map(spaced)),
        of_all("discard", |case| case.mount_options_effective.as_deref().map(discard)),
        of_all("loop direct I/O", |case| Some(yes(case.loop_device.as_ref()?.direct_io))),
        of_all("loop logical block size", |case| {
            Some(human::size(f64::from(case.loop_device.as_ref()?.logical_block_size_bytes)))
        }),
    ];
    let keys: BTreeSet<&String> = cases.iter().flat_map(|case| case.ledger.keys()).collect();
    let of_ledger = keys.into_iter().map(|key| {
        let values =
            cases.iter().map(|case| case.ledger.get(key).map_or("-".into(), |value| show(key, value)));
        (human::words(key), values.collect())
    });
    properties.extend(of_ledger);
    properties
}

fn none_if_empty(text: String) -> String {
    if text.is_empty() { "none".into() } else { spaced(text) }
}

/// Blanks after commas: places where a line may be broken.
fn spaced(options: String) -> String {
    options.replace(',', ", ")
}

/// Kernels show the option only where discard is on.
fn discard(options: &str) -> String {
    let on = options.split(',').find(|option| option.trim().starts_with("discard"));
    on.map_or_else(|| "off".into(), |option| option.trim().to_owned())
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

fn show(key: &str, value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::Bool(is) => yes(*is),
        Value::String(text) => text.clone(),
        Value::Number(number) => number.as_f64().map_or("-".into(), |number| human::by_key(key, number)),
        Value::Array(list) => list.iter().map(|value| show(key, value)).collect::<Vec<_>>().join(", "),
        Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn what_is_equal_is_matched_and_all_else_differs() {
        let report = example::report();
        let mut page = Page { width: 80, style: crate::report::Style::default(), text: String::new() };
        write(&report, &mut page);
        let (matched, differs) = page.text.split_once("differs").unwrap();
        assert!(matched.contains("block size"), "{matched}");
        assert!(differs.contains("checksums") && !matched.contains("checksums"), "{differs}");
    }

    #[test]
    fn many_configurations_make_several_tables_and_break_no_word() {
        let mut report = example::report();
        for at in 0..8 {
            let mut case = report.cases[at % 3].clone();
            case.configuration.id = format!("configuration-{at}");
            report.cases.push(case);
        }
        let mut page = Page { width: 80, style: crate::report::Style::default(), text: String::new() };
        write(&report, &mut page);
        assert!(page.text.matches("property").count() > 1, "{}", page.text);
        assert!((0..8).all(|at| page.text.contains(&format!("configuration-{at} "))), "{}", page.text);
        assert!(page.text.lines().all(|line| line.chars().count() <= 80), "{}", page.text);
    }

    #[test]
    fn discard_is_off_unless_the_kernel_shows_it() {
        assert_eq!(discard("rw,noatime,ssd,discard=async"), "discard=async");
        assert_eq!(discard("rw,noatime,nodiscard"), "off");
    }

    #[test]
    fn values_are_shown_by_the_unit_of_their_key() {
        assert_eq!(show("inode_size_bytes", &Value::from(256)), "256 B");
        assert_eq!(show("checksums", &Value::from(true)), "yes");
        assert_eq!(show("profiles", &serde_json::json!(["single", "dup"])), "single, dup");
    }
}
