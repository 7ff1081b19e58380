//! What configurations of a run are told to be to each other.

mod kernels;

use super::*;
use crate::compare::example::{case, run, wobble};
use crate::result::{EndedWord, MARGIN, Status};

fn only(report: &RunReport) -> Estimate {
    let found = within(report);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].estimate
}

/// Two configurations with the values of one metric.
fn pair(metric: &'static str, old: &[f64], new: &[f64]) -> RunReport {
    let blocks = u32::try_from(old.len()).unwrap();
    run(&["a", "b"], blocks, |id, block| {
        let at = usize::try_from(block).unwrap() - 1;
        vec![(metric, [old, new][id][at])]
    })
}

#[test]
fn the_interval_is_that_of_students_test_on_logarithms_of_pairs() {
    // By hand: logarithms of the ratios 1, 2, 4 are 0, ln 2, ln 4; mean ln 2, standard error
    // ln 2 / sqrt 3, and t(0.975, 2) = 4.30265 in the printed table.
    let found = only(&pair("synced_s", &[1.0, 5.0, 0.5], &[1.0, 10.0, 2.0]));
    let half = 4.302_653 * 2.0_f64.ln() / 3.0_f64.sqrt();
    assert!((found.ratio.unwrap() - 2.0).abs() < 1e-12);
    let [low, high] = found.ci95.unwrap();
    assert!((low.ln() - (2.0_f64.ln() - half)).abs() < 1e-5, "{low}");
    assert!((high.ln() - (2.0_f64.ln() + half)).abs() < 1e-5, "{high}");
    assert_eq!((found.n, found.verdict), (3, Some(Verdict::NotResolved)));
    assert!(found.needed_count.unwrap() > 3);
}

#[test]
fn the_needed_count_decides_and_one_less_does_not() {
    let logs = [0.10_f64, 0.02, 0.16, 0.04];
    let scattered = |times: u32| {
        let n = f64::from(4 * times);
        // Copies scatter less, by the count that their deviation is divided by; undo that.
        let undo = ((n - 1.0) / n * 4.0 / 3.0).sqrt();
        let new: Vec<f64> =
            (0..times).flat_map(|_| logs.map(|log| (0.08 + (log - 0.08) * undo).exp())).collect();
        only(&pair("synced_s", &vec![1.0; new.len()], &new))
    };
    let few = scattered(1);
    assert_eq!(few.verdict, Some(Verdict::NotResolved));
    let needed = few.needed_count.unwrap();
    assert_eq!(scattered(needed.div_ceil(4)).verdict, Some(Verdict::More), "{needed}");
    assert_eq!(scattered((needed - 1) / 4).verdict, Some(Verdict::NotResolved), "{needed}");
}

#[test]
fn fewer_than_three_blocks_have_a_ratio_and_no_interval() {
    for n in [1, 2] {
        let found = only(&pair("synced_s", &[1.0, 1.1][..n], &[2.0, 2.1][..n]));
        assert!(found.ratio.unwrap() > 1.9);
        assert_eq!((found.ci95, found.needed_count), (None, None));
        assert_eq!(found.verdict, Some(Verdict::NotResolved), "{n}");
    }
}

#[test]
fn what_does_not_scatter_compares_exactly() {
    for (old, new, word) in [
        (100.0, 100.0, Verdict::NoDifference),
        (100.0, 104.0, Verdict::NoDifference),
        (100.0, 106.0, Verdict::More),
        (100.0, 94.0, Verdict::Less),
        (-100.0, -50.0, Verdict::Less),
    ] {
        let found = only(&pair("space_used_bytes", &[old; 3], &[new; 3]));
        assert_eq!((found.ratio, found.verdict), (Some(new / old), Some(word)));
        assert_eq!(found.ci95, Some([new / old; 2]));
        let two = only(&pair("space_used_bytes", &[old; 2], &[new; 2]));
        assert_eq!((two.ci95, two.verdict), (None, Some(word)));
        let single = only(&pair("space_used_bytes", &[old], &[new]));
        assert_eq!(single.verdict, Some(Verdict::NotResolved));
    }
}

#[test]
fn zeros_and_signs_have_a_ratio_only_where_there_is_one() {
    let space = |old: &[f64], new: &[f64]| only(&pair("space_used_bytes", old, new));
    let nothing = space(&[0.0; 4], &[0.0; 4]);
    assert_eq!((nothing.ratio, nothing.verdict), (Some(1.0), Some(Verdict::NoDifference)));
    let some = space(&[0.0, 1.0, 2.0], &[0.0, 2.0, 2.0]);
    assert!((some.ratio.unwrap().ln() - 2.0_f64.ln() / 3.0).abs() < 1e-12, "0/0 is 1");
    let freed = space(&[-4.0, -2.0, -1.0], &[-8.0, -4.0, -2.0]);
    assert!((freed.ratio.unwrap() - 2.0).abs() < 1e-12, "of sizes");
    assert_eq!(space(&[0.0; 3], &[5.0; 3]).verdict, Some(Verdict::More));
    assert_eq!(space(&[5.0; 3], &[0.0; 3]).verdict, Some(Verdict::Less));
    assert_eq!(space(&[-5.0; 3], &[5.0; 3]).verdict, Some(Verdict::More));
    for (old, new) in [([0.0, 1.0, 1.0], [5.0; 3]), ([-1.0, 2.0, 3.0], [-1.0, 2.0, 3.5])] {
        let found = space(&old, &new);
        let left = (found.ratio, found.ci95, found.verdict, found.needed_count);
        assert_eq!(left, (None, None, Some(Verdict::NotResolved), None));
    }
}

#[test]
fn only_pairs_of_measured_cases_that_count_and_did_all_the_work_are_compared() {
    let fresh =
        || run(&["a", "b"], 4, |id, block| vec![("synced_s", wobble(block * 2 + u32::from(id == 1)))]);
    let mut report = fresh();
    report.cases.push(case("a", 0, &[("synced_s", 900.0)]));
    report.cases.push(case("b", 0, &[("synced_s", 1.0)]));
    assert_eq!(only(&report), only(&fresh()), "the warm-up enters nothing");
    report.cases[0].status = crate::result::Status::Invalid;
    assert_eq!(only(&report).n, 3);
    report.cases[3].steps[0].ended = EndedWord::Limit;
    assert_eq!(only(&report).n, 2);
    report.cases[5].steps.clear();
    assert_eq!(only(&report).n, 1);
    report.cases[7].steps[0].metrics.0.insert("synced_s".into(), f64::NAN);
    assert!(within(&report).is_empty(), "no pair, no comparison");
}

#[test]
fn every_configuration_is_compared_with_the_first_in_every_step_and_headline_metric() {
    let report = run(&["a", "b", "c"], 3, |_, block| {
        HEADLINE.iter().chain(&["other_s"]).map(|key| (*key, wobble(block))).collect()
    });
    let found = within(&report);
    assert_eq!(found.len(), 6);
    assert!(found.iter().all(|one| one.baseline == "a" && one.candidate != "a"));
    let of = |one, two, step, key| ratio(&report, one, two, Figure { step, key }).map(|it| it.estimate);
    let other = of("a", "c", Some("files"), "other_s").unwrap();
    assert_eq!((other.ratio, other.verdict), (Some(1.0), None));
    let fact = of("b", "c", Some("files"), "files_created_count").unwrap();
    assert_eq!(fact.ci95, Some([1.0; 2]));
    assert!(of("a", "b", None, "mkfs_s").is_some());
    assert!(of("a", "b", Some("files"), "no_s").is_none());
    assert!(resolved(&report), "all are equal");
}

#[test]
fn a_first_configuration_that_cannot_run_here_leaves_the_others_to_compare() {
    let mut report = run(&["a", "b", "c"], 3, |_, block| vec![("synced_s", wobble(block))]);
    report.cases.retain(|case| case.configuration.id != "a");
    let mut missing = case("a", 1, &[]);
    (missing.status, missing.steps) = (Status::NotRun, vec![]);
    report.cases.insert(0, missing);
    let found = within(&report);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].baseline.as_str(), found[0].candidate.as_str()), ("b", "c"));
}

#[test]
fn more_questions_and_more_looks_need_more_evidence() {
    let of = |candidates: usize, repeat: serde_json::Value| {
        let ids = &["a", "b", "c", "d", "e", "f", "g", "h"][..=candidates];
        let mut report = run(ids, 5, |id, block| {
            let slow = if id == 1 { [1.15, 1.6, 1.3, 1.5, 1.2][block as usize - 1] } else { 1.0 };
            let noise = if id > 1 { wobble(block + 10 * u32::try_from(id).unwrap()) } else { 1.0 };
            vec![("synced_s", slow * noise)]
        });
        report.suite.resolved["repeat"] = repeat;
        within(&report)[0].estimate
    };
    let (alone, auto) = (of(1, 5.into()), of(1, "auto".into()));
    assert_eq!(alone.verdict, Some(Verdict::More));
    assert_eq!(of(7, 5.into()).ci95, alone.ci95);
    for more in [auto, of(7, 5.into())] {
        assert_eq!(more.verdict, Some(Verdict::NotResolved), "{more:?}");
        assert!(more.needed_count.unwrap() > 5);
    }
}

#[test]
fn fewer_than_five_blocks_name_no_winner() {
    let of = |n: usize| {
        let new: Vec<f64> = (0..n).map(|at| if at % 2 == 0 { 4.0 } else { 4.1 }).collect();
        only(&pair("synced_s", &vec![1.0; n], &new))
    };
    for n in [3, 4] {
        let few = of(n);
        assert!(few.ci95.unwrap()[0] > 3.0, "{few:?}");
        assert_eq!((few.verdict, few.needed_count), (Some(Verdict::NotResolved), Some(5)));
    }
    assert_eq!(of(5).verdict, Some(Verdict::More));
}

#[test]
fn what_can_never_have_a_ratio_keeps_no_run_waiting() {
    let never = pair("synced_s", &[0.0, 0.1, 0.2, 0.1, 0.1], &[0.1, 0.1, 0.0, 0.2, 0.1]);
    assert_eq!((only(&never).verdict, only(&never).ratio), (Some(Verdict::NotResolved), None));
    assert!(resolved(&never));
    let noisy = pair("synced_s", &[0.1, 0.5, 0.1, 0.5, 0.2], &[0.5, 0.1, 0.4, 0.2, 0.1]);
    assert!(!resolved(&noisy));
}

#[test]
fn processor_time_of_a_few_ticks_has_a_ratio_but_no_word() {
    let of = |seconds: f64| {
        let noise = |block: u32| wobble(block) * seconds;
        let old: Vec<f64> = (1..=9).map(noise).collect();
        let new: Vec<f64> = (1..=9).map(|block| 3.0 * noise(block + 20)).collect();
        let report = pair("kernel_cpu_s", &old, &new);
        (only(&report), resolved(&report))
    };
    let (long, short) = (of(0.1), of(0.01));
    assert_eq!((long.0.verdict, long.1), (Some(Verdict::More), true));
    assert_eq!((short.0.verdict, short.0.needed_count), (Some(Verdict::NotResolved), None));
    assert!(short.0.ci95.is_some() && short.1, "no run waits for it");
}

#[test]
fn a_word_agrees_with_its_interval_and_swapping_the_sides_inverts_it() {
    let mut seed = 1;
    let mut draw = |power: i32| {
        seed += 1;
        wobble(seed).powi(power)
    };
    let mut seen = std::collections::BTreeSet::new();
    for (power, slower) in [(1, 1.0), (1, 1.3), (1, 0.7), (9, 1.0), (9, 1.3), (400, 1e300), (3000, 1.0)] {
        for n in [1, 2, 3, 7, 20] {
            let old: Vec<f64> = (0..n).map(|_| draw(power)).collect();
            let new: Vec<f64> = (0..n).map(|_| draw(power) * slower).collect();
            let (one, two) = (only(&pair("synced_s", &old, &new)), only(&pair("synced_s", &new, &old)));
            let numbers =
                |it: &Estimate| it.ratio.into_iter().chain(it.ci95.into_iter().flatten()).collect::<Vec<_>>();
            assert!(numbers(&one).iter().all(|number| number.is_finite() && *number > 0.0), "{one:?}");
            if let (Some(ratio), Some(other)) = (one.ratio, two.ratio) {
                assert!((ratio * other - 1.0).abs() < 1e-9, "{ratio} {other}");
            }
            if let Some([low, high]) = one.ci95 {
                assert!((low..=high).contains(&one.ratio.unwrap()), "{one:?}");
                let word = one.verdict.unwrap();
                seen.insert(format!("{word:?}"));
                match word {
                    Verdict::Less => assert!(high < 1.0 / MARGIN),
                    Verdict::More => assert!(low > MARGIN),
                    Verdict::NoDifference => assert!(low >= 1.0 / MARGIN && high <= MARGIN),
                    Verdict::NotResolved if n < 5 => {}
                    Verdict::NotResolved => assert!(low < MARGIN && high > 1.0 / MARGIN, "{one:?}"),
                }
            }
        }
    }
    assert_eq!(seen.len(), 4, "{seen:?}");
}
