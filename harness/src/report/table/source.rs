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

/// First those that were judged; then, below each reason, those that were not.
fn claims(all: &[ClaimResult], page: &mut Page) {
    let mut seen = BTreeSet::new();
    let (open, judged): (Vec<&ClaimResult>, Vec<_>) =
        all.iter().partition(|claim| claim.verdict == ClaimVerdict::NotChecked);
    for found in judged {
        let reason = found.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
        claim(found, &format!("{}{reason}: ", human::word(found.verdict)), &mut seen, page);
    }
    let reasons: BTreeSet<_> = open.iter().map(|claim| claim.reason.as_deref()).collect();
    for reason in reasons {
        let text = reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        page.line(&format!("  not checked{text}:"), 2);
        open.iter()
            .filter(|found| found.reason.as_deref() == reason)
            .for_each(|found| claim(found, "", &mut seen, page));
    }
}

/// The verdict, then the figures that no claim above has shown.
fn claim<'a>(
    found: &'a ClaimResult,
    verdict: &str,
    seen: &mut BTreeSet<(&'a str, &'a str)>,
    page: &mut Page,
) {
    let sign = match found.verdict {
        ClaimVerdict::Holds => '✓',
        ClaimVerdict::DoesNotHold => '✗',
        ClaimVerdict::NotResolved => '?',
        ClaimVerdict::NotChecked => '–',
    };
    let must = if found.must { ", must" } else { "" };
    page.line(&format!("  {sign} {verdict}{} ({}{must})", found.text, found.id), 4);
    for (name, figures) in [("then", &found.then), ("now", &found.now)] {
        let Some(figures) = figures else { continue };
        let (new, known): (Vec<&str>, Vec<_>) =
            figures.split("; ").partition(|part| seen.insert((name, part)));
        let above = if known.is_empty() { None } else { Some("as above") };
        let parts: Vec<_> = new.into_iter().chain(above).collect();
        page.line(&format!("    {name}: {}", parts.join("; ")), 6);
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
