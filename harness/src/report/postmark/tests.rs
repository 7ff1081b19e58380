//! Against texts that the real program printed.

use serde_json::Value;

use super::*;
use crate::error::Kind;
use crate::report::example;
use crate::result::{Latency, Limit, Reason, Status, Which};

fn vectors() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/postmark/vectors.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn counts_of(vector: &Value) -> Postmark {
    let count = |key: &str| number(&vector["expected"][key]);
    Postmark {
        created_count: count("created"),
        created_alone_count: count("created_alone"),
        created_mixed_count: count("created_mixed"),
        read_count: count("read"),
        appended_count: count("appended"),
        deleted_count: count("deleted"),
        deleted_alone_count: count("deleted_alone"),
        deleted_mixed_count: count("deleted_mixed"),
        transactions_count: number(&vector["config"]["transactions"]),
        transactions_not_run_count: count("transactions_not_run"),
        read_bytes: count("bytes_read_exact"),
        written_bytes: count("bytes_written_exact"),
        read_single_precision_bytes: count("bytes_read_f32"),
        written_single_precision_bytes: count("bytes_written_f32"),
        ..Postmark::default()
    }
}

/// Of a run that lasted as long as the vector says.
fn seconds_of(vector: &Value) -> Seconds {
    let times = vector["reports"]["times"].as_array().unwrap();
    let [creation, transactions, deletion] = [0, 1, 2].map(|at| number(&times[at]));
    Seconds { total: creation + transactions + deletion, creation, transactions, deletion }
}

/// A run with one step that did this.
fn run_of(counts: Postmark, seconds: Option<&Seconds>) -> RunReport {
    let mut report = example::postmark();
    report.cases.truncate(1);
    let step = &mut report.cases[0].steps[0];
    step.facts.postmark = Some(counts);
    step.metrics.0.clear();
    for (key, value) in seconds.iter().flat_map(|seconds| seconds.by_key()) {
        step.metrics.set(key, f64::from(u32::try_from(value).unwrap()));
    }
    report
}

fn written(report: &RunReport, format: &Format) -> String {
    let mut bytes = vec![];
    (format.write)(report, &mut bytes, &Style::default()).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn both_reports_of_every_vector_are_those_of_the_real_program() {
    let vectors = vectors();
    let complete = vectors.iter().filter(|vector| vector["expected"]["transactions_not_run"] == 0);
    let mut compared = 0;
    for vector in complete {
        let report = run_of(counts_of(vector), Some(&seconds_of(vector)));
        let expected = |format: &str| vector["reports"][format].as_str().unwrap();
        let text = written(&report, &FORMAT);
        let (own, _) = text.split_once("\nExactly (").unwrap();
        assert_eq!(own, expected("verbose"), "{}", vector["name"]);
        assert_eq!(written(&report, &TERSE), expected("terse"), "{}", vector["name"]);
        compared += 1;
    }
    assert!(compared >= 20, "{compared} vectors");
}

#[test]
fn without_a_clock_the_text_is_that_of_the_real_program_without_times_and_rates() {
    for vector in vectors().iter().filter(|vector| vector["reports"]["verbose"] != "") {
        let real = vector["reports"]["verbose"].as_str().unwrap();
        let (_, files) = real.split_once("\n\n").unwrap();
        let without: Vec<&str> = files.lines().map(|line| line.split(" (").next().unwrap()).collect();
        let text = verbose(&counts_of(vector), None);
        assert_eq!(text.lines().collect::<Vec<_>>(), without, "{}", vector["name"]);
    }
}

#[test]
fn data_are_printed_as_in_every_vector_even_where_there_is_no_report() {
    for vector in vectors() {
        let [read, written] = counts_of(&vector).byte_rates(&Seconds::SHORTEST).map(|sum| amount(sum.all()));
        assert_eq!(read, vector["expected"]["bytes_read_printed"], "{}", vector["name"]);
        assert_eq!(written, vector["expected"]["bytes_written_printed"], "{}", vector["name"]);
    }
}

#[test]
fn a_run_out_of_files_says_how_many_transactions_are_missing() {
    let vectors = vectors();
    let vector = vectors.iter().find(|vector| vector["name"] == "bias-create-0-out").unwrap();
    let report = run_of(counts_of(vector), None);
    for format in [&FORMAT, &TERSE] {
        let expected = "out of files: 100 of 200 transactions were not run; PostMark prints no report then\n\
             (more files, or a larger `bias create`, keep it going)\n";
        assert_eq!(written(&report, format), expected);
    }
}

#[test]
fn several_runs_have_a_heading_each() {
    let text = written(&example::postmark(), &FORMAT);
    let headings: Vec<&str> = text.lines().filter(|line| line.ends_with(" mail:")).collect();
    assert_eq!(headings, ["ext4/1 mail:", "btrfs/1 mail:"]);
    assert!(text.contains("\t1268 seconds total\n") && text.contains("\t498 seconds total\n"), "{text}");
}

#[test]
fn what_is_known_exactly_stands_below_the_text() {
    let mut report = example::postmark();
    report.cases.truncate(1);
    let step = &mut report.cases[0].steps[0];
    for (key, value) in [("transactions_s", 453.5), ("deletion_s", 14.0), ("returned_s", 497.875)] {
        step.metrics.set(key, value);
    }
    let latency = Latency {
        count: 2,
        p50_s: 21e-6,
        p90_s: 5e-5,
        p99_s: 8e-5,
        p999_s: 1.0,
        max_s: 1.0,
        histogram: String::new(),
    };
    step.latency.insert("create".into(), latency);
    let text = written(&report, &FORMAT);
    let (_, own) = text.split_once("\n\nExactly").unwrap();
    let expected = " (by fsduel, not by PostMark):
\t15419783628 bytes read (PostMark's sum: 15420171264)
\t28790499995 bytes written (PostMark's sum: 28786898944)
\tPostMark adds up in single precision, which rounds sums above 16 MiB.
\tcreation 29.875 s, transactions 453.500 s, deletion 14.000 s
\tlast call returned after 497.875 s, synced after 499.500 s
\tcreate call: median 21.0 µs, 99 % within 80.0 µs
";
    assert_eq!(own, expected);
    let mut plain = vec![];
    (FORMAT.write)(&report, &mut plain, &Style { ascii: true, ..Style::default() }).unwrap();
    assert!(plain.is_ascii() && plain.ends_with(b"median 21.0 us, 99 % within 80.0 us\n"));
}

#[test]
fn a_line_without_a_clock_says_that_its_times_are_none() {
    let vectors = vectors();
    let vector = vectors.iter().find(|vector| vector["name"] == "defaults").unwrap();
    let text = written(&run_of(counts_of(vector), None), &TERSE);
    let (label, line) = text.split_once('\n').unwrap();
    assert!(label.starts_with("no times:") && line.starts_with("1 1 500.00 764.00 "), "{text}");
    let text = written(&run_of(counts_of(vector), Some(&Seconds::SHORTEST)), &TERSE);
    assert_eq!(text, line);
}

#[test]
fn sums_that_agree_are_told_once_and_need_no_reason() {
    let vectors = vectors();
    let vector = vectors.iter().find(|vector| vector["name"] == "defaults").unwrap();
    let text = written(&run_of(counts_of(vector), None), &FORMAT);
    assert!(text.ends_with("\t1430770 bytes read\n\t4662068 bytes written\n"), "{text}");
}

#[test]
fn a_case_that_was_not_verified_and_a_run_that_met_a_limit_show_no_numbers() {
    let mut report = example::postmark();
    report.cases.truncate(1);
    report.cases[0].steps[0].ended = EndedWord::Limit;
    let limit = Limit {
        which: Which::Inodes,
        errno: Some("ENOSPC".into()),
        call: Some("create".into()),
        path: None,
        at_count: 7,
        at_operation: Some(321),
        at_bytes: 0,
        text: None,
    };
    report.cases[0].steps[0].limit = Some(limit);
    let text = written(&report, &FORMAT);
    assert!(text.starts_with("limit (inodes) at operation 321: ") && !text.contains("450001"), "{text}");
    report.cases[0].status = Status::Invalid;
    report.cases[0].reason =
        Some(Reason { code: "environment".into(), text: "the store is full".into(), next: None });
    assert_eq!(written(&report, &TERSE), "not shown: the case is invalid: the store is full\n");
}

#[test]
fn a_run_without_such_a_step_is_refused_with_the_next_step() {
    for format in [&FORMAT, &TERSE] {
        let error = (format.write)(&example::report(), &mut vec![], &Style::default()).unwrap_err();
        assert_eq!(error.kind(), Kind::Empty);
        assert!(error.next_step().unwrap().contains("fsduel postmark"), "{error}");
    }
}
