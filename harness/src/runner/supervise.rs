//! One worker: told its case, listened to, stopped in order or killed, and always reaped.
//!
//! How far a step is stands in memory that is shared with the worker. It is read here, together
//! with signals and time limits, so nothing has to be told while a step is timed.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use nix::poll::PollTimeout;
use nix::sys::signal::Signal;

use crate::case::{CaseSpec, Event, QUIET};
use crate::error::{Cannot, Error, Result};
use crate::lines::Lines;
use crate::result::{CaseResult, Metrics, Reason, Status, StepResult};
use crate::sys::counters::{Counters, Done};
use crate::sys::signal;
use crate::sys::spawn::{WorkerExit, WorkerProcess};
use crate::worker::{kept, status_of};

use super::RunEvent;
use super::backend::{self, Backend, Place, Started};
use super::clock::{self, Clock, Turn};
use super::said::{Said, is_readable};

/// How often signals and time limits are looked at while the worker says nothing.
const LOOK: u16 = 100;
/// How often a run tells that it goes on: whoever draws that works on the machine that is measured.
const SECOND: Duration = Duration::from_secs(1);

/// Run one case in a worker, and once more where its place spoilt it before anything was tried.
pub(super) fn supervise(
    spec: &CaseSpec,
    backend: &dyn Backend,
    timeout: Option<Duration>,
    tell: &mut dyn FnMut(RunEvent),
) -> CaseResult {
    let case = once(spec, backend, timeout, tell);
    if !backend.tries_again(&case) {
        return case;
    }
    let why = case.reason.map(|reason| reason.text).unwrap_or_default();
    tell(RunEvent::Said(format!("warning: {why}; trying once more")));
    once(spec, backend, timeout, tell)
}

fn once(
    spec: &CaseSpec,
    backend: &dyn Backend,
    timeout: Option<Duration>,
    tell: &mut dyn FnMut(RunEvent),
) -> CaseResult {
    let mut watch = Watch::new(Clock::new(timeout, signal::count()));
    let (outcome, mut place) = match backend.start(spec) {
        Ok(started) => watch.of(started, tell),
        Err(error) => (Err(error), None),
    };
    let mut case = match watch.case.take() {
        Some(case) => *case,
        None => lost(spec, &mut watch, place.as_deref(), outcome),
    };
    if case.status == Status::Stopped {
        let why = watch.clock.stopped.or_else(|| signal::seen().map(clock::signalled));
        (case.status, case.reason) = stopped_by(why);
    }
    if let Some(place) = &mut place {
        place.finish(spec, &mut case);
    }
    if case.status == Status::Invalid {
        // No number of an invalid case is shown, so none is stored.
        case.steps.clear();
        case.metrics = Metrics::default();
    }
    if let Err(error) = kept::complete(spec, &mut case, &watch.said.kept) {
        case.verify.details.push(error.to_string());
    }
    case
}

/// A case that ended early is stopped by the run; by anybody else it is an error, since no time limit
/// ran out.
fn stopped_by(why: Option<Reason>) -> (Status, Option<Reason>) {
    let foreign = || Reason {
        code: Reason::STOPPED.into(),
        text: "another process sent the worker a signal to stop".into(),
        next: Some("run again, and send signals to the runner only".into()),
    };
    match why {
        Some(why) => (Status::Stopped, Some(why)),
        None => (Status::Error, Some(foreign())),
    }
}

/// What is known of a worker.
struct Watch {
    clock: Clock,
    /// Why its place gave it up.
    given_up: Option<Reason>,
    steps: Vec<StepResult>,
    case: Option<Box<CaseResult>>,
    said: Said,
    /// When it is told next that the case goes on.
    due: Instant,
}

impl Watch {
    fn new(clock: Clock) -> Self {
        Self {
            clock,
            given_up: None,
            steps: vec![],
            case: None,
            said: Said::default(),
            due: Instant::now() + SECOND,
        }
    }

    /// Follow a worker to its end: how it ended, and what its place knows of it.
    fn of(
        &mut self,
        started: Started,
        tell: &mut dyn FnMut(RunEvent),
    ) -> (Result<WorkerExit>, Option<Box<dyn Place>>) {
        let Started { doing, mut worker, spec, counters, mut place } = started;
        self.clock.begin(doing.to_owned(), Instant::now());
        let followed = backend::tell(&mut worker, &spec)
            .and_then(|()| self.follow(&mut worker, &mut *place, counters.as_deref(), tell));
        let exit = followed.and_then(|exit| {
            exit.ok_or_else(|| {
                worker.leave();
                Error::stopped("wait for the worker: it was killed, and the kernel still writes back")
            })
        });
        (exit, Some(place))
    }

    /// Take events until the worker has ended: how, or nothing where it was killed and the kernel
    /// keeps it longer than a run may take to stop.
    ///
    /// A worker that has closed its end has not ended yet: its namespaces go first, and with them
    /// mounts that may be written back. So the clock is looked at to the very end.
    fn follow(
        &mut self,
        worker: &mut WorkerProcess,
        place: &mut dyn Place,
        counters: Option<&Counters>,
        tell: &mut dyn FnMut(RunEvent),
    ) -> Result<Option<WorkerExit>> {
        let (mut lines, mut open) = (Lines::default(), true);
        loop {
            self.count(counters);
            self.said.hear(&mut worker.errors, place.speaks(), tell)?;
            self.go_on(Instant::now(), tell);
            if self.given_up.is_none()
                && let Some(reason) = place.look(Instant::now())
            {
                self.given_up = Some(reason);
                worker.signal(Signal::SIGKILL)?;
            }
            match self.clock.look(Instant::now(), signal::seen(), signal::count()) {
                Turn::Wait => {}
                Turn::Stop => place.stop(worker)?,
                Turn::Kill => worker.signal(Signal::SIGKILL)?,
                Turn::Leave => return Ok(None),
            }
            let next = if open { worker.events.as_fd() } else { worker.as_fd() };
            if !readable(next)? {
                continue;
            }
            if open {
                open = lines.read(&mut worker.events)?;
                self.take(&mut lines, place, tell)?;
            } else if let Some(exit) = worker.try_wait()? {
                self.said.hear(&mut worker.errors, place.speaks(), tell)?;
                return Ok(Some(exit));
            }
        }
    }

    /// Look how far the step is, where one runs.
    fn count(&mut self, counters: Option<&Counters>) {
        if let (Some(done), Some(counters)) = (&mut self.clock.done, counters) {
            *done = counters.read();
        }
    }

    fn go_on(&mut self, now: Instant, tell: &mut dyn FnMut(RunEvent)) {
        if now >= self.due {
            self.due = now + SECOND;
            tell(RunEvent::GoesOn { done: self.clock.done });
        }
    }

    fn take(
        &mut self,
        lines: &mut Lines,
        place: &mut dyn Place,
        tell: &mut dyn FnMut(RunEvent),
    ) -> Result<()> {
        while let Some(line) = lines.next() {
            let event = serde_json::from_slice(&line).cannot(|| "understand the worker".into())?;
            self.note(&event);
            place.note(&event);
            match event {
                Event::Said { line } => self.said.line(line, true, tell),
                event => tell(RunEvent::Worker(event)),
            }
        }
        Ok(())
    }

    fn note(&mut self, event: &Event) {
        match event {
            Event::StepBegun { step, .. } => {
                self.clock.begin(format!("step {step}"), Instant::now());
                self.clock.done = Some(Done::default());
            }
            Event::Phase { phase } if phase == QUIET => self.clock.wait(phase.clone()),
            Event::Phase { phase } => self.clock.begin(phase.clone(), Instant::now()),
            Event::StepEnded { step } => self.steps.push((**step).clone()),
            Event::CaseEnded { case } => self.case = Some(case.clone()),
            Event::Done { operations, bytes, .. } => {
                if let Some(done) = &mut self.clock.done {
                    *done = Done { operations: *operations, bytes: *bytes };
                }
            }
            Event::Up { .. } | Event::Said { .. } | Event::Left { .. } | Event::Died { .. } => {}
        }
    }
}

/// Whether something is there to read, after a wait of at most [`LOOK`].
fn readable(file: BorrowedFd) -> Result<bool> {
    is_readable(file, PollTimeout::from(LOOK))
}

/// The result of a case whose worker did not live to tell it.
fn lost(
    spec: &CaseSpec,
    watch: &mut Watch,
    place: Option<&dyn Place>,
    outcome: Result<WorkerExit>,
) -> CaseResult {
    let steps = std::mem::take(&mut watch.steps);
    let mut case = CaseResult { steps, ..CaseResult::planned(spec) };
    let (status, reason) = match (watch.given_up.take(), outcome, place) {
        (Some(reason), ..) => (Status::Error, reason),
        (None, Ok(exit), Some(place)) => place.lost(exit, &watch.clock.at(), &watch.said.kept),
        (None, Ok(exit), None) => backend::died(exit, &watch.clock.at()),
        (None, Err(error), _) => (status_of(&error), Reason::from(&error)),
    };
    case.status = if watch.clock.stopped.is_some() { Status::Stopped } else { status };
    case.reason = Some(reason);
    case
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::runner::backend::Here;

    fn spec() -> CaseSpec {
        serde_json::from_value(json!({
            "run_id": "r", "block": 1, "order": 1, "image_size": 0, "logical_block_size": 4096,
            "configuration": { "id": "a", "filesystem": "a", "mount_options": "", "mkfs_options": [],
                               "block_size_bytes": 4096, "environment": 0 },
            "store": "memory", "direct_io": "auto", "preallocate": false, "overcommit": false,
            "keep": "never", "quiet": false, "seed": 1, "steps": [],
        }))
        .unwrap()
    }

    fn event(json: Value) -> Event {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn the_finished_steps_of_a_worker_that_died_are_kept_and_the_case_has_not_passed() {
        let mut watch = Watch::new(Clock::new(None, 0));
        watch.note(&event(json!({ "event": "step_begun", "step": "files", "total_count": 7 })));
        watch.note(&event(json!({ "event": "step_ended", "step": {
            "name": "files", "workload": "w", "started_s": 0.0, "ended": "completed",
            "facts": {}, "metrics": {}, "read_back": "clean",
        } })));
        watch.note(&event(json!({ "event": "step_begun", "step": "fill", "total_count": null })));
        let counters = Counters::default();
        counters.add(1 << 20);
        watch.count(Some(&counters));
        let case = lost(&spec(), &mut watch, None, Ok(WorkerExit::Signal(9)));
        assert_eq!((case.status, case.steps.len()), (Status::Error, 1));
        let reason = case.reason.unwrap();
        assert_eq!(reason.code, Reason::WORKER_DIED);
        assert!(reason.text.contains("SIGKILL"), "{}", reason.text);
        assert!(reason.text.ends_with("at step fill: 1 operations and 1 MiB were done"), "{}", reason.text);
    }

    /// A worker that closes its end and then works for a minute.
    fn closed_but_alive() -> WorkerProcess {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "exec sleep 60 >&-"]);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        WorkerProcess::of_child(command.spawn().unwrap())
    }

    #[test]
    fn the_time_limit_holds_after_a_worker_has_closed_its_end() {
        let limit = Some(Duration::from_millis(300));
        let mut watch = Watch::new(Clock::new(limit, 0));
        watch.note(&event(json!({ "event": "phase", "phase": "detach" })));
        let begun = Instant::now();
        let exit = watch.follow(&mut closed_but_alive(), &mut Here::default(), None, &mut |_| {}).unwrap();
        assert_eq!(exit, Some(WorkerExit::Signal(Signal::SIGTERM as i32)));
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
        assert_eq!(watch.clock.stopped.unwrap().code, Reason::TIMEOUT);
    }

    #[test]
    fn a_worker_that_was_killed_after_a_stop_is_stopped() {
        let mut watch = Watch::new(Clock::new(None, 0));
        watch.clock.stopped = Some(clock::signalled(Signal::SIGTERM));
        let case = lost(&spec(), &mut watch, None, Ok(WorkerExit::Signal(9)));
        assert_eq!(case.status, Status::Stopped);
    }

    #[test]
    fn only_the_run_stops_a_case_and_a_foreign_signal_is_no_time_limit() {
        let (status, reason) = stopped_by(Some(clock::signalled(Signal::SIGTERM)));
        assert_eq!((status, reason.unwrap().code.as_str()), (Status::Stopped, "sigterm"));
        let (status, reason) = stopped_by(None);
        assert_eq!((status, reason.unwrap().code.as_str()), (Status::Error, Reason::STOPPED));
    }

    /// A place that spoils so many cases.
    struct Spoils(std::cell::Cell<u32>);

    impl Backend for Spoils {
        fn start(&self, _: &CaseSpec) -> Result<Started> {
            let left = self.0.get();
            self.0.set(left.saturating_sub(1));
            Err(if left > 0 { Error::new("boot") } else { Error::usage("boot") })
        }

        fn tries_again(&self, case: &CaseResult) -> bool {
            case.status == Status::Error
        }
    }

    #[test]
    fn a_case_that_its_place_spoilt_is_tried_once_more_and_not_for_ever() {
        for (spoilt, ends, told) in
            [(0, Status::NotRun, 0), (1, Status::NotRun, 1), (2, Status::Error, 1), (3, Status::Error, 1)]
        {
            let mut said = vec![];
            let case = supervise(&spec(), &Spoils(spoilt.into()), None, &mut |event| said.push(event));
            assert_eq!((case.status, said.len()), (ends, told), "{said:?}");
        }
    }

    #[test]
    fn what_kept_a_worker_from_its_start_is_told_as_if_the_worker_had_met_it() {
        for (error, status) in [
            (Error::new("start"), Status::Error),
            (Error::environment("use direct I/O"), Status::Invalid),
            (Error::stopped("wait until the disk is quiet"), Status::Stopped),
            (Error::usage("use a disk"), Status::NotRun),
        ] {
            let case = lost(&spec(), &mut Watch::new(Clock::new(None, 0)), None, Err(error));
            assert_eq!(case.status, status, "{:?}", case.reason);
        }
    }

    #[test]
    fn that_a_step_goes_on_is_told_once_a_second_and_its_counters_only_while_it_works() {
        let (mut watch, counters, mut told) = (Watch::new(Clock::new(None, 0)), Counters::default(), vec![]);
        let begun = watch.due;
        watch.note(&event(json!({ "event": "step_begun", "step": "fill", "total_count": null })));
        counters.add(100);
        for tenth in 0..20 {
            watch.count(Some(&counters));
            watch.go_on(begun + SECOND + Duration::from_millis(100 * tenth), &mut |event| told.push(event));
        }
        watch.note(&event(json!({ "event": "phase", "phase": "read back" })));
        watch.count(Some(&counters));
        watch.go_on(begun + 4 * SECOND, &mut |event| told.push(event));
        let done: Vec<_> = told
            .iter()
            .map(|event| match event {
                RunEvent::GoesOn { done } => *done,
                other => panic!("{other:?}"),
            })
            .collect();
        let some = Some(Done { operations: 1, bytes: 100 });
        assert_eq!(done, [some, some, None]);
    }
}
