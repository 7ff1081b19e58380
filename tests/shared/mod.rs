//! Runs for the tests of formats: those that were recorded, and what else a stored run may hold.
//!
//! Most are made from a recorded run, so that they have all that a real one has.

mod hostile;
mod many;

use std::path::Path;

use fsduel_harness::compare;
use fsduel_harness::report::json;
use fsduel_harness::result::{Facts, Metrics, Reason, RunReport, Status, StepResult};
use serde_json::Value;

use many::{folder, many};

pub use hostile::{HOSTILE, hostile};
pub use many::small;

/// A run, and its name in a test.
pub type Named = (String, RunReport);

/// Those of `fixtures/recorded`.
pub fn recorded() -> Vec<Named> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
    paths.sort();
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    let run = |path: &Path| json::read(&std::fs::read_to_string(path).unwrap()).unwrap();
    let runs: Vec<Named> = paths.iter().map(|path| (name(path), run(path))).collect();
    assert!(!runs.is_empty(), "no run in {}", folder().display());
    runs
}

/// What a run that was killed leaves: its head, its cases, and half of the last one.
pub fn partial_text(run: &RunReport) -> String {
    let line = |value: &Value| value.to_string() + "\n";
    let mut head = serde_json::to_value(run).unwrap();
    for list in ["cases", "comparisons", "claims"] {
        head[list] = Value::Array(vec![]);
    }
    let cases = run.cases.iter().map(|case| line(&serde_json::to_value(case).unwrap()));
    let mut text: String = [line(&head)].into_iter().chain(cases).collect();
    text.truncate(text.len() - 100);
    text
}

/// Runs in which something is missing or is too much.
pub fn odd() -> Vec<Named> {
    let partial = fsduel_harness::result::partial::read(&partial_text(&small()), json::read).unwrap();
    [
        ("partial", partial),
        ("no cases", RunReport { cases: vec![], comparisons: vec![], environments: vec![], ..small() }),
        ("failed and not run only", failed()),
        ("one file system", many(1, 4, 3)),
        ("12 file systems and 50 steps", many(12, 50, 1)),
        ("without figures", without_figures()),
        ("figures that are missing here and there", with_gaps()),
        ("zeros", zeros()),
    ]
    .map(|(name, run)| (name.to_owned(), run))
    .into()
}

/// Nothing has a figure that counts, each for another reason.
fn failed() -> RunReport {
    use Status::{Error, Failed, Invalid, NotRun, Stopped};
    let mut run = many(5, 4, 1);
    for (case, status) in run.cases.iter_mut().zip([Failed, Invalid, Error, Stopped, NotRun]) {
        case.status = status;
        let text = "the store filled up under the image".to_owned();
        case.reason = Some(Reason { code: Reason::DAMAGE.into(), text, next: Some("free some room".into()) });
        if status == NotRun {
            case.steps.clear();
        }
    }
    run.comparisons.clear();
    run
}

fn steps_of(run: &mut RunReport) -> impl Iterator<Item = &mut StepResult> {
    run.cases.iter_mut().flat_map(|case| &mut case.steps)
}

fn without_figures() -> RunReport {
    let mut run = many(3, 4, 5);
    for step in steps_of(&mut run) {
        step.metrics = Metrics::default();
        step.facts = Facts::default();
        step.latency.clear();
        step.series.clear();
    }
    run.cases.iter_mut().for_each(|case| case.metrics = Metrics::default());
    run.comparisons = compare::within(&run);
    run.manifest.load_average = None;
    run.manifest.virtualisation = None;
    run
}

/// Another figure is missing in every step of every case.
fn with_gaps() -> RunReport {
    let mut run = many(3, 4, 5);
    for (step, at) in steps_of(&mut run).zip(0..) {
        let keys: Vec<String> = step.metrics.0.keys().cloned().collect();
        for key in keys.iter().skip(at % 3).step_by(3) {
            step.metrics.0.remove(key);
        }
    }
    run.cases[4].steps.truncate(1);
    run.cases[7].steps.clear();
    run.comparisons = compare::within(&run);
    run
}

/// Nothing took time and nothing took space: what is divided by it has no value.
fn zeros() -> RunReport {
    let mut run = many(3, 4, 5);
    for step in steps_of(&mut run) {
        step.metrics.0.values_mut().for_each(|value| *value = 0.0);
        for series in &mut step.series {
            series.t_s.fill(0.0);
            series.value.fill(0.0);
        }
    }
    run.comparisons = compare::within(&run);
    run
}
