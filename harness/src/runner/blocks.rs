//! The blocks of a run: in which order each runs its cases, and when it is enough.
//!
//! A block holds every configuration once, so that what disturbs the machine for a while disturbs
//! all of them; the order within is random, so that no configuration always follows the same other.
//! Runs of one thing after the other (AAAA, BBBB) find differences between a thing and itself.

use std::time::Duration;

use crate::compare::Repeat;
use crate::content::{draw, random};
use crate::units::Seed;

/// What comes after a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// One more; 0 is the one to warm up.
    Block(u32),
    /// What was asked for is done.
    Done,
    /// One more would not end within the budget.
    OutOfBudget,
}

/// When a run has enough blocks.
pub(super) struct Schedule {
    repeat: Repeat,
    budget: Option<Duration>,
    begun: u32,
    longest: Duration,
}

impl Schedule {
    pub(super) fn new(repeat: Repeat, budget: Option<Duration>) -> Self {
        Self { repeat, budget, begun: 0, longest: Duration::ZERO }
    }

    /// Blocks in all, at most.
    pub(super) fn most(repeat: Repeat) -> u32 {
        repeat.blocks() + u32::from(repeat.warms_up())
    }

    /// Blocks that were measured so far, if the one that began last has ended.
    pub(super) fn measured(&self) -> u32 {
        self.begun.saturating_sub(u32::from(self.repeat.warms_up()))
    }

    /// A block took so long.
    pub(super) fn took(&mut self, time: Duration) {
        self.longest = self.longest.max(time);
    }

    /// What comes after so much time of the run. `resolved` tells whether every comparison is; it
    /// is asked only where `auto` may look. The first block that is measured always runs.
    pub(super) fn next(&mut self, elapsed: Duration, resolved: impl FnOnce() -> bool) -> Next {
        let measured = self.measured();
        if measured >= self.repeat.blocks() {
            return Next::Done;
        }
        if self.repeat == Repeat::Auto && Repeat::LOOKS.contains(&measured) && resolved() {
            return Next::Done;
        }
        if measured > 0 && self.budget.is_some_and(|budget| elapsed + self.longest > budget) {
            return Next::OutOfBudget;
        }
        let block = self.begun + u32::from(!self.repeat.warms_up());
        self.begun += 1;
        Next::Block(block)
    }
}

/// The order of so many configurations in a block, drawn from the seed: every order is equally
/// likely. Source: Knuth, The Art of Computer Programming 2, algorithm 3.4.2P.
pub(super) fn order(configurations: usize, block: u32, seed: Seed) -> Vec<usize> {
    let mut random = random(seed.derive(&format!("order of block {block}")));
    let mut order: Vec<usize> = (0..configurations).collect();
    for last in (1..order.len()).rev() {
        let other = draw(&mut random, 0..=last as u64);
        order.swap(last, usize::try_from(other).unwrap_or(last));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    /// The blocks of a run in which each takes ten seconds.
    fn blocks(repeat: Repeat, budget: Option<Duration>, resolved_after: u32) -> (Vec<u32>, Next) {
        let (mut schedule, mut elapsed, mut all) = (Schedule::new(repeat, budget), Duration::ZERO, vec![]);
        loop {
            let measured = schedule.measured();
            match schedule.next(elapsed, || measured >= resolved_after) {
                Next::Block(block) => all.push(block),
                end => return (all, end),
            }
            elapsed += 10 * SECOND;
            schedule.took(10 * SECOND);
        }
    }

    #[test]
    fn a_block_to_warm_up_is_number_0_and_comes_before_more_than_two() {
        assert_eq!(blocks(Repeat::Times(1), None, 0), (vec![1], Next::Done));
        assert_eq!(blocks(Repeat::Times(2), None, 0), (vec![1, 2], Next::Done));
        assert_eq!(blocks(Repeat::Times(3), None, 0), (vec![0, 1, 2, 3], Next::Done));
        assert_eq!(Schedule::most(Repeat::Times(3)), 4);
    }

    #[test]
    fn auto_stops_only_where_it_may_look() {
        for (resolved_after, blocks_run) in [(0, 5), (5, 5), (6, 8), (13, 18), (40, 40), (99, 40)] {
            let (all, end) = blocks(Repeat::Auto, None, resolved_after);
            assert_eq!((all.last(), end), (Some(&blocks_run), Next::Done), "{resolved_after}");
        }
    }

    #[test]
    fn no_block_begins_that_would_not_end_within_the_budget_but_the_first_runs() {
        assert_eq!(blocks(Repeat::Times(6), Some(45 * SECOND), 0), (vec![0, 1, 2, 3], Next::OutOfBudget));
        assert_eq!(blocks(Repeat::Times(6), Some(SECOND), 0), (vec![0, 1], Next::OutOfBudget));
        assert_eq!(blocks(Repeat::Times(1), Some(SECOND), 0), (vec![1], Next::Done));
        assert_eq!(blocks(Repeat::Auto, Some(95 * SECOND), 99).0.len(), 9);
    }

    #[test]
    fn the_order_is_that_of_the_seed_and_every_one_comes_up() {
        assert_eq!(order(3, 1, Seed(7)), order(3, 1, Seed(7)));
        let mut seen: Vec<Vec<usize>> = (0..600).map(|block| order(3, block, Seed(7))).collect();
        seen.sort();
        let counts: Vec<usize> = seen.chunk_by(|a, b| a == b).map(<[_]>::len).collect();
        assert_eq!(counts.len(), 6);
        // 100 of each are expected; five standard deviations are 46.
        assert!(counts.iter().all(|count| (54..=146).contains(count)), "{counts:?}");
        assert_eq!(order(0, 1, Seed(7)), Vec::<usize>::new());
    }
}
