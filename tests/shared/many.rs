//! A run of any size, from one that was recorded. A file of its own, since a bench needs no more.

use std::path::{Path, PathBuf};

use fsduel_harness::compare;
use fsduel_harness::report::json;
use fsduel_harness::result::{CaseResult, RunReport, StepResult};

/// The recorded runs, from either package of this workspace.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("fixtures/recorded"))
        .find(|folder| folder.is_dir())
        .expect("a folder with recorded runs")
}

/// A recorded run that is small, with three file systems, references and claims.
pub fn small() -> RunReport {
    let name = "linux-magazin-2010-quick";
    json::read(&std::fs::read_to_string(folder().join(format!("{name}.json"))).unwrap()).unwrap()
}

/// So many configurations, steps and blocks, each figure a little different, with a comparison for
/// each.
pub fn many(configurations: usize, steps: usize, blocks: u32) -> RunReport {
    let mut run = small();
    let base = std::mem::take(&mut run.cases);
    for block in 1..=blocks {
        for at in 0..configurations {
            let order = u32::try_from(run.cases.len() + 1).unwrap();
            run.cases.push(one(&base[at % base.len()], at / base.len(), steps, block, order));
        }
    }
    run.comparisons = compare::within(&run);
    run
}

/// `base` under a name of its own for each `again`, its steps repeated until there are enough.
fn one(base: &CaseResult, again: usize, steps: usize, block: u32, order: u32) -> CaseResult {
    let mut case = base.clone();
    if again > 0 {
        case.configuration.id = format!("{}#{}", base.configuration.id, again + 1);
    }
    case.block = block;
    case.order = order;
    case.id = case.configuration.case_id(block);
    let names = base.steps.iter().cycle().zip(0..).take(steps);
    case.steps = names.map(|(step, at)| varied(step, at / base.steps.len(), order)).collect();
    case
}

/// A figure differs by up to 3 % from sample to sample, as on a quiet machine.
fn varied(step: &StepResult, again: usize, order: u32) -> StepResult {
    let mut step = step.clone();
    if again > 0 {
        step.name = format!("{}-{}", step.name, again + 1);
    }
    for (value, at) in step.metrics.0.values_mut().zip(0_u32..) {
        *value *= 1.0 + f64::from((order * 7 + at * 3) % 31) / 1000.0;
    }
    step
}
