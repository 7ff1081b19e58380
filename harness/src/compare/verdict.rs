//! The word that an interval supports.
//!
//! Two questions are kept apart. *Is there a difference?* A probability answers, and since many
//! figures are asked at once, it is held against Holm's correction over all of them: whatever the
//! noise, a run in which nothing differs hardly ever has a winner anywhere. The level is 2.5 %, so
//! that of 100 such runs at most 5 have one: were it 5 %, four of ten hundreds would have more. With
//! `auto` every look at the results is a chance to stop on a false one, so the level is shared
//! between the looks. *Does it matter?* The margin answers, and it needs the whole interval: beyond
//! the margin for `less` and `more`, within it for `no_difference`. So a word never contradicts the
//! interval that stands beside it, and `no_difference` is a statement about size; it never means
//! that nothing was found.
//!
//! A winner needs five samples as well: noise with two states (the disk is busy or it is not) puts three
//! or four pairs in one order too often, with an interval that looks sure.
//!
//! An interval lies wholly on one side of the margin if the nearest end of the margin is outside of
//! it, which is the test of the distance to that end at the interval's level.

use super::ratio::{Evidence, Ratio, Scatter};
use crate::result::{MARGIN, Verdict};
use crate::stats::{Mean, holm};

/// The probability of any false winner in a run, at most.
const LEVEL: f64 = 0.025;

/// The probability with which an interval holds the true ratio.
pub(super) const INTERVAL: f64 = 0.95;

/// The fewest samples that name a winner.
const FEWEST: u32 = 5;

/// The most samples that are worth a word of advice.
const MOST: u32 = 10_000;

/// Gives every ratio its word. All of them are one family of questions, asked `looks` times.
pub(super) fn judge(ratios: &mut [&mut Ratio], looks: u32) {
    let level = LEVEL / f64::from(looks.max(1));
    let family: Vec<f64> = ratios.iter().filter_map(|ratio| p_value(ratio)).collect();
    let mut corrected = holm(&family).into_iter();
    for ratio in ratios {
        let (word, needed) = match &ratio.evidence {
            Evidence::Exact(word) => (*word, None),
            Evidence::None => (Verdict::NotResolved, None),
            Evidence::Withheld => continue,
            Evidence::Scatter(scatter) => {
                let enough = ratio.estimate.n >= FEWEST;
                let differs = corrected.next().is_some_and(|p| p <= level) && enough;
                let own = own_level(&family, scatter.mean().p_value(), level);
                match word(&scatter.mean(), differs) {
                    Verdict::NotResolved => (Verdict::NotResolved, needed(scatter, ratio.estimate.n, own)),
                    word => (word, None),
                }
            }
        };
        ratio.estimate.verdict = Some(word);
        ratio.estimate.needed_count = needed;
    }
}

fn p_value(ratio: &Ratio) -> Option<f64> {
    match &ratio.evidence {
        Evidence::Scatter(scatter) => Some(scatter.mean().p_value()),
        Evidence::Exact(_) | Evidence::None | Evidence::Withheld => None,
    }
}

/// The word about a mean logarithm; `differs` says whether it is not 0.
fn word(log: &Mean, differs: bool) -> Verdict {
    let beyond = log.mean.abs() - MARGIN.ln();
    let clear_of_the_margin = Mean { mean: beyond, ..*log }.p_value() <= 1.0 - INTERVAL;
    match (clear_of_the_margin, beyond < 0.0) {
        (true, true) => Verdict::NoDifference,
        (true, false) if differs && log.mean < 0.0 => Verdict::Less,
        (true, false) if differs => Verdict::More,
        _ => Verdict::NotResolved,
    }
}

/// The level that Holm's correction leaves for a probability: shared between it and all that are
/// not smaller.
fn own_level(family: &[f64], p: f64, level: f64) -> f64 {
    let sharing = family.iter().filter(|other| **other >= p).count();
    level / u32::try_from(sharing.max(1)).map_or(f64::INFINITY, f64::from)
}

/// The smallest number of samples above `n` that would bring a word, if more of them scatter as
/// these do. More samples only narrow the interval, so halving the range finds it.
fn needed(scatter: &Scatter, n: u32, level: f64) -> Option<u32> {
    let decided = |count: u32| {
        let mean = scatter.with(count);
        word(&mean, count >= FEWEST && mean.p_value() <= level) != Verdict::NotResolved
    };
    let (mut too_few, mut enough) = (n, MOST);
    if n >= MOST || !decided(MOST) {
        return None;
    }
    while enough - too_few > 1 {
        let middle = u32::midpoint(too_few, enough);
        if decided(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}
