//! What was matched between the configurations, and what differs.

use std::collections::BTreeSet;

use serde_json::Value;

use super::Page;
use crate::report::human;
use crate::result::{CaseResult, RunReport};

/// A property, and its value for each configuration.
type Property = (String, Vec<String>);

/// First what is equal for all, in a sentence; then a table of what is not.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    let cases = made(report);
    if cases.is_empty() {
        return;
    }
    page.title("Fairness ledger");
    let (matched, differs) = sorted(&cases);
    let told = matched.iter().filter(|(_, values)| values[0] != "-");
    let matched: Vec<_> = told.map(|(name, values)| format!("{name} {}", values[0])).collect();
    page.line(&format!("Matched: {}.", matched.join("; ")), 2);
    if !differs.is_empty() {
        let ids: Vec<&str> = cases.iter().map(|case| case.configuration.id.as_str()).collect();
        let row = |(name, values): Property| std::iter::once(name).chain(values).collect();
        let rows: Vec<Vec<String>> = differs.into_iter().map(row).collect();
        page.spread(&["differs"], &ids, &rows, ids.len() + 1);
    }
}

/// What is equal for all, and what is not; each property once.
fn sorted(cases: &[&CaseResult]) -> (Vec<Property>, Vec<Property>) {
    let mut known: Vec<Property> = vec![];
    for property in properties(cases) {
        if !known.contains(&property) {
            known.push(property);
        }
    }
    known.into_iter().partition(|(_, values)| values.iter().all(|value| *value == values[0]))
}

/// A case of each configuration, of those whose file system was made.
fn made(report: &RunReport) -> Vec<&CaseResult> {
    let made = |case: &&CaseResult| !case.mkfs_command.is_empty() || !case.ledger.is_empty();
    let ids = report.configuration_ids().into_iter();
    ids.filter_map(|id| report.measured(id).into_iter().find(made)).collect()
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
        of_all("discard", |case| case.mount_options_effective.as_deref().map(discard)),
        of_all("loop direct I/O", |case| Some(yes(case.loop_device.as_ref()?.direct_io))),
        of_all("loop logical block size", |case| {
            Some(human::size(f64::from(case.loop_device.as_ref()?.logical_block_size_bytes)))
        }),
    ];
    properties.splice(3..3, in_effect(cases));
    let keys: BTreeSet<&String> = cases.iter().flat_map(|case| case.ledger.keys()).collect();
    let of_ledger = keys.into_iter().map(|key| {
        let values =
            cases.iter().map(|case| case.ledger.get(key).map_or("-".into(), |value| show(key, value)));
        (human::words(key), values.collect())
    });
    properties.extend(of_ledger);
    properties
}

/// The mount options that the kernel shows: those of all, and those that each has beside them.
fn in_effect(cases: &[&CaseResult]) -> [Property; 2] {
    let options = |case: &CaseResult| -> Option<Vec<String>> {
        Some(
            case.mount_options_effective
                .as_ref()?
                .split(',')
                .map(|option| option.trim().to_owned())
                .collect(),
        )
    };
    let all: Vec<_> = cases.iter().map(|case| options(case)).collect();
    let mut known = all.iter().flatten();
    let first = known.next().cloned().unwrap_or_default();
    let known: Vec<_> = known.collect();
    let shared: Vec<_> =
        first.into_iter().filter(|option| known.iter().all(|other| other.contains(option))).collect();
    let own = |of: &Option<Vec<String>>| {
        let own = |of: &Vec<String>| {
            of.iter().filter(|option| !shared.contains(option)).cloned().collect::<Vec<_>>()
        };
        of.as_ref().map(own).filter(|own| !own.is_empty()).map_or_else(|| "-".into(), |own| own.join(", "))
    };
    let same = if shared.is_empty() { "-".into() } else { shared.join(",") };
    [
        ("mount options in effect".into(), vec![same; cases.len()]),
        ("other mount options".into(), all.iter().map(own).collect()),
    ]
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
    use crate::report::part::tests::text;

    #[test]
    fn what_is_equal_is_matched_and_all_else_differs() {
        let report = example::report();
        let mut page = Page::new(80);
        write(&report, &mut page);
        let text = text(&page);
        let (matched, differs) = text.split_once("differs").unwrap();
        assert!(matched.contains("Matched: block size 4 KiB;"), "{matched}");
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
        let mut page = Page::new(80);
        write(&report, &mut page);
        let text = text(&page);
        assert!(text.matches("differs").count() > 1, "{}", text);
        assert!((0..8).all(|at| text.contains(&format!("configuration-{at} "))), "{}", text);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{}", text);
    }

    #[test]
    fn mount_options_of_all_are_told_once() {
        let report = example::report();
        let (mut one, mut two) = (report.cases[0].clone(), report.cases[1].clone());
        one.mount_options_effective = Some("rw,noatime,subvol=/".into());
        two.mount_options_effective = Some("rw,noatime".into());
        let [(_, shared), (_, own)] = in_effect(&[&one, &two]);
        assert_eq!(shared, ["rw,noatime", "rw,noatime"]);
        assert_eq!(own, ["subvol=/", "-"]);
    }

    #[test]
    fn a_property_that_is_there_already_is_dropped() {
        let mut case = example::report().cases[0].clone();
        case.ledger.insert("block_size_bytes".into(), Value::from(4096));
        let (matched, differs) = sorted(&[&case, &case]);
        let count = matched.iter().chain(&differs).filter(|(name, _)| name == "block size").count();
        assert_eq!(count, 1);
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
