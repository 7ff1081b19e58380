//! What follows from the cases: comparisons, and the source's figures and claims.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The metrics that get a verdict, in order: time, space, CPU.
pub const HEADLINE: [&str; 3] = ["synced_s", "space_used_bytes", "kernel_cpu_s"];

/// A ratio smaller than this, or its inverse, is no difference that matters: 5 %.
pub const MARGIN: f64 = 1.05;

/// What the interval of a ratio supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Less than the baseline, by more than the margin.
    Less,
    /// More than the baseline, by more than the margin.
    More,
    /// Equal to the baseline, to within the margin.
    NoDifference,
    /// The noise does not allow a word.
    NotResolved,
}

/// A ratio of two figures, and what is known of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Estimate {
    /// Geometric mean; absent where a figure has no logarithm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// 95 % interval of the ratio; absent for fewer than three samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci95: Option<[f64; 2]>,
    /// Pairs; of independent samples, those of the smaller side.
    pub n: u32,
    /// Of a headline metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Samples that would decide it, if they scatter as these do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed_count: Option<u32>,
}

/// A configuration against the baseline, in one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Name of the step.
    pub step: String,
    /// Key of the metric.
    pub metric: String,
    /// Id of the configuration that is compared with.
    pub baseline: String,
    /// Id of the configuration that is compared.
    pub candidate: String,
    /// Candidate to baseline, paired by block.
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// One figure of a configuration in two runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// Id of the configuration.
    pub configuration: String,
    /// Name of the step; absent for a figure of the whole case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Key of the metric or fact.
    pub metric: String,
    /// In the base: the median over its samples; absent if it has none that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<f64>,
    /// In the new run: the median over its samples; absent if it has none that counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<f64>,
    /// New to old.
    #[serde(flatten)]
    pub estimate: Estimate,
}

/// A run against an earlier one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// `run_id` of the earlier one.
    pub base_run_id: String,
    /// `run_id` of the new one.
    pub new_run_id: String,
    /// Both are one run, so samples are paired by case; else they are independent.
    pub paired: bool,
    /// What differs between the runs beside the figures, a sentence each: kernel, tools, ...
    pub differences: Vec<String>,
    /// Every figure of what ran in both. One that a run lacks stays, with nothing to decide by.
    pub changes: Vec<Change>,
}

/// Whether a gate holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GateVerdict {
    /// The whole interval is within the limit.
    Holds,
    /// The whole interval is beyond the limit.
    Broken,
    /// The limit lies in the interval, or there is none.
    Undecided,
}

/// A limit of a ratio, at one figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GateResult {
    /// As it was asked for: `synced_s<=1.05`.
    pub gate: String,
    /// Name of the step; absent for a figure of the whole case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Id of the configuration that is compared.
    pub configuration: String,
    /// What it is compared with: an earlier run, or the baseline of this one.
    pub against: String,
    /// What is known of the ratio.
    #[serde(flatten)]
    pub estimate: Estimate,
    /// Whether it holds. In the JSON `gate_verdict`: the ratio has a `verdict` of its own.
    #[serde(rename = "gate_verdict")]
    pub outcome: GateVerdict,
}

/// A figure that a suite's source printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    /// Why it was not checked, or is not resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
