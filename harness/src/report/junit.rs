//! JUnit's XML in the form that Jenkins reads, for programs that show the results of tests.
//!
//! A configuration is a test suite; each of its steps, and each check of what the steps left, is a
//! test in each block. What was not verified never passes: a case that failed fails the steps that it
//! came to, one that the environment or the harness broke makes them errors, and what did not run or
//! was not checked is skipped, with the reason. So a figure (the time of a test) is one that was verified.
//! Claims and gates have suites of their own.
//!
//! The schema of Jenkins (`fixtures/schema/junit-10.xsd`) has properties of suites only, so the
//! figures of a step stand there, as `STEP.METRIC`.

mod case;
mod judged;
mod properties;

use std::io::Write;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::{Format, Style, write_text};
use crate::error::{Cannot, Result};
use crate::result::RunReport;
use crate::units::plain;

pub(super) const FORMAT: Format = Format {
    name: "junit",
    meaning: "JUnit's XML as Jenkins reads it: a suite for each file system, a test for each step and check.",
    write,
};

fn write(report: &RunReport, to: &mut dyn Write, _style: &Style) -> Result<()> {
    let mut junit = Report::new(plain::line(&report.suite.name));
    junit.add_test_suites(report.configuration_ids().into_iter().map(|id| suite(report, id)));
    junit.add_test_suites(judged::claims(report).into_iter().chain(judged::gates(report)));
    junit.test_suites.iter_mut().for_each(|suite| in_packages(suite, &report.suite.name));
    let text = junit.to_string().cannot(|| "write the report as XML".into())?;
    // The schema does not have this attribute here; within a value its quotes would be escaped.
    let unknown = format!(" skipped=\"{}\"", junit.skipped);
    write_text(&text.replacen(&unknown, "", 1), to)
}

/// Jenkins groups tests by what stands before the last dot of their class, and several runs in one job
/// have the same configurations.
fn in_packages(suite: &mut TestSuite, package: &str) {
    let package = plain::line(package);
    for test in suite.test_cases.iter_mut() {
        let class = test.classname.take().unwrap_or_else(|| suite.name.clone());
        test.set_classname(format!("{package}.{}", class.as_str().replace('.', "_")));
    }
}

/// All of a configuration.
fn suite(report: &RunReport, id: &str) -> TestSuite {
    let mut suite = named(id, report);
    suite.add_properties(properties::of(report, id));
    let cases = report.cases.iter().filter(|case| case.configuration.id == id);
    suite.add_test_cases(cases.flat_map(|case| case::tests(report, case)));
    suite.time = suite.test_cases.iter().filter_map(|test| test.time).reduce(Duration::saturating_add);
    suite
}

/// With the time at which the run began, if what is stored is one.
fn named(name: &str, report: &RunReport) -> TestSuite {
    let mut suite = TestSuite::new(plain::line(name));
    let started_at = &report.manifest.started_at;
    if started_at.parse::<jiff::Timestamp>().is_ok() {
        suite.extra.insert("timestamp".into(), started_at.into());
    }
    suite
}

/// A test that took so long, where that is known.
fn test(class: &str, name: &str, status: TestCaseStatus, seconds: Option<f64>) -> TestCase {
    let mut test = TestCase::new(plain::line(name), status);
    test.set_classname(plain::line(class));
    test.time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    test
}

/// It did not come to what it should.
fn failure(code: &str, message: &str, more: &[String]) -> TestCaseStatus {
    told(TestCaseStatus::non_success(NonSuccessKind::Failure), code, message, more)
}

/// It could not be found out.
fn error(code: &str, message: &str, more: &[String]) -> TestCaseStatus {
    told(TestCaseStatus::non_success(NonSuccessKind::Error), code, message, more)
}

fn skipped(code: &str, message: &str, more: &[String]) -> TestCaseStatus {
    told(TestCaseStatus::skipped(), code, message, more)
}

fn told(mut status: TestCaseStatus, code: &str, message: &str, more: &[String]) -> TestCaseStatus {
    status.set_type(plain::line(code)).set_message(plain::line(message));
    if !more.is_empty() {
        let lines: Vec<String> = more.iter().map(|line| plain::lines(line)).collect();
        status.set_description(lines.join("\n"));
    }
    status
}

#[cfg(test)]
mod tests;
