//! PostMark in directories that exist: no file system is made, and no root is needed.
//!
//! The work is done in this process, below the locations of the configuration, by a thread of its
//! own: the one that waits tells how far it is, so that nothing is drawn by the one that is timed.
//! Nothing is synced, since that would write back what other programs wrote, too; so the clock has
//! one stop, and there is no `synced_s`. A place is looked at before: one that holds what the run
//! would overwrite or delete is refused. So all that carries a name of the run afterwards is its
//! own, and is removed, however the run ended. Only `kill -9` leaves it there; the next run then
//! says so.

mod beside;
mod case;
mod places;

use std::fs::File;
use std::path::Path;
use std::time::Instant;

use crate::case::Event;
use crate::command::stop_flag;
use crate::error::{Cannot, Error, Result};
use crate::fs::limit_of_any;
use crate::measure::{Running, Stop, Target};
use crate::ops::{self, Ended, Failure, Real, Record};
use crate::result::{CaseResult, Checked, EndedWord, Facts, Limit, Metrics, Reason, RunReport, Status};
use crate::result::{StepResult, Which};
use crate::suite::DEFAULT_SEED;
use crate::sys::counters::Counters;
use crate::sys::signal;
use crate::sys::statfs::statfs;
use crate::units::Seed;
use crate::worker::{all_of, facts, limit_of, not_allowed, status_of};
use crate::workload::postmark::{self, Options, Settings};
use crate::workload::{self, StepSpec, Workload};

use super::{RunEvent, clock};

use beside::beside;

pub use places::check;

/// One run of PostMark.
#[derive(Clone, Debug)]
pub struct Run {
    /// Unique in a sequence.
    pub name: String,
    /// What PostMark is told.
    pub settings: Settings,
    /// What else is asked for.
    pub options: Options,
}

/// Runs of PostMark, one after the other, as one case.
pub struct Sequence {
    report: RunReport,
    case: CaseResult,
    started: Instant,
    seed: Seed,
    /// The calls of a run are counted ahead, so that its progress has an end.
    counts_ahead: bool,
}

impl Sequence {
    /// Begin at a place that exists. From now on signals ask to stop.
    ///
    /// # Errors
    ///
    /// The place cannot be looked at, or signals cannot be caught.
    pub fn begin(title: &str, argv: Vec<String>, place: &Path) -> Result<Self> {
        signal::stop_on(&signal::ENDING)?;
        let (store, configuration) = case::at(place)?;
        Ok(Self::new(title, argv, store, configuration))
    }

    /// Begin where nothing is touched: runs are only planned.
    #[must_use]
    pub fn plan_only(title: &str, argv: Vec<String>) -> Self {
        let (store, configuration) = case::nowhere();
        let mut sequence = Self::new(title, argv, store, configuration);
        sequence.case.status = Status::NotRun;
        sequence.case.reason = Some(Reason {
            code: Reason::DRY_RUN.into(),
            text: "no file was touched, so there are no times".into(),
            next: None,
        });
        sequence
    }

    fn new(
        title: &str,
        argv: Vec<String>,
        store: crate::result::StoreInfo,
        configuration: crate::result::Configuration,
    ) -> Self {
        Self {
            report: case::report(title, argv, store, DEFAULT_SEED),
            case: case::begun(configuration),
            started: Instant::now(),
            seed: DEFAULT_SEED,
            counts_ahead: true,
        }
    }

    /// Nobody looks at the progress.
    #[must_use]
    pub fn without_progress(self) -> Self {
        Self { counts_ahead: false, ..self }
    }

    /// Whether the next run can follow: none follows one that failed or was stopped.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        matches!(self.case.status, Status::Passed | Status::NotRun)
    }

    /// Do one run, and remove what it left. False where it did not come to a result.
    ///
    /// # Errors
    ///
    /// Its places are not as [`check`] wants them. All else is told in the report.
    pub fn run(&mut self, run: &Run, tell: &mut dyn FnMut(RunEvent)) -> Result<bool> {
        let _claimed = places::claim(&run.settings)?;
        if self.case.steps.is_empty() {
            tell(RunEvent::CaseBegun { id: self.case.id.clone(), order: 1, total: 1 });
        }
        let started_s = self.started.elapsed().as_secs_f64();
        let outcome = self.work(run, started_s, tell);
        let cleaned = places::clean(&run.settings);
        if let (Err(_), Err(left)) = (&outcome, &cleaned) {
            log::warn!("{left}; it stays there");
        }
        match outcome.and_then(|step| cleaned.map(|()| step)) {
            Ok(step) => {
                tell(RunEvent::Worker(Event::StepEnded { step: Box::new(step.clone()) }));
                self.judge(run, step);
                Ok(true)
            }
            Err(error) => {
                self.fail(&error);
                Ok(false)
            }
        }
    }

    /// From the first call to the last, and what came of them.
    fn work(&self, run: &Run, started_s: f64, tell: &mut dyn FnMut(RunEvent)) -> Result<StepResult> {
        let seed = self.seed;
        let workload = postmark::in_place(&run.settings, &run.options)?;
        let total = self.counts_ahead.then(|| workload::totals(&*workload, seed, u64::MAX).ok().flatten());
        let total_count = total.flatten().map(|counts| counts.total());
        let begun = Event::StepBegun { step: run.name.clone(), total_count, most_bytes: None };
        tell(RunEvent::Worker(begun));
        let counters = Counters::default();
        let goes_on = || tell(RunEvent::GoesOn { done: Some(counters.read()) });
        let (outcome, record, metrics) = beside(|| timed(&*workload, seed, &counters), goes_on)?;
        if let Some(signal) = signal::seen() {
            return Err(Error::stopped(format!("finish {}: it was ended by {signal}", run.name)));
        }
        let limit = judge(run, outcome, &record)?;
        Ok(result_of(run, &*workload, seed, (started_s, record, limit, metrics)))
    }

    fn judge(&mut self, run: &Run, step: StepResult) {
        let spec = StepSpec {
            name: run.name.clone(),
            workload: step.workload.clone(),
            parameters: serde_json::Value::Null,
            allow_limit: false,
        };
        if let Some((status, reason)) = not_allowed(&[spec], std::slice::from_ref(&step)) {
            let next = Some("more room at this place, another location, or fewer files".into());
            (self.case.status, self.case.reason) = (status, Some(Reason { next, ..reason }));
        }
        self.case.steps.push(step);
    }

    fn fail(&mut self, error: &Error) {
        self.case.status = status_of(error);
        self.case.reason = Some(match signal::seen() {
            Some(signal) if self.case.status == Status::Stopped => clock::signalled(signal),
            _ => Reason::from(error),
        });
    }

    /// Plan one run: counts and the digest of its operations.
    ///
    /// # Errors
    ///
    /// PostMark cannot run with these settings.
    pub fn plan(&mut self, run: &Run) -> Result<()> {
        let (postmark, digest) = postmark::plan(&run.settings, &run.options)?;
        let facts = Facts { postmark: Some(postmark), operations_sha256: Some(digest), ..Facts::default() };
        let started_s = self.started.elapsed().as_secs_f64();
        self.case.steps.push(step_of(run, started_s, facts, Checked::NotChecked));
        Ok(())
    }

    /// The report of the last run alone; without a step where none was finished.
    #[must_use]
    pub fn last(&self) -> RunReport {
        let steps = self.case.steps.last().cloned().into_iter().collect();
        let case = CaseResult { steps, ..self.case.clone() };
        RunReport { cases: vec![case], ..self.report.clone() }
    }

    /// The report of all runs.
    pub fn finish(mut self, tell: &mut dyn FnMut(RunEvent)) -> RunReport {
        self.case.verify.read_back = all_of(self.case.steps.iter().map(|step| step.read_back));
        tell(RunEvent::CaseEnded(Box::new(self.case.clone())));
        self.report.cases.push(self.case);
        self.report
    }
}

/// From the first call to the last, by the clock.
fn timed(
    workload: &dyn Workload,
    seed: Seed,
    counters: &Counters,
) -> Result<(ops::Result<Ended>, Record, Metrics)> {
    let here = File::open(".").cannot(|| "open the current directory".into())?;
    let mut real = Real::new(here, stop_flag()).counting_in(counters);
    let target = Target::default();
    let mut clock = Running::start(&target)?;
    let outcome = workload.run(&mut real, seed);
    clock.stop(Stop::Returned, &target)?;
    let record = real.into_record();
    let metrics = clock.finish(&record);
    Ok((outcome, record, metrics))
}

/// The limit that ended the work, if one did.
fn judge(run: &Run, outcome: ops::Result<Ended>, record: &Record) -> Result<Option<Limit>> {
    limit_of(&run.name, outcome, record, |failure| which(run, failure))
}

/// By what the file system tells that the failed call was on.
fn which(run: &Run, failure: &Failure) -> Result<(Which, String)> {
    let place = places::of(&run.settings).find(|place| Path::new(&failure.path).starts_with(place));
    let place = place.unwrap_or(Path::new("."));
    let folder = File::open(place).cannot(|| format!("open {}", place.display()))?;
    Ok(limit_of_any(failure.errno, &statfs(&folder)?))
}

fn result_of(
    run: &Run,
    workload: &dyn Workload,
    seed: Seed,
    (started_s, record, limit, metrics): (f64, Record, Option<Limit>, Metrics),
) -> StepResult {
    let verified = run.options.verify && !run.options.bug_compatible && limit.is_none();
    let checked = if verified { Checked::Clean } else { Checked::NotChecked };
    let facts = facts(workload, seed, &record, limit.as_ref());
    StepResult {
        ended: if limit.is_some() { EndedWord::Limit } else { EndedWord::Completed },
        limit,
        metrics,
        latency: record.latency,
        series: record.series,
        errnos: record.errnos.iter().map(ToString::to_string).collect(),
        ..step_of(run, started_s, facts, checked)
    }
}

/// A step of which only facts are known.
fn step_of(run: &Run, started_s: f64, facts: Facts, read_back: Checked) -> StepResult {
    StepResult {
        name: run.name.clone(),
        workload: "postmark".into(),
        started_s,
        ended: EndedWord::Completed,
        limit: None,
        facts,
        metrics: Metrics::default(),
        latency: Default::default(),
        series: vec![],
        errnos: vec![],
        read_back,
        command: None,
    }
}
