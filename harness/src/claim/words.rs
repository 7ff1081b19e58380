//! The figures behind a claim in words: `small-files space used: btrfs 95.1 MiB, ext4
//! 401 MiB, ×0.237`.

use std::collections::BTreeSet;

use super::expression::{Condition, Term};
use super::figures::{Figures, mean, name};
use super::interval::{self, Pairs};
use crate::result::Reference;
use crate::units::human;

/// A figure in words, and its numbers for the ratio: one for each block.
type Said = Option<(String, Vec<f64>)>;

/// The figures of this run, as far as there are any: means over the blocks that all of the
/// condition has or, where it has none, over those of each figure.
pub(super) fn now(condition: &Condition, figures: &Figures) -> Option<String> {
    let common = figures.blocks(&condition.terms());
    say(condition, |term| {
        let blocks = common.clone().or_else(|_| figures.blocks(&[term])).ok()?;
        let values = figures.values(term, &blocks).ok()?;
        Some((human::by_key(&term.metric, mean(&values)), values))
    })
}

/// The figures that the source printed, as far as there are any.
pub(super) fn then(condition: &Condition, references: &[Reference]) -> Option<String> {
    say(condition, |term| {
        let fits = |reference: &&Reference| {
            Some(&reference.step) == term.step.as_ref()
                && reference.metric == term.metric
                && reference.filesystem == term.filesystem
        };
        let found = references.iter().find(fits)?;
        let about = if found.approx { "about " } else { "" };
        Some((format!("{about}{}", found.printed), vec![found.value]))
    })
}

fn say(condition: &Condition, figure: impl Fn(&Term) -> Said) -> Option<String> {
    let comparisons = condition.comparisons();
    let mut said: Vec<String> = match shares(&comparisons, &figure) {
        Some(text) => vec![text],
        None => comparisons.into_iter().filter_map(|part| comparison(part, &figure)).collect(),
    };
    let mut seen = BTreeSet::new();
    said.retain(|text| seen.insert(text.clone()));
    (!said.is_empty()).then(|| said.join("; "))
}

/// One metric as a share of another, many times over: the ratios alone, since a reader would drown
/// in the figures. `user CPU to kernel CPU: small-files btrfs ×0.05, ext4 ×0.02; ...`.
fn shares(comparisons: &[&Condition], figure: &impl Fn(&Term) -> Said) -> Option<String> {
    let pairs = comparisons.iter().map(|part| pair(part)).collect::<Option<Vec<_>>>()?;
    let (first, whole) = pairs.first()?;
    let alike = |(a, b): &(&Term, &Term)| a.metric == first.metric && b.metric == whole.metric;
    if pairs.len() < 2 || !pairs.iter().all(alike) {
        return None;
    }
    let mut text = format!("{} to {}:", human::words(&first.metric), human::words(&whole.metric));
    let mut step = None;
    for (part, whole) in pairs {
        let (Some((_, of_part)), Some((_, of_whole))) = (figure(part), figure(whole)) else { continue };
        let (of_part, of_whole) = (mean(&of_part), mean(&of_whole));
        if of_whole == 0.0 {
            continue;
        }
        let (comma, name) = match step {
            Some(known) if known == &part.step => (",", String::new()),
            known => (if known.is_some() { ";" } else { "" }, part.step.clone().unwrap_or_default() + " "),
        };
        step = Some(&part.step);
        text += &format!("{comma} {name}{} {}", part.filesystem, human::ratio(of_part / of_whole));
    }
    step.map(|_| text)
}

/// Two metrics of the same step on the same file system.
fn pair(condition: &Condition) -> Option<(&Term, &Term)> {
    match condition.terms().as_slice() {
        [a, b] if a.step == b.step && a.filesystem == b.filesystem && a.metric != b.metric => Some((*a, *b)),
        _ => None,
    }
}

/// One comparison: its figures, and the ratio of two of the same metric.
fn comparison(condition: &Condition, figure: &impl Fn(&Term) -> Said) -> Option<String> {
    let mut terms: Vec<&Term> = vec![];
    for term in condition.terms() {
        let known = |other: &&Term| other.filesystem == term.filesystem && name(other) == name(term);
        if !terms.iter().any(known) {
            terms.push(term);
        }
    }
    let found: Vec<_> = terms.iter().filter_map(|term| Some((*term, figure(term)?))).collect();
    let (first, _) = found.first()?;
    let same = terms.iter().all(|term| name(term) == name(first));
    let heading = if same { format!("{}: ", in_words(first)) } else { String::new() };
    let label = |term: &Term| match same {
        true => term.filesystem.clone(),
        false => format!("{} on {}", in_words(term), term.filesystem),
    };
    let list: Vec<_> = found.iter().map(|(term, (text, _))| format!("{} {text}", label(term))).collect();
    let ratio = match found.as_slice() {
        [(a, (_, one)), (b, (_, two))] if a.metric == b.metric && terms.len() == 2 => ratio(one, two),
        _ => String::new(),
    };
    Some(format!("{heading}{}{ratio}", list.join(", ")))
}

/// `, ×0.237 [0.230, 0.244], n=6`: of pairs that scatter with their interval, else of the means.
fn ratio(one: &[f64], two: &[f64]) -> String {
    let pairs: Pairs = match one.len() == two.len() {
        true => one.iter().copied().zip(two.iter().copied()).collect(),
        false => vec![],
    };
    if let Some((ratio, [low, high])) = interval::ratio(&pairs) {
        let (low, high) = (human::significant(low), human::significant(high));
        return format!(", {} [{low}, {high}], n={}", human::ratio(ratio), pairs.len());
    }
    match mean(two) {
        0.0 => String::new(),
        below => format!(", {}", human::ratio(mean(one) / below)),
    }
}

/// `small-files space used`.
fn in_words(term: &Term) -> String {
    let metric = human::words(&term.metric);
    term.step.as_ref().map_or_else(|| metric.clone(), |step| format!("{step} {metric}"))
}
