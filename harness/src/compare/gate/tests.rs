//! What becomes of gates.

use super::*;
use crate::compare::example::{run, wobble};
use crate::error::Kind;
use crate::result::{CaseResult, EndedWord, Status, Verdict};

const KNOWN: [&str; 5] = ["synced_s", "returned_s", "space_used_bytes", "files_created_count", "mkfs_s"];

fn gates(list: &str) -> Vec<Gate> {
    parse(list, &KNOWN).unwrap()
}

#[test]
fn a_list_is_read_with_blanks_and_steps() {
    let read = gates(" synced_s <= 1.05 ,files.space_used_bytes>=0.9");
    let shown: Vec<_> = read.iter().map(Gate::to_string).collect();
    assert_eq!(shown, ["synced_s<=1.05", "files.space_used_bytes>=0.9"]);
}

#[test]
fn anything_else_is_refused_with_a_next_step() {
    for list in [
        "",
        ",",
        "synced_s<=1,",
        "synced_s",
        "synced_s<1",
        "synced_s=1",
        "<=1",
        ".synced_s<=1",
        "synced_s<=",
        "synced_s<=0",
        "synced_s<=-1",
        "synced_s<=inf",
        "synced_s<=nan",
        "synced_s<=1e400",
        "synced_s<=1x",
        "synced_s<=.",
        "a.b.synced_s<=1",
    ] {
        let error = parse(list, &KNOWN).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{list}");
        assert!(error.next_step().is_some(), "{list}");
    }
    let error = parse("sycned_s<=1", &KNOWN).unwrap_err().to_string();
    assert!(error.contains("did you mean `synced_s`?"), "{error}");
}

#[test]
fn the_whole_interval_decides() {
    for (gate, limits, expected) in [
        ("synced_s<=1.05", Some([0.9, 1.05]), GateVerdict::Holds),
        ("synced_s<=1.05", Some([1.0, 1.06]), GateVerdict::Undecided),
        ("synced_s<=1.05", Some([1.05, 1.06]), GateVerdict::Undecided),
        ("synced_s<=1.05", Some([1.06, 1.2]), GateVerdict::Broken),
        ("synced_s>=0.9", Some([0.9, 1.2]), GateVerdict::Holds),
        ("synced_s>=0.9", Some([0.8, 1.2]), GateVerdict::Undecided),
        ("synced_s>=0.9", Some([0.7, 0.8]), GateVerdict::Broken),
        ("synced_s<=1.05", None, GateVerdict::Undecided),
    ] {
        assert_eq!(gates(gate)[0].outcome(limits), expected, "{gate} {limits:?}");
    }
}

fn measured(run_id: &str, blocks: u32, slower: [f64; 2], space: f64) -> RunReport {
    let mut report = run(&["a", "b"], blocks, |id, block| {
        let seed = 5 * block + u32::from(id == 1) + u32::try_from(run_id.len()).unwrap() * 100;
        vec![("synced_s", wobble(seed) * slower[id]), ("space_used_bytes", space)]
    });
    report.run_id = run_id.into();
    report
}

fn outcomes(results: &[GateResult]) -> Vec<GateVerdict> {
    results.iter().map(|result| result.outcome).collect()
}

#[test]
fn a_run_against_itself_holds_every_gate_at_1() {
    let report = measured("one", 1, [1.0; 2], 0.0);
    let all = gates("synced_s<=1,synced_s>=1,files.space_used_bytes<=1,mkfs_s<=1,files_created_count>=1");
    let results = judge_changes(&all, &report, &report).unwrap();
    assert_eq!(outcomes(&results), [GateVerdict::Holds; 10]);
    assert_eq!((results[0].against.as_str(), results[1].configuration.as_str()), ("one", "b"));
}

#[test]
fn a_slower_run_breaks_its_gate_and_a_single_one_decides_facts_only() {
    let all = gates("synced_s<=1.05,space_used_bytes<=1,files_created_count<=1");
    let judge = |blocks, slower, space| {
        let base = measured("one", blocks, [1.0; 2], 4096.0);
        outcomes(&judge_changes(&all, &base, &measured("second", blocks, slower, space)).unwrap())
    };
    use GateVerdict::{Broken, Holds, Undecided};
    assert_eq!(judge(6, [1.3, 1.0], 4096.0), [Broken, Holds, Holds, Holds, Holds, Holds]);
    assert_eq!(judge(2, [1.3, 1.0], 8192.0), [Undecided, Undecided, Broken, Broken, Holds, Holds]);
    assert_eq!(judge(1, [1.3, 1.0], 4096.0), [Undecided, Undecided, Undecided, Undecided, Holds, Holds]);
    assert_eq!(judge(6, [1.0, 1.0], 0.0)[2..4], [Holds, Holds], "to nothing");
    let base = measured("one", 3, [1.0; 2], 0.0);
    let grown = measured("second", 3, [1.0; 2], 1.0);
    assert_eq!(outcomes(&judge_changes(&all, &base, &grown).unwrap())[2..4], [Broken; 2], "from nothing");
}

#[test]
fn what_went_to_or_from_nothing_is_decided_for_every_metric_on_both_ways() {
    let made = |run_id: &str, values: [f64; 2]| {
        let mut report = run(&["a", "b"], 3, |id, _| vec![("returned_s", values[id])]);
        report.run_id = run_id.into();
        report
    };
    for ([old, new], outcome) in [
        ([0.0, 5.0], GateVerdict::Broken),
        ([5.0, 0.0], GateVerdict::Holds),
        ([0.0, 0.0], GateVerdict::Holds),
    ] {
        let all = gates("returned_s<=1");
        let (base, later) = (made("one", [old; 2]), made("two", [new; 2]));
        assert_eq!(outcomes(&judge_changes(&all, &base, &later).unwrap()), [outcome; 2], "{old} {new}");
        assert_eq!(outcomes(&judge_within(&all, &made("one", [old, new])).unwrap()), [outcome]);
    }
}

#[test]
fn a_step_that_is_not_planned_is_refused_before_the_start() {
    assert!(check_steps(&gates("synced_s<=1,files.synced_s<=1"), &["files", "fill"]).is_ok());
    let error = check_steps(&gates("synced_s<=1,flies.synced_s<=1"), &["files", "fill"]).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.to_string().contains("did you mean `files`?") && error.next_step().is_some(), "{error}");
}

#[test]
fn within_a_run_every_configuration_is_held_against_the_first() {
    let report = measured("one", 6, [1.0, 1.5], 4096.0);
    let results = judge_within(&gates("synced_s<=1.05,synced_s>=1.1,space_used_bytes<=1,mkfs_s<=1"), &report);
    let results = results.unwrap();
    use GateVerdict::{Broken, Holds};
    assert_eq!(outcomes(&results), [Broken, Holds, Holds, Holds]);
    assert!(results.iter().all(|it| it.against == "a" && it.configuration == "b"));
    assert_eq!(results[0].estimate.verdict, Some(Verdict::More));
    assert_eq!(results[3].step, None);
    let two = judge_within(&gates("space_used_bytes<=1"), &measured("one", 2, [1.0; 2], 4096.0)).unwrap();
    assert_eq!((two[0].estimate.ci95, two[0].outcome), (None, Holds), "nothing scatters");
}

/// A configuration or a step that failed cannot be slower, so its gate would hold by silence.
#[test]
fn a_figure_that_one_side_lacks_leaves_its_gate_undecided() {
    use GateVerdict::{Holds, Undecided};
    let lose: [fn(&mut CaseResult); 3] = [
        |case| case.status = Status::Invalid,
        |case| case.steps.clear(),
        |case| case.steps[0].ended = EndedWord::Limit,
    ];
    for (lose, run_id) in lose.into_iter().flat_map(|lose| [(lose, "second"), (lose, "one")]) {
        let whole = measured("one", 6, [1.0; 2], 4096.0);
        let mut lost = measured(run_id, 6, [1.0; 2], 4096.0);
        lost.cases.iter_mut().filter(|case| case.configuration.id == "b").for_each(lose);
        for (base, new) in [(&whole, &lost), (&lost, &whole)] {
            let all = gates("synced_s<=9,files_created_count<=1");
            let results = judge_changes(&all, base, new).unwrap();
            assert_eq!(outcomes(&results), [Holds, Undecided, Holds, Undecided], "{results:?}");
            assert_eq!((results[1].estimate.n, results[1].estimate.ratio), (0, None));
        }
        let results = judge_within(&gates("synced_s<=9"), &lost).unwrap();
        assert_eq!(outcomes(&results), [Undecided]);
    }
}

#[test]
fn what_did_not_run_or_is_not_told_there_is_no_part_of_a_gate() {
    let whole = measured("one", 6, [1.0; 2], 4096.0);
    let mut part = measured("second", 6, [1.0; 2], 4096.0);
    part.cases.iter_mut().filter(|it| it.configuration.id == "b").for_each(|it| it.status = Status::NotRun);
    let results = judge_changes(&gates("synced_s<=9"), &whole, &part).unwrap();
    assert_eq!(outcomes(&results), [GateVerdict::Holds]);
    assert!(judge_within(&gates("synced_s<=9"), &part).is_err(), "nothing is left to guard");
    let mut silent = measured("one", 6, [1.0; 2], 4096.0);
    for case in silent.cases.iter_mut().filter(|case| case.configuration.id == "b") {
        case.steps[0].metrics.0.remove("synced_s");
    }
    assert!(judge_within(&gates("synced_s<=9"), &silent).is_err());
    let mut apart = measured("one", 6, [1.0; 2], 4096.0);
    apart.cases.retain(|case| (case.block % 2 == 0) == (case.configuration.id == "b"));
    let results = judge_within(&gates("synced_s<=9"), &apart).unwrap();
    assert_eq!(outcomes(&results), [GateVerdict::Undecided], "no block has both");
}

#[test]
fn a_gate_that_guards_nothing_is_refused() {
    let report = measured("one", 3, [1.0; 2], 1.0);
    for list in ["returned_s<=1", "fill.synced_s<=1", "synced_s<=2,files.mkfs_s<=1"] {
        for error in [
            judge_changes(&gates(list), &report, &report).unwrap_err(),
            judge_within(&gates(list), &report).unwrap_err(),
        ] {
            assert_eq!(error.kind(), Kind::Usage, "{list}");
            assert!(error.to_string().contains("has no such figure"), "{error}");
            assert!(error.next_step().is_some_and(|next| next.contains("files")), "{error:?}");
        }
    }
}
