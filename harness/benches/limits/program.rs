//! Runs the program itself, as its users do, and reads its result.

use std::ffi::OsString;
use std::process::{Command, Stdio};

use fsduel_harness::error::{Cannot, Error, Result};
use fsduel_harness::result::{RunReport, StepResult};

/// Where `cargo xtask bench` says that the program is.
const PROGRAM: &str = "FSDUEL_PROGRAM";

/// The program.
pub fn path() -> Result<OsString> {
    std::env::var_os(PROGRAM).ok_or_else(|| {
        Error::usage(format!("find the program to measure: {PROGRAM} is not set"))
            .next("start the benchmarks with `cargo xtask bench`")
    })
}

/// The steps of the only case of `fsduel run WORDS`, which must pass.
pub fn steps(words: &[&str]) -> Result<Vec<StepResult>> {
    steps_of(&[&["run"], words].concat())
}

/// The steps of the only case of `fsduel WORDS`, which must pass.
pub fn steps_of(words: &[&str]) -> Result<Vec<StepResult>> {
    let done = Command::new(path()?)
        .args(words)
        .args(["--json", "-", "--quiet"])
        .stderr(Stdio::inherit())
        .output()
        .cannot(|| "start the program to measure".into())?;
    if !done.status.success() {
        return Err(Error::new(format!("run `fsduel {}`: {}", words.join(" "), done.status)));
    }
    let report: RunReport = serde_json::from_slice(&done.stdout).cannot(|| "read its result".into())?;
    Ok(report.cases.into_iter().flat_map(|case| case.steps).collect())
}

/// A metric that must be there.
pub fn metric(step: &StepResult, key: &str) -> Result<f64> {
    step.metrics.get(key).ok_or_else(|| Error::new(format!("find {key} in step {}", step.name)))
}
