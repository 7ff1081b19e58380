//! What is said about a case, in words that the terminal and a log share.

use std::time::Duration;

use fsduel_harness::result::{CaseResult, Reason, Status, StepResult};
use fsduel_harness::units::human;

/// `[1/3] btrfs/1`; that of block 0 does not count, and says so.
pub fn case_name(id: &str, order: u32, total: u32) -> String {
    let warm_up = if id.ends_with("/0") { " (warm-up)" } else { "" };
    format!("[{order}/{total}] {id}{warm_up}")
}

/// One finished case: `[1/3] btrfs/1 passed in 12.3 s: small-files 464 ms, fill 2.46 s`, or the
/// reason if it did not pass. One that never began took no time.
pub fn case_line(name: &str, case: &CaseResult, took: Option<Duration>) -> String {
    let (word, link) = match case.status {
        Status::Passed => ("passed", "in"),
        Status::Failed => ("FAILED", "after"),
        Status::Invalid => ("INVALID", "after"),
        Status::Error => ("ERROR", "after"),
        Status::Stopped => ("stopped", "after"),
        Status::NotRun => ("not run", "after"),
    };
    let took = took.map(|took| format!(" {link} {}", human::time(took.as_secs_f64()))).unwrap_or_default();
    let more = match &case.reason {
        Some(Reason { text, next: None, .. }) => format!(": {text}"),
        Some(Reason { text, next: Some(next), .. }) => format!(": {text}\n  next: {next}"),
        None => figures(case),
    };
    format!("{name} {word}{took}{more}")
}

/// The time of each step, where the case counts.
fn figures(case: &CaseResult) -> String {
    let steps: Vec<String> = case.steps.iter().filter(|_| case.counts()).filter_map(figure).collect();
    if steps.is_empty() { String::new() } else { format!(": {}", steps.join(", ")) }
}

/// The headline; in a directory of somebody else's nothing is synced, and the last call ends it.
fn figure(step: &StepResult) -> Option<String> {
    let seconds = step.metrics.get("synced_s").or_else(|| step.metrics.get("returned_s"))?;
    let limit = if step.cut_short() { " until its limit" } else { "" };
    Some(format!("{} {}{limit}", step.name, human::time(seconds)))
}

/// A time that is only guessed: `40 s`, `3 min`, `1 h 20 min`.
pub fn roughly(time: Duration) -> String {
    match time.as_secs() {
        seconds @ ..91 => format!("{seconds} s"),
        // From here on only minutes count, to the nearest.
        seconds => match (seconds + 30) / 60 {
            minutes @ ..60 => format!("{minutes} min"),
            minutes if minutes % 60 == 0 => format!("{} h", minutes / 60),
            minutes => format!("{} h {} min", minutes / 60, minutes % 60),
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::example::case;

    fn step(name: &str, ended: &str, metrics: Value) -> Value {
        json!({ "name": name, "workload": "w", "started_s": 0.0, "ended": ended, "facts": {},
                "metrics": metrics, "read_back": "clean" })
    }

    const TOOK: Option<Duration> = Some(Duration::from_millis(12_340));

    #[test]
    fn a_case_that_passed_is_told_with_the_time_of_each_step_that_was_measured() {
        let steps = json!({ "steps": [
            step("files", "completed", json!({ "returned_s": 0.1, "synced_s": 0.464 })),
            step("more", "limit", json!({ "synced_s": 2.5 })),
            step("here", "completed", json!({ "returned_s": 0.25 })),
            step("odd", "completed", json!({})),
        ] });
        assert_eq!(
            case_line("[1/3] a/1", &case("passed", steps), TOOK),
            "[1/3] a/1 passed in 12.3 s: files 464 ms, more 2.50 s until its limit, here 250 ms"
        );
        assert_eq!(case_line("a/1", &case("passed", json!({})), None), "a/1 passed");
    }

    #[test]
    fn a_case_that_did_not_pass_is_told_with_its_reason_and_without_a_figure() {
        let more = json!({
            "reason": { "code": "environment", "text": "the store is full" },
            "steps": [step("files", "completed", json!({ "synced_s": 0.464 }))],
        });
        let line = case_line("[1/3] a/1", &case("invalid", more), TOOK);
        assert_eq!(line, "[1/3] a/1 INVALID after 12.3 s: the store is full");
        let more = json!({ "reason": { "code": "missing", "text": "no tool", "next": "get it" } });
        assert_eq!(case_line("a/1", &case("not_run", more), None), "a/1 not run: no tool\n  next: get it");
    }

    #[test]
    fn the_warm_up_says_so() {
        assert_eq!(case_name("a/1", 2, 3), "[2/3] a/1");
        assert_eq!(case_name("a/0", 1, 3), "[1/3] a/0 (warm-up)");
    }

    #[test]
    fn a_guess_has_no_more_digits_than_it_is_worth() {
        let table = [
            (0, "0 s"),
            (90, "90 s"),
            (91, "2 min"),
            (200, "3 min"),
            (3569, "59 min"),
            (3570, "1 h"),
            (4800, "1 h 20 min"),
        ];
        for (seconds, text) in table {
            assert_eq!(roughly(Duration::from_secs(seconds)), text);
        }
    }
}
