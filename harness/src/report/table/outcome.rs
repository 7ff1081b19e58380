//! What did not pass and why, what was verified, and how to run it again.

use super::Page;
use crate::report::human;
use crate::result::{CaseResult, Checked, RunReport, Status};

/// The end of a report.
pub(super) fn write(report: &RunReport, page: &mut Page) {
    let mut others = report.cases.iter().filter(|case| case.status != Status::Passed).peekable();
    if others.peek().is_some() {
        page.title("Did not pass");
        others.for_each(|case| reason(case, page));
    }
    let mut ran = report.cases.iter().filter(|case| case.status != Status::NotRun).peekable();
    if ran.peek().is_some() {
        page.title("Verification");
        let ran: Vec<&CaseResult> = ran.collect();
        for alike in ran.chunk_by(|one, other| one.verify == other.verify) {
            verified(alike, page);
        }
    }
    if let Some(command) = report.suite.resolved.get("command").and_then(|command| command.as_str()) {
        page.title("Run it again");
        repeat(command, page);
    }
}

fn reason(case: &CaseResult, page: &mut Page) {
    let status = human::word(case.status);
    let Some(reason) = &case.reason else {
        return page.line(&format!("{} {status}", case.id), 2);
    };
    page.line(&format!("{} {status}: {}", case.id, reason.text), 2);
    if let Some(next) = &reason.next {
        page.line(&format!("  next: {next}"), 4);
    }
}

/// `ext4/1, xfs/1 verified: read-back, fsck, kernel log, teardown clean`.
fn verified(alike: &[&CaseResult], page: &mut Page) {
    let Some(verify) = alike.first().map(|case| &case.verify) else { return };
    let ids: Vec<&str> = alike.iter().map(|case| case.id.as_str()).collect();
    let checks = [
        ("read-back", verify.read_back),
        ("fsck", verify.fsck),
        ("kernel log", verify.kernel_log),
        ("teardown", verify.teardown),
    ];
    let of = |wanted: Checked| {
        let names: Vec<&str> =
            checks.iter().filter(|(_, checked)| *checked == wanted).map(|(name, _)| *name).collect();
        (!names.is_empty()).then(|| format!("{} {}", names.join(", "), human::word(wanted)))
    };
    let parts = [Checked::Damaged, Checked::Clean, Checked::NotChecked].into_iter().filter_map(of);
    let all = checks.iter().all(|(_, checked)| *checked == Checked::Clean);
    let word = if all { "verified" } else { "checked" };
    page.line(&format!("{} {word}: {}", ids.join(", "), parts.collect::<Vec<_>>().join("; ")), 2);
    verify.details.iter().for_each(|detail| page.line(&format!("  {detail}"), 4));
}

/// Broken as a shell reads it, so that it can be copied.
fn repeat(command: &str, page: &mut Page) {
    let room = page.width.saturating_sub(4).max(1);
    let lines = lines_of(command, room);
    page.text.push_str("  ");
    page.text.push_str(&lines.join(" \\\n    "));
    page.text.push('\n');
}

/// Words are never broken here: a command must stay what it is.
fn lines_of(command: &str, room: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for part in parts_of(command) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + part.chars().count() + 2 <= room => {
                line.push(' ');
                line.push_str(&part);
            }
            _ => lines.push(part),
        }
    }
    lines
}

/// Words; an option stays beside its value.
fn parts_of(command: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for word in words_of(command) {
        match parts.last_mut() {
            Some(option) if is_option(option) && !word.starts_with('-') => {
                option.push(' ');
                option.push_str(word);
            }
            _ => parts.push(word.to_owned()),
        }
    }
    parts
}

/// One that has no value yet.
fn is_option(part: &str) -> bool {
    part.len() > 2 && part.starts_with("--") && !part.contains([' ', '='])
}

/// Blanks in quotes part no words.
fn words_of(command: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    command.split(move |sign| match (quote, sign) {
        (None, ' ') => true,
        (None, '\'' | '"') => {
            quote = Some(sign);
            false
        }
        (Some(open), sign) if sign == open => {
            quote = None;
            false
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_quoted_stays_on_one_line() {
        assert_eq!(lines_of("fsduel exec -- sh -c 'dd of=a; rm a'", 10).last().unwrap(), "'dd of=a; rm a'");
    }

    #[test]
    fn a_command_breaks_between_words_only_and_not_before_a_value() {
        let lines = lines_of("fsduel run linux-magazin-2010 --scale quick --seed 2010", 30);
        assert_eq!(lines, ["fsduel run", "linux-magazin-2010", "--scale quick --seed 2010"]);
    }
}
