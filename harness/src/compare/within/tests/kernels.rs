//! Several kernels, and kernels on an emulated processor.

use super::*;
use crate::compare::gate;
use crate::result::GateVerdict;

const IDS: [&str; 4] = ["ext4@6.1", "btrfs@6.1", "ext4@6.12", "btrfs@6.12"];

/// The times of each configuration, with noise; space is a tenth on the second.
fn of(times: [f64; 4]) -> RunReport {
    run(&IDS, 6, |id, block| {
        let noise = wobble(block * 8 + u32::try_from(id).unwrap());
        vec![("synced_s", times[id] * noise), ("space_used_bytes", [10.0, 1.0, 10.0, 1.0][id])]
    })
}

fn sides(found: &[Comparison]) -> Vec<(&str, &str)> {
    found.iter().map(|one| (one.baseline.as_str(), one.candidate.as_str())).collect()
}

fn emulated(mut report: RunReport) -> RunReport {
    report.environments[0].timings_comparable = false;
    report
}

#[test]
fn configurations_are_compared_along_one_dimension_at_a_time() {
    let found = within(&of([1.0, 2.0, 3.0, 12.0]));
    let expected = [
        ("ext4@6.1", "btrfs@6.1"),
        ("ext4@6.1", "ext4@6.12"),
        ("ext4@6.12", "btrfs@6.12"),
        ("btrfs@6.1", "btrfs@6.12"),
    ];
    assert_eq!(sides(&found)[..4], expected);
    assert_eq!(found.len(), 8, "time and space");
    let ratios: Vec<f64> = found[..4].iter().map(|one| one.estimate.ratio.unwrap().round()).collect();
    assert_eq!(ratios, [2.0, 3.0, 4.0, 6.0]);
}

#[test]
fn one_kernel_is_compared_as_without_a_name() {
    let named = run(&["a@6.1", "b@6.1", "c@6.1"], 3, |id, block| {
        vec![("synced_s", wobble(block + 7 * u32::try_from(id).unwrap()))]
    });
    assert_eq!(sides(&within(&named)), [("a@6.1", "b@6.1"), ("a@6.1", "c@6.1")]);
}

#[test]
fn what_a_kernel_lacks_is_compared_on_the_first_that_has_it() {
    let mut report = of([1.0; 4]);
    for case in report.cases.iter_mut().filter(|case| case.configuration.id == "ext4@6.1") {
        (case.status, case.steps) = (Status::NotRun, vec![]);
    }
    let found = within(&report);
    assert_eq!(sides(&found)[..2], [("ext4@6.12", "btrfs@6.12"), ("btrfs@6.1", "btrfs@6.12")]);
    report.comparisons = found;
    assert_eq!(report.configuration_ids(), IDS);
    assert_eq!(report.on_its_kernel("btrfs@6.12"), Some("ext4@6.12"));
    assert_eq!(report.on_the_first_kernel("ext4@6.12"), Some("ext4@6.12"));
    assert_eq!(report.on_its_kernel("btrfs@6.1"), Some("btrfs@6.1"));
}

#[test]
fn comparisons_of_both_dimensions_are_one_family() {
    let report = of([1.0, 1.2, 1.0, 1.2]);
    let questions = within(&report).iter().filter(|one| one.metric == "synced_s").count();
    let mut alone = of([1.0, 1.2, 1.0, 1.2]);
    alone.cases.retain(|case| ["ext4@6.1", "btrfs@6.1"].contains(&case.configuration.id.as_str()));
    assert_eq!((questions, within(&alone).len()), (4, 2));
    let needed = |report: &RunReport| {
        let first = within(report).remove(0).estimate;
        first.needed_count.unwrap_or(first.n)
    };
    assert!(needed(&report) >= needed(&alone), "more questions never need less evidence");
}

#[test]
fn a_gate_holds_in_both_dimensions() {
    let report = of([1.0, 1.0, 2.0, 2.0]);
    let gates = gate::parse("synced_s<=1.5", &["synced_s"]).unwrap();
    let found = gate::judge_within(&gates, &report).unwrap();
    let told: Vec<_> =
        found.iter().map(|one| (one.against.as_str(), one.configuration.as_str(), one.outcome)).collect();
    use GateVerdict::{Broken, Holds};
    let expected = [
        ("ext4@6.1", "btrfs@6.1", Holds),
        ("ext4@6.1", "ext4@6.12", Broken),
        ("ext4@6.12", "btrfs@6.12", Holds),
        ("btrfs@6.1", "btrfs@6.12", Broken),
    ];
    assert_eq!(told, expected);
}

#[test]
fn of_emulated_times_there_is_a_ratio_and_no_word_while_space_keeps_its_word() {
    let report = emulated(of([1.0, 5.0, 1.0, 5.0]));
    let found = within(&report);
    for one in &found {
        let word = (one.metric == "space_used_bytes").then_some(one.estimate.verdict).flatten();
        assert_eq!(one.estimate.verdict, word, "{one:?}");
        assert_eq!(word.is_some(), one.metric == "space_used_bytes");
        assert!(one.estimate.ratio.is_some() && one.estimate.ci95.is_some());
    }
    assert!(resolved(&report), "no block would bring a word");
    let gates = gate::parse("synced_s<=9,space_used_bytes<=9", &["synced_s", "space_used_bytes"]).unwrap();
    for one in gate::judge_within(&gates, &report).unwrap() {
        let decided = one.gate.starts_with("space");
        assert_eq!(one.outcome == GateVerdict::Holds, decided, "{one:?}");
    }
}

#[test]
fn two_runs_of_which_one_is_emulated_are_compared_by_space_alone() {
    let (base, mut new) = (of([1.0; 4]), emulated(of([5.0; 4])));
    new.run_id = "new".into();
    let found = crate::compare::between(&base, &new).unwrap();
    assert!(found.differences.iter().any(|one| one.contains("emulated")), "{found:?}");
    let worded = |metric: &str| {
        let mut all = found.changes.iter().filter(|one| one.metric == metric);
        all.all(|one| one.estimate.verdict.is_some())
    };
    assert!(worded("space_used_bytes") && !worded("synced_s"));
}
