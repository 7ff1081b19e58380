//! What did not pass and why, what was verified, and how to run it again.

use std::collections::BTreeSet;

use super::Page;
use crate::report::human;
use crate::result::{CaseResult, Checked, RunReport, Status};

/// The end of a report.
pub(super) fn write(report: &RunReport, page: &mut Page) {
    let of = |wanted: fn(&CaseResult) -> bool| report.cases.iter().filter(move |case| wanted(case));
    let others = alike(of(|case| case.status != Status::Passed), |one, other| {
        one.status == other.status && one.reason == other.reason
    });
    if !others.is_empty() {
        page.title("Did not pass");
        others.iter().for_each(|cases| reason(cases, page));
    }
    let ran = alike(of(|case| case.status != Status::NotRun), |one, other| one.verify == other.verify);
    if !ran.is_empty() {
        page.title("Verification");
        ran.iter().for_each(|cases| verified(cases, page));
    }
    if let Some(command) = report.suite.resolved.get("command").and_then(|command| command.as_str()) {
        page.title("Run it again");
        repeat(command, page);
    }
}

/// Cases of which the same is to be told, in the order in which they ran: with many blocks most are.
fn alike<'a>(
    cases: impl Iterator<Item = &'a CaseResult>,
    same: fn(&CaseResult, &CaseResult) -> bool,
) -> Vec<Vec<&'a CaseResult>> {
    cases.fold(vec![], |mut all: Vec<Vec<&CaseResult>>, case| {
        match all.iter_mut().find(|group| same(group[0], case)) {
            Some(group) => group.push(case),
            None => all.push(vec![case]),
        }
        all
    })
}

/// `ext4/1, xfs/1`; of several blocks `ext4, xfs in blocks 0 to 6`.
fn names(cases: &[&CaseResult]) -> String {
    let mut blocks: Vec<(&str, BTreeSet<u32>)> = vec![];
    for case in cases {
        let id = case.configuration.id.as_str();
        match blocks.iter_mut().find(|(known, _)| *known == id) {
            Some((_, of)) => _ = of.insert(case.block),
            None => blocks.push((id, [case.block].into())),
        }
    }
    if blocks.iter().all(|(_, of)| of.len() == 1) {
        return cases.iter().map(|case| case.id.as_str()).collect::<Vec<_>>().join(", ");
    }
    let groups = blocks.chunk_by(|(_, one), (_, other)| one == other).map(|group| {
        let ids: Vec<&str> = group.iter().map(|(id, _)| *id).collect();
        format!("{} in {}", ids.join(", "), ranges(&group[0].1))
    });
    groups.collect::<Vec<_>>().join("; ")
}

/// `blocks 0 to 6`, `blocks 0, 2, 4 to 6`, `block 3`.
fn ranges(blocks: &BTreeSet<u32>) -> String {
    let all: Vec<u32> = blocks.iter().copied().collect();
    let runs = all.chunk_by(|one, next| one + 1 == *next).flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{first} to {last}")],
        few => few.iter().map(u32::to_string).collect(),
    });
    let word = if all.len() == 1 { "block" } else { "blocks" };
    format!("{word} {}", runs.collect::<Vec<_>>().join(", "))
}

fn reason(alike: &[&CaseResult], page: &mut Page) {
    let Some(case) = alike.first() else { return };
    let (names, status) = (names(alike), human::word(case.status));
    let Some(reason) = &case.reason else {
        return page.line(&format!("{names} {status}"), 2);
    };
    page.line(&format!("{names} {status}: {}", reason.text), 2);
    if let Some(next) = &reason.next {
        page.line(&format!("  next: {next}"), 4);
    }
}

/// `ext4/1, xfs/1 verified: read-back, fsck, kernel log, teardown clean`.
fn verified(alike: &[&CaseResult], page: &mut Page) {
    let Some(verify) = alike.first().map(|case| &case.verify) else { return };
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
    page.line(&format!("{} {word}: {}", names(alike), parts.collect::<Vec<_>>().join("; ")), 2);
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
    fn blocks_of_a_case_are_told_in_ranges() {
        let told = |blocks: &[u32]| ranges(&blocks.iter().copied().collect());
        assert_eq!(told(&[0, 1, 2, 3]), "blocks 0 to 3");
        assert_eq!(told(&[6, 0, 2, 4, 5]), "blocks 0, 2, 4 to 6");
        assert_eq!(told(&[1, 2]), "blocks 1, 2");
        assert_eq!(told(&[3]), "block 3");
    }

    #[test]
    fn a_command_breaks_between_words_only_and_not_before_a_value() {
        let lines = lines_of("fsduel run linux-magazin-2010 --scale quick --seed 2010", 30);
        assert_eq!(lines, ["fsduel run", "linux-magazin-2010", "--scale quick --seed 2010"]);
    }
}
