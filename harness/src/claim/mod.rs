//! Claims of a source, judged on results.
//!
//! A claim compares figures of one run with each other, never with figures of another machine:
//! those are shown beside as what was measured then. One measured block is judged by its values,
//! since there is nothing to tell noise by. Several are judged by the interval of each comparison,
//! paired by block: a claim that lies within the noise is *not resolved*, and says how many blocks
//! would decide. In a run of several kernels each claim is judged on each of them, under a name of its
//! own. What cannot be judged is *not checked*, with the reason, and never counts as holding.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::result::{ClaimResult, ClaimVerdict, Reference, RunReport, id_on};

mod expression;
mod figures;
mod interval;
mod token;
mod words;

pub use expression::{Condition, Context, Quantity, Term};
pub use figures::{fact_keys, only_workload_with};

use figures::Figures;

/// A claim as a suite states it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct ClaimSpec {
    /// Unique within the suite.
    pub id: String,
    /// In words.
    pub text: String,
    /// Where it was said.
    pub source: Option<String>,
    /// Scales at which it is judged; every scale if empty.
    pub scales: Vec<String>,
    /// The expression that holds if the claim does.
    pub holds: String,
    /// Step that a bare id stands for.
    pub step: Option<String>,
    /// Metric that a bare id stands for.
    pub metric: Option<String>,
    /// One that does not hold makes the run exit with 3.
    pub must: bool,
    /// What the source measured, in words; made from the references where it is absent.
    pub then: Option<String>,
}

impl ClaimSpec {
    /// Read the expression.
    ///
    /// # Errors
    ///
    /// What does not fit, with its place.
    pub fn condition(&self) -> Result<Condition, SyntaxError> {
        Condition::parse(&self.holds, Context { step: self.step.as_deref(), metric: self.metric.as_deref() })
    }
}

/// What does not fit in an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyntaxError {
    /// Bytes of the expression.
    pub place: Range<usize>,
    /// In a sentence.
    pub message: String,
}

impl SyntaxError {
    fn new(place: Range<usize>, message: impl Into<String>) -> Self {
        Self { place, message: message.into() }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// Judge every claim on the cases of `report`, on each of its kernels.
#[must_use]
pub fn evaluate(claims: &[ClaimSpec], references: &[Reference], report: &RunReport) -> Vec<ClaimResult> {
    let kernels = report.kernels();
    let kernels = if kernels.is_empty() { vec![None] } else { kernels };
    let on = |claim| kernels.iter().map(move |kernel| (claim, Figures::of(report, *kernel)));
    let all = claims.iter().flat_map(on);
    all.map(|(claim, figures)| judge(claim, references, &figures, &report.suite.scale)).collect()
}

fn judge(claim: &ClaimSpec, references: &[Reference], figures: &Figures, scale: &str) -> ClaimResult {
    let mut result = ClaimResult {
        id: id_on(&claim.id, figures.kernel()),
        text: match figures.kernel() {
            Some(kernel) => format!("{} (on kernel {kernel})", claim.text),
            None => claim.text.clone(),
        },
        source: claim.source.clone(),
        then: claim.then.clone(),
        now: None,
        verdict: ClaimVerdict::NotChecked,
        must: claim.must,
        reason: None,
    };
    let condition = match claim.condition() {
        Ok(condition) => condition,
        Err(error) => {
            result.reason = Some(format!("the expression cannot be read: {error}"));
            return result;
        }
    };
    result.then = result.then.or_else(|| words::then(&condition, references));
    result.now = words::now(&condition, figures);
    let listed = claim.scales.is_empty() || claim.scales.iter().any(|name| name == scale);
    if listed {
        let judged = match figures.withheld(&condition.terms()) {
            Some(reason) => Err(reason),
            None => interval::judge(&condition, figures),
        };
        (result.verdict, result.reason) = match judged {
            Ok(outcome) => (outcome.verdict(), outcome.reason()),
            Err(reason) => (ClaimVerdict::NotChecked, Some(reason)),
        };
    } else {
        result.reason = Some(format!("only at scale {}; this is {scale}", claim.scales.join(", ")));
    }
    result
}

#[cfg(test)]
mod tests;
