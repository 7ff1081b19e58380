//! Claims on runs with several blocks.

use super::*;

/// Space of both file systems in each block; all passed.
fn blocks(spaces: &[(f64, f64)]) -> Vec<serde_json::Value> {
    let pair = |(block, (btrfs, ext4)): (u32, &(f64, f64))| {
        [case("btrfs", block, "passed", *btrfs), case("ext4", block, "passed", *ext4)]
    };
    (1..).zip(spaces).flat_map(pair).collect()
}

/// Whole blocks are fast or slow together, and the ratio is nearly the same in each: 0.237.
const PAIRED: [(f64, f64); 4] = [(23.9, 100.0), (70.5, 300.0), (11.9, 50.0), (47.2, 200.0)];

#[test]
fn what_disturbs_a_whole_block_does_not_disturb_the_claim() {
    let run = report(&blocks(&PAIRED));
    assert_eq!(verdict("btrfs < 0.25 * ext4", &run).0, ClaimVerdict::Holds);
    assert_eq!(verdict("btrfs < 0.23 * ext4", &run).0, ClaimVerdict::DoesNotHold);
    let (word, now, reason) = verdict("btrfs < 0.237 * ext4", &run);
    assert_eq!(word, ClaimVerdict::NotResolved);
    // Ratios 0.239, 0.235, 0.238, 0.236; t for 3 degrees of freedom is 3.1824.
    assert!(now.as_ref().unwrap().ends_with(", ×0.237 [0.234, 0.240], n=4"), "{now:?}");
    assert!(reason.unwrap().contains("n=4"));
}

#[test]
fn a_block_that_was_stopped_or_disturbed_is_left_out_and_a_damaged_one_ends_it() {
    for status in ["stopped", "not_run", "invalid"] {
        let mut cases = blocks(&PAIRED);
        cases.push(case("btrfs", 5, "passed", 1e9));
        cases.push(case("ext4", 5, status, 1.0));
        let (word, now, _) = verdict("btrfs < 0.25 * ext4", &report(&cases));
        assert_eq!(word, ClaimVerdict::Holds, "{status}");
        assert!(now.unwrap().ends_with("n=4"), "{status}");
    }
    let mut cases = blocks(&PAIRED);
    cases.push(case("ext4", 5, "failed", 1.0));
    let (word, _, reason) = verdict("btrfs < 0.25 * ext4", &report(&cases));
    assert_eq!(word, ClaimVerdict::NotChecked);
    assert!(reason.unwrap().starts_with("case ext4/5 did not pass"));
}

#[test]
fn without_a_whole_block_there_is_nothing_to_judge() {
    let cases = [case("btrfs", 1, "passed", 1.0), case("ext4", 2, "passed", 2.0)];
    let (word, now, reason) = verdict("btrfs < ext4", &report(&cases));
    assert_eq!(
        (word, reason.as_deref()),
        (ClaimVerdict::NotChecked, Some("no block has all of its file systems"))
    );
    assert!(now.unwrap().contains("btrfs 1 B, ext4 2 B"));
}

#[test]
fn what_failed_or_ended_in_the_warm_up_is_told_as_that() {
    for (status, told) in [
        ("failed", "case btrfs/0 did not pass: the store is full"),
        ("passed", "the run ended before btrfs was measured"),
    ] {
        let cases =
            [case("btrfs", 0, status, 1.0), case("ext4", 0, "passed", 2.0), case("ext4", 1, "passed", 2.0)];
        let (word, _, reason) = verdict("btrfs < ext4", &report(&cases));
        assert_eq!((word, reason.as_deref()), (ClaimVerdict::NotChecked, Some(told)));
    }
}

#[test]
fn a_figure_that_one_block_lacks_and_a_division_by_zero_there_are_told() {
    let mut cases = blocks(&PAIRED);
    cases[2]["steps"][0]["metrics"]["space_used_bytes"] = serde_json::Value::Null;
    cases[2]["steps"][0]["metrics"] = serde_json::json!({"synced_s": 1.0});
    let (word, _, reason) = verdict("btrfs < ext4", &report(&cases));
    assert_eq!(word, ClaimVerdict::NotChecked);
    assert_eq!(reason.unwrap(), "small-files.space_used_bytes was not measured on btrfs");
    let mut zero = blocks(&PAIRED);
    zero.push(case("btrfs", 5, "passed", 1.0));
    zero.push(case("ext4", 5, "passed", 0.0));
    let (word, _, reason) = verdict("btrfs / ext4 < 1", &report(&zero));
    assert_eq!((word, reason.as_deref()), (ClaimVerdict::NotChecked, Some("a division by zero")));
}

#[test]
fn a_fact_is_exact_however_often_it_is_repeated() {
    let run = report(&blocks(&PAIRED));
    let holds = |text: &str| verdict(text, &run).0;
    assert_eq!(holds("file_size_bytes[btrfs] <= file_size_bytes[ext4]"), ClaimVerdict::Holds);
    assert_eq!(holds("file_size_bytes[btrfs] < file_size_bytes[ext4]"), ClaimVerdict::DoesNotHold);
    assert_eq!(holds("btrfs < 0.25 * ext4 and file_size_bytes[ext4] ~ 1000 within 0%"), ClaimVerdict::Holds);
}

/// The claims of a suite that comes with the program, as it is written.
fn claims_of(suite: &str) -> Vec<ClaimSpec> {
    let file = format!("{}/../fixtures/{suite}/suite.toml", env!("CARGO_MANIFEST_DIR"));
    let table: toml::Table = std::fs::read_to_string(file).unwrap().parse().unwrap();
    let text = |claim: &toml::Value, key: &str| Some(claim.get(key)?.as_str()?.to_owned());
    let claims = table["claim"].as_array().unwrap().iter().map(|claim| ClaimSpec {
        id: text(claim, "id").unwrap(),
        holds: text(claim, "holds").unwrap(),
        step: text(claim, "step"),
        metric: text(claim, "metric"),
        ..ClaimSpec::default()
    });
    claims.collect()
}

/// A figure of the source: step, metric, Btrfs, Ext 4.
type Printed = (&'static str, &'static str, f64, f64);

/// What the article of 2010 prints, with plain numbers where it has words only.
const MAGAZIN: [Printed; 12] = [
    ("small-files", "space_used_bytes", 53e6, 621e6),
    ("small-files", "synced_s", 10.0, 40.0),
    ("small-files", "user_cpu_s", 0.1, 0.1),
    ("small-files", "kernel_cpu_s", 1.0, 19.0),
    ("small-files", "metadata_ratio", 60.0, 1.0),
    ("directories", "space_used_bytes", 200e6, 2000e6),
    ("directories", "synced_s", 100.0, 92.0),
    ("directories", "user_cpu_s", 0.1, 0.1),
    ("directories", "kernel_cpu_s", 5.0, 6.0),
    ("fill", "user_cpu_s", 0.1, 0.1),
    ("fill", "kernel_cpu_s", 20.0, 30.0),
    ("fill", "payload_bytes_per_s", 44.5e6, 35.6e6),
];

/// A run of `blocks` blocks whose figures scatter by this share, each in its own order.
fn run(printed: &[Printed], share: f64) -> RunReport {
    let scatter = [0.0, 1.0, -1.0, 0.5, -0.5, 0.0, 1.0];
    let figures = |side: usize, block: usize| {
        let mut steps = std::collections::BTreeMap::<&str, serde_json::Map<_, _>>::new();
        for (at, (step, metric, btrfs, ext4)) in printed.iter().enumerate() {
            let noise = 1.0 + share * scatter[(block * (side + 1) + at) % scatter.len()];
            let value = [*btrfs, *ext4][side] * noise;
            steps.entry(step).or_default().insert((*metric).into(), json!(value));
        }
        let step = |(name, metrics)| {
            let size = [30_000_000_000_u64, 34_000_000_000][side];
            json!({"name": name, "workload": "x", "started_s": 0.0, "ended": "completed",
                   "facts": {"file_size_bytes": size}, "metrics": metrics, "read_back": "clean"})
        };
        steps.into_iter().map(step).collect::<Vec<_>>()
    };
    let mut cases = vec![];
    for block in 1..=6 {
        for (side, filesystem) in ["btrfs", "ext4"].into_iter().enumerate() {
            let mut one = case(filesystem, u32::try_from(block).unwrap(), "passed", 0.0);
            one["steps"] = json!(figures(side, block));
            cases.push(one);
        }
    }
    report(&cases)
}

fn verdicts(claims: &[ClaimSpec], report: &RunReport) -> Vec<(String, ClaimVerdict)> {
    evaluate(claims, &[], report).into_iter().map(|claim| (claim.id, claim.verdict)).collect()
}

#[test]
fn every_claim_of_2010_holds_on_repeated_figures_of_its_own_source() {
    let claims = claims_of("linux-magazin-2010");
    assert!(claims.len() >= 9);
    let printed =
        [&MAGAZIN[..], &[("remove", "user_cpu_s", 0.1, 0.1), ("remove", "kernel_cpu_s", 9.0, 9.0)]].concat();
    for (id, verdict) in verdicts(&claims, &run(&printed, 0.02)) {
        assert_eq!(verdict, ClaimVerdict::Holds, "{id}");
    }
}

#[test]
fn noise_makes_a_claim_unresolved_and_never_a_false_one() {
    let claims = claims_of("linux-magazin-2010");
    let word = |report: &RunReport, id: &str| {
        verdicts(&claims, report).into_iter().find(|(known, _)| known == id).unwrap().1
    };
    let noisy = run(&MAGAZIN, 0.4);
    assert_eq!(word(&noisy, "directories-time"), ClaimVerdict::NotResolved);
    assert_eq!(word(&noisy, "small-files-kernel-time"), ClaimVerdict::NotResolved);
    // Facts do not scatter, and a twelfth is a tenth even so.
    assert_eq!(word(&noisy, "small-or-large"), ClaimVerdict::Holds);
    let mut other = MAGAZIN;
    (other[6].2, other[6].3) = (92.0, 100.0);
    assert_eq!(word(&run(&other, 0.02), "directories-time"), ClaimVerdict::DoesNotHold);
}

#[test]
fn the_claim_of_2014_is_judged_by_its_interval() {
    let claims = claims_of("dovecot-2014");
    let word = |ext4, share| {
        verdicts(&claims, &run(&[("postmark", "postmark_total_s", 498.0, ext4)], share)).remove(0).1
    };
    assert_eq!(word(1268.0, 0.02), ClaimVerdict::Holds);
    assert_eq!(word(1268.0, 0.5), ClaimVerdict::NotResolved);
    assert_eq!(word(600.0, 0.02), ClaimVerdict::DoesNotHold);
}
