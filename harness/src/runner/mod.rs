//! Runs cases in turn, one worker process each, and puts the report together.
//!
//! Nothing runs in parallel: kernel threads and the store's disk are shared by the whole machine,
//! and their time could not be told apart. Several blocks repeat it, each in an order of its own.

mod backend;
mod blocks;
mod clock;
mod costs;
pub mod directory;
mod disk;
mod forecast;
mod lent;
mod memory;
mod only_ours;
mod place;
mod plan;
mod preflight;
mod said;
mod supervise;
mod vm;

use std::collections::BTreeMap;
use std::time::Instant;

use crate::case::{CaseSpec, Event};
use crate::claim;
use crate::command;
use crate::compare::{self, Repeat};
use crate::error::{Error, Result};
use crate::fs;
use crate::guard::{Lock, Watch};
use crate::result::{CaseResult, Environment, Reason, RunReport, Status, Warning};
use crate::sys::counters::Done;
use crate::sys::signal;
use crate::units::duration_text;

use backend::Backend;
use blocks::{Next, Schedule};

pub use costs::{Costs, free_needed};
pub use forecast::Forecast;
pub use memory::{FoundGroup, find_groups, remove_group};
pub use plan::{Asked, Plan, plan};

/// What happens during a run, in order.
#[derive(Debug)]
pub enum RunEvent {
    /// The run has begun: its report, still without a case.
    RunBegun(Box<RunReport>),
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
    /// The case goes on; at most once a second.
    GoesOn {
        /// How far the step is, while one works.
        done: Option<Done>,
    },
    /// The worker printed a line on its standard error: a warning, or its last words.
    Said(String),
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
    let (held, watch) = (Lock::hold(), Watch::begin());
    let (backends, environments) = plan.place.backends()?.into_iter().unzip();
    let report = RunReport { environments: with_tools(plan, environments), ..head(plan) };
    let mut run =
        Run { plan, backends, started: Instant::now(), report, given_up: vec![], ended: false, tell };
    held.warn(&mut run.report.manifest.warnings);
    (run.tell)(RunEvent::RunBegun(Box::new(run.report.clone())));
    run.refuse();
    let end = run.blocks();
    let mut report = run.report;
    report.manifest.warnings.extend(warnings(plan, &report, end));
    report.manifest.warnings.extend(watch.end());
    report.comparisons = compare::within(&report);
    report.claims = claim::evaluate(&plan.claims, &report.references, &report);
    Ok(report)
}

/// A run that goes on.
struct Run<'a> {
    plan: &'a Plan,
    /// By environment.
    backends: Vec<Box<dyn Backend>>,
    started: Instant,
    report: RunReport,
    /// Ids of configurations that fail every time.
    given_up: Vec<String>,
    /// A command failed, and that ends the run.
    ended: bool,
    tell: &'a mut dyn FnMut(RunEvent),
}

impl Run<'_> {
    /// The cases that cannot run here are told first, once.
    fn refuse(&mut self) {
        for spec in &self.plan.cases {
            if let Some(reason) = self.plan.not_run.get(&spec.configuration.id) {
                self.end(spec.not_run(reason.clone()));
                self.given_up.push(spec.configuration.id.clone());
            }
        }
    }

    /// Block after block. How it ended, and after how many.
    fn blocks(&mut self) -> (Next, u32) {
        let mut schedule = Schedule::new(self.plan.repeat, self.plan.budget);
        loop {
            let resolved = || compare::resolved(&self.report);
            let begun = Instant::now();
            match schedule.next(self.started.elapsed(), resolved) {
                Next::Block(block) if self.goes_on() => self.block(block),
                Next::Block(_) => return (Next::Done, schedule.measured().saturating_sub(1)),
                end => return (end, schedule.measured()),
            }
            schedule.took(begun.elapsed());
        }
    }

    /// A signal ends the run with the block in which it came; the first one tells why nothing ran.
    fn goes_on(&self) -> bool {
        let ran = self.report.cases.iter().any(|case| case.status != Status::NotRun);
        let left = self.plan.cases.iter().any(|spec| !self.given_up.contains(&spec.configuration.id));
        left && !self.ended && !(ran && signal::seen().is_some())
    }

    /// Every configuration once.
    fn block(&mut self, block: u32) {
        let mut ended_in = None::<String>;
        for at in blocks::order(self.plan.cases.len(), block, self.plan.seed) {
            let spec = CaseSpec { block, order: self.order(), ..self.plan.cases[at].clone() };
            if self.given_up.contains(&spec.configuration.id) {
                continue;
            }
            if let Some(id) = &ended_in {
                self.end(spec.not_run(not_reached(id)));
                continue;
            }
            let case = self.case(&spec);
            if fails_every_time(&case) && !(self.plan.keep_going && is_of_the_command(&case)) {
                self.given_up.push(spec.configuration.id);
            }
            let ends = !self.plan.keep_going && is_of_the_command(&case);
            ended_in = ends.then(|| case.id.clone());
            self.ended |= ends;
            self.end(case);
        }
    }

    fn case(&mut self, spec: &CaseSpec) -> CaseResult {
        let started_s = self.started.elapsed().as_secs_f64();
        let case = match signal::seen() {
            Some(signal) => spec.not_run(clock::signalled(signal)),
            None => {
                let (id, order, total) = (spec.id(), spec.order, self.plan.cases_at_most());
                (self.tell)(RunEvent::CaseBegun { id, order, total });
                let environment = usize::try_from(spec.configuration.environment).unwrap_or(usize::MAX);
                match self.backends.get(environment) {
                    Some(backend) => supervise::supervise(spec, &**backend, self.plan.timeout, self.tell),
                    None => spec.not_run(Reason::from(&Error::new("find where the case runs"))),
                }
            }
        };
        CaseResult { started_s, ..case }
    }

    /// Place of the next case in the run.
    fn order(&self) -> u32 {
        u32::try_from(self.report.cases.len() + 1).unwrap_or(u32::MAX)
    }

    fn end(&mut self, mut case: CaseResult) {
        case.order = self.order();
        (self.tell)(RunEvent::CaseEnded(Box::new(case.clone())));
        self.report.cases.push(case);
    }
}

/// Whether a configuration is not worth another block: what is damaged, wrong or too slow once is so
/// again. What the environment broke may go well the next time, and a limit is a result.
fn fails_every_time(case: &CaseResult) -> bool {
    let reason = case.reason.as_ref().map(|reason| reason.code.as_str());
    match case.status {
        Status::Passed | Status::Invalid => false,
        Status::Failed => reason != Some(Reason::LIMIT),
        Status::Error | Status::Stopped | Status::NotRun => true,
    }
}

/// Whether a command of the user's failed, or what stands around it did.
fn is_of_the_command(case: &CaseResult) -> bool {
    let code = case.reason.as_ref().map(|reason| reason.code.as_str());
    matches!(code, Some(Reason::COMMAND | Reason::CHECK | Reason::PREPARE))
}

/// Why a case was not run: a command failed in `id`.
fn not_reached(id: &str) -> Reason {
    Reason {
        code: Reason::NOT_REACHED.into(),
        text: format!("the command failed in {id}, which ended the run"),
        next: Some("--keep-going runs it all the same".into()),
    }
}

/// What a reader of the figures has to know of how the run went.
fn warnings(plan: &Plan, report: &RunReport, (end, measured): (Next, u32)) -> Vec<Warning> {
    let mut found = vec![];
    if end == Next::OutOfBudget {
        let budget = duration_text(plan.budget.unwrap_or_default());
        let text = match plan.repeat {
            Repeat::Times(times) => {
                format!("the budget of {budget} ended the run after {measured} of {times} blocks")
            }
            Repeat::Auto => {
                let blocks = if measured == 1 { "block" } else { "blocks" };
                format!("the budget of {budget} ended the run after {measured} {blocks}, undecided")
            }
        };
        found.push(Warning { code: "budget".into(), text });
    }
    found.extend(restless(&report.cases));
    found
}

/// Of the cases that waited for quiet, those that waited in vain.
fn restless(cases: &[CaseResult]) -> Option<Warning> {
    let waited: Vec<bool> = cases.iter().filter_map(|case| case.quiet).collect();
    let (all, in_vain) = (waited.len(), waited.iter().filter(|quiet| !**quiet).count());
    (in_vain > 0).then(|| {
        let text = format!(
            "before {in_vain} of {all} cases device and store were never still for a second: other work goes on there"
        );
        Warning { code: "restless".into(), text }
    })
}

fn head(plan: &Plan) -> RunReport {
    RunReport {
        environments: with_tools(plan, plan.place.environments()),
        references: plan.references.clone(),
        ..RunReport::of(plan.run_id.clone(), plan.manifest.clone(), plan.info.clone())
    }
}

/// Tools are this machine's everywhere: guests get copies. And a limit of memory is the same for all.
fn with_tools(plan: &Plan, environments: Vec<Environment>) -> Vec<Environment> {
    let tools = tool_versions(&plan.cases);
    let with = |mut environment: Environment| {
        environment.tools.extend(tools.clone());
        let limit = plan.cases.first().and_then(|case| case.memory);
        environment.memory_bytes = environment.memory_bytes.or(limit.map(|limit| limit.0));
        environment
    };
    environments.into_iter().map(with).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::Configuration;

    fn case(quiet: Option<bool>, status: Status, reason: Option<&str>) -> CaseResult {
        let configuration = Configuration {
            id: "ext4".into(),
            filesystem: "ext4".into(),
            mount_options: String::new(),
            mkfs_options: vec![],
            block_size_bytes: 4096,
            environment: 0,
        };
        let reason = reason.map(|code| Reason { code: code.into(), text: String::new(), next: None });
        CaseResult { quiet, status, reason, ..CaseResult::of(configuration, 1, 1) }
    }

    #[test]
    fn only_cases_that_waited_for_quiet_can_have_waited_in_vain() {
        let told = |all: &[Option<bool>]| {
            let cases: Vec<_> = all.iter().map(|quiet| case(*quiet, Status::Passed, None)).collect();
            restless(&cases).map(|warning| warning.text)
        };
        assert_eq!(told(&[None, Some(true)]), None);
        let text = told(&[None, Some(true), Some(false), None]).unwrap();
        assert!(text.starts_with("before 1 of 2 cases "), "{text}");
    }

    #[test]
    fn what_may_go_well_the_next_time_runs_again() {
        for (status, reason, every_time) in [
            (Status::Passed, None, false),
            (Status::Invalid, Some(Reason::ENVIRONMENT), false),
            (Status::Failed, Some(Reason::LIMIT), false),
            (Status::Failed, Some(Reason::DAMAGE), true),
            (Status::Error, Some(Reason::HARNESS), true),
            (Status::Stopped, Some(Reason::TIMEOUT), true),
            (Status::NotRun, Some(Reason::MISSING), true),
        ] {
            assert_eq!(fails_every_time(&case(None, status, reason)), every_time, "{status:?} {reason:?}");
        }
    }
}
