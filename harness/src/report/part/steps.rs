//! What was measured: a table for each step that changes something, one for all that only read.

use super::cells::{self, Row};
use super::{Page, postmark};
use crate::report::{human, pick};
use crate::result::{RunReport, StepResult};

/// A column: its heading, and what it says of a configuration.
struct Column {
    heading: &'static str,
    cell: fn(&Row) -> Option<String>,
}

const fn column(heading: &'static str, cell: fn(&Row) -> Option<String>) -> Column {
    Column { heading, cell }
}

/// The tables of all steps.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    let (reading, changing) = sorted(report);
    for step in changing {
        changed(report, step, page);
    }
    read(report, &reading, page);
    meaning(report, page);
}

/// Those that only read, and those that change something.
pub(in crate::report) fn sorted(report: &RunReport) -> (Vec<&StepResult>, Vec<&StepResult>) {
    report.steps().into_iter().partition(|step| reads(step))
}

/// What a reader may not guess; nothing where no step ran.
pub(in crate::report) fn meaning(report: &RunReport, page: &mut Page) {
    if !report.steps().is_empty() {
        let blocks = match most_blocks(report) {
            0 | 1 => String::new(),
            blocks => format!("Numbers are medians of {blocks} blocks. "),
        };
        page.line(&format!("{blocks}{MEANING}"), 0);
    }
}

const MEANING: &str = "Synced: until syncfs returned. Kernel CPU: in the process; + threads: in the kernel's \
     threads, of the whole machine. Rates are of the synced time.";

/// A step that makes, fills or removes.
pub(in crate::report) fn changed(report: &RunReport, step: &StepResult, page: &mut Page) {
    let rows: Vec<_> = rows(report, step).into_iter().map(|row| (vec![cells::name(&row)], row)).collect();
    if !rows.is_empty() {
        page.title(&heading(report, step));
        table(&["file system"], columns(report, step), &rows, page);
        postmark::write(&rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>(), page);
    }
}

/// All steps that only read.
pub(in crate::report) fn read(report: &RunReport, steps: &[&StepResult], page: &mut Page) {
    let of_step = |step| rows(report, step).into_iter().enumerate();
    let rows = steps.iter().flat_map(|step| of_step(step)).map(|(at, row)| {
        let step = if at == 0 { row.step } else { "" };
        (vec![step.to_owned(), cells::name(&row)], row)
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        page.title("Reading what earlier steps made, freshly mounted and cold");
        let columns = vec![
            column("synced", cells::synced),
            column("kernel CPU", cells::kernel_cpu),
            column("+ threads", cells::kernel_threads),
            column("ops/s", cells::operations),
            column("device read", cells::device_read),
            column("read back", cells::read_back),
        ];
        table(&["step", "file system"], columns, &rows, page);
    }
}

/// A step that neither makes nor removes a file; what a command does is not known.
fn reads(step: &StepResult) -> bool {
    let facts = &step.facts;
    let changes = [facts.files_created_count, facts.directories_created_count, facts.files_deleted_count];
    step.command.is_none() && step.limit.is_none() && changes.iter().all(Option::is_none)
}

/// With as many columns as there is room for, of those that have something to say.
fn table(lead: &[&str], mut columns: Vec<Column>, rows: &[(Vec<String>, Row)], page: &mut Page) {
    columns.retain(|column| rows.iter().any(|(_, row)| (column.cell)(row).is_some()));
    loop {
        let headings = columns.iter().map(|column| column.heading);
        let header: Vec<&str> = lead.iter().copied().chain(headings).collect();
        let cells = rows.iter().map(|(lead, row)| {
            let cell = |column: &Column| (column.cell)(row).unwrap_or_else(|| "-".into());
            lead.iter().cloned().chain(columns.iter().map(cell)).collect()
        });
        let cells: Vec<Vec<String>> = cells.collect();
        // The last is the first to go: the reader finds it in the verification, too.
        if columns.len() <= 2 || page.has_room(&header, &cells) {
            return page.table(&header, cells, lead.len());
        }
        columns.pop();
    }
}

/// Configurations that have numbers of the step; why others have none is told elsewhere.
fn rows<'a>(report: &'a RunReport, step: &'a StepResult) -> Vec<Row<'a>> {
    let mut rows = cells::rows(report, pick::FILESYSTEMS, &step.name);
    rows.retain(|row| !row.steps().is_empty());
    rows
}

fn most_blocks(report: &RunReport) -> usize {
    report.configuration_ids().iter().map(|id| report.measured(id).len()).max().unwrap_or(0)
}

/// `small-files: many-small-files, 9,999 files, 49.9 kB`: what is the same for all.
pub(in crate::report) fn heading(report: &RunReport, step: &StepResult) -> String {
    let mut parts = vec![match step.name == step.workload {
        true => step.name.clone(),
        false => format!("{}: {}", step.name, step.workload),
    }];
    for (key, unit) in [
        ("transactions_count", "transactions"),
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
    parts.extend(same_end(report, step).map(|end| format!("ended by {end}")));
    parts.join(", ")
}

/// A number, if all configurations that did all of the work agree.
fn same(report: &RunReport, step: &StepResult, key: &str) -> Option<f64> {
    let done = rows(report, step).into_iter().filter(|row| !row.cut_short());
    let values: Vec<f64> = done.filter_map(|row| row.number(key)).collect();
    let first = values.first()?;
    values.iter().all(|value| value.to_bits() == first.to_bits()).then_some(*first)
}

/// The limit that ended the step on all configurations alike.
fn same_end(report: &RunReport, step: &StepResult) -> Option<String> {
    let rows = rows(report, step);
    let limited = rows.iter().any(|row| row.steps().iter().any(|step| step.limit.is_some()));
    let ends: Vec<_> = rows.iter().filter_map(cells::ended).collect();
    let first = ends.first().filter(|_| limited)?;
    ends.iter().all(|end| end == first).then(|| first.clone())
}

fn columns(report: &RunReport, step: &StepResult) -> Vec<Column> {
    let rows = rows(report, step);
    let any = |wanted: fn(&StepResult) -> bool| rows.iter().flat_map(Row::steps).any(wanted);
    let fills = any(|step| step.facts.file_size_bytes.is_some());
    let mut columns = vec![
        column("space used", cells::space),
        column("synced", cells::synced),
        column("kernel CPU", cells::kernel_cpu),
        column("+ threads", cells::kernel_threads),
    ];
    match fills {
        true => columns.extend([column("rate", cells::bytes), column("size reached", cells::reached)]),
        false => columns.push(column("files/s", cells::files)),
    }
    if any(|step| step.limit.is_some()) && same_end(report, step).is_none() {
        columns.push(column("ended by", cells::ended));
    }
    columns.push(column("read back", cells::read_back));
    columns
}
