//! Processor time of the harness itself while it makes 99 999 files.

use fsduel_harness::error::{Error, Result};

use crate::program::{metric, steps};
use crate::table::{Row, median};

/// Measured so often.
const TIMES: usize = 5;
/// Of one of them. The kernel splits user from kernel time by where a tick of 1 to 10 ms meets
/// the process, so a single value is not exact.
const LIMIT_S: f64 = 0.15;

/// One row.
pub fn row() -> Result<Row> {
    let words = ["--workload", "many-small-files", "--set", "count=99999", "--size", "2GiB", "--fs", "ext4"];
    let mut values = Vec::new();
    for _ in 0..TIMES {
        let steps = steps(&words)?;
        let step = steps.first().ok_or_else(|| Error::new("find a step in the result"))?;
        values.push(metric(step, "user_cpu_s")?);
    }
    Ok(Row {
        what: "user processor time for 99 999 small files".into(),
        value: Ok(median(&mut values)),
        limit: Some(LIMIT_S),
        unit: "s",
        n: TIMES,
    })
}
