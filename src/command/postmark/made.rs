//! With `--fs`: on fresh file systems, as a suite of one step for each run.

use fsduel_harness::Result;
use serde_json::{Value, json};

use crate::cli::{PostmarkArguments, Verify};
use crate::command::run::{all, check_destinations, json_is_stdout};
use crate::parts::directory::Run;
use crate::parts::postmark::{Action, Script, Settings, asked, parameters};
use crate::parts::{self, StepSpec};
use crate::progress;

use super::{here, how};

/// Said where the deletion phase is a step of its own.
const COLD: &str = "note: with --verify full the deletion phase is another one: a step of its own, cold, \
                    and not in PostMark's figures";

/// Run the suite, or show its plan and PostMark's counts below it.
pub fn run(arguments: &PostmarkArguments, script: &Script, runs: &[Run]) -> Result<u8> {
    let shared = &arguments.shared;
    if how(&arguments.beside) == Verify::Full {
        progress::line(COLD);
    }
    let called = called(arguments);
    let called: Vec<&str> = called.iter().map(String::as_str).collect();
    let title = format!("PostMark, {}", arguments.config.display());
    let plan = parts::plan_steps(&called, &title, &steps(runs), shared)?;
    if shared.results.dry_run {
        let changed = as_planned(&plan, runs)?;
        if json_is_stdout(&shared.results) {
            check_destinations(&shared.results, &[plan.suite()])?;
        } else {
            all(&shared.results, &[plan])?;
            super::print(
                "
",
            )?;
        }
        return here::plan(&shared.results, script, &changed, &title);
    }
    for action in &script.actions {
        if let Action::Run { report_to: Some(file), .. } = action {
            progress::line(&format!("warning: with --fs, no report is written to {file}; use --report"));
        }
        here::show_settings(&shared.results, action)?;
    }
    all(&shared.results, &[plan])
}

/// The runs with what --set made of them.
fn as_planned(plan: &parts::Plan, runs: &[Run]) -> Result<Vec<Run>> {
    let changed = |run: &Run| {
        let Some(step) = plan.steps().iter().find(|step| step.name == run.name) else {
            return Ok(run.clone());
        };
        let (settings, options) = asked(&step.parameters)?;
        let settings = Settings { report: run.settings.report, ..settings };
        Ok(Run { settings, options, ..run.clone() })
    };
    runs.iter().map(changed).collect()
}

/// One step for each run; one more to delete what a run keeps for the read-back.
fn steps(runs: &[Run]) -> Vec<StepSpec> {
    let step = |name: &str, workload: &str, parameters: Value| StepSpec {
        name: name.to_owned(),
        workload: workload.to_owned(),
        parameters,
        allow_limit: false,
    };
    let of_run = |run: &Run| {
        let work = step(&run.name, "postmark", parameters(&run.settings, &run.options));
        let delete = step(&format!("{}-delete", run.name), "remove", json!({ "of": [run.name] }));
        std::iter::once(work).chain((!run.options.delete).then_some(delete))
    };
    runs.iter().flat_map(of_run).collect()
}

/// What asks for these steps, after `fsduel`.
fn called(arguments: &PostmarkArguments) -> Vec<String> {
    let beside = &arguments.beside;
    let mut words = vec!["postmark".to_owned(), arguments.config.display().to_string()];
    match how(beside) {
        Verify::Reads => {}
        Verify::Full => words.extend(["--verify".into(), "full".into()]),
        Verify::None => words.push("--no-verify".into()),
    }
    if beside.bug_compatible {
        words.push("--bug-compatible".into());
    }
    if beside.content == Some(crate::cli::Content::Unique) {
        words.extend(["--content".into(), "unique".into()]);
    }
    words
}
