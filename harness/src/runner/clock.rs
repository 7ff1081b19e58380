//! When a worker is asked to stop, and when it is killed: by signals and by the time limit.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::result::Reason;
use crate::sys::counters::Done;
use crate::units::Bytes;

/// A run stops within ten seconds of a signal: this much is the worker's, [`LINGER`] the kernel's,
/// and the rest is for the report.
const GRACE: Duration = Duration::from_secs(7);

/// A killed worker may be in a system call that writes gigabytes back. After a signal the run does
/// not wait for the kernel any longer than this; it takes mount, device and image back by itself.
const LINGER: Duration = Duration::from_millis(1500);

/// A signal that comes so soon after the first is the same one: `timeout` and some shells send it to
/// the process and to its group.
const ECHO: Duration = Duration::from_millis(500);

/// What is to be done with the worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Wait,
    Stop,
    Kill,
    Leave,
}

/// The time of one worker.
pub(super) struct Clock {
    limit: Option<Duration>,
    deadline: Option<Instant>,
    /// What goes on: `mkfs`, `step fill`.
    doing: String,
    /// How far the step is, where one runs.
    pub(super) done: Option<Done>,
    /// Why it was asked to stop.
    pub(super) stopped: Option<Reason>,
    asked: Option<Instant>,
    signals: u32,
    killed: Option<Instant>,
}

impl Clock {
    /// `signals` have come before.
    pub(super) fn new(limit: Option<Duration>, signals: u32) -> Self {
        Self {
            limit,
            deadline: None,
            doing: "start".into(),
            done: None,
            stopped: None,
            asked: None,
            signals,
            killed: None,
        }
    }

    /// A step or a phase around it has begun; the limit is for each.
    pub(super) fn begin(&mut self, doing: String, now: Instant) {
        (self.doing, self.done) = (doing, None);
        self.deadline = self.limit.map(|limit| now + limit);
    }

    /// Something has begun that waits for others: it has no limit.
    pub(super) fn wait(&mut self, doing: String) {
        (self.doing, self.done, self.deadline) = (doing, None, None);
    }

    /// What is due now, given the first signal that came, and how many came.
    pub(super) fn look(&mut self, now: Instant, signal: Option<Signal>, signals: u32) -> Turn {
        let Some(asked) = self.asked else {
            self.stopped = match signal {
                Some(signal) => Some(signalled(signal)),
                None => self.deadline.filter(|deadline| now >= *deadline).map(|_| self.timed_out()),
            };
            self.signals = signals;
            self.asked = self.stopped.as_ref().map(|_| now);
            return if self.stopped.is_some() { Turn::Stop } else { Turn::Wait };
        };
        if now < asked + ECHO {
            self.signals = signals;
        }
        match self.killed {
            Some(killed) if signal.is_some() && now >= killed + LINGER => Turn::Leave,
            None if now >= asked + GRACE || signals != self.signals => {
                self.killed = Some(now);
                Turn::Kill
            }
            _ => Turn::Wait,
        }
    }

    /// What goes on, and how far it is: `step fill: 7 operations and 1 MiB were done`.
    pub(super) fn at(&self) -> String {
        format!("{}{}", self.doing, self.so_far())
    }

    fn so_far(&self) -> String {
        match self.done {
            None | Some(Done { operations: 0, bytes: 0 }) => String::new(),
            Some(Done { operations, bytes }) => {
                format!(": {operations} operations and {} were done", Bytes(bytes))
            }
        }
    }

    fn timed_out(&self) -> Reason {
        let limit = self.limit.unwrap_or_default().as_secs_f64();
        Reason {
            code: Reason::TIMEOUT.into(),
            text: format!("{} did not end within {limit} s{}", self.doing, self.so_far()),
            next: Some("a longer --timeout, or less work".into()),
        }
    }
}

/// Why a run that a signal ended did not finish.
pub(super) fn signalled(signal: Signal) -> Reason {
    let name = signal.as_str();
    Reason { code: name.to_ascii_lowercase(), text: format!("the run was ended by {name}"), next: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const CTRL_C: Option<Signal> = Some(Signal::SIGINT);

    #[test]
    fn a_signal_stops_and_after_the_grace_kills_once() {
        let (mut clock, now) = (Clock::new(None, 0), Instant::now());
        assert_eq!(clock.look(now, None, 0), Turn::Wait);
        assert_eq!(clock.look(now, CTRL_C, 1), Turn::Stop);
        assert_eq!(clock.stopped.as_ref().unwrap().code, "sigint");
        assert_eq!(clock.look(now + SECOND, CTRL_C, 1), Turn::Wait);
        assert_eq!(clock.look(now + GRACE, CTRL_C, 1), Turn::Kill);
        assert_eq!(clock.look(now + GRACE, CTRL_C, 1), Turn::Wait);
        assert_eq!(clock.look(now + GRACE + LINGER, CTRL_C, 1), Turn::Leave);
        assert!(GRACE + LINGER + SECOND <= 10 * SECOND, "a second is left for the report");
    }

    #[test]
    fn after_a_time_limit_the_next_case_waits_for_the_kernel() {
        let (mut clock, now) = (Clock::new(Some(SECOND), 0), Instant::now());
        clock.begin("step fill".into(), now);
        assert_eq!(clock.look(now + SECOND, None, 0), Turn::Stop);
        assert_eq!(clock.look(now + SECOND + GRACE, None, 0), Turn::Kill);
        assert_eq!(clock.look(now + 100 * SECOND, None, 0), Turn::Wait);
    }

    #[test]
    fn a_second_signal_kills_at_once_and_an_echo_of_the_first_does_not() {
        let (mut clock, now) = (Clock::new(None, 0), Instant::now());
        assert_eq!(clock.look(now, CTRL_C, 1), Turn::Stop);
        assert_eq!(clock.look(now + ECHO / 2, CTRL_C, 2), Turn::Wait);
        assert_eq!(clock.look(now + SECOND, CTRL_C, 2), Turn::Wait);
        assert_eq!(clock.look(now + SECOND, CTRL_C, 3), Turn::Kill);
    }

    #[test]
    fn the_limit_is_for_each_step_and_phase_and_says_which() {
        let (mut clock, now) = (Clock::new(Some(SECOND), 0), Instant::now());
        clock.begin("mkfs".into(), now);
        clock.begin("step fill".into(), now + SECOND / 2);
        assert_eq!(clock.look(now + SECOND, None, 0), Turn::Wait);
        clock.done = Some(Done { operations: 7, bytes: 1 << 20 });
        assert_eq!(clock.look(now + 2 * SECOND, None, 0), Turn::Stop);
        let reason = clock.stopped.unwrap();
        assert_eq!(reason.code, Reason::TIMEOUT);
        assert_eq!(reason.text, "step fill did not end within 1 s: 7 operations and 1 MiB were done");
    }

    #[test]
    fn without_a_limit_nothing_runs_out() {
        let (mut clock, now) = (Clock::new(None, 0), Instant::now());
        clock.begin("fsck".into(), now);
        assert_eq!(clock.look(now + 100_000 * SECOND, None, 0), Turn::Wait);
    }
}
