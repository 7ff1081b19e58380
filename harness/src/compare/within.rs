//! The configurations of one run against the first: of their kernel and, with several kernels, of
//! their file system.
//!
//! They are paired by block: what disturbs a whole block, such as a neighbour of the machine, is in
//! both figures and cancels in their ratio.

use super::figure::{Figure, cases, looks, paired};
use super::ratio::Ratio;
use super::verdict::judge;
use crate::result::{CaseResult, Comparison, Estimate, HEADLINE, RunReport, Verdict, split_id};

/// Every configuration against the first that ran, in each dimension, for every step and headline
/// metric that both have.
#[must_use]
pub fn within(report: &RunReport) -> Vec<Comparison> {
    judged(report).into_iter().map(|(comparison, _)| comparison).collect()
}

/// Whether there is a word about every comparison that more blocks could bring one. A figure that was
/// 0 in some block and not in others has no ratio, and one that is too short to be known has no word,
/// however many blocks there are.
#[must_use]
pub fn resolved(report: &RunReport) -> bool {
    let open = |(comparison, ratio): &(Comparison, Ratio)| {
        comparison.estimate.verdict == Some(Verdict::NotResolved) && ratio.can_have_a_word()
    };
    !judged(report).iter().any(open)
}

/// All comparisons, with what their words rest on.
pub(super) fn judged(report: &RunReport) -> Vec<(Comparison, Ratio)> {
    let mut all = unjudged(report);
    judge(&mut all.iter_mut().map(|(_, ratio)| ratio).collect::<Vec<_>>(), looks(report));
    for (comparison, ratio) in &mut all {
        comparison.estimate = ratio.estimate;
    }
    all
}

/// Baselines with what is compared with each: along one dimension at a time. A configuration is held
/// against the first that ran on the same kernel, and against the same file system on the first kernel
/// that it ran on. What is missing on a machine must not take all comparisons with it.
pub(super) fn pairs(report: &RunReport) -> Vec<(&str, &str)> {
    let ids: Vec<&str> = report.configuration_ids().into_iter().filter(|id| report.ran(id)).collect();
    let of = |candidate: &str| {
        let (filesystem, kernel) = split_id(candidate);
        let neighbour = ids.iter().find(|id| split_id(id).1 == kernel);
        let itself = ids.iter().find(|id| split_id(id).0 == filesystem);
        [neighbour, itself]
    };
    let found = ids.iter().flat_map(|id| of(id).into_iter().flatten().map(move |baseline| (*baseline, *id)));
    found.filter(|(baseline, candidate)| baseline != candidate).collect()
}

fn unjudged(report: &RunReport) -> Vec<(Comparison, Ratio)> {
    let pairs = pairs(report);
    let steps = report.steps();
    let figures = steps.iter().flat_map(|step| HEADLINE.map(|key| (step.name.as_str(), key)));
    let all = figures.flat_map(|figure| pairs.iter().map(move |pair| (figure, *pair)));
    let compared = all.filter_map(|((step, metric), (baseline, candidate))| {
        let ratio = ratio(report, baseline, candidate, Figure { step: Some(step), key: metric })?;
        Some((comparison(step, metric, baseline, candidate), ratio))
    });
    compared.collect()
}

/// Without its estimate.
fn comparison(step: &str, metric: &str, baseline: &str, candidate: &str) -> Comparison {
    Comparison {
        step: step.into(),
        metric: metric.into(),
        baseline: baseline.into(),
        candidate: candidate.into(),
        estimate: Estimate::default(),
    }
}

/// Candidate to baseline; `None` where no block has both.
pub(super) fn ratio(report: &RunReport, baseline: &str, candidate: &str, figure: Figure) -> Option<Ratio> {
    let (old, new) = (cases(report, baseline), cases(report, candidate));
    let pairs = figure.pairs(&paired(&old, &new, |case: &CaseResult| case.block));
    let fact = figure.is_fact(&old);
    let mut ratio = (!pairs.is_empty()).then(|| Ratio::of_pairs(&pairs, fact))?;
    if pairs.len() < 3 && !fact {
        ratio.estimate.ci95 = None;
    }
    let (old, new) = pairs.into_iter().unzip();
    let ratio = ratio.without_a_word_if(figure.is_too_short(old, new));
    Some(ratio.withheld_if(report.withholds(figure.key, &[baseline, candidate])))
}

/// Whether two configurations that ran should have had this ratio: one has the figure, and the other
/// did not end the work of it, or not in the same block. A figure that a file system does not tell is
/// no gap.
pub(super) fn is_gap(report: &RunReport, baseline: &str, candidate: &str, figure: Figure) -> bool {
    let sides = [baseline, candidate].map(|id| cases(report, id));
    let has = |side: &Vec<&CaseResult>| !figure.samples(side).is_empty();
    sides.iter().any(has) && sides.iter().all(|side| has(side) || !figure.was_done(side))
}

#[cfg(test)]
mod tests;
