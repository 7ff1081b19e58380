//! Limits of ratios, for a job that must not get worse.
//!
//! A gate holds when the whole interval of the ratio is within its limit, and is broken when the whole
//! interval is beyond. Between, the noise does not allow a word, and passing would be a guess. A gate
//! that no figure belongs to is refused: it would guard nothing.

use std::fmt;

use super::between;
use super::figure::Figure;
use super::ratio::Ratio;
use super::within::{self, is_gap, pairs, ratio};
use crate::error::{Error, Result};
use crate::names::unknown;
use crate::result::{GateResult, GateVerdict, RunReport};

/// The side on which a ratio must stay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    AtMost,
    AtLeast,
}

/// `[STEP.]METRIC<=LIMIT` or `>=`: a limit of the ratio of a metric or fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// Without one, it is a gate for every step that has the metric.
    step: Option<String>,
    metric: String,
    side: Side,
    limit: f64,
}

/// Gates as they are written in a list separated by commas, of `known` metrics and facts.
///
/// # Errors
///
/// The list is empty, or one of it is written in another way, has an unknown metric, or a limit that
/// is not a positive number.
pub fn parse(list: &str, known: &[&str]) -> Result<Vec<Gate>> {
    list.split(',').map(|text| Gate::parse(text.trim(), known)).collect()
}

impl Gate {
    fn parse(text: &str, known: &[&str]) -> Result<Self> {
        let wrong = |why: String| {
            Error::usage(format!("understand the gate `{text}`: {why}"))
                .next("write [STEP.]METRIC<=RATIO, as --gate 'synced_s<=1.05,fill.kernel_cpu_s<=1.1'")
        };
        let at_most = text.split_once("<=").map(|parts| (Side::AtMost, parts));
        let at_least = || text.split_once(">=").map(|parts| (Side::AtLeast, parts));
        let Some((side, (figure, limit))) = at_most.or_else(at_least) else {
            return Err(wrong("there is no <= or >= in it".into()));
        };
        let (step, metric) = match figure.trim().split_once('.') {
            Some((step, metric)) => (Some(step.trim()), metric.trim()),
            None => (None, figure.trim()),
        };
        if step == Some("") {
            return Err(wrong("there is no step before the dot".into()));
        }
        if !known.contains(&metric) {
            return Err(wrong(unknown("metric", metric, known.iter().copied()))
                .next("`fsduel list metrics` shows all of them"));
        }
        let limit = decimal(limit.trim())
            .ok_or_else(|| wrong(format!("`{}` is not a positive number", limit.trim())))?;
        Ok(Self { step: step.map(str::to_owned), metric: metric.into(), side, limit })
    }

    fn is_for(&self, step: Option<&str>, metric: &str) -> bool {
        self.metric == metric && self.step.as_deref().is_none_or(|own| Some(own) == step)
    }

    fn outcome(&self, limits: Option<[f64; 2]>) -> GateVerdict {
        let Some([low, high]) = limits else { return GateVerdict::Undecided };
        let (holds, broken) = match self.side {
            Side::AtMost => (high <= self.limit, low > self.limit),
            Side::AtLeast => (low >= self.limit, high < self.limit),
        };
        match (holds, broken) {
            (true, _) => GateVerdict::Holds,
            (_, true) => GateVerdict::Broken,
            _ => GateVerdict::Undecided,
        }
    }

    /// `results`, if there are any.
    fn not_empty(&self, results: Vec<GateResult>, steps: &[&str]) -> Result<Vec<GateResult>> {
        if !results.is_empty() {
            return Ok(results);
        }
        let known = match steps.is_empty() {
            true => "nothing in it can be compared".into(),
            false => format!("its steps that can be compared: {}", steps.join(", ")),
        };
        Err(Error::usage(format!("decide the gate `{self}`: the run has no such figure to compare"))
            .next(format!("{known}; name one that the run measures, or leave the gate out")))
    }
}

impl fmt::Display for Gate {
    /// As it is written in a list.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::AtMost => "<=",
            Side::AtLeast => ">=",
        };
        let step = self.step.as_ref().map(|step| format!("{step}.")).unwrap_or_default();
        write!(f, "{step}{}{side}{}", self.metric, self.limit)
    }
}

/// A positive number in plain digits.
fn decimal(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|value: &f64| plain && value.is_finite() && *value > 0.0)
}

/// Refuse a gate about a step that is none of `steps`, before any of them runs.
///
/// # Errors
///
/// The first such gate.
pub fn check_steps(gates: &[Gate], steps: &[&str]) -> Result<()> {
    let strange = |gate: &&Gate| gate.step.as_deref().is_some_and(|step| !steps.contains(&step));
    let Some(gate) = gates.iter().find(strange) else { return Ok(()) };
    let step = gate.step.as_deref().unwrap_or_default();
    Err(Error::usage(format!("hold the gate `{gate}`: {}", unknown("step", step, steps.iter().copied())))
        .next("`fsduel run --dry-run` shows the steps; without a step, a gate is for every one"))
}

/// Every gate at every figure of it, of every configuration, against an earlier run.
///
/// # Errors
///
/// The runs did other work, or there is no figure that a gate is for.
pub fn judge_changes(gates: &[Gate], base: &RunReport, new: &RunReport) -> Result<Vec<GateResult>> {
    let changes = between::judged(base, new)?;
    let steps = distinct(changes.iter().filter_map(|(change, _)| change.step.as_deref()));
    let mut all = vec![];
    for gate in gates {
        let own = changes.iter().filter(|(it, _)| gate.is_for(it.step.as_deref(), &it.metric));
        let results = own.map(|(change, ratio)| GateResult {
            gate: gate.to_string(),
            step: change.step.clone(),
            configuration: change.configuration.clone(),
            against: base.run_id.clone(),
            estimate: change.estimate,
            outcome: gate.outcome(ratio.limits()),
        });
        all.extend(gate.not_empty(results.collect(), &steps)?);
    }
    Ok(all)
}

/// Every gate at every figure of it, of every configuration against the first that ran.
///
/// # Errors
///
/// There is no figure that a gate is for.
pub fn judge_within(gates: &[Gate], report: &RunReport) -> Result<Vec<GateResult>> {
    let pairs = pairs(report);
    let words = within::judged(report);
    let names = distinct(report.steps().into_iter().map(|step| step.name.as_str()));
    let steps: Vec<Option<&str>> = names.iter().map(|name| Some(*name)).chain([None]).collect();
    let mut all = vec![];
    for gate in gates {
        let places = steps.iter().filter(|step| gate.is_for(**step, &gate.metric));
        let places = places.flat_map(|step| pairs.iter().map(move |pair| (*step, *pair)));
        let results = places.filter_map(|(step, (baseline, candidate))| {
            let figure = Figure { step, key: &gate.metric };
            let gap = || is_gap(report, baseline, candidate, figure).then(|| Ratio::without(0));
            let plain = ratio(report, baseline, candidate, figure).or_else(gap)?;
            let word = words.iter().find(|(it, _)| {
                (Some(it.step.as_str()), &*it.metric) == (step, &*gate.metric)
                    && (&*it.baseline, &*it.candidate) == (baseline, candidate)
            });
            Some(GateResult {
                gate: gate.to_string(),
                step: step.map(str::to_owned),
                configuration: candidate.into(),
                against: baseline.into(),
                estimate: word.map_or(plain.estimate, |(it, _)| it.estimate),
                outcome: gate.outcome(plain.limits()),
            })
        });
        all.extend(gate.not_empty(results.collect(), &names)?);
    }
    Ok(all)
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found = vec![];
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

#[cfg(test)]
mod tests;
