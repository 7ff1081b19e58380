//! Runs against each other, and the limits of their ratios.

use std::io::Write;

use fsduel_harness::compare::gate::{self, Gate};
use fsduel_harness::error::{Cannot, Error, Result};
use fsduel_harness::result::{Changes, GateResult, RunReport};
use fsduel_harness::{claim, compare, measure, report};

use super::{Plan, style};

/// The gates of a list; each is about a metric or fact that somebody measures.
pub fn gates(list: &str) -> Result<Vec<Gate>> {
    let metrics = measure::documented().map(|metric| metric.key.to_owned());
    let known: Vec<String> = metrics.chain(claim::fact_keys()).collect();
    gate::parse(list, &known.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Refuse a baseline that did other work than is planned.
pub fn same_work(base: &RunReport, plan: &Plan) -> Result<()> {
    compare::same_work(base, &plan.inner.head())
}

/// Refuse a gate without a baseline where a run compares nothing.
pub fn something_to_compare(plan: &Plan) -> Result<()> {
    match plan.inner.cases.len() {
        0 | 1 => Err(Error::usage("hold a gate against a single file system")
            .next("name what it is compared with: --baseline BASE.json, or a second one with --fs")),
        _ => Ok(()),
    }
}

pub fn changes(base: &RunReport, new: &RunReport) -> Result<Changes> {
    compare::between(base, new)
}

/// Refuse a gate about a step that is not planned.
pub fn steps_of_gates(gates: &[Gate], plan: &Plan) -> Result<()> {
    gate::check_steps(gates, &plan.steps().iter().map(|step| step.name.as_str()).collect::<Vec<_>>())
}

pub fn gates_of_changes(gates: &[Gate], base: &RunReport, new: &RunReport) -> Result<Vec<GateResult>> {
    gate::judge_changes(gates, base, new)
}

pub fn gates_of_run(gates: &[Gate], report: &RunReport) -> Result<Vec<GateResult>> {
    gate::judge_within(gates, report)
}

pub fn write_changes(
    title: &str,
    changes: &Changes,
    gates: &[GateResult],
    out: &mut dyn Write,
) -> Result<()> {
    report::changes::write(title, changes, gates, out, &style())
}

pub fn write_changes_as_json(changes: &Changes, gates: &[GateResult], out: &mut dyn Write) -> Result<()> {
    let text = report::changes::json(changes, gates)?;
    out.write_all(text.as_bytes()).cannot(|| "write the changes".into())
}
