//! A ratio, its interval, and the word that the interval supports.
//!
//! The word is the statistics' own: nothing here looks at numbers to find another one.

use super::{Page, UNBROKEN, unbroken};
use crate::report::{human, pick};
use crate::result::{Estimate, MARGIN, RunReport, Verdict};

/// `×1.62`; `-` where a figure has no ratio.
pub(in crate::report) fn ratio(estimate: &Estimate) -> String {
    estimate.ratio.map_or_else(|| "-".into(), human::ratio)
}

/// `[1.46, 1.78]`; `exact` where nothing scatters, as space often does not.
pub(in crate::report) fn interval(estimate: &Estimate) -> Option<String> {
    let [low, high] = estimate.ci95?;
    if high - low <= low * EXACT {
        return Some("exact".into());
    }
    Some(unbroken(&format!("[{}, {}]", human::significant(low), human::significant(high))))
}

/// What logarithms and back may cost.
const EXACT: f64 = 1e-9;

/// Of two times of which nothing is concluded.
pub(in crate::report) const EMULATED: &str = "emulated";

/// `not resolved (needs n=18)`, for a table.
pub(super) fn cell(word: Option<&str>, estimate: &Estimate) -> String {
    let Some(word) = word else { return "-".into() };
    let parts = [Some(unbroken(word)), needed(estimate).map(|needed| unbroken(&needed))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Rows that end with such a cell: on a terminal that is narrow its words are broken, too.
pub(super) fn fitting(header: &[&str], mut rows: Vec<Vec<String>>, page: &Page) -> Vec<Vec<String>> {
    if !page.has_room(header, &rows) {
        rows.iter_mut().filter_map(|row| row.last_mut()).for_each(|cell| *cell = cell.replace(UNBROKEN, " "));
    }
    rows
}

/// Of two figures of that metric; `frees` where both are negative, so that more is less space.
pub(super) fn word(metric: &str, frees: bool, estimate: &Estimate) -> Option<&'static str> {
    let [less, more] = match metric {
        "space_used_bytes" if frees => ["frees less", "frees more"],
        "space_used_bytes" => ["smaller", "larger"],
        "kernel_cpu_s" => ["less CPU", "more CPU"],
        time if time.ends_with("_s") && !time.ends_with("_per_s") => ["faster", "slower"],
        _ => ["less", "more"],
    };
    Some(match estimate.verdict? {
        Verdict::Less => less,
        Verdict::More => more,
        Verdict::NoDifference => "same",
        Verdict::NotResolved => "not resolved",
    })
}

/// `12 comparisons: 1 slower, 9 same (within 5 %), 2 not resolved.`
pub(super) fn summary(what: &str, words: impl Iterator<Item = Option<&'static str>>) -> String {
    let mut counts: Vec<(&str, usize)> = vec![];
    for word in words.map(|word| word.unwrap_or("not judged")) {
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    // What changed comes first.
    counts.sort_by_key(|(word, _)| LAST.iter().position(|last| last == word).map_or(0, |at| at + 1));
    let total: usize = counts.iter().map(|(_, count)| count).sum();
    let part = |(word, count): &(&str, usize)| match *word {
        "same" => format!("{count} same (within {})", margin()),
        word => format!("{count} {word}"),
    };
    format!("{total} {what}: {}.", counts.iter().map(part).collect::<Vec<_>>().join(", "))
}

/// What is no change.
const LAST: [&str; 3] = ["same", "not resolved", "not judged"];

/// `(needs n=18)`, where that is known; beyond what anybody waits for `(needs n>40)`.
pub(in crate::report) fn needed(estimate: &Estimate) -> Option<String> {
    let count = estimate.needed_count.filter(|_| is_open(estimate))?;
    Some(match count {
        above if above > REACH => format!("(needs n>{REACH})"),
        count => format!("(needs n={count})"),
    })
}

fn is_open(estimate: &Estimate) -> bool {
    estimate.verdict == Some(Verdict::NotResolved)
}

/// Samples that have an interval.
const INTERVAL_FROM: u32 = 3;

/// What it would take to resolve those that are not.
pub(super) fn open(all: &[&Estimate]) -> Option<String> {
    let open: Vec<_> = all.iter().filter(|estimate| is_open(estimate)).collect();
    let (count, of) = (open.len(), all.len());
    let are = if count == 1 { "is" } else { "are" };
    if count == 0 {
        return None;
    }
    if open.iter().all(|estimate| estimate.n < INTERVAL_FROM) {
        return Some(format!(
            "{count} of {of} {are} not resolved: fewer than {INTERVAL_FROM} repetitions have no interval. {HOW}"
        ));
    }
    // Beyond what `auto` would do, advice is no help.
    let counts: Vec<u32> = open.iter().filter_map(|one| one.needed_count).collect();
    let within_reach = counts.iter().filter(|count| **count <= REACH);
    let reach = within_reach.clone().max().map(|most| (within_reach.count(), *most));
    let beyond = counts.iter().filter(|count| **count > REACH).count();
    let hopeless = open.iter().filter(|one| one.needed_count.is_none() && one.ratio.is_some()).count();
    let without = open.iter().filter(|one| one.ratio.is_none()).count();
    let mut parts = vec![format!("{count} of {of} comparisons {are} not resolved")];
    parts.extend(reach.map(|(count, n)| format!("about {n} blocks (--repeat {n}) would do for {count}")));
    parts.extend((beyond > 0).then(|| format!("{beyond} would need more than {REACH}")));
    parts.extend(
        (hopeless > 0).then(|| format!("{hopeless} too short or too close for any number of blocks")),
    );
    parts.extend((without > 0).then(|| format!("{without} without a ratio: a figure was 0 in some block")));
    Some(format!("{}.", parts.join("; ")))
}

/// Blocks that somebody may wait for.
const REACH: u32 = 40;

/// How to get intervals.
const HOW: &str = "--repeat 5 or --repeat auto gives one.";

/// Why no word is beside the ratios of one pair, and what gets one: of some times nothing does.
pub(super) fn lonely(report: &RunReport) -> String {
    let how = if pick::untimed(report).is_empty() {
        HOW
    } else {
        "--repeat 5 gives one of space, and never of times."
    };
    format!("One repetition has no interval, so no ratio here is a verdict; {how}")
}

/// The margin, as `5 %`.
pub(in crate::report) fn margin() -> String {
    format!("{:.0} %", (MARGIN - 1.0) * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(verdict: Verdict, n: u32, needed_count: Option<u32>) -> Estimate {
        Estimate { ratio: Some(1.2), ci95: Some([1.1, 1.3]), n, verdict: Some(verdict), needed_count }
    }

    #[test]
    fn each_metric_has_words_of_its_own() {
        let word = |metric, frees, verdict| word(metric, frees, &estimate(verdict, 6, None)).unwrap();
        assert_eq!(word("synced_s", false, Verdict::Less), "faster");
        assert_eq!(word("space_used_bytes", false, Verdict::More), "larger");
        assert_eq!(word("space_used_bytes", true, Verdict::More), "frees more");
        assert_eq!(word("kernel_cpu_s", false, Verdict::More), "more CPU");
        assert_eq!(word("operations_per_s", false, Verdict::More), "more");
        assert_eq!(word("synced_s", false, Verdict::NoDifference), "same");
    }

    #[test]
    fn without_a_verdict_there_is_no_word() {
        let estimate = Estimate { ratio: Some(1.6), n: 1, ..Estimate::default() };
        assert_eq!(cell(word("synced_s", false, &estimate), &estimate), "-");
        assert_eq!(ratio(&Estimate::default()), "-");
        assert_eq!(interval(&estimate), None);
    }

    #[test]
    fn an_interval_without_width_is_exact() {
        let of = |ci95| interval(&Estimate { ci95: Some(ci95), n: 6, ..Estimate::default() }).unwrap();
        assert_eq!(of([1.0921, 1.0921]), "exact");
        assert_eq!(of([1.4612, 1.7849]).replace('\u{a0}', " "), "[1.46, 1.78]");
        assert_eq!(of([0.9999, 1.0001]).replace('\u{a0}', " "), "[1.00, 1.00]");
    }

    #[test]
    fn the_hardest_comparison_says_how_many_blocks() {
        let easy = estimate(Verdict::More, 6, None);
        let hard = estimate(Verdict::NotResolved, 6, Some(18));
        let hardest = estimate(Verdict::NotResolved, 6, Some(40));
        assert_eq!(open(&[&easy]), None);
        let text = open(&[&easy, &hard, &hardest]).unwrap();
        assert!(
            text.contains("2 of 3") && text.contains("about 40 blocks (--repeat 40) would do for 2."),
            "{text}"
        );
        let text = open(&[&hard, &estimate(Verdict::NotResolved, 6, None)]).unwrap();
        assert!(
            text.contains("18 blocks (--repeat 18) would do for 1;")
                && text.contains("1 too short or too close"),
            "{text}"
        );
        let zero = Estimate { ratio: None, ci95: None, ..estimate(Verdict::NotResolved, 6, None) };
        let text = open(&[&hard, &zero]).unwrap();
        assert!(text.contains("1 without a ratio") && !text.contains("too close"), "{text}");
        let text = open(&[&estimate(Verdict::NotResolved, 2, None)]).unwrap();
        assert!(text.contains("no interval") && !text.contains("would do"), "{text}");
    }
}
