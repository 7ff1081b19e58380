//! What did not pass and why, what was verified, and how to run it again.

use std::collections::BTreeSet;

use super::Page;
use crate::report::human;
use crate::result::{CaseResult, Checked, RunReport, Status};

/// The end of a report.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    not_passed(report, page);
    verification(report, page);
    again(report, page);
}

/// The cases that did not pass and why, and where what was kept of cases is.
pub(in crate::report) fn not_passed(report: &RunReport, page: &mut Page) {
    let others = report.cases.iter().filter(|case| case.status != Status::Passed);
    let others = alike(others, |one, other| one.status == other.status && one.reason == other.reason);
    if !others.is_empty() {
        page.title("Did not pass");
        others.iter().for_each(|cases| reason(cases, page));
    }
    kept(report, page);
}

fn kept(report: &RunReport, page: &mut Page) {
    let kept: Vec<_> = report.cases.iter().filter_map(|case| Some((&case.id, case.kept.as_ref()?))).collect();
    if !kept.is_empty() {
        page.title("Kept (repeat.sh there makes it again, or mounts the image with --kept)");
        kept.iter().for_each(|(id, folder)| page.line(&format!("{id}: {folder}"), 2));
    }
}

/// What was checked of the cases that ran.
pub(in crate::report) fn verification(report: &RunReport, page: &mut Page) {
    let ran = report.cases.iter().filter(|case| case.status != Status::NotRun);
    let ran = alike(ran, |one, other| one.verify == other.verify);
    if !ran.is_empty() {
        page.title("Verification");
        ran.iter().for_each(|cases| verified(cases, page));
    }
}

/// The command that repeats it.
pub(in crate::report) fn again(report: &RunReport, page: &mut Page) {
    if let Some(command) = command(report) {
        page.title("Run it again");
        page.command(command);
        if report.manifest.store.is_disk() && !command.split(' ').any(|word| word == "--wipe") {
            page.line("The disk has a file system now: --wipe allows to overwrite it.", 0);
        }
    }
}

/// What repeats the run, where that is known.
pub(in crate::report) fn command(report: &RunReport) -> Option<&str> {
    report.suite.resolved.get("command")?.as_str()
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
    let checks = verify.checks();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_a_case_are_told_in_ranges() {
        let told = |blocks: &[u32]| ranges(&blocks.iter().copied().collect());
        assert_eq!(told(&[0, 1, 2, 3]), "blocks 0 to 3");
        assert_eq!(told(&[6, 0, 2, 4, 5]), "blocks 0, 2, 4 to 6");
        assert_eq!(told(&[1, 2]), "blocks 1, 2");
        assert_eq!(told(&[3]), "block 3");
    }

    #[test]
    fn who_repeats_a_run_on_a_disk_is_told_what_it_takes() {
        use crate::report::{example, part::tests::text};
        let told = |command: &str| {
            let mut report = example::report();
            report.manifest.store.filesystem = crate::result::StoreInfo::DISK.into();
            report.suite.resolved = serde_json::json!({ "command": command });
            let mut page = Page::new(100);
            again(&report, &mut page);
            text(&page).contains("--wipe allows")
        };
        assert!(told("fsduel run smoke --device /dev/vdb --destroy-data /dev/vdb"));
        assert!(!told("fsduel run smoke --device /dev/vdb --destroy-data /dev/vdb --wipe"));
    }
}
