//! The same file system on several kernels: what a newer one does to it.
//!
//! The other tables hold file systems against each other on one kernel; here each is held against
//! itself on the first kernel that it ran on, in words first, since that is the question of who boots
//! two kernels.

use super::differences::{self, figure, is_zero};
use super::{Page, verdict};
use crate::report::pick::KERNELS;
use crate::report::{human, pick};
use crate::result::{Comparison, HEADLINE, RunReport, split_id};

/// Words and ratios; nothing where one kernel ran.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    let all = pick::headlines(report, KERNELS);
    match all.iter().any(|one| one.estimate.n >= 2) {
        _ if all.is_empty() => {}
        true => {
            differences::list(
                report,
                "By kernel (ratio to the same file system on the first kernel",
                all,
                page,
            );
            words(report).iter().for_each(|line| page.line(line, 2));
        }
        false => single(report, &all, page),
    }
}

/// Of one repetition there are ratios and no words.
fn single(report: &RunReport, all: &[&Comparison], page: &mut Page) {
    page.title("By kernel (ratio to the same file system on the first kernel)");
    let told = all.iter().filter(|one| !is_zero(report, one));
    let row = |one: &&Comparison| {
        let ratio = verdict::ratio(&one.estimate);
        vec![one.step.clone(), figure(&one.metric), one.candidate.clone(), ratio]
    };
    page.listed(&["step", "figure", "file\nsystem", "ratio"], told.map(row).collect(), 3, 3);
    page.line(&verdict::lonely(report), 0);
}

/// `ext4 on 6.12 against 6.1, time: faster at small-files; same at list, remove`.
fn words(report: &RunReport) -> Vec<String> {
    let all = pick::headlines(report, KERNELS);
    let of = |id: &str, metric: &str| -> Option<String> {
        let own: Vec<_> = all.iter().filter(|one| (&*one.candidate, &*one.metric) == (id, metric)).collect();
        let first = own.first()?;
        let mut steps: Vec<(&str, Vec<&str>)> = vec![];
        for one in own.iter().filter(|one| !is_zero(report, one)) {
            let word = differences::word(report, one).filter(|word| *word != verdict::EMULATED);
            match (word, steps.iter_mut().find(|(known, _)| Some(*known) == word)) {
                (None, _) => {}
                (Some(_), Some((_, steps))) => steps.push(&one.step),
                (Some(word), None) => steps.push((word, vec![&one.step])),
            }
        }
        let told: Vec<_> = steps.iter().map(|(word, at)| format!("{word} at {}", at.join(", "))).collect();
        let what = name(metric);
        (!told.is_empty()).then(|| format!("{}, {what}: {}", both(first), told.join("; ")))
    };
    let ids = report.configuration_ids().into_iter();
    ids.flat_map(|id| HEADLINE.map(|metric| of(id, metric))).flatten().collect()
}

/// Beside the figures of file systems.
pub(super) fn name(metric: &str) -> String {
    if metric == "synced_s" { "time".into() } else { figure(metric) }
}

/// `ext4 on 6.12 against 6.1`.
fn both(one: &Comparison) -> String {
    let (filesystem, here) = split_id(&one.candidate);
    let there = split_id(&one.baseline).1.unwrap_or("the first kernel");
    format!("{filesystem} on {} against {there}", here.unwrap_or("a kernel"))
}

/// What is said of a figure of a step, for each file system and kernel: `ext4 on 6.12 against 6.1
/// faster ×0.810 [0.790, 0.830]`. Nothing where one kernel ran, or nothing was used.
pub(super) fn told(report: &RunReport, step: &str, metric: &str) -> Option<Vec<String>> {
    if !report.has_kernels() {
        return None;
    }
    let own = |one: &&Comparison| !is_zero(report, one);
    let one = |one: &Comparison| {
        let estimate = &one.estimate;
        let word = differences::word(report, one).filter(|_| estimate.n >= 2).map(str::to_owned);
        let parts = [Some(both(one)), word, estimate.ratio.map(human::ratio)];
        let sure = [verdict::interval(estimate), verdict::needed(estimate).filter(|_| estimate.n >= 2)];
        parts.into_iter().chain(sure).flatten().collect::<Vec<_>>().join(" ")
    };
    let all: Vec<String> =
        pick::headline(report, KERNELS, step, metric).into_iter().filter(own).map(one).collect();
    Some(all).filter(|all| !all.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::report::part::tests::text;

    fn written(report: &RunReport) -> String {
        let mut page = Page::new(100);
        write(report, &mut page);
        text(&page)
    }

    #[test]
    fn one_kernel_has_no_such_part() {
        assert!(written(&example::report()).is_empty() && written(&example::repeated()).is_empty());
    }

    #[test]
    fn each_file_system_is_told_against_itself_in_words() {
        let text = written(&example::kernels());
        assert!(text.contains("ext4 on 6.12 against 6.1, time: faster at small-files"), "{text}");
        assert!(!text.contains("ext4 on 6.12 against 6.12"), "{text}");
        let answer = told(&example::kernels(), "small-files", "synced_s").unwrap();
        assert!(answer[0].starts_with("ext4 on 6.12 against 6.1 faster ×0."), "{answer:?}");
    }

    #[test]
    fn of_emulated_times_there_are_ratios_and_no_words() {
        let text = written(&example::emulated());
        assert!(text.contains("emulated") && !text.contains("faster"), "{text}");
        assert!(text.contains("ext4 on 6.12 against 6.1, space: same at small-files"), "{text}");
    }

    #[test]
    fn one_repetition_has_ratios_alone() {
        let mut report = example::kernels();
        report.cases.retain(|case| case.block == 1);
        report.comparisons = crate::report::example::compared(&report);
        let text = written(&report);
        assert!(text.contains("One repetition") && text.contains("By kernel"), "{text}");
        assert!(!text.contains("faster") && !text.contains(" - "), "{text}");
    }

    #[test]
    fn no_repetition_is_advised_for_a_word_about_emulated_times() {
        let mut report = example::emulated();
        report.cases.retain(|case| case.block == 1);
        report.comparisons = crate::report::example::compared(&report);
        let text = written(&report).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("gives one of space, and never of times") && !text.contains("auto"), "{text}");
    }
}
