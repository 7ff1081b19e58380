//! stub
use super::Style;
use crate::error::Result;
use crate::result::{Changes, GateResult};
use std::io::Write;
/// Write.
///
/// # Errors
///
/// Wrong.
pub fn write(_c: &Changes, _g: &[GateResult], _to: &mut dyn Write, _s: &Style) -> Result<()> {
    Ok(())
}
/// JSON.
///
/// # Errors
///
/// Wrong.
pub fn json(_c: &Changes, _g: &[GateResult]) -> Result<String> {
    Ok(String::new())
}
