//! `fsduel run`: everything is understood and every destination tried before the first case
//! starts; then suite after suite runs, is stored and is shown.

mod against;
mod store;

use std::io::Write;
use std::path::Path;

use fsduel_harness::result::RunReport;
use fsduel_harness::{Error, Result};

use crate::cli::{Results, RunArguments};
use crate::command::exec::show_output;
use crate::command::gates;
use crate::command::report::{or_default, write_all};
use crate::destination::{self, ReportTo, to_stdout};
use crate::parts::RunEvent;
use crate::progress::{self, Progress};
use crate::{exit, parts};

use against::Against;
use store::Partial;

const DEFAULT_SUITE: &str = "quick";

/// Run the suites, one after the other.
pub fn run(arguments: &RunArguments) -> Result<u8> {
    let names: Vec<&str> = match (&arguments.workload, arguments.suites.as_slice()) {
        (Some(workload), _) => vec![workload],
        (None, []) => vec![DEFAULT_SUITE],
        (None, suites) => suites.iter().map(String::as_str).collect(),
    };
    let plans = names.iter().map(|name| parts::plan(arguments, name)).collect::<Result<Vec<_>>>()?;
    all(&arguments.shared.results, &plans)
}

/// Run what is planned, or only show it.
pub fn all(results: &Results, plans: &[parts::Plan]) -> Result<u8> {
    let suites: Vec<&str> = plans.iter().map(parts::Plan::suite).collect();
    check_destinations(results, &suites)?;
    let against = plans.iter().map(|plan| Against::read(results, plan)).collect::<Result<Vec<_>>>()?;
    if results.dry_run {
        plans.iter().for_each(|plan| warn(results, plan));
        to_stdout(|out| plans.iter().try_for_each(|plan| dry(out, plan)))?;
        return Ok(exit::OK);
    }
    plans.iter().try_for_each(parts::Plan::admit)?;
    let mut codes = Vec::new();
    for (plan, against) in plans.iter().zip(&against) {
        codes.push(one(results, plan, against)?);
        if parts::signal().is_some() {
            break;
        }
    }
    Ok(exit::first(codes))
}

fn dry(out: &mut dyn Write, plan: &parts::Plan) -> Result<()> {
    use fsduel_harness::error::Cannot;
    writeln!(out, "{}\n{}", plan.describe(), plan.costs()).cannot(|| "write the plan".into())
}

/// What makes the figures less trustworthy, on stderr.
fn warn(results: &Results, plan: &parts::Plan) {
    if !results.quiet {
        plan.warnings().for_each(|warning| progress::line(&format!("warning: {warning}")));
    }
}

/// Run one suite to its exit code.
fn one(results: &Results, plan: &parts::Plan, against: &Against) -> Result<u8> {
    if !results.quiet {
        progress::line(&plan.costs());
    }
    warn(results, plan);
    let json = json_path(results).map(|path| destination::for_suite(path, plan.suite()));
    let mut partial =
        json.as_deref().filter(|path| destination::is_plain(path)).map(Partial::start).transpose()?;
    let mut progress = Progress::start(results.quiet, plan.is_live(), Some(plan.forecast()));
    let report = parts::run(plan, &mut |event| {
        progress.tell(&event);
        if let RunEvent::CaseEnded(case) = &event
            && !plan.is_live()
        {
            show_output(case);
        }
        if let Some(partial) = &mut partial {
            partial.tell(&event);
        }
    });
    drop(progress);
    let mut report = report?;
    let judged = against.judge(&mut report);
    store_json(results, &report, plan.suite()).map_err(|error| match &partial {
        Some(partial) => error.next(format!("finished cases are in {}", partial.path().display())),
        None => error,
    })?;
    partial.map(Partial::remove).transpose()?;
    write_all(&report, &shown(results))?;
    gates::tell(&report.gates);
    let asked = exit::Asked { named: plan.named, require_all: plan.require_all, signal: parts::signal() };
    // What was measured is stored and shown, whatever it can be compared with.
    let code = exit::code(&report, asked);
    if let Some(text) = exit::whose(&report, code) {
        progress::line(&text);
    }
    code_of(judged, code)
}

/// The code of a run whose gates were `judged`. Where they could not be and the run itself went wrong,
/// that is why, so its code is told.
fn code_of(judged: Result<()>, code: u8) -> Result<u8> {
    match (judged, code) {
        (Err(error), exit::OK) => Err(error),
        (Err(error), code) => {
            crate::tell(&error);
            Ok(code)
        }
        (Ok(()), code) => Ok(code),
    }
}

/// Whether standard output has the JSON, and nothing else.
pub fn json_is_stdout(results: &Results) -> bool {
    results.json.as_deref() == Some(Path::new("-"))
}

/// Store a report as JSON, if it is asked for in a file.
pub fn store_json(results: &Results, report: &RunReport, suite: &str) -> Result<()> {
    let path = json_path(results).map(|path| destination::for_suite(path, suite));
    path.map_or(Ok(()), |path| destination::write(&path, |out| parts::write_report("json", report, out)))
}

/// Where the JSON is stored, if it is a file.
fn json_path(results: &Results) -> Option<&Path> {
    results.json.as_deref().filter(|path| *path != Path::new("-"))
}

/// The reports to write: JSON on standard output stands there alone.
fn shown(results: &Results) -> Vec<ReportTo> {
    if json_is_stdout(results) {
        let json = ReportTo { format: "json".into(), path: None };
        return std::iter::once(json).chain(results.reports.iter().cloned()).collect();
    }
    or_default(&results.reports)
}

/// Try every destination, so that nothing is lost at the end.
pub fn check_destinations(results: &Results, suites: &[&str]) -> Result<()> {
    let to_stdout = shown(results).iter().filter(|to| to.path.is_none()).count();
    if json_is_stdout(results) && (to_stdout > 1 || suites.len() > 1) {
        return Err(Error::usage("write more than one JSON document to standard output")
            .next("give the other results a file: --report FORMAT=PATH, --json PATH"));
    }
    let files =
        || json_path(results).into_iter().chain(results.reports.iter().filter_map(|to| to.path.as_deref()));
    for path in files() {
        if suites.len() > 1 && !path.to_string_lossy().contains("{suite}") {
            return Err(Error::usage(format!("write the results of several suites to {}", path.display()))
                .next("put {suite} into the path; it stands for the name of the suite"));
        }
    }
    let of = |suite: &&str| files().map(|path| destination::for_suite(path, suite)).collect::<Vec<_>>();
    destination::test_all(&suites.iter().flat_map(of).collect::<Vec<_>>(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_that_cannot_be_judged_never_hides_how_the_run_ended() {
        let nothing = || Err(Error::usage("decide the gate"));
        assert!(code_of(nothing(), exit::OK).is_err());
        for code in exit::PRECEDENCE.into_iter().filter(|code| *code != exit::OK) {
            assert_eq!(code_of(nothing(), code).unwrap(), code);
            assert_eq!(code_of(Ok(()), code).unwrap(), code);
        }
    }
}
