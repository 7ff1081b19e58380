//! Time to write the report of a large run, in every format, and the size of its HTML.

use std::time::Instant;

use fsduel_harness::error::Result;
use fsduel_harness::report::{self, Format, Style};
use fsduel_harness::result::RunReport;

use crate::many::many;
use crate::table::{Row, median};

/// Each format is written so often.
const TIMES: usize = 5;
/// For all formats together.
const LIMIT_MS: f64 = 1000.0;
/// A mail server takes it, and a telephone shows it.
const LIMIT_BYTES: f64 = 2e6;

/// A row for each format, one for all of them, and the size.
pub fn rows() -> Result<Vec<Row>> {
    let run = many(12, 10, 30);
    let formats = report::ALL.iter().filter(|format| !format.name.starts_with("postmark"));
    let times: Result<Vec<(&Format, f64)>> =
        formats.map(|format| Ok((format, time(format, &run)?))).collect();
    let times = times?;
    let sum: f64 = times.iter().map(|(_, took)| took).sum();
    let one = |(format, took): &(&Format, f64)| row(&format!("as {}", format.name), *took, None, "ms");
    let mut rows: Vec<Row> = times.iter().map(one).collect();
    rows.push(row("in every format", sum, Some(LIMIT_MS), "ms"));
    if let Some(html) = report::find("html") {
        rows.push(row("HTML", size(&written(html, &run)?), Some(LIMIT_BYTES), "B"));
    }
    Ok(rows)
}

fn row(what: &str, value: f64, limit: Option<f64>, unit: &'static str) -> Row {
    let what = format!("12 file systems, 10 steps, 30 blocks: {what}");
    Row { what, value: Ok(value), limit, unit, n: TIMES }
}

/// Milliseconds, of several times the middle one.
fn time(format: &Format, run: &RunReport) -> Result<f64> {
    let once = |_| {
        let begun = Instant::now();
        written(format, run)?;
        Ok(begun.elapsed().as_secs_f64() * 1e3)
    };
    let times: Result<Vec<f64>> = (0..TIMES).map(once).collect();
    Ok(median(&mut times?))
}

fn written(format: &Format, run: &RunReport) -> Result<Vec<u8>> {
    let mut bytes = vec![];
    (format.write)(run, &mut bytes, &Style::default())?;
    Ok(bytes)
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
fn size(bytes: &[u8]) -> f64 {
    bytes.len() as f64
}
