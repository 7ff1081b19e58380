//! How long single operations took: percentiles, since a mean hides the few that were slow.

use std::collections::BTreeSet;

use super::{Page, unbroken};
use crate::report::{human, pick};
use crate::result::{Latency, RunReport};
use crate::stats::median;

/// A table for each step that has any: a row for each kind of operation and configuration.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    let mut told = false;
    for step in report.steps() {
        let rows = rows(report, &step.name);
        if !rows.is_empty() {
            told = true;
            page.title(&step.name);
            page.table(&HEADER, rows, 2);
        }
    }
    if told {
        let blocks = pick::blocks(report).len();
        let medians = format!("Each is the median, over {blocks} blocks, of the percentile within a block. ");
        page.line(&format!("{}{MEANING}", if blocks > 1 { medians } else { String::new() }), 0);
    }
}

const HEADER: [&str; 8] = ["operation", "file system", "count", "p50", "p90", "p99", "p99.9", "max"];

const MEANING: &str = "One call follows the other, so what waits behind a slow call is not counted as slow, too.";

fn rows(report: &RunReport, step: &str) -> Vec<Vec<String>> {
    let ids = report.configuration_ids();
    let kinds: BTreeSet<&str> = ids
        .iter()
        .flat_map(|id| pick::counted(report, id, step))
        .flat_map(|step| step.latency.keys().map(String::as_str))
        .collect();
    let of_kind = |kind: &str| {
        let cells = ids.iter().filter_map(|id| Some((id, cells(report, id, step, kind)?)));
        let row = |(at, (id, cells)): (usize, (&&str, [String; 6]))| {
            let kind = if at == 0 { kind } else { "" };
            [kind.to_owned(), (*id).to_owned()].into_iter().chain(cells).collect()
        };
        cells.enumerate().map(row).collect::<Vec<Vec<String>>>()
    };
    kinds.into_iter().flat_map(of_kind).collect()
}

/// Count and percentiles of a kind of operation; `None` where no case that counts has it.
fn cells(report: &RunReport, configuration: &str, step: &str, kind: &str) -> Option<[String; 6]> {
    let steps = pick::counted(report, configuration, step);
    let all: Vec<&Latency> = steps.iter().filter_map(|step| step.latency.get(kind)).collect();
    let of = |value: fn(&Latency) -> f64| median(all.iter().map(|one| value(one)).collect());
    let time = |value| Some(unbroken(&human::time(of(value)?)));
    Some([
        human::count(of(count)?),
        time(|one| one.p50_s)?,
        time(|one| one.p90_s)?,
        time(|one| one.p99_s)?,
        time(|one| one.p999_s)?,
        time(|one| one.max_s)?,
    ])
}

#[expect(clippy::cast_precision_loss, reason = "counts below 2^53")]
fn count(one: &Latency) -> f64 {
    one.count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::result::Status;

    #[test]
    fn a_percentile_is_the_median_over_the_blocks_that_count() {
        let mut report = example::report();
        for (block, factor) in [(2, 3.0), (3, 2.0), (0, 100.0)] {
            let mut case = report.cases[0].clone();
            case.block = block;
            let latency = case.steps[0].latency.get_mut("create").unwrap();
            latency.p999_s *= factor;
            report.cases.push(case);
        }
        let expected = ["create", "btrfs", "9,999", "21.0 µs", "34.0 µs", "80.0 µs", "400 µs", "4.00 ms"];
        let row = |report: &RunReport| rows(report, "small-files").into_iter().find(|row| row[1] == "btrfs");
        let plain: Vec<_> = row(&report).unwrap().iter().map(|cell| cell.replace('\u{a0}', " ")).collect();
        let kind = plain[0].clone();
        assert_eq!(plain[1..], expected[1..]);
        assert!(kind.is_empty() && rows(&report, "small-files")[0][0] == "create", "told once");
        report.cases.iter_mut().for_each(|case| case.status = Status::Invalid);
        assert_eq!(row(&report), None);
    }

    #[test]
    fn a_step_without_latencies_has_no_table() {
        let mut page = Page::boundless();
        write(&example::repeated(), &mut page);
        assert!(page.blocks.is_empty());
    }
}
