//! PostMark's own reports, sign for sign, of every step that did PostMark's work.
//!
//! They exist to be laid beside what others published, so the text is what PostMark would have
//! printed: whole seconds, single precision, nothing synced. What we know better stands below the
//! verbose one, labelled as ours. A case that is not verified has no numbers here either.

use std::io::Write;

use super::{Format, Style, human, write_text};
use crate::error::{Error, Result};
use crate::result::postmark::{Rate, data, hundredths};
use crate::result::{CaseResult, EndedWord, Postmark, Reason, RunReport, Seconds, StepResult};

pub(super) const FORMAT: Format = Format {
    name: "postmark",
    meaning: "PostMark's verbose report of each PostMark step, and exact figures beside it.",
    write: |report, to, style| write(report, to, style, full),
};

pub(super) const TERSE: Format = Format {
    name: "postmark-terse",
    meaning: "PostMark's terse report of each PostMark step: one line of figures.",
    write: |report, to, style| write(report, to, style, line),
};

/// A step that did PostMark's work.
struct Run<'a> {
    case: &'a CaseResult,
    step: &'a StepResult,
    counts: &'a Postmark,
}

fn write(
    report: &RunReport,
    to: &mut dyn Write,
    style: &Style,
    tell: fn(&Run, &Style) -> String,
) -> Result<()> {
    let runs = runs(report);
    if runs.is_empty() {
        return Err(Error::empty("write PostMark's report: no step of this run did PostMark's work")
            .next("give a run of `fsduel postmark`, or choose another report (`fsduel list formats`)"));
    }
    let body = |run: &Run| silent(run).unwrap_or_else(|| tell(run, style));
    let parts: Vec<String> = match runs.as_slice() {
        [run] => vec![body(run)],
        runs => runs.iter().map(|run| format!("{} {}:\n{}", run.case.id, run.step.name, body(run))).collect(),
    };
    write_text(&parts.join("\n"), to)
}

fn runs(report: &RunReport) -> Vec<Run<'_>> {
    let cases = report.configuration_ids().into_iter().flat_map(|id| report.measured(id));
    let of_case = |case| {
        let steps = (case as &CaseResult).steps.iter();
        steps.filter_map(move |step| Some(Run { case, step, counts: step.facts.postmark.as_ref()? }))
    };
    cases.flat_map(of_case).collect()
}

/// Why there is no report of a run.
fn silent(run: &Run) -> Option<String> {
    let counts = run.counts;
    if !run.case.counts() && !is_planned(run.case) {
        let why = run.case.reason.as_ref().map(|reason| format!(": {}", reason.text)).unwrap_or_default();
        return Some(format!("not shown: the case is {}{why}\n", human::word(run.case.status)));
    }
    if run.step.ended == EndedWord::Limit {
        let limit = run.step.limit.as_ref();
        let which = limit.map_or_else(|| "a limit".into(), |limit| human::word(limit.which));
        let at = limit.and_then(|limit| limit.at_operation);
        let at = at.map(|at| format!(" at operation {at}")).unwrap_or_default();
        return Some(format!(
            "limit ({which}){at}: the run is not complete; PostMark would have gone on and counted what failed\n"
        ));
    }
    (!counts.has_report()).then(|| {
        format!(
            "out of files: {} of {} transactions were not run; PostMark prints no report then\n\
             (more files, or a larger `bias create`, keep it going)\n",
            counts.transactions_not_run_count, counts.transactions_count
        )
    })
}

/// Whether nothing was meant to run: the counts are those of the plan.
fn is_planned(case: &CaseResult) -> bool {
    case.reason.as_ref().is_some_and(|reason| reason.code == Reason::DRY_RUN)
}

/// PostMark's line. Without a clock it cannot do without times, so that is said before.
fn line(run: &Run, _style: &Style) -> String {
    match Seconds::stored(&run.step.metrics) {
        Some(seconds) => terse(run.counts, &seconds),
        None => format!("{UNTIMED}{}", terse(run.counts, &Seconds::SHORTEST)),
    }
}

const UNTIMED: &str = "no times: each phase is taken as 1 s, so that rates are counts\n";

/// PostMark's report, an empty line, and what we know better.
fn full(run: &Run, style: &Style) -> String {
    let seconds = Seconds::stored(&run.step.metrics);
    let beside = beside(run.step, run.counts);
    let beside = if style.ascii { beside.replace('µ', "u") } else { beside };
    format!("{}\n{beside}", verbose(run.counts, seconds.as_ref()))
}

/// Lines of files in the verbose report: what stands before the count, and what after it.
const FILES: [(&str, &str); 8] = [
    ("\t", "created"),
    ("\t\tCreation alone: ", "files"),
    ("\t\tMixed with transactions: ", "files"),
    ("\t", "read"),
    ("\t", "appended"),
    ("\t", "deleted"),
    ("\t\tDeletion alone: ", "files"),
    ("\t\tMixed with transactions: ", "files"),
];

/// PostMark's verbose report. Without a clock it has counts and data only, no times and no rates.
#[must_use]
pub fn verbose(counts: &Postmark, seconds: Option<&Seconds>) -> String {
    let [transactions, files @ ..] = counts.rates(seconds.unwrap_or(&Seconds::SHORTEST));
    let rate = |rate: &Rate| seconds.map(|_| format!(" ({} per second)", rate.whole())).unwrap_or_default();
    let mut text = String::new();
    if let Some(Seconds { total, transactions: time, .. }) = seconds {
        let rate = rate(&transactions);
        text = format!("Time:\n\t{total} seconds total\n\t{time} seconds of transactions{rate}\n\n");
    }
    text.push_str("Files:\n");
    for ((lead, noun), file) in FILES.iter().zip(&files) {
        text.push_str(&format!("{lead}{} {noun}{}\n", file.count, rate(file)));
    }
    text.push_str("\nData:\n");
    let bytes = counts.byte_rates(seconds.unwrap_or(&Seconds::SHORTEST));
    for (bytes, done) in bytes.iter().zip(["read", "written"]) {
        let rate = seconds.map(|_| format!(" ({} per second)", amount(bytes.single()))).unwrap_or_default();
        text.push_str(&format!("\t{} {done}{rate}\n", amount(bytes.all())));
    }
    text
}

fn amount(bytes: f32) -> String {
    let (number, unit) = data(bytes);
    format!("{number} {unit}")
}

/// PostMark's terse report: one line.
#[must_use]
pub fn terse(counts: &Postmark, seconds: &Seconds) -> String {
    let whole = [seconds.total, seconds.transactions].map(|seconds| seconds.to_string());
    let rates = counts.rates(seconds).into_iter().chain(counts.byte_rates(seconds));
    let figures: Vec<String> = whole.into_iter().chain(rates.map(|rate| hundredths(rate.single()))).collect();
    format!("{}\n", figures.join(" "))
}

/// Exact bytes, and our times where there are any.
fn beside(step: &StepResult, counts: &Postmark) -> String {
    let sums = [
        ("read", counts.read_bytes, counts.read_single_precision_bytes),
        ("written", counts.written_bytes, counts.written_single_precision_bytes),
    ];
    let mut text = String::from("Exactly (by fsduel, not by PostMark):\n");
    for (done, exact, single) in sums {
        let other = if exact == single { String::new() } else { format!(" (PostMark's sum: {single})") };
        text.push_str(&format!("\t{exact} bytes {done}{other}\n"));
    }
    if sums.iter().any(|(_, exact, single)| exact != single) {
        text.push_str("\tPostMark adds up in single precision, which rounds sums above 16 MiB.\n");
    }
    for told in TIMES {
        text.push_str(&times(step, told));
    }
    for (operation, latency) in LATENCIES.iter().filter_map(|name| step.latency.get_key_value(*name)) {
        let (median, p99) = (human::time(latency.p50_s), human::time(latency.p99_s));
        text.push_str(&format!("\t{operation} call: median {median}, 99 % within {p99}\n"));
    }
    text
}

/// Kinds of operations of which the latency is told.
const LATENCIES: [&str; 5] = ["create", "open", "read", "write", "unlink"];

/// Our times by key, line by line.
const TIMES: [&[(&str, &str)]; 2] = [
    &[("creation", "creation_s"), ("transactions", "transactions_s"), ("deletion", "deletion_s")],
    &[("last call returned after", "returned_s"), ("synced after", "synced_s")],
];

/// `creation 30.012 s, transactions 454.100 s`: as far as they were measured.
fn times(step: &StepResult, told: &[(&str, &str)]) -> String {
    let time = |(name, key): &(&str, &str)| Some(format!("{name} {:.3} s", step.metrics.get(key)?));
    let known: Vec<String> = told.iter().filter_map(time).collect();
    if known.is_empty() { String::new() } else { format!("\t{}\n", known.join(", ")) }
}

#[cfg(test)]
mod tests;
