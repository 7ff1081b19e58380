//! Runs cases in turn, one worker process each, and puts the report together.
//!
//! Nothing runs in parallel: kernel threads and the store's disk are shared by the whole machine,
//! and their time could not be told apart.

mod clock;
mod costs;
pub mod directory;
mod only_ours;
mod plan;
mod preflight;
mod supervise;

use std::collections::BTreeMap;
use std::time::Instant;

use crate::case::{CaseSpec, Event};
use crate::claim;
use crate::command;
use crate::error::Result;
use crate::fs;
use crate::result::{CaseResult, Environment, Reason, RunReport, SCHEMA_VERSION, Tool};
use crate::sys::signal;

pub use costs::{Costs, free_needed};
pub use plan::{Asked, Plan, plan};

/// What happens during a run, in order.
#[derive(Debug)]
pub enum RunEvent {
    /// A case has begun.
    CaseBegun {
        /// `CONFIGURATION/BLOCK`.
        id: String,
        /// Place in the run, from 1.
        order: u32,
        /// Cases in all.
        total: u32,
    },
    /// The worker of the case tells.
    Worker(Event),
    /// A case has ended.
    CaseEnded(Box<CaseResult>),
}

/// Run a plan to its end, or until a signal or a time limit ends it. What had finished by then is
/// in the report.
///
/// # Errors
///
/// Signals cannot be caught. All else is told in the report.
pub fn run(plan: &Plan, tell: &mut dyn FnMut(RunEvent)) -> Result<RunReport> {
    signal::stop_on(&signal::ENDING)?;
    let started = Instant::now();
    let mut report = head(plan);
    let total = u32::try_from(plan.cases.len()).unwrap_or(u32::MAX);
    for spec in &plan.cases {
        let started_s = started.elapsed().as_secs_f64();
        let mut case = match (plan.reason_not_to_run(spec), signal::seen()) {
            (Some(reason), _) => spec.not_run(reason.clone()),
            (None, Some(signal)) => spec.not_run(clock::signalled(signal)),
            (None, None) => {
                tell(RunEvent::CaseBegun { id: spec.id(), order: spec.order, total });
                supervise::supervise(spec, plan.timeout, tell)
            }
        };
        case.started_s = started_s;
        tell(RunEvent::CaseEnded(Box::new(case.clone())));
        report.cases.push(case);
    }
    report.claims = claim::evaluate(&plan.claims, &report.references, &report);
    Ok(report)
}

fn head(plan: &Plan) -> RunReport {
    RunReport {
        schema_version: SCHEMA_VERSION,
        run_id: plan.run_id.clone(),
        tool: Tool { name: "fsduel".into(), version: env!("CARGO_PKG_VERSION").into() },
        manifest: plan.manifest.clone(),
        suite: plan.info.clone(),
        environments: vec![host(plan)],
        cases: vec![],
        comparisons: vec![],
        changes: None,
        gates: vec![],
        references: plan.references.clone(),
        claims: vec![],
    }
}

/// This machine as the place where cases run.
fn host(plan: &Plan) -> Environment {
    Environment {
        backend: "host".into(),
        kernel: plan.manifest.kernel.clone(),
        tools: tool_versions(&plan.cases),
        timings_comparable: true,
    }
}

fn tool_versions(cases: &[CaseSpec]) -> BTreeMap<String, String> {
    let filesystems = cases.iter().filter_map(|case| fs::by_name(&case.configuration.filesystem));
    filesystems
        .filter_map(|filesystem| {
            let invocation = filesystem.version();
            let output = command::run(&invocation).ok()?;
            let line = output.text.lines().find(|line| !line.trim().is_empty())?;
            Some((invocation.program.to_owned(), line.trim().to_owned()))
        })
        .collect()
}

impl Plan {
    fn reason_not_to_run(&self, spec: &CaseSpec) -> Option<&Reason> {
        self.not_run.get(&spec.configuration.id)
    }
}
