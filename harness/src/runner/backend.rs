//! Where a case runs: how its worker is started there, what only that place sees, and why a worker
//! that was lost was lost.
//!
//! All else is the same everywhere: [`supervise`](super::supervise) takes the same events from it.

use std::fmt::Display;
use std::io::{ErrorKind, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Instant;

use nix::sys::signal::Signal;

use crate::case::{CaseSpec, Event, MKFS};
use crate::error::{Cannot, Result};
use crate::result::{CaseResult, Reason, Status};
use crate::scratch::disk::Claim;
use crate::sys::counters::Shared;
use crate::sys::spawn::{WorkerExit, WorkerProcess, spawn_worker};
use crate::worker::WORKER_ARGUMENT;

use super::disk;
use super::lent::Lent;
use super::memory::{self, Limited};

/// Somewhere that cases run.
pub(super) trait Backend {
    /// Start a worker for this case, which has not been told what the case is.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    fn start(&self, spec: &CaseSpec) -> Result<Started>;

    /// Whether this case came to nothing by a fault of the place alone, and is worth one more try.
    fn tries_again(&self, _case: &CaseResult) -> bool {
        false
    }
}

/// A worker that was started.
pub(super) struct Started {
    /// What goes on until it tells more.
    pub(super) doing: &'static str,
    /// It waits for its case.
    pub(super) worker: WorkerProcess,
    /// The case as that place sees it.
    pub(super) spec: CaseSpec,
    /// How far its step is, where memory is shared with it; else it tells.
    pub(super) counters: Option<Shared>,
    /// What only that place knows.
    pub(super) place: Box<dyn Place>,
}

/// What only the place of a case knows and can do.
pub(super) trait Place {
    /// Ask the worker to end in order.
    ///
    /// # Errors
    ///
    /// It cannot be asked.
    fn stop(&mut self, worker: &mut WorkerProcess) -> Result<()> {
        worker.signal(Signal::SIGTERM)
    }

    /// Whether what comes through its standard error are words to a person, and no console.
    fn speaks(&self) -> bool {
        true
    }

    /// The worker has told something.
    fn note(&mut self, _event: &Event) {}

    /// Why the worker is to be given up, where it shows no life.
    fn look(&mut self, _now: Instant) -> Option<Reason> {
        None
    }

    /// Why a worker ended without a result, at what it did; `said` is all that it printed.
    fn lost(&self, exit: WorkerExit, at: &str, _said: &str) -> (Status, Reason) {
        died(exit, at)
    }

    /// The case has ended, and its worker is gone: add what only this place knows.
    fn finish(&mut self, _spec: &CaseSpec, _case: &mut CaseResult) {}
}

/// This machine: a worker in namespaces of its own.
pub(super) struct Host;

impl Backend for Host {
    fn start(&self, spec: &CaseSpec) -> Result<Started> {
        let (counters, shared) = Shared::new()?;
        let lent = Lent::streams(spec.live)?;
        let number = shared.as_raw_fd().to_string();
        let streams = lent.as_ref().map(Lent::numbers).unwrap_or_default();
        let argv: Vec<&str> = ["fsduel", WORKER_ARGUMENT, &number]
            .into_iter()
            .chain(streams.iter().map(String::as_str))
            .collect();
        let inherited: Vec<_> =
            std::iter::once(shared.as_fd()).chain(lent.iter().flat_map(Lent::all)).collect();
        let worker = spawn_worker(&argv, &inherited)?;
        let limit = memory::limit(spec, &worker)?;
        let place = Box::new(Here { limit, _lent: lent, claim: disk::of_case(spec)? });
        Ok(Started { doing: "start", worker, spec: spec.clone(), counters: Some(counters), place })
    }
}

/// This machine, as it is for one case.
#[derive(Default)]
pub(super) struct Here {
    limit: Option<Limited>,
    /// Taken back with the place.
    _lent: Option<Lent>,
    /// Until a file system is made on a whole disk, nobody else may use it.
    claim: Option<Claim>,
}

impl Place for Here {
    fn note(&mut self, event: &Event) {
        if matches!(event, Event::Phase { phase } if phase == MKFS) {
            self.claim = None;
        }
    }

    fn lost(&self, exit: WorkerExit, at: &str, _said: &str) -> (Status, Reason) {
        self.limit.as_ref().and_then(Limited::too_small).unwrap_or_else(|| died(exit, at))
    }

    fn finish(&mut self, _spec: &CaseSpec, case: &mut CaseResult) {
        if let Some(limit) = self.limit.take() {
            limit.finish(case);
        }
    }
}

/// A worker that ended without a result.
pub(super) fn died(exit: impl Display, at: &str) -> (Status, Reason) {
    let text = format!("the worker died before it could tell its result ({exit}), at {at}");
    (Status::Error, Reason { code: Reason::WORKER_DIED.into(), text, next: None })
}

/// Tell a worker its case. One that has ended already is no error here: how it ended tells more.
///
/// # Errors
///
/// The case cannot be written.
pub(super) fn tell(worker: &mut WorkerProcess, spec: &CaseSpec) -> Result<()> {
    let mut line = serde_json::to_vec(spec).cannot(|| "write the case as JSON".into())?;
    line.push(b'\n');
    match worker.input.write_all(&line) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        told => told.cannot(|| "tell the worker its case".into()),
    }
}
