//! How much longer a run takes.
//!
//! The costs of a plan are those of another machine. What a case took tells more: the next one of
//! the same configuration takes about as long, and one of a configuration that has not run yet
//! takes as long as planned, times what the others took in place of their plan.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::compare::Repeat;
use crate::result::CaseResult;

use super::blocks::Schedule;
use super::{Plan, RunEvent, fails_every_time};

/// What is known of the time that a run takes. Every time is since the start of the run.
#[derive(Clone, Debug)]
pub struct Forecast {
    planned: Duration,
    blocks: u32,
    budget: Option<Duration>,
    may_end_early: bool,
    configurations: BTreeMap<String, Taken>,
    in_work: Option<(String, Duration)>,
}

/// What the cases of one configuration took.
#[derive(Clone, Debug, Default)]
struct Taken {
    cases: u32,
    time: Duration,
    /// No other case of it follows.
    over: bool,
}

impl Forecast {
    /// Before the start.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let ids = plan.cases.iter().map(|case| case.configuration.id.clone());
        Self {
            planned: plan.costs.time / plan.costs.cases.max(1),
            blocks: Schedule::most(plan.repeat),
            budget: plan.budget,
            may_end_early: plan.repeat == Repeat::Auto,
            configurations: ids
                .filter(|id| !plan.not_run.contains_key(id))
                .map(|id| (id, Taken::default()))
                .collect(),
            in_work: None,
        }
    }

    /// Something happened.
    pub fn note(&mut self, event: &RunEvent, now: Duration) {
        match event {
            RunEvent::CaseBegun { id, .. } => {
                let configuration =
                    id.rsplit_once('/').map_or(id.as_str(), |(configuration, _)| configuration);
                self.in_work = Some((configuration.to_owned(), now));
            }
            RunEvent::CaseEnded(case) => self.ended(case, now),
            RunEvent::RunBegun(_) | RunEvent::Worker(_) | RunEvent::Said(_) | RunEvent::GoesOn { .. } => {}
        }
    }

    fn ended(&mut self, case: &CaseResult, now: Duration) {
        let Some(taken) = self.configurations.get_mut(&case.configuration.id) else { return };
        if let Some((_, begun)) = self.in_work.take_if(|(id, _)| *id == case.configuration.id) {
            taken.cases += 1;
            taken.time += now.saturating_sub(begun);
        }
        taken.over = fails_every_time(case);
    }

    /// Time until the end of the run; at most that, where [`may_end_early`](Self::may_end_early).
    #[must_use]
    pub fn left(&self, now: Duration) -> Duration {
        let stretched = self.planned.as_secs_f64() * self.stretch();
        let stretched = Duration::try_from_secs_f64(stretched).unwrap_or(Duration::MAX);
        let left = self.configurations.iter().map(|(id, taken)| {
            let each = if taken.cases > 0 { taken.time / taken.cases } else { stretched };
            let cases = if taken.over { 0 } else { self.blocks.saturating_sub(taken.cases) };
            let begun = self.in_work.as_ref().filter(|(found, _)| found == id).map(|(_, begun)| *begun);
            // A case that takes longer than it should ends soon, as far as anybody knows.
            let done = begun.map_or(Duration::ZERO, |begun| now.saturating_sub(begun).min(each));
            each.saturating_mul(cases).saturating_sub(done)
        });
        let left = left.fold(Duration::ZERO, Duration::saturating_add);
        let first_is_over = self.configurations.values().all(|taken| taken.cases > 0 || taken.over);
        match self.budget.filter(|_| first_is_over) {
            Some(budget) => budget.saturating_sub(now).min(left),
            None => left,
        }
    }

    /// Whether the run ends as soon as every comparison is decided.
    #[must_use]
    pub fn may_end_early(&self) -> bool {
        self.may_end_early
    }

    /// What the cases took so far, as a multiple of their plan.
    fn stretch(&self) -> f64 {
        let cases: u32 = self.configurations.values().map(|taken| taken.cases).sum();
        let time: Duration = self.configurations.values().map(|taken| taken.time).sum();
        let planned = self.planned.saturating_mul(cases);
        if planned.is_zero() { 1.0 } else { time.as_secs_f64() / planned.as_secs_f64() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Configuration, Status};

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn forecast(ids: &[&str], blocks: u32, budget: Option<Duration>) -> Forecast {
        Forecast {
            planned: s(10),
            blocks,
            budget,
            may_end_early: false,
            configurations: ids.iter().map(|id| ((*id).to_owned(), Taken::default())).collect(),
            in_work: None,
        }
    }

    fn begun(id: &str) -> RunEvent {
        RunEvent::CaseBegun { id: id.into(), order: 1, total: 1 }
    }

    fn ended(id: &str, status: Status) -> RunEvent {
        let configuration = Configuration {
            id: id.into(),
            filesystem: String::new(),
            mount_options: String::new(),
            mkfs_options: vec![],
            block_size_bytes: 4096,
            environment: 0,
        };
        RunEvent::CaseEnded(Box::new(CaseResult { status, ..CaseResult::of(configuration, 1, 1) }))
    }

    #[test]
    fn before_the_first_case_ends_the_plan_counts() {
        let mut forecast = forecast(&["a", "b"], 3, None);
        assert_eq!(forecast.left(s(0)), s(60));
        forecast.note(&begun("a/1"), s(0));
        assert_eq!(forecast.left(s(4)), s(56));
        assert_eq!(forecast.left(s(14)), s(50), "a case that takes too long has nothing left");
    }

    #[test]
    fn a_case_takes_as_long_as_the_one_before_and_stretches_the_plan_of_the_others() {
        let mut forecast = forecast(&["a", "b"], 2, None);
        forecast.note(&begun("a/1"), s(0));
        forecast.note(&ended("a", Status::Passed), s(20));
        assert_eq!(forecast.left(s(20)), s(20 + 2 * 20), "b was planned with 10 s, as a was");
        forecast.note(&begun("b/1"), s(20));
        forecast.note(&ended("b", Status::Passed), s(25));
        assert_eq!(forecast.left(s(25)), s(20 + 5));
        forecast.note(&begun("b/2"), s(25));
        forecast.note(&ended("b", Status::Passed), s(32));
        assert_eq!(forecast.left(s(32)), s(20));
        forecast.note(&begun("a/2"), s(32));
        forecast.note(&ended("a", Status::Passed), s(52));
        assert_eq!(forecast.left(s(52)), s(0));
    }

    #[test]
    fn what_fails_every_time_does_not_come_again() {
        let mut forecast = forecast(&["a", "b"], 3, None);
        forecast.note(&begun("a/1"), s(0));
        forecast.note(&ended("a", Status::Error), s(10));
        assert_eq!(forecast.left(s(10)), s(30));
        forecast.note(&ended("never-planned", Status::NotRun), s(10));
        assert_eq!(forecast.left(s(10)), s(30));
    }

    #[test]
    fn a_budget_holds_once_the_first_block_is_over() {
        let mut forecast = forecast(&["a"], 9, Some(s(15)));
        assert_eq!(forecast.left(s(0)), s(90));
        forecast.note(&begun("a/1"), s(0));
        forecast.note(&ended("a", Status::Passed), s(10));
        assert_eq!(forecast.left(s(10)), s(5));
        assert_eq!(forecast.left(s(20)), s(0));
    }

    #[test]
    fn a_plan_that_costs_nothing_divides_nothing_by_zero() {
        let mut forecast = Forecast { planned: s(0), ..forecast(&["a", "b"], 1, None) };
        forecast.note(&begun("a/1"), s(0));
        forecast.note(&ended("a", Status::Passed), s(10));
        assert_eq!(forecast.left(s(10)), s(0));
    }
}
