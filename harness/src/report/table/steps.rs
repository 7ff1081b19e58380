//! One table for each step: what was measured, a row for each configuration.

use super::{Page, unbroken};
use crate::report::{human, pick};
use crate::result::{Checked, RunReport, Status, StepResult};

/// A column: its heading, and what it says of a configuration.
struct Column {
    heading: &'static str,
    cell: fn(&Row) -> Option<String>,
}

/// A configuration in a step.
struct Row<'a> {
    report: &'a RunReport,
    configuration: &'a str,
    baseline: &'a str,
    step: &'a StepResult,
}

impl Row<'_> {
    fn number(&self, key: &str) -> Option<f64> {
        pick::number(self.report, self.configuration, &self.step.name, key)
    }
}

/// The tables of all steps.
pub(super) fn write(report: &RunReport, page: &mut Page) {
    let steps = pick::steps(report);
    for step in &steps {
        page.title(&heading(report, step));
        table(report, step, page);
    }
    if !steps.is_empty() {
        let blocks = match most_blocks(report) {
            0 | 1 => String::new(),
            blocks => format!("Numbers are medians of {blocks} blocks. "),
        };
        page.line(&format!("{blocks}{MEANING}"), 0);
    }
}

/// What a reader may not guess.
const MEANING: &str = "Synced: until syncfs returned. Kernel CPU: in the process, + in the kernel's threads \
     (of the whole machine). × is the ratio to the first row.";

/// With as many columns as there is room for.
fn table(report: &RunReport, step: &StepResult, page: &mut Page) {
    let mut columns = columns(report, step);
    loop {
        let header: Vec<&str> =
            std::iter::once("file system").chain(columns.iter().map(|column| column.heading)).collect();
        let rows = rows(report, step, &columns);
        // The last is the first to go: the reader finds it in the verification, too.
        if columns.len() <= 2 || page.has_room(&header, &rows) {
            return page.table(&header, rows, 1);
        }
        columns.pop();
    }
}

fn rows(report: &RunReport, step: &StepResult, columns: &[Column]) -> Vec<Vec<String>> {
    let configurations = pick::configurations(report);
    let row = |configuration: &&str| {
        let row = Row { report, configuration, baseline: configurations[0], step };
        let cells = columns.iter().map(|column| (column.cell)(&row).unwrap_or_else(|| "-".into()));
        std::iter::once(name(report, configuration)).chain(cells).collect()
    };
    configurations.iter().map(row).collect()
}

fn most_blocks(report: &RunReport) -> usize {
    pick::configurations(report).iter().map(|id| pick::cases(report, id).len()).max().unwrap_or(0)
}

/// `small-files: many-small-files, 9,999 files, 49.9 kB`: what is the same for all.
fn heading(report: &RunReport, step: &StepResult) -> String {
    let mut parts = vec![format!("{}: {}", step.name, step.workload)];
    for (key, unit) in [
        ("directories_created_count", "directories"),
        ("files_created_count", "files"),
        ("files_deleted_count", "files deleted"),
    ] {
        // One file is what the name of such a step says already.
        if let Some(value) = same(report, step, key).filter(|value| *value > 1.0) {
            parts.push(format!("{} {unit}", human::count(value)));
        }
    }
    if let Some(value) = same(report, step, "payload_bytes").filter(|value| *value > 0.0) {
        parts.push(human::payload(value));
    }
    parts.join(", ")
}

/// A number, if all configurations that have it agree.
fn same(report: &RunReport, step: &StepResult, key: &str) -> Option<f64> {
    let configurations = pick::configurations(report);
    let mut values = configurations.iter().filter_map(|id| pick::number(report, id, &step.name, key));
    let first = values.next()?;
    values.all(|value| value.to_bits() == first.to_bits()).then_some(first)
}

fn columns(report: &RunReport, step: &StepResult) -> Vec<Column> {
    let any = |wanted: fn(&StepResult) -> bool| {
        let steps = report.cases.iter().flat_map(|case| &case.steps);
        steps.filter(|found| found.name == step.name).any(wanted)
    };
    let fills = any(|step| step.facts.file_size_bytes.is_some());
    let mut columns = vec![
        Column { heading: "space used", cell: space },
        Column { heading: "synced", cell: synced },
        Column { heading: "kernel CPU", cell: kernel_cpu },
        Column { heading: "rate", cell: if fills { bytes_rate } else { rate } },
    ];
    if fills {
        columns.push(Column { heading: "size reached", cell: reached });
    }
    if any(|step| step.limit.is_some()) {
        columns.push(Column { heading: "ended by", cell: ended });
    }
    columns.push(Column { heading: "read back", cell: read_back });
    columns
}

/// The configuration, and how many of its cases have no number.
fn name(report: &RunReport, configuration: &str) -> String {
    let cases = pick::cases(report, configuration);
    let passed = cases.iter().filter(|case| case.status == Status::Passed).count();
    match cases.iter().find(|case| case.status != Status::Passed) {
        None => configuration.to_owned(),
        Some(case) if passed == 0 => format!("{configuration}\n{}", human::word(case.status)),
        Some(_) => format!("{configuration}\n{passed} of {} passed", cases.len()),
    }
}

fn space(row: &Row) -> Option<String> {
    let value = unbroken(&human::size(row.number("space_used_bytes")?));
    Some(with_verdict(row, value, "space_used_bytes", ["smaller", "larger"]))
}

/// The headline: always with its ratio to the baseline.
fn synced(row: &Row) -> Option<String> {
    let seconds = row.number("synced_s")?;
    let text = unbroken(&human::time(seconds));
    let stored = pick::comparison(row.report, row.configuration, &row.step.name, "synced_s");
    if stored.is_some() || row.configuration == row.baseline {
        return Some(with_verdict(row, text, "synced_s", ["faster", "slower"]));
    }
    let baseline = pick::number(row.report, row.baseline, &row.step.name, "synced_s");
    Some(match baseline.filter(|baseline| *baseline > 0.0) {
        Some(baseline) => format!("{text}\n{}", human::ratio(seconds / baseline)),
        None => text,
    })
}

fn kernel_cpu(row: &Row) -> Option<String> {
    let process = human::time(row.number("kernel_cpu_s")?);
    let threads = row.number("kernel_threads_cpu_s").map_or_else(|| "-".into(), human::time);
    let text = unbroken(&format!("{process}\n+ {threads}"));
    Some(with_verdict(row, text, "kernel_cpu_s", ["less", "more"]))
}

/// The ratio to the baseline and, where the statistics allow one, a word.
fn with_verdict(row: &Row, text: String, metric: &str, [less, more]: [&str; 2]) -> String {
    let Some(found) = pick::comparison(row.report, row.configuration, &row.step.name, metric) else {
        return text;
    };
    let ratio = human::ratio(found.ratio);
    let needed = found.needed_count.map(|count| format!(" (needs n={count})")).unwrap_or_default();
    let word = match found.verdict.as_deref() {
        None => return format!("{text}\n{ratio}"),
        Some("less") => less.to_owned(),
        Some("more") => more.to_owned(),
        Some("no_difference") => "same".to_owned(),
        Some(_) => format!("not resolved{needed}"),
    };
    format!("{text}\n{ratio} {word}")
}

fn rate(row: &Row) -> Option<String> {
    Some(unbroken(&human::by_key("operations_per_s", row.number("operations_per_s")?)))
}

fn bytes_rate(row: &Row) -> Option<String> {
    Some(unbroken(&human::by_key("payload_bytes_per_s", row.number("payload_bytes_per_s")?)))
}

fn reached(row: &Row) -> Option<String> {
    Some(unbroken(&human::size(row.number("file_size_bytes")?)))
}

fn ended(row: &Row) -> Option<String> {
    let steps = pick::passed(row.report, row.configuration, &row.step.name);
    let Some(limit) = steps.iter().find_map(|step| step.limit.as_ref()) else {
        return steps.first().map(|_| "all done".into());
    };
    let which = human::word(limit.which);
    Some(limit.errno.as_ref().map_or_else(|| which.clone(), |errno| format!("{which} {errno}")))
}

/// The worst of all blocks.
fn read_back(row: &Row) -> Option<String> {
    let steps = pick::passed(row.report, row.configuration, &row.step.name);
    steps.first()?;
    let other = steps.iter().map(|step| step.read_back).find(|checked| *checked != Checked::Clean);
    Some(other.map_or_else(|| "✓".into(), human::word))
}
