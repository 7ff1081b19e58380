//! Repetition on real devices: blocks, verdicts, gates, and what a run that is killed leaves.
//!
//! Other tests run at the same time, so the machine is as noisy as it gets: a disk that stalls for
//! half a second in one block leaves even a factor of ten not resolved, and of twenty runs of equals
//! one may find a winner. So a run of equals has a second chance, and one on such a disk a third.

use std::collections::BTreeSet;
use std::fs;
use std::process::Output;
use std::time::{Duration, Instant};

use fsduel_harness::result::{HEADLINE, RunReport, Verdict};
use libtest_mimic::Trial;

use crate::general;
use crate::lab::{Lab, assert_exits, stderr, told};

pub fn trials() -> Vec<Trial> {
    vec![
        general("each_block_holds_every_file_system_once_and_equals_have_no_winner", equals),
        general("what_is_slower_is_called_so_and_fails_a_gate", slower),
        general("a_budget_ends_a_run_between_blocks", budget),
        general("what_finished_before_a_kill_can_be_reported_and_is_kept_by_the_next_run", killed),
    ]
}

/// Fifty directories: a tenth of a second and, where each change is synced, some seconds.
const WORK: [&str; 8] =
    ["run", "--workload", "many-directories", "--set", "count=50", "--size", "512MiB", "--quiet"];

fn repeated<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&WORK[..], more].concat()
}

/// The first run of so many that `suits`, or the last.
fn settled(lab: &Lab, runs: u32, arguments: &[&str], suits: fn(&RunReport) -> bool) -> (Output, RunReport) {
    let mut run = lab.report(repeated(arguments));
    for _ in 1..runs {
        if suits(&run.1) {
            break;
        }
        run = lab.report(repeated(arguments));
    }
    run
}

fn verdict(report: &RunReport, metric: &str) -> Option<Verdict> {
    report.comparisons.iter().find(|found| found.metric == metric).unwrap().estimate.verdict
}

/// No figure of equals has a winner.
fn without_winner(report: &RunReport) -> bool {
    let won = |verdict| matches!(verdict, Some(Verdict::Less | Verdict::More));
    !report.comparisons.iter().any(|comparison| won(comparison.estimate.verdict))
}

fn equals() {
    let lab = Lab::new();
    let (output, report) = settled(&lab, 2, &["--fs", "ext4,ext4", "--repeat", "5"], without_winner);
    assert_exits(&output, 0);
    let places: Vec<u32> = report.cases.iter().map(|case| case.order).collect();
    assert_eq!(places, (1..=12).collect::<Vec<_>>(), "{}", told(&output));
    for (block, cases) in report.cases.chunks(2).enumerate() {
        assert!(cases.iter().all(|case| case.block as usize == block && case.quiet.is_some()));
        let ids: BTreeSet<_> = cases.iter().map(|case| case.configuration.id.as_str()).collect();
        assert_eq!(ids, ["ext4", "ext4#2"].into());
    }
    let uuids: BTreeSet<_> = report.cases.iter().map(|case| &case.uuid).collect();
    assert_eq!(uuids.len(), 12, "every case has a file system of its own");
    let metrics: Vec<&str> = report.comparisons.iter().map(|found| found.metric.as_str()).collect();
    assert_eq!(metrics, HEADLINE);
    assert!(report.comparisons.iter().all(|comparison| comparison.estimate.n == 5));
    assert!(without_winner(&report), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn slower() {
    let lab = Lab::new();
    let sides = ["--fs", "ext4", "--fs", "slow=ext4:sync", "--repeat", "5"];
    let resolved = |report: &RunReport| verdict(report, "synced_s") != Some(Verdict::NotResolved);
    let gated = [&sides[..], &["--gate", "synced_s<=1.05"]].concat();
    let (output, report) = settled(&lab, 3, &gated, resolved);
    assert_exits(&output, 3);
    assert_eq!(verdict(&report, "synced_s"), Some(Verdict::More), "{}", told(&output));
    let synced = report.comparisons.iter().find(|found| found.metric == "synced_s").unwrap().estimate;
    assert!(synced.ci95.unwrap()[0] > 1.05, "{synced:?}");
    assert_eq!(verdict(&report, "space_used_bytes"), Some(Verdict::NoDifference));
    assert!(stderr(&output).contains("gate synced_s<=1.05 does not hold (slow"), "{}", told(&output));

    // The stored run is its own baseline: equal to itself, whatever the noise.
    let json = lab.path("report.json");
    let json = json.to_str().unwrap();
    let same = lab.fsduel(["compare", json, json, "--gate", "synced_s<=1,kernel_cpu_s<=1"]).output().unwrap();
    assert_exits(&same, 0);
    let base = lab.path("base.json");
    fs::rename(json, &base).unwrap();
    let again = ["--baseline", base.to_str().unwrap(), "--gate", "tree_hash<=1"];
    let wrong = lab.fsduel(repeated(&[&sides[..], &again].concat())).output().unwrap();
    assert_exits(&wrong, 2);
    let gate = ["--baseline", base.to_str().unwrap(), "--gate", "files_created_count<=1"];
    let (held, report) = lab.report(repeated(&[&sides[..4], &["--repeat", "1"], &gate].concat()));
    assert_exits(&held, 0);
    let changes = report.changes.unwrap();
    assert!(!changes.paired);
    assert_eq!(changes.differences, ["number of blocks was 5 and is 1"]);
    lab.assert_nothing_is_left();
}

fn budget() {
    let lab = Lab::new();
    let (output, report) =
        lab.report(repeated(&["--fs", "ext4,ext4", "--repeat", "10000", "--budget", "100ms"]));
    assert_exits(&output, 0);
    // One to warm up, and the first measured one always runs.
    assert_eq!(report.cases.len(), 4, "{}", told(&output));
    assert!(report.manifest.warnings.iter().any(|found| found.code == "budget"));
    lab.assert_nothing_is_left();
}

fn killed() {
    let lab = Lab::new();
    let json = lab.path("report.json");
    let partial = lab.path("report.json.partial.jsonl");
    let arguments = repeated(&["--fs", "ext4,ext4", "--repeat", "40", "--json", json.to_str().unwrap()]);
    let mut runner = lab.spawn(&arguments);
    let lines = || fs::read_to_string(&partial).unwrap_or_default().lines().count();
    let begun = Instant::now();
    // The head, block 0 and block 1.
    while lines() < 5 && begun.elapsed() < Duration::from_secs(240) {
        std::thread::sleep(Duration::from_millis(50));
    }
    runner.kill().unwrap();
    runner.wait().unwrap();
    assert!(!json.exists());
    let report = lab.fsduel(["report", partial.to_str().unwrap()]).output().unwrap();
    assert_exits(&report, 0);
    let text = String::from_utf8_lossy(&report.stdout);
    assert!(text.contains("the run did not end") && text.contains("many-directories"), "{text}");
    lab.assert_nothing_is_left();

    let again = lab.fsduel([&arguments[..8], &["--fs", "ext4", "--json", json.to_str().unwrap()]].concat());
    assert_exits(&{ again }.output().unwrap(), 0);
    assert!(json.exists() && !partial.exists());
    assert!(lab.path("report.json.partial.jsonl.old").exists(), "what was measured is still there");
    lab.assert_nothing_is_left();
}
