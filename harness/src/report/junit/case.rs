//! A case as tests: one for each step of the suite, and one for each check.

use quick_junit::{TestCase, TestCaseStatus};

use super::{error, failure, skipped, test};
use crate::report::{human, pick};
use crate::result::{CaseResult, Checked, Reason, RunReport, Status, StepResult};

/// All tests of a case.
pub(super) fn tests(report: &RunReport, case: &CaseResult) -> Vec<TestCase> {
    let planned = pick::planned(report);
    let class = &case.configuration.id;
    let block = block(report, case);
    let ended_in = planned.iter().copied().find(|name| case.step(name).is_none());
    let step = |name: &&str| {
        let seconds = case.step(name).filter(|_| case.counts()).and_then(|step| step.metrics.get("synced_s"));
        test(class, &format!("{name}{block}"), of_step(case, name, ended_in), seconds)
    };
    // Where no step is known, something still has to say how the case ended.
    let whole = planned.is_empty().then(|| void(case)).flatten();
    let whole = whole.map(|status| test(class, &format!("case{block}"), status, None));
    let check = |(name, checked)| test(class, &format!("{name}{block}"), of_check(case, name, checked), None);
    planned.iter().map(step).chain(whole).chain(case.verify.checks().map(check)).collect()
}

/// Which of several blocks it is.
fn block(report: &RunReport, case: &CaseResult) -> String {
    match (case.block, report.cases.iter().any(|other| other.block != case.block)) {
        (_, false) => String::new(),
        (0, true) => " [warm-up]".into(),
        (block, true) => format!(" [block {block}]"),
    }
}

/// `ended_in` is the first step that the case has no result of: there it ended, and those after it were
/// not reached.
fn of_step(case: &CaseResult, name: &str, ended_in: Option<&str>) -> TestCaseStatus {
    let reached = case.step(name).is_some();
    match void(case) {
        Some(status) if reached || ended_in == Some(name) => return status,
        _ => {}
    }
    match (case.step(name), case.status) {
        (None, _) => skipped("not_reached", "not reached", &more(case)),
        (Some(step), Status::Failed) if step.cut_short() => met_a_limit(case, step),
        (Some(step), _) => match step.read_back {
            Checked::Clean => TestCaseStatus::success(),
            Checked::Damaged => damaged(case, "read-back"),
            Checked::NotChecked => not_checked(case, "read-back"),
        },
    }
}

fn of_check(case: &CaseResult, name: &str, checked: Checked) -> TestCaseStatus {
    match checked {
        Checked::Clean => TestCaseStatus::success(),
        Checked::Damaged => damaged(case, name),
        Checked::NotChecked => not_checked(case, name),
    }
}

/// What stands in the place of every step of a case whose figures do not count.
fn void(case: &CaseResult) -> Option<TestCaseStatus> {
    if case.counts() {
        return None;
    }
    let (code, message) = why(case);
    let tell = match case.status {
        Status::NotRun => skipped,
        Status::Failed => failure,
        _ => error,
    };
    Some(tell(&code, &message, &more(case)))
}

fn met_a_limit(case: &CaseResult, step: &StepResult) -> TestCaseStatus {
    let limit = step.limit.as_ref().map_or_else(|| "a limit".into(), |limit| human::word(limit.which));
    match &case.reason {
        Some(reason) => failure(&reason.code, &reason.text, &more(case)),
        None => failure(Reason::LIMIT, &format!("a limit was met: {limit}"), &more(case)),
    }
}

fn damaged(case: &CaseResult, name: &str) -> TestCaseStatus {
    let found = details(case, name);
    let first = found.first().map(|detail| format!(": {detail}")).unwrap_or_default();
    failure(Reason::DAMAGE, &format!("{name} damaged{first}"), &[found, more(case)].concat())
}

/// Never the same as clean.
fn not_checked(case: &CaseResult, name: &str) -> TestCaseStatus {
    let found = details(case, name);
    let reason = case.reason.as_ref().map(|reason| &reason.text);
    let why = found.first().or(reason).map(|why| format!(": {why}")).unwrap_or_default();
    skipped("not_checked", &format!("not checked{why}"), &[found, more(case)].concat())
}

/// What was told of a check. Those that name their check or none of the others: what was read back
/// is told by the name of the step.
fn details(case: &CaseResult, name: &str) -> Vec<String> {
    let begins = |detail: &&String, name: &str| detail.starts_with(&format!("{name}: "));
    let checks = case.verify.checks();
    let others = |detail: &&String| checks.iter().any(|(other, _)| *other != name && begins(detail, other));
    let own: Vec<String> =
        case.verify.details.iter().filter(|detail| begins(detail, name)).cloned().collect();
    match own.is_empty() {
        true => case.verify.details.iter().filter(|detail| !others(detail)).cloned().collect(),
        false => own,
    }
}

/// The reason's code, and how the case ended in a sentence.
fn why(case: &CaseResult) -> (String, String) {
    let status = human::word(case.status);
    match &case.reason {
        Some(reason) => (reason.code.clone(), format!("{status}: {}", reason.text)),
        None => (pick::status(case.status), status),
    }
}

/// The next step, and where what is left of the case was kept.
fn more(case: &CaseResult) -> Vec<String> {
    let reason = case.reason.as_ref();
    let text = reason.map(|reason| reason.text.clone());
    let next = reason.and_then(|reason| reason.next.as_ref()).map(|next| format!("next: {next}"));
    let kept = case.kept.as_ref().map(|kept| format!("kept: {kept}"));
    [text, next, kept].into_iter().flatten().collect()
}
