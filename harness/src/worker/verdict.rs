//! What a case came to: its status and reason, from what its steps and checks told.

use crate::command::quoted;
use crate::error::{Error, Kind};
use crate::result::{Checked, EndedWord, Limit, Reason, Role, Status, StepResult, Verify};
use crate::workload::StepSpec;

/// What the status of a case is after an error.
pub(crate) fn status_of(error: &Error) -> Status {
    match error.kind() {
        Kind::Harness => Status::Error,
        Kind::Environment => Status::Invalid,
        Kind::Damage => Status::Failed,
        Kind::Stopped => Status::Stopped,
        Kind::Usage | Kind::Unavailable | Kind::Empty => Status::NotRun,
    }
}

/// Why no step can follow this one.
pub(super) fn ends_the_case(step: &StepResult) -> Option<String> {
    let name = &step.name;
    if step.read_back != Checked::Clean {
        return Some(format!("steps after {name} were not run: its tree is not as it must be"));
    }
    if let Some(command) = step.command.as_ref().filter(|command| !command.succeeded()) {
        return Some(format!("steps after {name} were not run: its command {}", command.ending()));
    }
    let cut_short = step.ended == EndedWord::Limit && step.facts.file_size_bytes.is_none();
    cut_short.then(|| format!("steps after {name} were not run: a limit cut its tree short"))
}

/// Verification that found something.
pub(super) fn not_clean(verify: &Verify) -> Option<(Status, Reason)> {
    let damaged = [verify.read_back, verify.fsck, verify.kernel_log].contains(&Checked::Damaged);
    damaged.then(|| {
        let text = verify.details.first().cloned().unwrap_or_else(|| "verification failed".into());
        (
            Status::Failed,
            Reason { code: Reason::DAMAGE.into(), text, next: Some("see verify.details".into()) },
        )
    })
}

/// A fixed amount of work that met a limit, where the suite does not allow one.
pub(crate) fn not_allowed(specs: &[StepSpec], steps: &[StepResult]) -> Option<(Status, Reason)> {
    let broken = |(step, spec): &(&StepResult, &StepSpec)| {
        // A limit is what a fill is for.
        step.ended == EndedWord::Limit && step.facts.file_size_bytes.is_none() && !spec.allow_limit
    };
    let (step, _) = steps.iter().zip(specs).find(broken)?;
    let limit = step.limit.as_ref()?;
    let text = format!(
        "step {} met a limit after {} operations{}: {}",
        step.name,
        limit.at_count,
        at(limit),
        limit.text.as_deref().unwrap_or("no room")
    );
    let next = Some("a larger --size, or fewer files with --set".into());
    Some((Status::Failed, Reason { code: Reason::LIMIT.into(), text, next }))
}

/// A command of the user's that failed, which is what it is: no fault of anything below it.
pub(super) fn failed_command(steps: &[StepResult]) -> Option<(Status, Reason)> {
    let failed = |step: &&StepResult| step.command.as_ref().is_some_and(|command| !command.succeeded());
    let step = steps.iter().find(failed)?;
    let command = step.command.as_ref()?;
    let (what, status, code) = match command.role {
        Role::Command => ("the command", Status::Failed, Reason::COMMAND),
        Role::Prepare => ("what prepares it", Status::Error, Reason::PREPARE),
        Role::Check => ("what checks it", Status::Failed, Reason::CHECK),
    };
    let words: Vec<String> = command.argv.iter().map(|word| quoted(word)).collect();
    let text = format!("step {}: {what} {}: {}", step.name, command.ending(), words.join(" "));
    let next = match command.not_started.is_some() {
        true => "see that it is there, and that the user may read it and enter its folder; or --as-root",
        false => "see what it printed; `fsduel shell` gives such a file system to try it in",
    };
    let next = Some(next.into());
    Some((status, Reason { code: code.into(), text, next }))
}

/// The call that met a limit, as far as it is known: `, in write postmark/17 (ENOSPC)`.
fn at(limit: &Limit) -> String {
    let (Some(call), Some(path)) = (&limit.call, &limit.path) else { return String::new() };
    let errno = limit.errno.as_deref().map(|errno| format!(" ({errno})")).unwrap_or_default();
    let operation = limit.at_operation.map(|number| format!(" of operation {number}")).unwrap_or_default();
    format!(", in {call} {path}{errno}{operation}")
}

/// The worst of several checks; not checked where there was none.
pub(crate) fn all_of(checks: impl Iterator<Item = Checked>) -> Checked {
    checks.reduce(worse).unwrap_or_default()
}

fn worse(a: Checked, b: Checked) -> Checked {
    match (a, b) {
        (Checked::Damaged, _) | (_, Checked::Damaged) => Checked::Damaged,
        (Checked::NotChecked, _) | (_, Checked::NotChecked) => Checked::NotChecked,
        _ => Checked::Clean,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_error_decides_the_status_by_whose_fault_it_is() {
        for (error, status) in [
            (Error::new("x"), Status::Error),
            (Error::environment("x"), Status::Invalid),
            (Error::damage("x"), Status::Failed),
            (Error::stopped("x"), Status::Stopped),
            (Error::usage("x"), Status::NotRun),
            (Error::unavailable("x"), Status::NotRun),
        ] {
            assert_eq!(status_of(&error), status, "{error}");
        }
    }

    fn step(ended: &str, facts: Value, read_back: &str) -> StepResult {
        let limit = (ended == "limit").then(|| json!({ "which": "space", "at_count": 7, "at_bytes": 0 }));
        serde_json::from_value(json!({
            "name": "s", "workload": "w", "started_s": 0.0, "ended": ended, "limit": limit,
            "facts": facts, "metrics": {}, "read_back": read_back,
        }))
        .unwrap()
    }

    fn spec(allow_limit: bool) -> StepSpec {
        StepSpec { name: "s".into(), workload: "w".into(), parameters: json!({}), allow_limit }
    }

    #[test]
    fn a_limit_fails_a_fixed_amount_of_work_unless_it_is_allowed() {
        let limit = step("limit", json!({}), "clean");
        let fill = step("limit", json!({ "file_size_bytes": 5 }), "clean");
        let (status, reason) = not_allowed(&[spec(false)], std::slice::from_ref(&limit)).unwrap();
        assert_eq!((status, reason.code.as_str()), (Status::Failed, Reason::LIMIT));
        assert!(reason.text.contains("after 7 operations"), "{}", reason.text);
        assert_eq!(not_allowed(&[spec(true)], &[limit]), None);
        assert_eq!(not_allowed(&[spec(false)], &[fill]), None);
    }

    #[test]
    fn no_step_follows_one_whose_tree_is_not_whole() {
        assert_eq!(ends_the_case(&step("completed", json!({}), "clean")), None);
        assert_eq!(ends_the_case(&step("limit", json!({ "file_size_bytes": 5 }), "clean")), None);
        assert!(ends_the_case(&step("limit", json!({}), "clean")).is_some());
        assert!(ends_the_case(&step("completed", json!({}), "damaged")).is_some());
    }

    #[test]
    fn the_worst_check_counts_and_none_is_never_clean() {
        use Checked::{Clean, Damaged, NotChecked};
        assert_eq!(all_of([].into_iter()), NotChecked);
        assert_eq!(all_of([Clean, Clean].into_iter()), Clean);
        assert_eq!(all_of([Clean, NotChecked].into_iter()), NotChecked);
        assert_eq!(all_of([NotChecked, Damaged, Clean].into_iter()), Damaged);
    }

    #[test]
    fn any_damage_fails_the_case_with_the_first_detail() {
        let clean = Verify { fsck: Checked::Clean, ..Verify::default() };
        assert_eq!(not_clean(&clean), None);
        let damaged =
            Verify { fsck: Checked::Damaged, details: vec!["fsck: lost".into()], ..Verify::default() };
        let (status, reason) = not_clean(&damaged).unwrap();
        assert_eq!((status, reason.text.as_str()), (Status::Failed, "fsck: lost"));
    }
}
