//! A run against an earlier one.
//!
//! Files of one run hold the same measurements, so samples are paired by case, and the same figure is
//! equal for certain. Two runs share no blocks: their samples are independent.

use super::differences::{differences, same_work};
use super::figure::{Figure, cases, looks, paired};
use super::ratio::Ratio;
use super::verdict::judge;
use crate::error::Result;
use crate::result::{CaseResult, Change, Changes, HEADLINE, RunReport};
use crate::stats::median;

/// Every figure of the configurations that ran in both, new to old. One that only one of them has, as
/// of a step that failed in the other, is told with what there is: a gate for it cannot hold.
///
/// # Errors
///
/// They did not do the same work, or have no configuration in common, so nothing of them can be
/// compared.
pub fn between(base: &RunReport, new: &RunReport) -> Result<Changes> {
    let changes = judged(base, new)?.into_iter().map(|(change, _)| change).collect();
    Ok(Changes {
        base_run_id: base.run_id.clone(),
        new_run_id: new.run_id.clone(),
        paired: base.run_id == new.run_id,
        differences: differences(base, new),
        changes,
    })
}

/// All changes, with what their words rest on.
pub(super) fn judged(base: &RunReport, new: &RunReport) -> Result<Vec<(Change, Ratio)>> {
    same_work(base, new)?;
    let mut all: Vec<(Change, Ratio)> =
        in_both(base, new).iter().flat_map(|id| of_configuration(base, new, id)).collect();
    let headline = all.iter_mut().filter(|(change, _)| HEADLINE.contains(&change.metric.as_str()));
    judge(&mut headline.map(|(_, ratio)| ratio).collect::<Vec<_>>(), looks(base).max(looks(new)));
    all.iter_mut().for_each(|(change, ratio)| change.estimate = ratio.estimate);
    Ok(all)
}

/// Ids of the configurations that both have, in the order of the new run.
pub(super) fn in_both<'a>(base: &RunReport, new: &'a RunReport) -> Vec<&'a str> {
    let known = base.configuration_ids();
    new.configuration_ids().into_iter().filter(|id| known.contains(id)).collect()
}

fn of_configuration(base: &RunReport, new: &RunReport, id: &str) -> Vec<(Change, Ratio)> {
    if !base.ran(id) || !new.ran(id) {
        return vec![];
    }
    let (old_cases, new_cases) = (cases(base, id), cases(new, id));
    let same_run = base.run_id == new.run_id;
    let withheld = |key: &str| [base, new].iter().any(|run| run.withholds(key, &[id]));
    let change = |(step, key): (Option<String>, String)| {
        let figure = Figure { step: step.as_deref(), key: &key };
        let (old, new, ratio) = match same_run {
            true => of_one_run(figure, &old_cases, &new_cases),
            false => of_two_runs(figure, &old_cases, &new_cases),
        };
        let ratio = ratio.withheld_if(withheld(&key));
        let estimate = ratio.estimate;
        let change = Change { configuration: id.to_owned(), step, metric: key, old, new, estimate };
        (old.is_some() || new.is_some()).then_some((change, ratio))
    };
    figures(&[new_cases.as_slice(), &old_cases].concat()).into_iter().filter_map(change).collect()
}

/// Old and new median, and the ratio.
type Sides = (Option<f64>, Option<f64>, Ratio);

/// Without a pair, of what each side has.
fn of_one_run(figure: Figure, old: &[&CaseResult], new: &[&CaseResult]) -> Sides {
    let pairs = figure.pairs(&paired(old, new, |case: &CaseResult| &case.id));
    if pairs.is_empty() {
        return (median(figure.samples(old)), median(figure.samples(new)), Ratio::without(0));
    }
    let (old_values, new_values) = pairs.iter().copied().unzip();
    let ratio = match pairs.iter().all(|(old, new)| old == new) {
        true => Ratio::same(pairs.len()),
        false => Ratio::of_pairs(&pairs, figure.is_fact(old)),
    };
    sides(figure, old_values, new_values, ratio)
}

fn of_two_runs(figure: Figure, old: &[&CaseResult], new: &[&CaseResult]) -> Sides {
    let (old_values, new_values) = (figure.samples(old), figure.samples(new));
    let ratio = match old_values.is_empty() || new_values.is_empty() {
        true => Ratio::without(0),
        false => Ratio::of_samples(&old_values, &new_values, figure.is_fact(old)),
    };
    sides(figure, old_values, new_values, ratio)
}

fn sides(figure: Figure, old: Vec<f64>, new: Vec<f64>, ratio: Ratio) -> Sides {
    let ratio = ratio.without_a_word_if(figure.is_too_short(old.clone(), new.clone()));
    (median(old), median(new), ratio)
}

/// Every figure of these cases: of each step its metrics, then the facts that are numbers; last
/// those of whole cases.
fn figures(cases: &[&CaseResult]) -> Vec<(Option<String>, String)> {
    let mut found: Vec<(Option<String>, String)> = vec![];
    let mut add = |step: Option<&str>, key: &str| {
        if !found.iter().any(|(known, metric)| known.as_deref() == step && metric == key) {
            found.push((step.map(str::to_owned), key.to_owned()));
        }
    };
    for step in cases.iter().flat_map(|case| &case.steps) {
        step.metrics.0.keys().for_each(|key| add(Some(&step.name), key));
        step.facts.numbers().for_each(|(key, _)| add(Some(&step.name), &key));
    }
    cases.iter().flat_map(|case| case.metrics.0.keys()).for_each(|key| add(None, key));
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::compare::example::{run, wobble};
    use crate::error::Kind;
    use crate::result::{EndedWord, Estimate, Verdict};

    /// A run of its own; `slower` is a factor of its times.
    fn of(run_id: &str, blocks: u32, seed: u32, slower: f64) -> RunReport {
        let mut report = run(&["a", "b"], blocks, |id, block| {
            let noise = wobble(seed + 7 * block + u32::from(id == 1));
            vec![("synced_s", noise * slower), ("returned_s", noise), ("space_used_bytes", 4096.0)]
        });
        report.run_id = run_id.into();
        report
    }

    fn change<'a>(changes: &'a Changes, configuration: &str, metric: &str) -> &'a Change {
        let found =
            changes.changes.iter().find(|it| it.configuration == configuration && it.metric == metric);
        found.unwrap_or_else(|| panic!("{configuration} {metric}: {changes:?}"))
    }

    #[test]
    fn a_run_against_itself_is_equal_even_if_it_has_one_block() {
        for blocks in [1, 2, 6] {
            let report = of("one", blocks, 1, 1.0);
            let found = between(&report, &report).unwrap();
            assert!(found.paired && found.differences.is_empty(), "{found:?}");
            assert_eq!(found.changes.len(), 2 * 5, "three metrics, a fact, and mkfs: {found:?}");
            for one in &found.changes {
                assert_eq!((one.estimate.ratio, one.estimate.ci95), (Some(1.0), Some([1.0; 2])));
                assert_eq!((one.old, one.estimate.n), (one.new, blocks));
            }
            let words = found.changes.iter().filter_map(|one| one.estimate.verdict);
            assert_eq!(words.collect::<Vec<_>>(), [Verdict::NoDifference; 4], "headline metrics only");
        }
    }

    #[test]
    fn two_runs_are_independent_samples() {
        let (base, new) = (of("one", 6, 1, 1.0), of("two", 5, 500, 1.3));
        let found = between(&base, &new).unwrap();
        assert!(!found.paired);
        let slower = change(&found, "a", "synced_s").estimate;
        assert_eq!((slower.n, slower.verdict), (5, Some(Verdict::More)), "{slower:?}");
        // Against the interval of the difference of mean logarithms.
        let logs = |report: &RunReport| {
            let own = report.cases.iter().filter(|case| case.configuration.id == "a");
            own.map(|case| case.steps[0].metrics.0["synced_s"].ln()).collect::<Vec<_>>()
        };
        let mean = crate::stats::Mean::difference(&logs(&new), &logs(&base)).unwrap();
        assert!((slower.ratio.unwrap().ln() - mean.mean).abs() < 1e-12);
        assert!((slower.ci95.unwrap()[0].ln() - mean.interval(0.95)[0]).abs() < 1e-12);
        let space = change(&found, "b", "space_used_bytes").estimate;
        assert_eq!((space.ci95, space.verdict), (Some([1.0; 2]), Some(Verdict::NoDifference)));
        assert_eq!(change(&found, "b", "returned_s").estimate.verdict, None);
    }

    #[test]
    fn of_single_runs_facts_are_known_and_metrics_are_not() {
        let (base, mut new) = (of("one", 1, 1, 1.0), of("two", 1, 9, 2.0));
        new.cases[0].steps[0].facts.files_created_count = Some(12);
        let found = between(&base, &new).unwrap();
        let files = change(&found, "a", "files_created_count");
        assert_eq!((files.old, files.new, files.estimate.ci95), (Some(10.0), Some(12.0), Some([1.2; 2])));
        for metric in ["synced_s", "space_used_bytes"] {
            let one = change(&found, "a", metric).estimate;
            assert_eq!((one.ci95, one.verdict), (None, Some(Verdict::NotResolved)), "{metric}");
            assert!(one.ratio.is_some());
        }
    }

    #[test]
    fn other_work_is_refused_with_all_that_differs() {
        let base = of("one", 3, 1, 1.0);
        let refused = |change: &dyn Fn(&mut RunReport)| {
            let mut new = of("two", 3, 1, 1.0);
            change(&mut new);
            let error = between(&base, &new).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage);
            assert!(error.next_step().is_some());
            error.to_string()
        };
        let both = refused(&|new| {
            new.suite.scale = "full".into();
            new.manifest.seed = "8".into();
        });
        assert!(both.contains("scale was base and is full; seed was 7 and is 8"), "{both}");
        assert!(refused(&|new| new.suite.name = "quick".into()).contains("suite was smoke and is quick"));
        let size = refused(&|new| new.suite.resolved["size_bytes"] = 2048.into());
        assert!(size.contains("size was 1024 bytes and is 2048 bytes"), "{size}");
        let step = refused(&|new| new.suite.resolved["steps"][0]["parameters"]["count"] = 4.into());
        assert!(step.contains("step 1 was files (list, count=3) and is files (list, count=4)"), "{step}");
        let more = refused(&|new| {
            let step = json!({"name": "more", "workload": "read", "parameters": {}});
            new.suite.resolved["steps"].as_array_mut().unwrap().push(step);
        });
        assert!(more.contains("step 2 was none and is more (read)"), "{more}");
        let none = refused(&|new| new.cases.iter_mut().for_each(|case| case.configuration.id += "2"));
        assert!(none.contains("no configuration is in both: a, b there, a2, b2 here"), "{none}");
    }

    #[test]
    fn a_run_that_is_only_planned_is_held_against_its_base() {
        let (base, mut plan) = (of("one", 3, 1, 1.0), of("two", 3, 1, 1.0));
        plan.cases.clear();
        assert!(same_work(&base, &plan).is_ok());
        plan.suite.resolved["configurations"] = json!([{"id": "c"}]);
        let error = same_work(&base, &plan).unwrap_err().to_string();
        assert!(error.contains("no configuration is in both: a, b there, c here"), "{error}");
    }

    #[test]
    fn what_else_differs_is_told_once() {
        let (base, mut new) = (of("one", 3, 1, 1.0), of("two", 3, 1, 1.0));
        assert!(between(&base, &new).unwrap().differences.is_empty());
        new.manifest.kernel = "6.19".into();
        new.environments[0].kernel = "6.19".into();
        new.environments[0].tools.insert("mke2fs".into(), "1.48".into());
        new.environments[0].memory_bytes = Some(64 << 20);
        new.environments[0].tools.insert("mkfs.xfs".into(), "6.1".into());
        new.manifest.virtualisation = Some("container".into());
        new.suite.resolved["repeat"] = "auto".into();
        new.suite.resolved["direct_io"] = "on".into();
        for case in &mut new.cases {
            case.configuration.mount_options = "sync".into();
            if case.configuration.id == "b" {
                case.configuration.id = "c".into();
            }
        }
        assert_eq!(
            between(&base, &new).unwrap().differences,
            [
                "kernel was 6.18 and is 6.19",
                "virtualisation was none and is container",
                "number of blocks was 3 and is auto",
                "mount options of a was none and is sync",
                "memory of the work was no limit and is 64 MiB",
                "mke2fs was 1.47 and is 1.48",
                "b is in the base only",
                "c is in the new run only",
            ]
        );
    }

    #[test]
    fn work_that_was_cut_short_is_not_compared_and_told() {
        let (base, mut new) = (of("one", 3, 1, 1.0), of("two", 3, 9, 1.0));
        for case in new.cases.iter_mut().filter(|case| case.configuration.id == "a") {
            case.steps[0].ended = EndedWord::Limit;
        }
        let found = between(&base, &new).unwrap();
        let lost = change(&found, "a", "synced_s");
        assert!(lost.old.is_some() && lost.new.is_none(), "{lost:?}");
        let nothing = Estimate { verdict: Some(Verdict::NotResolved), ..Estimate::default() };
        assert_eq!(lost.estimate, nothing);
        assert_eq!(found.differences, ["a has figures of files in the base only"]);
    }
}
