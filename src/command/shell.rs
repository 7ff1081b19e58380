//! `fsduel shell`: a command that is a person's shell, without a report of it.

use fsduel_harness::Result;
use fsduel_harness::result::{CaseResult, Reason};
use serde_json::json;

use crate::cli::ShellArguments;
use crate::command::exec::folder;
use crate::parts::{self, StepSpec, caller};
use crate::{exit, progress};

const NAME: &str = "shell";

/// Start a shell in a fresh file system.
pub fn shell(arguments: &ShellArguments) -> Result<u8> {
    caller::check()?;
    let copy = arguments.copy.as_deref().map(|copied| folder(copied, "copy", "--copy")).transpose()?;
    let parameters = json!({
        "command": [caller::shell(arguments.as_root)],
        "copy": copy.unwrap_or_default(),
        "as-root": arguments.as_root,
    });
    let step = StepSpec { name: NAME.into(), workload: "exec".into(), parameters, allow_limit: false };
    let plan = parts::plan_shell(&step, arguments)?;
    plan.admit()?;
    let report = parts::run(&plan, &mut |_| {})?;
    let asked = exit::Asked { named: true, signal: parts::signal(), ..exit::Asked::default() };
    if let Some(case) = report.cases.first() {
        tell(case);
    }
    Ok(exit::code(&report, asked))
}

/// What did not go as it should, and where the image is.
fn tell(case: &CaseResult) {
    if let Some(reason) = case.reason.as_ref().filter(|reason| reason.code != Reason::COMMAND) {
        progress::line(&format!("error: {}", reason.text));
        if let Some(next) = &reason.next {
            progress::line(&format!("  next: {next}"));
        }
    }
    if let Some(folder) = &case.kept {
        progress::line(&format!("kept in {folder}"));
        let options = case.mount_options_effective.as_deref().unwrap_or_default();
        progress::line(&format!("  mount it again: mount -o loop,{options} {folder}/image.img DIRECTORY"));
        progress::line(&format!("  give it back:   rm -r {folder}"));
    }
}
