//! Whether a condition holds, as far as the noise between blocks allows to say.
//!
//! A comparison becomes one number for each block: the logarithm of left to right, or their
//! difference where a side is not positive. Its 95 % t interval decides: the comparison holds if it
//! holds at both ends, and does not if it does at neither. `within N%` is two such comparisons, one
//! for each limit. Figures that do not scatter at all (facts, and a single block) are compared as
//! they are, so that no rounding of a logarithm decides.

use super::expression::Condition;
use super::figures::Figures;
use crate::result::ClaimVerdict;
use crate::stats::{Mean, t_quantile};
use crate::units::human;

/// Left and right side of a comparison, a pair for each block.
pub(super) type Pairs = Vec<(f64, f64)>;

const LEVEL: f64 = 0.95;

/// Nobody repeats a run more often to decide one claim.
const MOST_BLOCKS: u32 = 1000;

/// What the figures say of a condition.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    Holds,
    DoesNotHold,
    /// Each comparison that is open.
    Open(Vec<Open>),
}

/// A comparison that the noise leaves open.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Open {
    spread: Spread,
    n: usize,
    /// Blocks that would decide it, if they scatter as these do; none if they are too many.
    needed: Option<u32>,
}

/// The interval of left to right.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Spread {
    Ratio([f64; 2]),
    Difference([f64; 2]),
}

impl Outcome {
    pub(super) fn verdict(&self) -> ClaimVerdict {
        match self {
            Self::Holds => ClaimVerdict::Holds,
            Self::DoesNotHold => ClaimVerdict::DoesNotHold,
            Self::Open(_) => ClaimVerdict::NotResolved,
        }
    }

    /// Why it is not resolved; of several open comparisons, by the one that needs the most blocks.
    pub(super) fn reason(&self) -> Option<String> {
        let Self::Open(open) = self else { return None };
        let hardest = open.iter().max_by_key(|open| open.needed.unwrap_or(u32::MAX))?;
        let several = match open.len() {
            1 => String::new(),
            count => format!("{count} comparisons are open; in the one that is hardest to decide, "),
        };
        Some(format!("{several}{}", hardest.text()))
    }

    fn of(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::DoesNotHold }
    }

    /// Both together: one part that does not hold is enough for the whole.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::DoesNotHold, _) | (_, Self::DoesNotHold) => Self::DoesNotHold,
            (Self::Open(one), Self::Open(two)) => Self::Open([one, two].concat()),
            (Self::Open(open), Self::Holds) | (Self::Holds, Self::Open(open)) => Self::Open(open),
            (Self::Holds, Self::Holds) => Self::Holds,
        }
    }
}

impl Open {
    fn text(&self) -> String {
        let (what, [low, high]) = match self.spread {
            Spread::Ratio(interval) => ("ratio", interval),
            Spread::Difference(interval) => ("difference", interval),
        };
        let (low, high) = (human::significant(low), human::significant(high));
        let needed = match self.needed {
            Some(count) => format!("about {count} blocks would"),
            None => format!("even {MOST_BLOCKS} blocks would not"),
        };
        format!(
            "the {what} of left to right is only known to lie in [{low}, {high}] (n={}), which does not \
             decide; {needed}",
            self.n
        )
    }
}

/// Judge a condition by the blocks in which all of its cases passed, or say why it cannot be.
pub(super) fn judge(condition: &Condition, figures: &Figures) -> Result<Outcome, String> {
    let blocks = figures.blocks(&condition.terms())?;
    // Every part is looked at, so that a missing figure is never hidden by a part that does not hold.
    let parts = condition.comparisons().into_iter().map(|part| comparison(part, figures, &blocks));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    Ok(parts.into_iter().fold(Outcome::Holds, Outcome::and))
}

fn comparison(condition: &Condition, figures: &Figures, blocks: &[u32]) -> Result<Outcome, String> {
    Ok(match condition {
        Condition::Compare(left, sign, right) => compare(&figures.pairs([left, right], blocks)?, sign),
        Condition::Near(left, right, percent) => near(&figures.pairs([left, right], blocks)?, *percent),
        Condition::All(_) => judge(condition, figures)?,
    })
}

/// Whether left and right stand as the sign says.
fn compare(pairs: &Pairs, sign: &str) -> Outcome {
    if let Some((left, right)) = constant(pairs) {
        return Outcome::of(stands(left, sign, right));
    }
    one_sided(pairs, sign, pairs)
}

/// Whether left differs from right by at most so many percent of right.
fn near(pairs: &Pairs, percent: f64) -> Outcome {
    let share = percent / 100.0;
    if let Some((left, right)) = constant(pairs) {
        return Outcome::of((left - right).abs() <= right.abs() * percent / 100.0);
    }
    let limit = |share: f64| -> Pairs {
        pairs.iter().map(|(left, right)| (*left, right + right.abs() * share)).collect()
    };
    let (low, high) = (one_sided(&limit(-share), ">=", pairs), one_sided(&limit(share), "<=", pairs));
    match low.and(high) {
        // Both limits are limits of one comparison.
        Outcome::Open(open) => {
            Outcome::Open(open.into_iter().max_by_key(needed_or_most).into_iter().collect())
        }
        decided => decided,
    }
}

fn needed_or_most(open: &Open) -> u32 {
    open.needed.unwrap_or(u32::MAX)
}

/// The values, where all blocks have the same.
fn constant(pairs: &Pairs) -> Option<(f64, f64)> {
    let first = pairs.first()?;
    pairs.iter().all(|pair| pair == first).then_some(*first)
}

fn stands(left: f64, sign: &str, right: f64) -> bool {
    match sign {
        "<" => left < right,
        ">" => left > right,
        "<=" => left <= right,
        _ => left >= right,
    }
}

/// Judge pairs that scatter. What is open is told with the interval of `told`, the figures as the
/// claim compares them.
fn one_sided(pairs: &Pairs, sign: &str, told: &Pairs) -> Outcome {
    let Some((mean, _)) = distance(pairs) else { return Outcome::Open(vec![]) };
    let ends = mean.interval(LEVEL).map(|end| stands(end, sign, 0.0));
    if ends[0] == ends[1] {
        return Outcome::of(ends[0]);
    }
    let needed = needed(&mean, pairs.len());
    let spread = distance(told).map(|(mean, is_ratio)| match (mean.interval(LEVEL), is_ratio) {
        (interval, true) => Spread::Ratio(interval.map(f64::exp)),
        (interval, false) => Spread::Difference(interval),
    });
    Outcome::Open(spread.map(|spread| Open { spread, n: pairs.len(), needed }).into_iter().collect())
}

/// How far left is from right: as a logarithm (true) where both always have one, else as a difference.
fn distance(pairs: &Pairs) -> Option<(Mean, bool)> {
    let is_ratio = pairs.iter().all(|(left, right)| *left > 0.0 && *right > 0.0);
    let of = |(left, right): &(f64, f64)| if is_ratio { left.ln() - right.ln() } else { left - right };
    let values: Vec<f64> = pairs.iter().map(of).collect();
    Mean::of(&values).map(|mean| (mean, is_ratio))
}

/// The ratio of left to right and its interval, paired by block; none where a side is not positive
/// or there is one block only.
pub(super) fn ratio(pairs: &Pairs) -> Option<(f64, [f64; 2])> {
    let (mean, is_ratio) = distance(pairs)?;
    is_ratio.then(|| (mean.mean.exp(), mean.interval(LEVEL).map(f64::exp)))
}

/// The least number of blocks whose interval would not hold 0, if mean and scatter stay.
fn needed(mean: &Mean, n: usize) -> Option<u32> {
    let n = u32::try_from(n).ok()?;
    let scatter = mean.error * f64::from(n).sqrt();
    let decides = |count: u32| {
        let half = t_quantile(f64::midpoint(1.0, LEVEL), f64::from(count - 1)) * scatter;
        half < mean.mean.abs() * f64::from(count).sqrt()
    };
    let (mut too_few, mut enough) = (n, MOST_BLOCKS);
    if too_few >= enough || !decides(enough) {
        return None;
    }
    while enough - too_few > 1 {
        let middle = u32::midpoint(too_few, enough);
        if decides(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

#[cfg(test)]
mod tests;
