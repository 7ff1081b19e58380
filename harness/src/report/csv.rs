//! Every verified number in long form, for spreadsheets and statistics programs.
//!
//! One row for each configuration, block, step and metric, with all that tells rows apart in each:
//! a reader filters and pivots, and never has to join. Figures of the whole case have no step. A
//! case without verified numbers has one row, with its status and why, so that it is not silently
//! missing. The warm-up is there too, since a reader may want to see it, and marked.

use std::io::Write;

use super::{Format, Style, pick, write_text};
use crate::error::{Cannot, Result};
use crate::result::{CaseResult, RunReport, StepResult};
use crate::units::plain;

pub(super) const FORMAT: Format =
    Format { name: "csv", meaning: "Every verified number in a row of its own, for spreadsheets.", write };

/// What a row says of its case, then of the figure, then of the run.
const HEADER: [&[&str]; 3] = [
    &[
        "suite",
        "scale",
        "started_at",
        "kernel",
        "configuration",
        "filesystem",
        "mount_options",
        "block",
        "warm_up",
        "order",
        "status",
        "reason",
        "kept",
    ],
    &["step", "workload", "metric", "value", "unit"],
    &["run_id", "backend", "timings_comparable"],
];

fn write(report: &RunReport, to: &mut dyn Write, _style: &Style) -> Result<()> {
    write_text(&text(report)?, to)
}

fn text(report: &RunReport) -> Result<String> {
    let doing = || "write the report as CSV".to_owned();
    let mut rows = csv::Writer::from_writer(vec![]);
    rows.write_record(HEADER.concat()).cannot(doing)?;
    for case in &report.cases {
        let (about, run) = (about(report, case), of_run(report, case));
        for figure in figures(case) {
            rows.write_record(about.iter().chain(&figure).chain(&run)).cannot(doing)?;
        }
    }
    String::from_utf8(rows.into_inner().cannot(doing)?).cannot(doing)
}

/// What is the same in all rows of a case.
fn about(report: &RunReport, case: &CaseResult) -> [String; 13] {
    let (configuration, suite) = (&case.configuration, &report.suite);
    let reason = case.reason.as_ref().map(|reason| cell(&reason.text));
    [
        cell(&suite.name),
        cell(&suite.scale),
        cell(&report.manifest.started_at),
        cell(pick::kernel(report, configuration)),
        cell(&configuration.id),
        cell(&configuration.filesystem),
        cell(&configuration.mount_options),
        case.block.to_string(),
        (case.block == 0).to_string(),
        case.order.to_string(),
        pick::status(case.status),
        reason.unwrap_or_default(),
        case.kept.as_deref().map(cell).unwrap_or_default(),
    ]
}

/// The run, and where in it: what was added later stands last, so that no column has moved.
fn of_run(report: &RunReport, case: &CaseResult) -> [String; 3] {
    let there = report.environment_of(&case.configuration.id);
    let backend = there.map(|there| cell(&there.backend)).unwrap_or_default();
    let comparable = there.map(|there| there.timings_comparable.to_string()).unwrap_or_default();
    [cell(&report.run_id), backend, comparable]
}

/// Step, workload, metric, value and unit; one row without any where no number was verified.
fn figures(case: &CaseResult) -> Vec<[String; 5]> {
    let of_step = |step: &StepResult| {
        let (name, workload) = (cell(&step.name), cell(&step.workload));
        let row = |(key, value): (String, f64)| figure([name.clone(), workload.clone()], &key, value);
        pick::numbers(step).into_iter().map(row).collect::<Vec<_>>()
    };
    let of_case = case.metrics.0.iter().map(|(key, value)| figure(Default::default(), key, *value));
    let all: Vec<_> = match case.counts() {
        true => case.steps.iter().flat_map(of_step).chain(of_case).collect(),
        false => vec![],
    };
    if all.is_empty() { vec![Default::default()] } else { all }
}

fn figure([step, workload]: [String; 2], key: &str, value: f64) -> [String; 5] {
    [step, workload, cell(key), pick::exact(value), unit(key).to_owned()]
}

/// The end of a key, as a unit.
fn unit(key: &str) -> &'static str {
    const UNITS: [(&str, &str); 6] = [
        ("_bytes_per_s", "bytes/s"),
        ("_per_s", "1/s"),
        ("_bytes", "bytes"),
        ("_s", "s"),
        ("_ratio", "ratio"),
        ("_count", "count"),
    ];
    UNITS.iter().find(|(end, _)| key.ends_with(end)).map_or("", |(_, unit)| unit)
}

/// Text that no spreadsheet takes for a formula. Source: OWASP, "CSV Injection".
fn cell(text: &str) -> String {
    let text = plain::lines(text);
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    if is_formula { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::result::{Reason, Status};

    /// Read by the other half of the crate.
    fn rows(report: &RunReport) -> Vec<std::collections::BTreeMap<String, String>> {
        let text = text(report).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.deserialize().map(|row| row.unwrap()).collect()
    }

    /// Numbers of a case, counted in its JSON.
    fn count(case: &CaseResult) -> usize {
        let value = serde_json::to_value(case).unwrap();
        let numbers = |map: &serde_json::Value| {
            map.as_object().into_iter().flatten().filter(|(_, value)| value.is_number()).count()
        };
        let of_step = |step: &serde_json::Value| {
            let (facts, metrics) = (&step["facts"], &step["metrics"]);
            let shared = |key: &&String| {
                metrics.get(*key).is_some() || facts.get(*key).is_some_and(serde_json::Value::is_number)
            };
            let of_postmark = numbers(&facts["postmark"]);
            let twice = facts["postmark"].as_object().into_iter().flatten().map(|(key, _)| key);
            numbers(facts) + numbers(metrics) + of_postmark - twice.filter(shared).count()
        };
        let steps = value["steps"].as_array().unwrap().iter().map(of_step).sum::<usize>();
        steps + numbers(&value["metrics"])
    }

    #[test]
    fn there_are_as_many_rows_as_verified_numbers_and_one_for_each_case_without() {
        for report in [example::report(), example::repeated(), example::postmark()] {
            let expected = |case: &CaseResult| if case.counts() { count(case) } else { 1 };
            let rows = rows(&report);
            assert_eq!(rows.len(), report.cases.iter().map(expected).sum::<usize>());
            assert!(rows.iter().filter(|row| row["metric"].is_empty()).all(|row| row["value"].is_empty()));
        }
    }

    #[test]
    fn a_row_tells_the_whole_number_and_where_it_belongs() {
        let rows = rows(&example::report());
        let found = |step: &str, metric: &str| {
            let mut of = rows.iter().filter(|row| row["configuration"] == "btrfs" && row["step"] == step);
            of.find(|row| row["metric"] == metric).unwrap().clone()
        };
        let synced = found("small-files", "synced_s");
        let told =
            ["value", "unit", "workload", "block", "warm_up", "order", "status", "kernel", "started_at"]
                .map(|column| synced[column].as_str());
        let expected = [
            "0.668",
            "s",
            "many-small-files",
            "1",
            "false",
            "1",
            "passed",
            "6.18.44",
            "2026-11-30T11:26:33Z",
        ];
        assert_eq!(told, expected);
        assert_eq!(found("fill", "file_size_bytes")["value"], "1910505472", "a fact, whole");
        assert_eq!(found("small-files", "operations_per_s")["unit"], "1/s");
        assert_eq!(found("fill", "payload_bytes_per_s")["unit"], "bytes/s");
        assert_eq!(found("", "mkfs_s")["value"], "0.056", "of the whole case");
    }

    #[test]
    fn a_case_without_verified_numbers_says_why_and_shows_none() {
        let rows = rows(&example::repeated());
        let of = |id: &str, block: &str| {
            let own = rows.iter().filter(|row| row["configuration"] == id && row["block"] == block);
            own.cloned().collect::<Vec<_>>()
        };
        let invalid = of("xfs", "4");
        assert_eq!(invalid.len(), 1);
        assert_eq!((invalid[0]["status"].as_str(), invalid[0]["value"].as_str()), ("invalid", ""));
        assert_eq!(invalid[0]["reason"], "the store filled up under the image");
        assert_eq!(of("reiserfs", "2")[0]["status"], "not_run");
        assert!(of("ext4", "0").iter().all(|row| row["warm_up"] == "true"));
        assert!(of("ext4", "1").iter().all(|row| row["warm_up"] == "false"));
    }

    #[test]
    fn no_text_from_outside_is_a_formula_and_every_negative_number_stays_one() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"] {
            let mut report = example::report();
            report.suite.name = text.into();
            report.cases[0].configuration.mount_options = format!("{text},\"quoted\"\nsecond line");
            report.cases[0].reason = Some(Reason { code: "limit".into(), text: text.into(), next: None });
            report.cases[0].status = Status::Failed;
            let rows = rows(&report);
            assert_eq!(rows[0]["suite"], format!("'{text}"));
            assert_eq!(rows[0]["reason"], format!("'{text}"));
            assert!(rows[0]["mount_options"].ends_with(",\"quoted\"\nsecond line"));
        }
        let freed = rows(&example::repeated());
        let freed = freed.iter().find(|row| row["value"].starts_with('-')).unwrap();
        assert_eq!((freed["metric"].as_str(), freed["step"].as_str()), ("space_used_bytes", "remove"));
    }

    #[test]
    fn each_row_says_where_it_ran_and_whether_its_times_can_be_compared() {
        let rows = rows(&example::emulated());
        let told = |row: &std::collections::BTreeMap<String, String>| {
            (row["backend"].clone(), row["timings_comparable"].clone(), row["kernel"].starts_with("6.1"))
        };
        assert!(rows.iter().all(|row| told(row) == ("vm".into(), "false".into(), true)));
    }

    #[test]
    fn a_number_is_written_so_that_it_reads_back_the_same() {
        for value in [0.1 + 0.2, 4096.0, -53.0, 1e-9, 9_007_199_254_740_991.0] {
            assert_eq!(pick::exact(value).parse::<f64>().unwrap().to_bits(), value.to_bits());
        }
        assert_eq!(pick::exact(4096.0), "4096");
        assert_eq!(pick::exact(-0.0), "0");
    }
}
