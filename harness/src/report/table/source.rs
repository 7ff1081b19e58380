//! What the suite's source printed and said, beside what this run found.

use std::collections::BTreeSet;

use super::{Page, unbroken};
use crate::report::{human, pick};
use crate::result::{ClaimResult, ClaimVerdict, Reference, RunReport};

/// Figures, then claims; nothing where the suite has no source.
pub(super) fn write(report: &RunReport, page: &mut Page) {
    if !report.references.is_empty() {
        figures(report, page);
    }
    if !report.claims.is_empty() {
        page.title("Claims of the source");
        claims(&report.claims, page);
    }
}

/// Now and then stand beside each other; their ratio only where both did the same work.
fn figures(report: &RunReport, page: &mut Page) {
    page.title("Then and now");
    let here = &report.suite.scale;
    let there = report.suite.resolved.get("base_scale").and_then(|scale| scale.as_str()).unwrap_or(here);
    let mut header = vec!["step", "metric", "file system", "printed by the source", "today"];
    let mut rows: Vec<_> = report.references.iter().map(|reference| figure(report, reference)).collect();
    if here == there {
        header.push("now/then");
    } else {
        rows.iter_mut().for_each(|row| row.truncate(header.len()));
        let text = format!(
            "The source ran scale {there}, this run is scale {here}: compare the file systems, not then with now."
        );
        page.line(&text, 0);
    }
    page.table(&header, rows, 3);
}

fn figure(report: &RunReport, reference: &Reference) -> Vec<String> {
    let now = pick::number(report, &reference.filesystem, &reference.step, &reference.metric);
    let about = if reference.approx { "~" } else { "" };
    let ratio = now.filter(|_| reference.value != 0.0).map(|now| human::ratio(now / reference.value));
    vec![
        reference.step.clone(),
        human::words(&reference.metric),
        reference.filesystem.clone(),
        format!("{about}{}", reference.printed),
        now.map_or_else(|| "-".into(), |now| unbroken(&human::by_key(&reference.metric, now))),
        ratio.unwrap_or_else(|| "-".into()),
    ]
}

/// Figures that were told, each below `then` or `now`.
type Told<'a> = BTreeSet<(&'a str, &'a str)>;

/// First those that were judged; then, below each reason, those that were not.
fn claims(all: &[ClaimResult], page: &mut Page) {
    let mut told = Told::new();
    let (open, judged): (Vec<&ClaimResult>, Vec<_>) =
        all.iter().partition(|claim| claim.verdict == ClaimVerdict::NotChecked);
    for claim in judged {
        let reason = claim.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        let verdict = format!("  {} {}{reason}: ", sign(claim.verdict), human::word(claim.verdict));
        page.line(&format!("{verdict}{}", sentence(claim)), 4);
        behind(claim, &mut told, page);
    }
    let reasons: BTreeSet<_> = open.iter().map(|claim| claim.reason.as_deref()).collect();
    for reason in reasons {
        let text = reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        page.line(&format!("  {} not checked{text}:", sign(ClaimVerdict::NotChecked)), 4);
        for claim in open.iter().filter(|claim| claim.reason.as_deref() == reason) {
            page.line(&format!("    {}", sentence(claim)), 4);
            behind(claim, &mut told, page);
        }
    }
}

const fn sign(verdict: ClaimVerdict) -> char {
    match verdict {
        ClaimVerdict::Holds => '✓',
        ClaimVerdict::DoesNotHold => '✗',
        ClaimVerdict::NotResolved => '?',
        ClaimVerdict::NotChecked => '–',
    }
}

fn sentence(claim: &ClaimResult) -> String {
    let must = if claim.must { ", must" } else { "" };
    format!("{} ({}{must})", claim.text, claim.id)
}

/// The figures behind a claim, as far as no claim above has told them.
fn behind<'a>(claim: &'a ClaimResult, told: &mut Told<'a>, page: &mut Page) {
    for (name, figures) in [("then", &claim.then), ("now", &claim.now)] {
        let Some(figures) = figures else { continue };
        let all: Vec<&str> = figures.split("; ").collect();
        let new: Vec<&str> = all.iter().copied().filter(|part| told.insert((name, part))).collect();
        let above = if new.len() < all.len() { Some("as above") } else { None };
        // A claim that tells nothing new is read together with those above it.
        if !new.is_empty() {
            page.line(
                &format!("      {name}: {}", new.into_iter().chain(above).collect::<Vec<_>>().join("; ")),
                8,
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Style, example};

    fn written(write: impl Fn(&mut Page)) -> String {
        let mut page = Page { width: 100, style: Style::default(), text: String::new() };
        write(&mut page);
        page.text
    }

    #[test]
    fn then_and_now_have_a_ratio_only_at_the_scale_of_the_source() {
        let mut report = example::report();
        let text = written(|page| figures(&report, page));
        assert!(!text.contains('×') && text.contains("scale full, this run is scale quick"), "{text}");
        report.suite.scale = "full".into();
        let text = written(|page| figures(&report, page));
        assert!(text.contains('×') && !text.contains("The source ran"), "{text}");
    }

    #[test]
    fn a_figure_is_told_once() {
        let mut report = example::report();
        report.claims[1].now = Some(format!("{}; synced 2 s", report.claims[0].now.as_deref().unwrap()));
        let text = written(|page| claims(&report.claims, page));
        assert_eq!(text.matches("39.4 MiB").count(), 1, "{text}");
        assert!(text.contains("now: synced 2 s; as above"), "{text}");
    }
}
