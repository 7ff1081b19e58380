//! What PostMark would have printed of a step, and what was measured beside it; each configuration
//! in a column.

use super::cells::Row;
use super::{Page, UNBROKEN};
use crate::report::human;
use crate::result::postmark::data;

/// A line of PostMark's report: what it tells, its figure, and the rate beside it.
struct Line {
    label: &'static str,
    figure: &'static str,
    rate: Option<&'static str>,
}

const fn line(label: &'static str, figure: &'static str, rate: Option<&'static str>) -> Line {
    Line { label, figure, rate }
}

/// In PostMark's order; the exact sums, which it does not know, are last.
const LINES: [Line; 14] = [
    line("total", "postmark_total_s", None),
    line("transactions", "postmark_transactions_s", Some("postmark_transactions_per_s")),
    line("created", "created_count", Some("postmark_created_per_s")),
    line("created alone", "created_alone_count", Some("postmark_created_alone_per_s")),
    line("created mixed", "created_mixed_count", Some("postmark_created_mixed_per_s")),
    line("read", "read_count", Some("postmark_read_per_s")),
    line("appended", "appended_count", Some("postmark_appended_per_s")),
    line("deleted", "deleted_count", Some("postmark_deleted_per_s")),
    line("deleted alone", "deleted_alone_count", Some("postmark_deleted_alone_per_s")),
    line("deleted mixed", "deleted_mixed_count", Some("postmark_deleted_mixed_per_s")),
    line("data read", "read_single_precision_bytes", Some("postmark_read_bytes_per_s")),
    line("data written", "written_single_precision_bytes", Some("postmark_written_bytes_per_s")),
    line("read exactly", "read_bytes", None),
    line("written exactly", "written_bytes", None),
];

/// What a figure is called here, if it is one of PostMark's.
pub(super) fn label(key: &str) -> Option<String> {
    LINES.iter().find_map(|line| match line {
        line if line.figure == key => Some(line.label.to_owned()),
        line if line.rate == Some(key) => Some(format!("{} /s", line.label)),
        _ => None,
    })
}

/// What PostMark does not measure, by key.
const METRICS: [(&str, &str); 13] = [
    ("creation", "creation_s"),
    ("transactions", "transactions_s"),
    ("deletion", "deletion_s"),
    ("last call returned", "returned_s"),
    ("synced", "synced_s"),
    ("unmounted", "unmounted_s"),
    ("pause to list all files", "paused_s"),
    ("user CPU", "user_cpu_s"),
    ("kernel CPU", "kernel_cpu_s"),
    ("kernel threads' CPU", "kernel_threads_cpu_s"),
    ("device written", "device_written_bytes"),
    ("write amplification", "write_amplification_ratio"),
    ("peak memory", "peak_memory_bytes"),
];

/// Kinds of operations of which the latency is told.
const LATENCIES: [&str; 6] = ["create", "open", "read", "write", "close", "unlink"];

/// Nothing where the step did not do PostMark's work.
pub(super) fn write(rows: &[Row], page: &mut Page) {
    if !rows.iter().flat_map(Row::steps).any(|step| step.facts.postmark.is_some()) {
        return;
    }
    page.title("PostMark's own figures (whole seconds, nothing synced)");
    let told = LINES.iter().filter_map(|line| figures(line.label, rows, |row| cell(row, line)));
    spread(rows, &told.collect::<Vec<_>>(), page);
    page.title("Measured beside it");
    let metrics = METRICS.iter().filter_map(|(label, key)| figures(label, rows, |row| row.shown(key)));
    let latencies = LATENCIES.iter().filter_map(|operation| {
        figures(&format!("{operation}: p50, p99"), rows, |row| row.latency(operation))
    });
    spread(rows, &metrics.chain(latencies).collect::<Vec<_>>(), page);
    if rows.iter().any(has_long_pause) {
        page.line(LONG_PAUSE, 0);
    }
}

/// More than a twentieth of the time that is told.
fn has_long_pause(row: &Row) -> bool {
    let times = row.number("paused_s").zip(row.number("synced_s"));
    times.is_some_and(|(paused, synced)| paused > synced / 20.0)
}

const LONG_PAUSE: &str = "The pause is in no time above, but the kernel can write back in it, and its threads \
     and the device are counted through it; a run without verification has none.";

fn spread(rows: &[Row], told: &[Vec<String>], page: &mut Page) {
    let ids: Vec<&str> = rows.iter().map(|row| row.configuration).collect();
    page.spread(&["figure"], &ids, told, 1);
}

/// A row of a table, if there is anything to tell.
fn figures(label: &str, rows: &[Row], cell: impl Fn(&Row) -> Option<String>) -> Option<Vec<String>> {
    let cells: Vec<_> = rows.iter().map(cell).collect();
    let cells = cells.iter().any(Option::is_some).then_some(cells)?;
    let cells = cells.into_iter().map(|cell| cell.unwrap_or_else(|| "-".into()));
    Some(std::iter::once(label.to_owned()).chain(cells).collect())
}

/// `450,001 (903/s)`.
fn cell(row: &Row, line: &Line) -> Option<String> {
    let figure = shown(line.figure, row.number(line.figure)?);
    let rate = line.rate.and_then(|key| Some(shown(key, row.number(key)?)));
    Some(rate.map_or_else(|| figure.clone(), |rate| format!("{figure} ({rate})")))
}

/// Whole seconds and counts, data in PostMark's megabytes.
pub(super) fn shown(key: &str, value: f64) -> String {
    let (stem, after) = match (key.strip_suffix("_per_s"), key.strip_suffix("_s")) {
        (Some(stem), _) => (stem, "/s"),
        (None, Some(stem)) => (stem, " s"),
        (None, None) => (key, ""),
    };
    let text = match stem.strip_suffix("_bytes") {
        Some(sum) if stem != key || sum.ends_with("_single_precision") => megabytes(value),
        Some(_) => format!("{} B", human::count(value)),
        None => human::count(value),
    };
    format!("{text}{after}").replace(' ', &UNBROKEN.to_string())
}

/// With the unit that PostMark means.
#[expect(clippy::cast_possible_truncation, reason = "stored as a number of single precision")]
fn megabytes(bytes: f64) -> String {
    let (number, unit) = data(bytes as f32);
    let unit = match unit {
        "megabytes" => "MiB",
        "kilobytes" => "KiB",
        _ => "B",
    };
    format!("{number} {unit}")
}

#[cfg(test)]
mod tests {
    use super::super::tests::written;
    use crate::report::{Style, example};
    use crate::result::Status;

    #[test]
    fn the_whole_report_of_a_postmark_run() {
        insta::assert_snapshot!("postmark", written(&example::postmark(), Style::default()));
    }

    #[test]
    fn no_line_is_longer_than_the_width() {
        for width in [40, 60, 80, 100, 132] {
            let text = written(&example::postmark(), Style { width, ascii: false });
            let long = text.lines().find(|line| line.chars().count() > usize::from(width));
            assert_eq!(long, None, "at {width}");
            assert!(text.contains("450,001") && text.contains("903/s"), "at {width}");
        }
    }

    #[test]
    fn a_long_pause_is_told_and_a_short_one_is_not() {
        let mut report = example::postmark();
        for (paused, is_told) in [(1.0, false), (100.0, true)] {
            report.cases[0].steps[0].metrics.set("paused_s", paused);
            let text = written(&report, Style::default());
            assert_eq!(text.contains("The pause is in no time above"), is_told, "{text}");
        }
    }

    #[test]
    fn a_run_out_of_files_has_counts_without_seconds() {
        let mut report = example::postmark();
        for step in report.cases.iter_mut().flat_map(|case| &mut case.steps) {
            step.metrics.0.retain(|key, _| !key.starts_with("postmark_"));
        }
        let text = written(&report, Style::default());
        assert!(text.contains("14705.82 MiB │") && !text.contains("903/s"), "{text}");
        report.cases.iter_mut().for_each(|case| case.status = Status::Invalid);
        assert!(!written(&report, Style::default()).contains("PostMark's own figures"));
    }
}
