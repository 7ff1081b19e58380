//! Which numbers of a run a report shows.
//!
//! A number was verified or is not shown: those of cases that passed, and of cases that failed only
//! because a fixed amount of work met a limit. With more than one block the number is the median
//! of the measured ones.

use std::collections::BTreeSet;

use crate::result::{
    Comparison, Configuration, EMULATED, HEADLINE, Latency, RunReport, Status, StepResult, split_id,
};
use crate::stats::median;

/// A step of every case of a configuration whose numbers were verified.
pub(super) fn counted<'a>(report: &'a RunReport, configuration: &str, step: &str) -> Vec<&'a StepResult> {
    let cases = report.measured(configuration).into_iter().filter(|case| case.counts());
    cases.filter_map(|case| case.step(step)).collect()
}

/// Every number that counts, with its block, in the order of blocks.
pub(super) fn samples(report: &RunReport, configuration: &str, step: &str, key: &str) -> Vec<(u32, f64)> {
    let cases = report.measured(configuration).into_iter().filter(|case| case.counts());
    let mut samples: Vec<_> =
        cases.filter_map(|case| Some((case.block, case.step(step)?.number(key)?))).collect();
    samples.sort_by_key(|(block, _)| *block);
    samples
}

/// The median of a metric or fact over the cases that count.
pub(super) fn number(report: &RunReport, configuration: &str, step: &str, key: &str) -> Option<f64> {
    let steps = counted(report, configuration, step);
    median(steps.iter().filter_map(|step| step.number(key)).collect())
}

/// The medians, over the cases that count, of the median and the 99th percentile of an operation.
pub(super) fn latency(
    report: &RunReport,
    configuration: &str,
    step: &str,
    operation: &str,
) -> Option<(f64, f64)> {
    let steps = counted(report, configuration, step);
    let of = |value: fn(&Latency) -> f64| {
        median(steps.iter().filter_map(|step| step.latency.get(operation).map(value)).collect())
    };
    Some((of(|latency| latency.p50_s)?, of(|latency| latency.p99_s)?))
}

/// Every number of a step by its key: what was measured, then facts that are numbers.
pub(super) fn numbers(step: &StepResult) -> Vec<(String, f64)> {
    let measured = step.metrics.0.iter().map(|(key, value)| (key.clone(), *value));
    let counted = step.facts.numbers().filter(|(key, _)| step.metrics.get(key).is_none());
    measured.chain(counted).filter(|(_, value)| value.is_finite()).collect()
}

/// For programs: as many digits as it takes to read the same number, and none after a whole one.
pub(super) fn exact(value: f64) -> String {
    // Zero has no sign.
    (value + 0.0).to_string()
}

/// Where a configuration ran.
pub(super) fn kernel<'a>(report: &'a RunReport, configuration: &Configuration) -> &'a str {
    let environment = report.environments.get(configuration.environment as usize);
    environment.map_or(&report.manifest.kernel, |environment| &environment.kernel)
}

/// As it is stored: `not_run`.
pub(super) fn status(status: Status) -> String {
    super::human::word(status).replace(' ', "_")
}

/// Names of the steps, in the order of the suite: those that no case reached, too.
pub(super) fn planned(report: &RunReport) -> Vec<&str> {
    let steps = report.suite.resolved.get("steps").and_then(|steps| steps.as_array());
    let asked = steps.into_iter().flatten().filter_map(|step| step.get("name")?.as_str());
    let ran = report.steps().into_iter().map(|step| step.name.as_str());
    asked.chain(ran).fold(vec![], |mut known, name| {
        if !known.contains(&name) {
            known.push(name);
        }
        known
    })
}

/// The files that a step made or removed, for one second until it was synced.
pub(super) fn files_per_s(report: &RunReport, configuration: &str, step: &str) -> Option<f64> {
    let rate = |step: &&StepResult| {
        let files = step.facts.number("files_created_count");
        let files = files.or_else(|| step.facts.number("files_deleted_count"));
        Some(files? / step.metrics.get("synced_s").filter(|seconds| *seconds > 0.0)?)
    };
    median(counted(report, configuration, step).iter().filter_map(rate).collect())
}

/// The comparison of two configurations.
pub(super) fn comparison<'a>(
    report: &'a RunReport,
    [baseline, candidate]: [&str; 2],
    step: &str,
    metric: &str,
) -> Option<&'a Comparison> {
    let mut all = report.comparisons.iter();
    all.find(|it| {
        (&*it.baseline, &*it.candidate) == (baseline, candidate) && (&*it.step, &*it.metric) == (step, metric)
    })
}

/// What a configuration is held against: another of its kernel, or of its file system.
pub(super) type Axis = for<'a> fn(&'a RunReport, &str) -> Option<&'a str>;

/// File systems on the same kernel, with what they are held against.
pub(super) const FILESYSTEMS: Axis = RunReport::on_its_kernel;

/// The same file system on several kernels.
pub(super) const KERNELS: Axis = RunReport::on_the_first_kernel;

/// What the figures of file systems are ratios to, in words.
pub(super) fn against(report: &RunReport) -> String {
    let ids = report.configuration_ids();
    let mut baselines: Vec<&str> = ids.iter().filter_map(|id| FILESYSTEMS(report, id)).collect();
    baselines.dedup();
    match baselines.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first, others @ ..] => {
            let name = split_id(first).0;
            let alike = others.iter().all(|other| split_id(other).0 == name);
            format!("{} on the same kernel", if alike { name } else { "the first" })
        }
    }
}

/// Why nothing is concluded from times, a sentence for each reason; nothing where something can be.
pub(super) fn untimed(report: &RunReport) -> Vec<String> {
    let mut sentences: Vec<String> = vec![];
    let all = report.environments.iter();
    for there in all.filter(|there| !there.timings_comparable) {
        let text = match there.accelerator.as_deref() {
            None | Some(EMULATED) => {
                "times come from an emulated processor (TCG): compare facts and space, not times".to_owned()
            }
            Some(_) => format!("times of {} (Linux {}) cannot be compared", there.backend, there.kernel),
        };
        if !sentences.contains(&text) {
            sentences.push(text);
        }
    }
    sentences
}

/// The comparisons of an axis that get a verdict, by step, metric and configuration.
pub(super) fn headlines(report: &RunReport, axis: Axis) -> Vec<&Comparison> {
    let steps = report.steps().into_iter();
    steps
        .flat_map(|step| HEADLINE.map(|metric| headline(report, axis, &step.name, metric)))
        .flatten()
        .collect()
}

/// Those about one figure of one step, in the order of configurations.
pub(super) fn headline<'a>(
    report: &'a RunReport,
    axis: Axis,
    step: &str,
    metric: &str,
) -> Vec<&'a Comparison> {
    let of = |id: &str| comparison(report, [axis(report, id)?, id], step, metric);
    report.configuration_ids().into_iter().filter_map(of).collect()
}

/// The blocks that are measured, in order: without the warm-up.
pub(super) fn blocks(report: &RunReport) -> Vec<u32> {
    let blocks: BTreeSet<u32> =
        report.cases.iter().map(|case| case.block).filter(|block| *block > 0).collect();
    blocks.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::result::{Checked, Reason, Status};

    #[test]
    fn the_baseline_is_first_although_it_ran_second() {
        let report = example::report();
        assert_eq!(report.cases[0].configuration.id, "btrfs");
        assert_eq!(report.configuration_ids(), ["ext4", "btrfs", "xfs", "reiserfs"]);
    }

    #[test]
    fn the_warm_up_enters_nothing() {
        let mut report = example::report();
        let mut warm_up = report.cases[0].clone();
        warm_up.block = 0;
        warm_up.steps[0].metrics.set("synced_s", 1000.0);
        report.cases.push(warm_up);
        assert_eq!(number(&report, "btrfs", "small-files", "synced_s"), Some(0.668));
    }

    #[test]
    fn a_warm_up_alone_has_numbers_only_where_nothing_was_measured() {
        let mut report = example::report();
        let of_btrfs = |report: &RunReport| number(report, "btrfs", "small-files", "synced_s");
        report
            .cases
            .iter_mut()
            .filter(|case| case.configuration.id == "btrfs")
            .for_each(|case| case.block = 0);
        assert_eq!(of_btrfs(&report), None, "others were measured");
        report.cases.iter_mut().for_each(|case| case.block = 0);
        assert_eq!(of_btrfs(&report), Some(0.668));
        let damaged = |case: &mut crate::result::CaseResult| case.status = Status::Error;
        report.cases.iter_mut().for_each(|case| case.block = u32::from(case.configuration.id != "btrfs"));
        report.cases.iter_mut().filter(|case| case.block == 0).for_each(damaged);
        assert_eq!(report.measured("btrfs").len(), 1, "why there are none is told");
    }

    #[test]
    fn only_a_case_that_passed_or_met_a_limit_has_numbers() {
        let mut report = example::report();
        let size = |report: &RunReport| number(report, "ext4", "fill", "file_size_bytes");
        assert_eq!(size(&report), Some(2_002_780_160.0));
        for status in [Status::Failed, Status::Invalid, Status::Error, Status::Stopped] {
            report.cases.iter_mut().for_each(|case| case.status = status);
            assert_eq!(size(&report), None, "{status:?}");
        }
        let limit = Reason { code: "limit".into(), text: String::new(), next: None };
        report.cases.iter_mut().for_each(|case| case.reason = Some(limit.clone()));
        assert_eq!(size(&report), None, "stopped for a limit of time is not a limit of the file system");
        report.cases.iter_mut().for_each(|case| case.status = Status::Failed);
        assert_eq!(size(&report), Some(2_002_780_160.0));
        report.cases.iter_mut().for_each(|case| case.verify.fsck = Checked::Damaged);
        assert_eq!(size(&report), None);
    }

    #[test]
    fn a_rate_of_files_is_that_of_the_synced_time() {
        let rate = files_per_s(&example::report(), "btrfs", "small-files").unwrap();
        assert!((rate - 9999.0 / 0.668).abs() < 1e-9);
    }
}
