//! What follows from the cases: comparisons, and the source's figures and claims.

use serde::{Deserialize, Serialize};

/// A configuration against the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Name of the step.
    pub step: String,
    /// Key of the metric.
    pub metric: String,
    /// Id of the configuration that is compared with.
    pub baseline: String,
    /// Id of the configuration that is compared.
    pub candidate: String,
    /// Candidate to baseline.
    pub ratio: f64,
    /// 95 % interval of the ratio; absent for fewer than three blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// Blocks.
    pub n: u32,
    /// `less`, `more`, `no_difference`, `not_resolved`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<String>,
    /// Blocks that would decide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed_count: Option<u32>,
}

/// A figure that a suite's source printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// Name of the step.
    pub step: String,
    /// Key of the metric (or fact).
    pub metric: String,
    /// Id of the configuration.
    pub filesystem: String,
    /// In the unit of the metric's key.
    pub value: f64,
    /// As the source printed it.
    pub printed: String,
    /// The source printed a rounded figure, or its unit is not certain.
    #[serde(default)]
    pub approx: bool,
}

/// What became of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// It holds.
    Holds,
    /// It does not hold.
    DoesNotHold,
    /// The noise does not allow a word.
    NotResolved,
    /// Another scale, or a figure is missing.
    NotChecked,
}

/// A claim of a suite's source, and whether it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// Unique within the suite.
    pub id: String,
    /// In words.
    pub text: String,
    /// Where it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The figures that the source printed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
    /// The figures of this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Whether it holds.
    pub verdict: ClaimVerdict,
    /// One that does not hold makes the run exit with 3.
    #[serde(default)]
    pub must: bool,
    /// Why it was not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
