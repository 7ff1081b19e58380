//! Two sides of samples, and what they tell about the ratio of what they measure.
//!
//! Ratios are estimated on logarithms, where twice and half are equally far from the same. Values
//! that do not scatter are known, not estimated: they are compared as they are. A pair of zeros is
//! a ratio of 1 (a step that only reads uses no space on either side); a zero against something has
//! no logarithm, and so no ratio.

use std::cmp::Ordering;

use super::verdict::INTERVAL;
use crate::result::{Estimate, MARGIN, Verdict};
use crate::stats::{Mean, Moments};

/// Fewer samples than these have no interval: of two, it would be thirteen times their scatter.
const LEAST_FOR_INTERVAL: usize = 3;

/// A ratio without a word yet, and what the word is to rest on.
#[derive(Clone, Debug)]
pub(super) struct Ratio {
    pub estimate: Estimate,
    pub evidence: Evidence,
}

/// What a word about a ratio can rest on.
#[derive(Clone, Debug)]
pub(super) enum Evidence {
    /// Too few values to know their scatter, or some without a logarithm.
    None,
    /// Nothing scatters, so there is nothing to test.
    Exact(Verdict),
    /// An interval.
    Scatter(Scatter),
    /// Whatever there is, no word is to rest on it.
    Withheld,
}

/// Logarithms of a ratio: of each pair, or of both sides.
#[derive(Clone, Debug)]
pub(super) struct Scatter {
    /// Of the pairs, or of the new side.
    new: Moments,
    /// Of the old side, where the samples are not paired.
    old: Option<Moments>,
}

impl Scatter {
    /// The mean logarithm of the ratio.
    pub fn mean(&self) -> Mean {
        match &self.old {
            Some(old) => self.new.minus(old),
            None => self.new.mean(),
        }
    }

    /// The same, were there `count` samples on every side that has fewer.
    pub fn with(&self, count: u32) -> Mean {
        let more = |side: Moments| Moments { count: side.count.max(count), ..side };
        Self { new: more(self.new), old: self.old.map(more) }.mean()
    }
}

impl Ratio {
    /// Of new to old, in pairs (old, new) of finite values. `known` values, such as counts, do not
    /// scatter even if there is one only.
    pub fn of_pairs(pairs: &[(f64, f64)], known: bool) -> Self {
        let (old, new): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        if let Some(exact) = Self::exact(&old, &new, known) {
            return exact;
        }
        let logs = same_sign(&old, &new)
            .then(|| pairs.iter().map(|(old, new)| log_ratio(*old, *new)).collect::<Option<Vec<_>>>());
        let Some(logs) = logs.flatten() else { return Self::without(pairs.len()) };
        let scatter = Moments::of(&logs).map(|new| Scatter { new, old: None });
        Self::scattered(pairs.len(), mean(&logs), scatter)
    }

    /// Of new to old, of finite values of independent samples.
    pub fn of_samples(old: &[f64], new: &[f64], known: bool) -> Self {
        if let Some(exact) = Self::exact(old, new, known) {
            return exact;
        }
        let fewer = old.len().min(new.len());
        if old.iter().chain(new).all(|value| *value == 0.0) {
            return Self::scattered(fewer, Some(0.0), None);
        }
        let logs = |side: &[f64]| side.iter().map(|value| log(*value)).collect::<Option<Vec<_>>>();
        let both = same_sign(old, new).then(|| logs(old).zip(logs(new))).flatten();
        let Some((old, new)) = both else { return Self::without(fewer) };
        let scatter = Moments::of(&old).zip(Moments::of(&new));
        let scatter = scatter.map(|(old, new)| Scatter { new, old: Some(old) });
        Self::scattered(fewer, mean(&new).zip(mean(&old)).map(|(new, old)| new - old), scatter)
    }

    /// The same ratio, and no word about it, if so.
    pub fn without_a_word_if(mut self, unknowable: bool) -> Self {
        if unknowable && matches!(self.evidence, Evidence::Scatter(_)) {
            self.evidence = Evidence::None;
        }
        self
    }

    /// The same ratio, and neither a word nor a limit to hold a gate against, if so.
    pub fn withheld_if(mut self, withheld: bool) -> Self {
        if withheld {
            self.evidence = Evidence::Withheld;
        }
        self
    }

    /// Whether there is, or with more samples could be, a word about it.
    pub fn can_have_a_word(&self) -> bool {
        !matches!(self.evidence, Evidence::None | Evidence::Withheld)
    }

    /// The same measurement on both sides: equal, however often it was made.
    pub fn same(n: usize) -> Self {
        Self::exact(&vec![1.0; n], &vec![1.0; n], true).unwrap_or_else(|| Self::without(n))
    }

    /// Where the limits of the ratio are known: its interval or, of what does not scatter, the ratio
    /// itself; it is 0 or infinite where a figure went to or from 0.
    pub fn limits(&self) -> Option<[f64; 2]> {
        if matches!(self.evidence, Evidence::Withheld) {
            return None;
        }
        let exact = || match &self.evidence {
            Evidence::Exact(word) => limits_of(self.estimate.ratio, *word),
            _ => None,
        };
        self.estimate.ci95.or_else(exact)
    }

    fn exact(old: &[f64], new: &[f64], known: bool) -> Option<Self> {
        let fewer = old.len().min(new.len());
        let still = |side: &[f64]| side.windows(2).all(|two| two[0] == two[1]);
        if !still(old) || !still(new) || fewer < if known { 1 } else { 2 } {
            return None;
        }
        let ratio = exact_ratio(old[0], new[0]);
        let ci95 = ratio.map(|ratio| [ratio; 2]);
        let word = match ratio {
            Some(ratio) if ratio < 1.0 / MARGIN => Verdict::Less,
            Some(ratio) if ratio > MARGIN => Verdict::More,
            Some(_) => Verdict::NoDifference,
            None => order(old[0], new[0]),
        };
        let estimate = Estimate { ratio, ci95, ..Estimate::default() };
        Some(Self { estimate, evidence: Evidence::Exact(word) }.counted(fewer))
    }

    fn scattered(n: usize, mean: Option<f64>, scatter: Option<Scatter>) -> Self {
        let ratio = mean.and_then(ratio_of);
        let scatter = scatter.filter(|_| n >= LEAST_FOR_INTERVAL && ratio.is_some());
        let interval = scatter.as_ref().map(|scatter| scatter.mean().interval(INTERVAL));
        let ci95 = interval.and_then(|[low, high]| Some([ratio_of(low)?, ratio_of(high)?]));
        let evidence = scatter.filter(|_| ci95.is_some()).map_or(Evidence::None, Evidence::Scatter);
        Self { estimate: Estimate { ratio, ci95, ..Estimate::default() }, evidence }.counted(n)
    }

    /// Of so many samples that have no ratio.
    pub fn without(n: usize) -> Self {
        Self::scattered(n, None, None)
    }

    fn counted(mut self, n: usize) -> Self {
        self.estimate.n = u32::try_from(n).unwrap_or(u32::MAX);
        self
    }
}

/// The limits of a ratio of what does not scatter.
fn limits_of(ratio: Option<f64>, word: Verdict) -> Option<[f64; 2]> {
    match (ratio, word) {
        (Some(ratio), _) => Some([ratio; 2]),
        (None, Verdict::Less) => Some([0.0; 2]),
        (None, Verdict::More) => Some([f64::INFINITY; 2]),
        (None, _) => None,
    }
}

/// No value above 0, or none below: then sizes can be compared. (Space that a step frees is
/// negative: more freed is a ratio above 1.)
fn same_sign(old: &[f64], new: &[f64]) -> bool {
    let all = || old.iter().chain(new);
    all().all(|value| *value >= 0.0) || all().all(|value| *value <= 0.0)
}

fn exact_ratio(old: f64, new: f64) -> Option<f64> {
    match old == new {
        true => Some(1.0),
        false => Some(new / old).filter(|ratio| ratio.is_finite() && *ratio > 0.0),
    }
}

fn log_ratio(old: f64, new: f64) -> Option<f64> {
    match old == new {
        true => Some(0.0),
        false => Some(log(new)? - log(old)?),
    }
}

/// Of the size of a value.
fn log(value: f64) -> Option<f64> {
    Some(value.abs().ln()).filter(|log| log.is_finite())
}

/// A ratio that a number can hold.
fn ratio_of(log: f64) -> Option<f64> {
    Some(log.exp()).filter(|ratio| ratio.is_finite() && *ratio > 0.0)
}

/// Of values whose ratio no number holds; by size where both have the same sign.
fn order(old: f64, new: f64) -> Verdict {
    let by_size = old <= 0.0 && new <= 0.0;
    let order = if by_size { old.total_cmp(&new) } else { new.total_cmp(&old) };
    if order == Ordering::Less { Verdict::Less } else { Verdict::More }
}

fn mean(values: &[f64]) -> Option<f64> {
    let count = u32::try_from(values.len()).ok().filter(|count| *count > 0)?;
    Some(values.iter().sum::<f64>() / f64::from(count))
}
