//! One worker: told its case, listened to, stopped in order or killed, and always reaped.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use crate::case::{CaseSpec, Event};
use crate::error::{Cannot, Error, Result};
use crate::result::{CaseResult, Reason, Status, StepResult};
use crate::sys::signal;
use crate::sys::spawn::{WorkerExit, WorkerProcess, spawn_worker};
use crate::worker::WORKER_ARGUMENT;

use super::RunEvent;

/// A run stops within ten seconds of a signal: this much is the worker's, the rest the kernel's.
const GRACE: Duration = Duration::from_secs(8);

/// How often signals and time limits are looked at while the worker says nothing.
const LOOK: u16 = 100;

/// Run one case in a worker.
pub(super) fn supervise(
    spec: &CaseSpec,
    timeout: Option<Duration>,
    tell: &mut dyn FnMut(RunEvent),
) -> CaseResult {
    let mut watch = Watch::new(timeout);
    let outcome = start(spec).and_then(|mut worker| {
        watch.listen(&mut worker, tell)?;
        worker.wait()
    });
    let mut case = match watch.case.take() {
        Some(case) => *case,
        None => lost(spec, std::mem::take(&mut watch.steps), outcome, watch.stopped.is_some()),
    };
    if let Some(why) = watch.stopped
        && case.status == Status::Stopped
    {
        case.reason = Some(why);
    }
    case
}

fn start(spec: &CaseSpec) -> Result<WorkerProcess> {
    let mut worker = spawn_worker(&["fsduel", WORKER_ARGUMENT])?;
    let mut line = serde_json::to_vec(spec).cannot(|| "write the case as JSON".into())?;
    line.push(b'\n');
    worker.input.write_all(&line).cannot(|| "tell the worker its case".into())?;
    Ok(worker)
}

/// Why a run that a signal ended did not finish.
pub(super) fn signalled() -> Reason {
    let signal = signal::seen().map_or("signal", Signal::as_str);
    Reason { code: signal.to_ascii_lowercase(), text: format!("the run was ended by {signal}"), next: None }
}

/// What is known of a worker.
struct Watch {
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    kill_at: Option<Instant>,
    stopped: Option<Reason>,
    step: String,
    progress: (u64, u64),
    steps: Vec<StepResult>,
    case: Option<Box<CaseResult>>,
}

impl Watch {
    fn new(timeout: Option<Duration>) -> Self {
        Self {
            timeout,
            deadline: None,
            kill_at: None,
            stopped: None,
            step: String::new(),
            progress: (0, 0),
            steps: vec![],
            case: None,
        }
    }

    /// Take events until the worker closes its end.
    fn listen(&mut self, worker: &mut WorkerProcess, tell: &mut dyn FnMut(RunEvent)) -> Result<()> {
        let mut pending = Vec::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            self.keep_time(worker)?;
            if !readable(&worker.events)? {
                continue;
            }
            let count = worker.events.read(&mut buffer).cannot(|| "listen to the worker".into())?;
            if count == 0 {
                return Ok(());
            }
            pending.extend_from_slice(&buffer[..count]);
            while let Some(end) = pending.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = pending.drain(..=end).collect();
                let event = serde_json::from_slice(&line).cannot(|| "understand the worker".into())?;
                self.note(&event);
                tell(RunEvent::Worker(event));
            }
        }
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::StepBegun { step, .. } => {
                self.step.clone_from(step);
                self.progress = (0, 0);
                self.deadline = self.timeout.map(|limit| Instant::now() + limit);
            }
            Event::Progress { count, bytes } => self.progress = (*count, *bytes),
            Event::StepEnded { step } => {
                self.deadline = None;
                self.steps.push((**step).clone());
            }
            Event::CaseEnded { case } => self.case = Some(case.clone()),
            Event::Phase { .. } => {}
        }
    }

    /// Ask the worker to stop when it is time; kill it when it does not.
    fn keep_time(&mut self, worker: &WorkerProcess) -> Result<()> {
        let now = Instant::now();
        if self.stopped.is_none() {
            self.stopped = match signal::seen() {
                Some(_) => Some(signalled()),
                None => self.deadline.filter(|deadline| now >= *deadline).map(|_| self.timed_out()),
            };
            if self.stopped.is_some() {
                self.kill_at = Some(now + GRACE);
                return worker.signal(Signal::SIGTERM);
            }
        }
        if self.kill_at.is_some_and(|at| now >= at) {
            self.kill_at = None;
            return worker.signal(Signal::SIGKILL);
        }
        Ok(())
    }

    fn timed_out(&self) -> Reason {
        let (count, bytes) = self.progress;
        let limit = self.timeout.unwrap_or_default().as_secs_f64();
        Reason {
            code: "timeout".into(),
            text: format!(
                "step {} did not end within {limit} s: {count} operations and {} were done",
                self.step,
                crate::units::Bytes(bytes)
            ),
            next: Some("a longer --timeout, or less work with --set".into()),
        }
    }
}

fn readable(events: &std::fs::File) -> Result<bool> {
    let mut fds = [PollFd::new(events.as_fd(), PollFlags::POLLIN)];
    match poll(&mut fds, PollTimeout::from(LOOK)) {
        Ok(count) => Ok(count > 0),
        Err(nix::errno::Errno::EINTR) => Ok(false),
        Err(errno) => Err(Error::new("wait for the worker").because(errno)),
    }
}

/// The result of a case whose worker did not live to tell it.
fn lost(spec: &CaseSpec, steps: Vec<StepResult>, outcome: Result<WorkerExit>, stopped: bool) -> CaseResult {
    let mut case = CaseResult { steps, ..CaseResult::planned(spec) };
    let (status, reason) = match outcome {
        Err(error) => (Status::Error, Reason::from(&error)),
        Ok(exit) => {
            let text = format!("the worker died before it could tell its result ({exit})");
            (Status::Error, Reason { code: "worker_died".into(), text, next: None })
        }
    };
    case.status = if stopped { Status::Stopped } else { status };
    case.reason = Some(reason);
    case
}
