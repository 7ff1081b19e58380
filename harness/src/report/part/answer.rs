//! The answer, before what it rests on: how the run ended, and a sentence for each figure of a step.

use super::differences::{is_zero, word};
use super::{kernels, verdict};
use crate::report::{human, pick};
use crate::result::{
    CaseResult, Checked, ClaimVerdict, Comparison, GateVerdict, HEADLINE, RunReport, Status,
};

/// How good news are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Tone {
    /// All that was asked for holds.
    Good,
    /// The noise does not allow a word.
    Open,
    /// Something did not pass, or nothing ran.
    Bad,
}

/// How a run ended.
pub(in crate::report) struct Ending {
    /// For a colour beside the word, never in place of it.
    pub(in crate::report) tone: Tone,
    /// Two or three words.
    pub(in crate::report) word: &'static str,
    /// A sentence each: cases, gates, claims.
    pub(in crate::report) sentences: Vec<String>,
}

/// How the run ended: cases first, then what was asked of them.
pub(in crate::report) fn ending(report: &RunReport) -> Ending {
    let (tone, word) = tone(report);
    let sentences = [cases(report), gates(report), claims(report)];
    Ending { tone, word, sentences: sentences.into_iter().flatten().collect() }
}

fn tone(report: &RunReport) -> (Tone, &'static str) {
    let any = |wanted: &[Status]| report.cases.iter().any(|case| wanted.contains(&case.status));
    let gate = |wanted| report.gates.iter().any(|gate| gate.outcome == wanted);
    let broken_claim =
        report.claims.iter().any(|claim| claim.must && claim.verdict == ClaimVerdict::DoesNotHold);
    if any(&[Status::Failed, Status::Invalid, Status::Error, Status::Stopped]) {
        return (Tone::Bad, "Did not pass");
    }
    if !any(&[Status::Passed]) {
        return (Tone::Bad, "Nothing ran");
    }
    if broken_claim || gate(GateVerdict::Broken) {
        return (Tone::Bad, "Does not hold");
    }
    match gate(GateVerdict::Undecided) {
        true => (Tone::Open, "Undecided"),
        false => (Tone::Good, "Passed"),
    }
}

/// Of the cases in which something ran, and of those in which nothing did.
fn cases(report: &RunReport) -> Option<String> {
    let all = report.cases.len();
    if all == 0 {
        return Some("There are no cases.".into());
    }
    let passed: Vec<_> = report.cases.iter().filter(|case| case.status == Status::Passed).collect();
    let checked = match passed.iter().filter(|case| !fully_checked(case)).count() {
        _ if passed.is_empty() => String::new(),
        0 => " and every check of them is clean".into(),
        open => format!(", {open} of them without every check"),
    };
    let others = [Status::Failed, Status::Invalid, Status::Error, Status::Stopped, Status::NotRun];
    let others = others.iter().filter_map(|status| with(report, *status));
    let first = format!("{} of {all} {} passed{checked}", passed.len(), plural(all, "case"));
    Some(format!("{}.", std::iter::once(first).chain(others).collect::<Vec<_>>().join("; ")))
}

fn fully_checked(case: &CaseResult) -> bool {
    let verify = &case.verify;
    let checks = [verify.read_back, verify.fsck, verify.kernel_log, verify.teardown];
    checks.iter().all(|checked| *checked == Checked::Clean)
}

/// `2 not run (reiserfs)`.
fn with(report: &RunReport, status: Status) -> Option<String> {
    let cases: Vec<_> = report.cases.iter().filter(|case| case.status == status).collect();
    let of = |id: &&str| cases.iter().any(|case| case.configuration.id == *id);
    let ids: Vec<&str> = report.configuration_ids().into_iter().filter(of).collect();
    (!cases.is_empty()).then(|| format!("{} {} ({})", cases.len(), human::word(status), ids.join(", ")))
}

/// The worst outcome is that of the gate.
fn gates(report: &RunReport) -> Option<String> {
    let mut worst: Vec<(&str, GateVerdict)> = vec![];
    for gate in &report.gates {
        match worst.iter_mut().find(|(known, _)| *known == gate.gate) {
            Some((_, known)) => *known = worse(*known, gate.outcome),
            None => worst.push((&gate.gate, gate.outcome)),
        }
    }
    counted("Gates", worst.into_iter().map(|(_, outcome)| human::word(outcome)))
}

fn worse(one: GateVerdict, other: GateVerdict) -> GateVerdict {
    let order = [GateVerdict::Broken, GateVerdict::Undecided];
    order.into_iter().find(|worst| [one, other].contains(worst)).unwrap_or(GateVerdict::Holds)
}

fn claims(report: &RunReport) -> Option<String> {
    let word = |claim: &crate::result::ClaimResult| match claim.must {
        true if claim.verdict == ClaimVerdict::DoesNotHold => "does not hold although it must".to_owned(),
        _ => human::word(claim.verdict),
    };
    counted("Claims of the source", report.claims.iter().map(word))
}

/// `Gates: 1 holds, 2 undecided.`
fn counted(what: &str, words: impl Iterator<Item = String>) -> Option<String> {
    let mut counts: Vec<(String, usize)> = vec![];
    for word in words {
        match counts.iter_mut().find(|(known, _)| *known == word) {
            Some((_, count)) => *count += 1,
            None => counts.push((word, 1)),
        }
    }
    let many = |word: &str| word.replacen("holds", "hold", 1).replacen("does not", "do not", 1);
    let one = |(word, count): &(String, usize)| match count {
        1 => format!("1 {word}"),
        count => format!("{count} {}", many(word)),
    };
    let told: Vec<_> = counts.iter().map(one).collect();
    (!told.is_empty()).then(|| format!("{what}: {}.", told.join(", ")))
}

fn plural(count: usize, word: &str) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}

/// What a run says of a step.
pub(in crate::report) struct Answer<'a> {
    pub(in crate::report) step: &'a str,
    /// Time, space or CPU; and what is said of each configuration.
    pub(in crate::report) figures: Vec<(String, Vec<String>)>,
}

/// Of each step that has a verified figure: words where blocks were repeated, else the figures
/// themselves, since one pair has no word.
pub(in crate::report) fn steps(report: &RunReport) -> Vec<Answer<'_>> {
    let one = |step| Answer { step, figures: figures(report, step) };
    let all = report.steps().into_iter().map(|step| one(&step.name));
    all.filter(|answer| !answer.figures.is_empty()).collect()
}

/// Why no word is in the answer; `None` where one could be.
pub(in crate::report) fn caveat(report: &RunReport) -> Option<String> {
    if let Some(text) = pick::untimed(report).into_iter().next() {
        return Some(format!("{}{}.", text[..1].to_uppercase(), &text[1..]));
    }
    let single = pick::headlines(report, pick::FILESYSTEMS).iter().all(|one| one.estimate.n < 2);
    (single && report.configuration_ids().len() > 1 && !steps(report).is_empty())
        .then(|| verdict::lonely(report))
}

fn figures(report: &RunReport, step: &str) -> Vec<(String, Vec<String>)> {
    let of = |metric: &str| Some((kernels::name(metric), told(report, step, metric)?));
    let by_kernel = |metric: &str| {
        Some((format!("{} by kernel", kernels::name(metric)), kernels::told(report, step, metric)?))
    };
    HEADLINE.iter().flat_map(|metric| [of(metric), by_kernel(metric)]).flatten().collect()
}

fn told(report: &RunReport, step: &str, metric: &str) -> Option<Vec<String>> {
    let ids = report.configuration_ids();
    let all: Vec<_> = ids.iter().filter_map(|id| compared(report, id, step, metric)).collect();
    let judged = all.iter().any(|one| one.estimate.n >= 2 && word(report, one).is_some());
    match judged {
        true => words(report, &all),
        false => numbers(report, &ids, step, metric),
    }
}

/// A file system against another on its kernel.
fn compared<'a>(report: &'a RunReport, id: &str, step: &str, metric: &str) -> Option<&'a Comparison> {
    pick::comparison(report, [pick::FILESYSTEMS(report, id)?, id], step, metric)
}

/// `btrfs slower than ext4 ×1.62 [1.59, 1.64]`, `xfs not resolved (needs n=80)`.
fn words(report: &RunReport, all: &[&Comparison]) -> Option<Vec<String>> {
    let told: Vec<_> = all.iter().filter(|one| !is_zero(report, one)).collect();
    let one = |(at, one): (usize, &&&Comparison)| {
        let estimate = &one.estimate;
        let word = word(report, one).unwrap_or("not judged");
        let link = match word {
            _ if at > 0 && told[at - 1].baseline == one.baseline => None,
            "same" => Some(format!("as {}", one.baseline)),
            "not resolved" | "not judged" | verdict::EMULATED => Some(format!("against {}", one.baseline)),
            _ => Some(format!("than {}", one.baseline)),
        };
        let ratio = estimate.ratio.map(human::ratio);
        let parts = [Some(one.candidate.clone()), Some(word.to_owned()), link, ratio];
        let sure = [verdict::interval(estimate), verdict::needed(estimate)];
        parts.into_iter().chain(sure).flatten().collect::<Vec<_>>().join(" ")
    };
    (!told.is_empty()).then(|| told.iter().enumerate().map(one).collect())
}

/// `ext4 412 ms`, `btrfs 668 ms (×1.62)`; nothing where all are 0.
fn numbers(report: &RunReport, ids: &[&str], step: &str, metric: &str) -> Option<Vec<String>> {
    let values: Vec<_> =
        ids.iter().filter_map(|id| Some((id, pick::number(report, id, step, metric)?))).collect();
    if values.iter().all(|(_, value)| *value == 0.0) {
        return None;
    }
    let ratio = |id: &str| compared(report, id, step, metric)?.estimate.ratio;
    let one = |(id, value): &(&&str, f64)| {
        let ratio = ratio(id).map(|ratio| format!(" ({})", human::ratio(ratio))).unwrap_or_default();
        format!("{id} {}{ratio}", super::unbroken(&human::by_key(metric, *value)))
    };
    Some(values.iter().map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn said(report: &RunReport, step: &str) -> Vec<(String, String)> {
        let all = steps(report);
        let found = all.into_iter().find(|answer| answer.step == step).unwrap();
        let plain = |(name, texts): (String, Vec<String>)| (name, texts.join("; ").replace('\u{a0}', " "));
        found.figures.into_iter().map(plain).collect()
    }

    #[test]
    fn where_blocks_were_repeated_the_answer_is_in_words() {
        let report = example::repeated();
        let figures = said(&report, "small-files");
        let time =
            "btrfs slower than ext4 ×1.62 [1.59, 1.64]; xfs not resolved ×1.02 [0.880, 1.19] (needs n>40)";
        assert_eq!(figures[0], ("time".into(), time.into()));
        assert_eq!(figures[1].1, "btrfs smaller than ext4 ×0.0159 exact; xfs larger ×1.09 exact");
        assert!(said(&report, "list")[0].1.starts_with("btrfs same as ext4 ×0.987 [0.971, 1.00]; xfs"));
        assert!(!said(&report, "list").iter().any(|(name, _)| name == "space"), "0 on all");
        assert!(said(&report, "remove")[1].1.starts_with("btrfs frees less than ext4"));
        assert_eq!(caveat(&report), None);
    }

    #[test]
    fn of_one_block_the_answer_is_its_figures() {
        let report = example::report();
        assert_eq!(said(&report, "small-files")[0].1, "ext4 412 ms; btrfs 668 ms (×1.62); xfs 430 ms");
        assert!(caveat(&report).unwrap().contains("no ratio here is a verdict"));
    }

    #[test]
    fn no_figure_of_a_case_that_did_not_pass_is_in_the_answer() {
        let mut report = example::report();
        report.comparisons.clear();
        report.cases[0].status = Status::Invalid;
        assert_eq!(said(&report, "small-files")[0].1, "ext4 412 ms; xfs 430 ms");
        report.cases.iter_mut().for_each(|case| case.status = Status::Error);
        assert!(steps(&report).is_empty());
    }

    #[test]
    fn the_ending_says_what_did_not_pass() {
        let mut report = example::repeated();
        let first = |report: &RunReport| ending(report).sentences[0].clone();
        let clean = "20 of 28 cases passed and every check of them is clean";
        assert_eq!(first(&report), format!("{clean}; 1 invalid (xfs); 7 not run (reiserfs)."));
        report.cases[0].verify.kernel_log = Checked::NotChecked;
        assert!(first(&report).starts_with("20 of 28 cases passed, 1 of them without every check; "));
        assert_eq!(ending(&report).tone, Tone::Bad);
        report.cases.retain(|case| case.status != Status::Invalid);
        assert_eq!((ending(&report).tone, ending(&report).word), (Tone::Good, "Passed"));
        assert_eq!(ending(&report).sentences[1], "Claims of the source: 1 not resolved.");
        report.claims[0].verdict = ClaimVerdict::DoesNotHold;
        assert_eq!(ending(&report).word, "Passed");
        report.claims[0].must = true;
        assert_eq!(ending(&report).word, "Does not hold");
        report.cases.retain(|case| case.status == Status::NotRun);
        assert_eq!(ending(&report).word, "Nothing ran");
        report.cases.clear();
        assert_eq!((ending(&report).word, first(&report)), ("Nothing ran", "There are no cases.".into()));
    }

    #[test]
    fn several_hold_and_one_holds() {
        let words = ["holds", "does not hold", "holds", "not checked"].map(str::to_owned);
        let told = counted("Claims", words.into_iter()).unwrap();
        assert_eq!(told, "Claims: 2 hold, 1 does not hold, 1 not checked.");
    }

    #[test]
    fn a_gate_is_as_good_as_its_worst_figure() {
        let mut report = example::report();
        report.gates = example::changes().1;
        assert_eq!(ending(&report).word, "Does not hold");
        assert_eq!(gates(&report).unwrap(), "Gates: 1 broken, 1 holds, 1 undecided.");
        report.gates.retain(|gate| gate.outcome != GateVerdict::Broken);
        assert_eq!((ending(&report).tone, ending(&report).word), (Tone::Open, "Undecided"));
    }
}
