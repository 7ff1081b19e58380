use super::*;
use crate::report::example;
use crate::result::{CaseResult, Reason, Status};

#[test]
fn the_answer_of_the_examples() {
    insta::assert_snapshot!("markdown", text(&example::report()));
    let (changes, gates) = example::changes();
    let repeated = RunReport { changes: Some(changes), gates, ..example::repeated() };
    insta::assert_snapshot!("markdown_repeated", text(&repeated));
}

#[test]
fn the_last_line_is_the_command_that_repeats_the_run() {
    let told = text(&example::report());
    let last = told.lines().last().unwrap();
    let command = "fsduel run linux-magazin-2010 --scale quick --seed 2010 --fs ext4,btrfs,xfs,reiserfs";
    assert_eq!(last, format!("Run it again: `{command}`"));
}

#[test]
fn the_answer_is_before_the_first_fold_and_every_fold_is_closed() {
    let told = text(&example::repeated());
    let (open, folded) = told.split_once("<details>").unwrap();
    assert!(open.contains("1.62 slower") && open.contains("not resolved"), "{open}");
    assert!(open.lines().count() <= 50, "a screen: {}", open.lines().count());
    assert!(folded.contains("Fairness ledger") && folded.contains("Verification"), "{folded}");
    assert_eq!(told.matches("<details>").count(), told.matches("</details>").count());
}

const HOSTILE: &str = "|<img src=x>`@all #1\n\n# [a](http://b)\u{202e}\u{1b}[31m";

/// Every text that a suite, a machine or a file system could have written.
fn hostile() -> RunReport {
    let mut report = example::repeated();
    report.suite.title = HOSTILE.into();
    report.manifest.cpu = HOSTILE.into();
    report.manifest.warnings[0].text = HOSTILE.into();
    report.claims[0].text = HOSTILE.into();
    report.suite.resolved["command"] = format!("fsduel run {HOSTILE}").into();
    for case in &mut report.cases {
        case.configuration.id.push_str(HOSTILE);
        case.reason = Some(Reason { code: "x".into(), text: HOSTILE.into(), next: Some(HOSTILE.into()) });
        case.ledger.insert(HOSTILE.into(), HOSTILE.into());
        case.steps.iter_mut().for_each(|step| step.name.push_str(HOSTILE));
    }
    report
}

#[test]
fn no_text_from_outside_is_markup_or_calls_anybody() {
    let told = text(&hostile());
    // The command is code, in which nothing is understood.
    let (told, command) = told.rsplit_once("\nRun it again: ").unwrap();
    assert!(command.starts_with("``fsduel") && command.ends_with("``\n"), "{command}");
    let bare = told.replace("\\]", "");
    for wrong in ["<img", "@all", " #1", "](", "http:/", "\u{202e}", "\u{1b}"] {
        assert!(!bare.contains(wrong), "{wrong:?} in {told}");
    }
    // All rows of a table have as many cells as its header.
    let bars = |line: &str| line.replace("\\|", "").matches('|').count();
    let lines: Vec<&str> = told.lines().collect();
    for pair in lines.windows(2).filter(|pair| pair.iter().all(|line| line.starts_with('|'))) {
        assert_eq!(bars(pair[0]), bars(pair[1]), "{pair:?}");
    }
}

/// The example with many file systems, steps and long names.
fn large(configurations: usize, steps: usize, name: usize) -> RunReport {
    let mut report = example::report();
    let one = report.cases[0].clone();
    let case = |at: usize| -> CaseResult {
        let mut case = one.clone();
        case.configuration.id = format!("{}{at}", "n".repeat(name));
        let step = case.steps[0].clone();
        case.steps = vec![step; steps];
        for (number, step) in case.steps.iter_mut().enumerate() {
            step.name = format!("{}{number}", "s".repeat(name));
        }
        case
    };
    report.cases = (0..configurations).map(case).collect();
    report
}

#[test]
fn a_comment_is_never_longer_than_github_takes_and_says_what_is_left_out() {
    for (configurations, steps, name) in [(12, 50, 40), (12, 50, 200), (40, 400, 20)] {
        let told = text(&large(configurations, steps, name));
        assert!(told.len() <= MOST, "{} bytes", told.len());
        assert!(told.contains("Left out, since a comment has no room for it: "), "{steps}");
        assert!(told.lines().last().unwrap().starts_with("Run it again: `fsduel "));
        assert_eq!(told.matches("<details>").count(), told.matches("</details>").count());
    }
    assert!(!text(&example::repeated()).contains("Left out"));
}

#[test]
fn no_number_of_a_case_that_does_not_count_is_shown() {
    let mut report = example::report();
    for case in report.cases.iter_mut().filter(|case| case.configuration.id == "btrfs") {
        case.status = Status::Invalid;
    }
    let told = text(&report);
    assert!(!told.contains("668 ms") && told.contains("invalid"), "{told}");
}

#[test]
fn two_kernels_and_an_emulated_processor_are_told_before_everything() {
    let text = text(&example::emulated());
    insta::assert_snapshot!("emulated", text.split("<details>").next().unwrap());
}
