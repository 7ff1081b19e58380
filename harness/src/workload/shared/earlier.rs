//! Steps that work on the trees of earlier ones.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::parameters::{self, Parameter};
use crate::error::{Error, Result};
use crate::ops::{self, Ops, Reach, Replay, Visit};
use crate::units::Seed;
use crate::workload::{Build, Earlier, Ended, Workload};

/// Their only parameter.
pub const PARAMETERS: &[Parameter] = &[Parameter {
    key: "of",
    meaning: "Names of earlier steps; all that made a tree, where none is named.",
    default: "[]",
}];

/// As a suite gives them.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Parameters {
    of: Vec<String>,
}

/// The steps that `build` works on, in the order of creation.
pub fn targets(build: &Build) -> Result<Vec<Earlier>> {
    let Parameters { of } = parameters::read(build)?;
    if build.earlier.is_empty() {
        return Err(Error::usage(format!(
            "run step `{}`: no step before it leaves a directory to work on",
            build.step
        ))
        .next("put a step that makes files before it"));
    }
    for (at, name) in of.iter().enumerate() {
        check(build, name, of[..at].contains(name))?;
    }
    let wanted = |earlier: &&Earlier| of.is_empty() || of.contains(&earlier.step);
    Ok(build.earlier.iter().filter(wanted).cloned().collect())
}

fn check(build: &Build, name: &str, repeated: bool) -> Result<()> {
    let doing = format!("run step `{}`: `of` names `{name}`", build.step);
    if repeated {
        return Err(Error::usage(format!("{doing} twice")).next("name each step once"));
    }
    if build.earlier.iter().any(|earlier| earlier.step == *name) {
        return Ok(());
    }
    let known: Vec<&str> = build.earlier.iter().map(|earlier| earlier.step.as_str()).collect();
    Err(Error::usage(format!("{doing}, which no step before it made or left"))
        .next(format!("use {}", known.join(", "))))
}

/// A step that looks at everything that `targets` made, and leaves it as it is.
struct Look {
    targets: Vec<Earlier>,
    visitor: fn() -> Box<dyn Visit>,
}

/// Build a step that visits earlier ones with a new visitor, and leaves them as they are.
pub fn look(build: &Build, visitor: fn() -> Box<dyn Visit>) -> Result<Arc<dyn Workload>> {
    Ok(Arc::new(Look { targets: targets(build)?, visitor }))
}

impl Workload for Look {
    fn run(&self, ops: &mut dyn Ops, seed: Seed) -> ops::Result<Ended> {
        visit(&self.targets, ops, seed, &mut *(self.visitor)())
    }

    fn has_directory(&self) -> bool {
        false
    }

    fn reads(&self) -> &[Earlier] {
        &self.targets
    }
}

/// Visit everything that `targets` made, in the order of creation.
pub fn visit(
    targets: &[Earlier],
    ops: &mut dyn Ops,
    seed: Seed,
    visit: &mut dyn Visit,
) -> ops::Result<Ended> {
    for Earlier { workload, .. } in targets {
        let mut replay = Replay::new(ops, visit, workload.fills());
        let ended = workload.leave(&mut replay, seed, Reach::default());
        replay.finish()?;
        ended?;
    }
    Ok(Ended::Completed)
}
