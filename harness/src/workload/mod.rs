//! What is done on a file system: one file and one row of the table for each workload.
//!
//! A workload knows its calls ([`Ops`](crate::ops::Ops)) and the seed of the run, never the file system it is on.
//! The same work can be done, planned and replayed, so a later step (`remove`, `read`, ...) and
//! the verification know every name and byte of an earlier one without being told.

mod shared;

mod exec;
mod fill_until_enospc;
mod list;
mod many_directories;
mod many_small_files;
pub mod postmark;
mod read;
mod remove;
mod stat;

use std::sync::Arc;

use nix::errno::Errno;
use serde_json::Value;

pub use shared::parameters::Parameter;

use crate::command::stop_flag;
use crate::error::{Error, Result};
use crate::ops;
pub use crate::ops::{Earlier, Ended, Fullest, Recovered, Workload};
use crate::units::{Bytes, Seed};

/// A step as a suite describes it: a workload by name, and its parameters.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StepSpec {
    /// Name of the step, and of its directory.
    pub name: String,
    /// Name of the workload.
    pub workload: String,
    /// The workload's own parameters.
    pub parameters: Value,
    /// A limit is not a failure of this step.
    #[serde(default)]
    pub allow_limit: bool,
}

/// What a workload is built from.
pub struct Build<'a> {
    /// Name of the step.
    pub step: &'a str,
    /// Its parameters.
    pub parameters: &'a Value,
    /// The steps before it that made a tree which no step has removed, in order.
    pub earlier: &'a [Earlier],
    /// Block size of the file system.
    pub block_size: Bytes,
    /// Size of the image.
    pub image_size: Bytes,
    /// The mount options ask for compression.
    pub compressing: bool,
}

/// One workload, for the command line and for suites.
pub struct Row {
    /// As suites spell it.
    pub name: &'static str,
    /// In a sentence.
    pub meaning: &'static str,
    /// What a suite may set.
    pub parameters: &'static [Parameter],
    /// Build a step of it.
    pub build: fn(&Build) -> Result<Arc<dyn Workload>>,
}

/// All workloads, in the order of lists.
pub static ALL: &[Row] = &[
    many_small_files::ROW,
    many_directories::ROW,
    remove::ROW,
    list::ROW,
    stat::ROW,
    read::ROW,
    fill_until_enospc::ROW,
    postmark::ROW,
    exec::ROW,
];

/// Build a step of the workload `name`.
///
/// # Errors
///
/// No such workload, or parameters it does not have or cannot work with.
pub fn build(step: &Build, name: &str) -> Result<Arc<dyn Workload>> {
    let row = ALL.iter().find(|row| row.name == name).ok_or_else(|| {
        let known: Vec<&str> = ALL.iter().map(|row| row.name).collect();
        Error::usage(format!("run step `{}`: there is no workload `{name}`", step.step))
            .next(format!("use one of {}", known.join(", ")))
    })?;
    (row.build)(step)
}

/// Operations and bytes that `workload` will need; `None` where only the file system decides.
///
/// # Errors
///
/// More than `most` operations, which are counted no further; or a signal.
pub fn totals(workload: &dyn Workload, seed: Seed, most: u64) -> ops::Result<Option<ops::Counts>> {
    if workload.fills() {
        return Ok(None);
    }
    if workload.least_calls() > most {
        return Err(ops::Failure { op: ops::Op::Create, path: String::new(), errno: Errno::ENOSPC });
    }
    let mut plan = ops::Plan::counting().stopped_by(stop_flag());
    let reach = ops::Reach { operations: Some(most), ..ops::Reach::default() };
    match workload.run(&mut ops::UpTo::new(&mut plan, reach), seed)? {
        Ended::Limit(failure, _) => Err(failure),
        _ => Ok(Some(plan.finish().counts)),
    }
}

/// Build the workloads of a case: each knows the trees that the steps before it left.
///
/// # Errors
///
/// An unknown workload, or parameters that make no sense; with the name of the step.
pub fn sequence(
    steps: &[StepSpec],
    block_size: Bytes,
    image_size: Bytes,
    compressing: bool,
) -> Result<Vec<Arc<dyn Workload>>, (String, Error)> {
    let mut earlier: Vec<Earlier> = vec![];
    let mut sequence = vec![];
    for step in steps {
        let parameters = &step.parameters;
        let here =
            Build { step: &step.name, parameters, earlier: &earlier, block_size, image_size, compressing };
        let workload = build(&here, &step.workload).map_err(|error| (step.name.clone(), error))?;
        earlier.retain(|tree| !workload.removes().iter().any(|gone| gone.step == tree.step));
        if workload.has_directory() {
            earlier.push(Earlier { step: step.name.clone(), workload: Arc::clone(&workload) });
        }
        sequence.push(workload);
    }
    Ok(sequence)
}

#[cfg(test)]
mod tests;
