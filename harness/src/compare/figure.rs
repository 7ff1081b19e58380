//! Where the samples of a figure are in a run.
//!
//! A sample is the figure of one measured case that counts, in a step whose work was done in full:
//! who did less was not faster.

use crate::result::{CaseResult, RunReport};
use crate::stats::median;

const KERNEL_CPU: &str = "kernel_cpu_s";

/// Which figure: of a step, or of the whole case.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figure<'a> {
    pub step: Option<&'a str>,
    pub key: &'a str,
}

/// Processor time in the kernel is told apart from that in the program by samples, at a tick of 4 ms
/// on most kernels (1 to 10). Of less than ten of them, the share is a matter of luck. Source: Linux
/// `kernel/sched/cputime.c`, `cputime_adjust`.
const TEN_TICKS_S: f64 = 0.04;

impl Figure<'_> {
    /// Whether both sides are shorter than the kernel can measure.
    pub fn is_too_short(self, old: Vec<f64>, new: Vec<f64>) -> bool {
        let short = |side| median(side).is_some_and(|middle| middle < TEN_TICKS_S);
        self.key == KERNEL_CPU && short(old) && short(new)
    }

    /// In one case.
    pub fn of(self, case: &CaseResult) -> Option<f64> {
        let value = match self.step {
            Some(name) => case.step(name).filter(|step| !step.cut_short())?.number(self.key),
            None => case.metrics.get(self.key),
        };
        value.filter(|value| value.is_finite())
    }

    /// Whether these cases hold it as a fact, which does not scatter.
    pub fn is_fact(self, cases: &[&CaseResult]) -> bool {
        let steps = cases.iter().filter_map(|case| case.step(self.step?));
        let measured = |case: &&CaseResult| case.metrics.get(self.key).is_some();
        match self.step {
            Some(_) => !steps.into_iter().any(|step| step.metrics.get(self.key).is_some()),
            None => !cases.iter().any(measured),
        }
    }

    /// The pairs of two cases each, where both have it.
    pub fn pairs(self, cases: &[(&CaseResult, &CaseResult)]) -> Vec<(f64, f64)> {
        cases.iter().filter_map(|(old, new)| Some((self.of(old)?, self.of(new)?))).collect()
    }

    /// Whether the work that it is of was done in full in any of these cases.
    pub fn was_done(self, cases: &[&CaseResult]) -> bool {
        let done = |case: &&CaseResult| match self.step {
            Some(name) => case.step(name).is_some_and(|step| !step.cut_short()),
            None => true,
        };
        cases.iter().any(done)
    }

    /// In all of these cases.
    pub fn samples(self, cases: &[&CaseResult]) -> Vec<f64> {
        cases.iter().filter_map(|case| self.of(case)).collect()
    }
}

/// The measured cases of a configuration that count. The warm-up is none of them.
pub(super) fn cases<'a>(report: &'a RunReport, configuration: &str) -> Vec<&'a CaseResult> {
    let own = report.cases.iter().filter(|case| case.configuration.id == configuration);
    own.filter(|case| case.block > 0 && case.counts()).collect()
}

/// Those of both lists with the same key.
pub(super) fn paired<'a, K: PartialEq>(
    old: &[&'a CaseResult],
    new: &[&'a CaseResult],
    key: impl Fn(&'a CaseResult) -> K,
) -> Vec<(&'a CaseResult, &'a CaseResult)> {
    let partner = |old: &&'a CaseResult| new.iter().find(|new| key(new) == key(old)).map(|new| (*old, *new));
    old.iter().filter_map(partner).collect()
}

/// How often the results of a run were looked at with the freedom to stop.
pub(super) fn looks(report: &RunReport) -> u32 {
    let repeat = report.suite.resolved.get("repeat").cloned().unwrap_or_default();
    serde_json::from_value::<super::Repeat>(repeat).unwrap_or_default().looks()
}
