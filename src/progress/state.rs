//! What goes on in a run, as far as it was told. The time comes with each event, so that tests
//! have a clock of their own.

use std::time::{Duration, Instant};

use fsduel_harness::case::Event;
use fsduel_harness::units::human;

use super::rate::Rate;
use super::words::{case_name, roughly};
use crate::parts::{Done, Forecast, RunEvent};

/// What goes on.
pub struct State {
    started: Instant,
    forecast: Option<Forecast>,
    case: Option<Case>,
}

/// The case in work.
struct Case {
    id: String,
    name: String,
    begun: Instant,
    doing: Doing,
}

/// A step, or a phase around it.
struct Doing {
    name: String,
    begun: Instant,
    step: Option<Step>,
}

struct Step {
    total: Option<u64>,
    most_bytes: Option<u64>,
    done: Done,
    rate: Rate,
}

/// All of it in words; what is not known is absent.
#[derive(Debug, Default, PartialEq)]
pub struct Words {
    /// `[3/18] btrfs/1`.
    pub case: String,
    /// `fill`.
    pub doing: String,
    /// It goes on for so long.
    pub since: Duration,
    /// `5,000 of 9,999`, `1.20 GiB`.
    pub amount: Option<String>,
    /// Of the amount, where it is none of bytes.
    pub unit: &'static str,
    /// `812 MiB/s`.
    pub rate: Option<String>,
    /// The rate of each of the last seconds, where nobody knows the end.
    pub chart: Option<String>,
    /// `40 s left`, of the step.
    pub left: Option<String>,
    /// `run: 3 min left`.
    pub run_left: Option<String>,
}

impl State {
    /// Nothing has begun yet.
    pub fn begin(now: Instant, forecast: Option<Forecast>) -> Self {
        Self { started: now, forecast, case: None }
    }

    /// Something happened.
    pub fn note(&mut self, event: &RunEvent, now: Instant) {
        if let Some(forecast) = &mut self.forecast {
            forecast.note(event, now.saturating_duration_since(self.started));
        }
        match event {
            RunEvent::CaseBegun { id, order, total } => {
                let (id, name) = (id.clone(), case_name(id, *order, *total));
                self.case = Some(Case { id, name, begun: now, doing: Doing::phase("starting", now) });
            }
            RunEvent::CaseEnded(_) => self.case = None,
            RunEvent::Worker(Event::Phase { phase }) => self.doing(Doing::phase(phase, now)),
            RunEvent::Worker(Event::StepBegun { step, total_count, most_bytes }) => {
                let (done, rate) = (Done::default(), Rate::begin(now));
                let step_begun = Step { total: *total_count, most_bytes: *most_bytes, done, rate };
                self.doing(Doing { step: Some(step_begun), ..Doing::phase(step, now) });
            }
            RunEvent::GoesOn { done: Some(done) } => self.done(*done, now),
            RunEvent::RunBegun(_)
            | RunEvent::Worker(_)
            | RunEvent::Said(_)
            | RunEvent::GoesOn { done: None } => {}
        }
    }

    fn doing(&mut self, doing: Doing) {
        if let Some(case) = &mut self.case {
            case.doing = doing;
        }
    }

    fn done(&mut self, done: Done, now: Instant) {
        if let Some(step) = self.case.as_mut().and_then(|case| case.doing.step.as_mut()) {
            step.done = done;
            step.rate.add(now, if step.total.is_some() { done.operations } else { done.bytes });
        }
    }

    /// The name of a case, and how long it took where it is the one in work: a case that never began
    /// ends behind one that did.
    pub fn of_case(&self, id: &str, now: Instant) -> (String, Option<Duration>) {
        match self.case.as_ref().filter(|case| case.id == id) {
            Some(case) => (case.name.clone(), Some(now.saturating_duration_since(case.begun))),
            None => (id.to_owned(), None),
        }
    }

    /// What goes on now; nothing between two cases.
    pub fn words(&self, now: Instant, utf8: bool) -> Option<Words> {
        let case = self.case.as_ref()?;
        let doing = &case.doing;
        let words = Words {
            case: case.name.clone(),
            doing: doing.name.clone(),
            since: now.saturating_duration_since(doing.begun),
            run_left: self.run_left(now),
            ..Words::default()
        };
        Some(match &doing.step {
            Some(step) => step.words(words, utf8),
            None => words,
        })
    }

    /// A run never ends before the step in work.
    fn run_left(&self, now: Instant) -> Option<String> {
        let forecast = self.forecast.as_ref()?;
        let step = self.case.as_ref().and_then(|case| case.doing.step.as_ref()?.left());
        let left = forecast.left(now.saturating_duration_since(self.started)).max(step.unwrap_or_default());
        let most = if forecast.may_end_early() { "at most " } else { "" };
        (left >= Duration::from_secs(1)).then(|| format!("run: {most}{} left", roughly(left)))
    }
}

impl Doing {
    fn phase(name: &str, now: Instant) -> Self {
        Self { name: name.to_owned(), begun: now, step: None }
    }
}

impl Step {
    #[expect(clippy::cast_precision_loss, reason = "rounded to three digits")]
    fn words(&self, words: Words, utf8: bool) -> Words {
        let size = |bytes: u64| human::size(bytes as f64);
        let Done { operations, bytes } = self.done;
        let (rate, amount) = (self.rate.per_s(), self.done != Done::default());
        let counted = self
            .total
            .map(|total| format!("{} of {}", human::count(operations as f64), human::count(total as f64)));
        Words {
            unit: if counted.is_some() { " operations" } else { "" },
            chart: self.total.is_none().then(|| self.rate.chart(utf8)).filter(|chart| !chart.is_empty()),
            rate: rate.map(|rate| match self.total {
                Some(_) => format!("{}/s", human::significant(rate)),
                None => format!("{}/s", human::size(rate)),
            }),
            left: self.left().map(|left| format!("{} left", roughly(left))),
            amount: amount.then(|| counted.unwrap_or_else(|| size(bytes))),
            ..words
        }
    }

    /// Until its end, at its rate of now.
    #[expect(clippy::cast_precision_loss, reason = "a guess")]
    fn left(&self) -> Option<Duration> {
        let rate = self.rate.per_s()?;
        let left = match (self.total, self.most_bytes) {
            (Some(total), _) => total.checked_sub(self.done.operations)?,
            (None, most) => most?.checked_sub(self.done.bytes)?,
        };
        Duration::try_from_secs_f64(left as f64 / rate).ok().filter(|_| left > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn begun(id: &str) -> RunEvent {
        RunEvent::CaseBegun { id: id.into(), order: 3, total: 18 }
    }

    fn step(total_count: Option<u64>, most_bytes: Option<u64>) -> RunEvent {
        RunEvent::Worker(Event::StepBegun { step: "fill".into(), total_count, most_bytes })
    }

    fn goes_on(operations: u64, bytes: u64) -> RunEvent {
        RunEvent::GoesOn { done: Some(Done { operations, bytes }) }
    }

    /// The words after `events`, one a second.
    fn after(events: &[RunEvent]) -> Option<Words> {
        let (begun, mut second) = (Instant::now(), s(0));
        let mut state = State::begin(begun, None);
        for event in events {
            second += s(1);
            state.note(event, begun + second);
        }
        state.words(begun + second, true)
    }

    #[test]
    fn a_step_of_known_length_has_operations_a_rate_and_the_time_that_is_left() {
        let words =
            after(&[begun("a/1"), step(Some(9999), None), goes_on(1000, 0), goes_on(3000, 7)]).unwrap();
        assert_eq!((words.case.as_str(), words.doing.as_str(), words.since), ("[3/18] a/1", "fill", s(2)));
        assert_eq!(words.amount.as_deref(), Some("3,000 of 9,999"));
        assert_eq!((words.rate.as_deref(), words.left.as_deref()), (Some("1,500/s"), Some("4 s left")));
        assert_eq!((words.unit, words.chart), (" operations", None));
    }

    #[test]
    fn a_fill_has_bytes_a_chart_and_the_time_to_the_size_of_the_image() {
        let mib = |count: u64| count << 20;
        let told = [goes_on(1, mib(100)), goes_on(2, mib(300))];
        let [first, second] = told;
        let words = after(&[begun("a/1"), step(None, Some(mib(1000))), first, second]).unwrap();
        assert_eq!((words.amount.as_deref(), words.rate.as_deref()), (Some("300 MiB"), Some("150 MiB/s")));
        assert_eq!((words.chart.as_deref(), words.left.as_deref()), (Some("▅█"), Some("4 s left")));
        let unknown = after(&[begun("a/1"), step(None, None), goes_on(1, mib(100))]).unwrap();
        assert_eq!((unknown.amount.as_deref(), unknown.left), (Some("100 MiB"), None));
    }

    #[test]
    fn what_is_not_known_is_absent() {
        let still = after(&[begun("a/1"), step(Some(7), None), goes_on(0, 0)]).unwrap();
        assert_eq!((still.amount, still.rate, still.left), (None, None, None));
        let over = after(&[begun("a/1"), step(Some(7), None), goes_on(7, 0)]).unwrap();
        assert_eq!((over.amount.as_deref(), over.left), (Some("7 of 7"), None));
        let phase = RunEvent::Worker(Event::Phase { phase: "fsck".into() });
        let phase = after(&[begun("a/1"), step(None, None), phase, goes_on(1, 1)]).unwrap();
        assert_eq!((phase.doing.as_str(), phase.amount, phase.chart), ("fsck", None, None));
        assert_eq!(after(&[goes_on(1, 1)]), None, "no case has begun");
    }

    #[test]
    fn only_the_case_in_work_has_taken_time() {
        let now = Instant::now();
        let mut state = State::begin(now, None);
        state.note(&begun("a/1"), now);
        assert_eq!(state.of_case("a/1", now + s(5)), ("[3/18] a/1".into(), Some(s(5))));
        assert_eq!(state.of_case("b/1", now + s(5)), ("b/1".into(), None), "it never began");
    }
}
