//! stub
use crate::error::Result;
use crate::result::{Changes, GateResult, RunReport};
/// A gate.
pub struct Gate;
/// Parse.
///
/// # Errors
///
/// Wrong.
pub fn parse(_list: &str, _known: &[&str]) -> Result<Vec<Gate>> {
    Ok(vec![])
}
/// Judge.
///
/// # Errors
///
/// Wrong.
pub fn judge_changes(_gates: &[Gate], _changes: &Changes) -> Result<Vec<GateResult>> {
    Ok(vec![])
}
/// Judge.
///
/// # Errors
///
/// Wrong.
pub fn judge_within(_gates: &[Gate], _report: &RunReport) -> Result<Vec<GateResult>> {
    Ok(vec![])
}
