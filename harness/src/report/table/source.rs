//! What the suite's source printed and said, beside what this run found.

use super::{Page, unbroken};
use crate::report::{human, pick};
use crate::result::{ClaimResult, ClaimVerdict, Reference, RunReport};

/// Figures, then claims; nothing where the suite has no source.
pub(super) fn write(report: &RunReport, page: &mut Page) {
    if !report.references.is_empty() {
        page.title("Then and now");
        other_scale(report, page);
        let rows = report.references.iter().map(|reference| figures(report, reference)).collect();
        page.table(&["step", "metric", "file system", "printed by the source", "today", "now/then"], rows, 3);
    }
    if !report.claims.is_empty() {
        page.title("Claims of the source");
        report.claims.iter().for_each(|found| claim(found, page));
    }
}

/// Figures of two scales are not figures of the same work.
fn other_scale(report: &RunReport, page: &mut Page) {
    let source = report.suite.resolved.get("base_scale").and_then(|scale| scale.as_str());
    if let Some(source) = source.filter(|source| *source != report.suite.scale) {
        let here = &report.suite.scale;
        let text = format!(
            "The source ran `{source}`, this is `{here}`: amounts differ, so look at the relation between file systems."
        );
        page.line(&text, 0);
    }
}

fn figures(report: &RunReport, reference: &Reference) -> Vec<String> {
    let now = pick::number(report, &reference.filesystem, &reference.step, &reference.metric);
    let about = if reference.approx { "~" } else { "" };
    let ratio = now.filter(|_| reference.value != 0.0).map(|now| human::ratio(now / reference.value));
    vec![
        reference.step.clone(),
        human::words(&reference.metric),
        reference.filesystem.clone(),
        unbroken(&format!("{about}{}", reference.printed)),
        now.map_or_else(|| "-".into(), |now| unbroken(&human::by_key(&reference.metric, now))),
        ratio.unwrap_or_else(|| "-".into()),
    ]
}

fn claim(found: &ClaimResult, page: &mut Page) {
    let must = if found.must { " (must)" } else { "" };
    page.line(&format!("  {}{must}: {}: {}", found.id, verdict(found), found.text), 4);
    for (name, figures) in [("then", &found.then), ("now", &found.now)] {
        if let Some(figures) = figures {
            page.line(&format!("    {name}: {figures}"), 6);
        }
    }
}

fn verdict(found: &ClaimResult) -> String {
    match (found.verdict, &found.reason) {
        (ClaimVerdict::Holds, _) => "holds".into(),
        (verdict, None) => human::word(verdict),
        (verdict, Some(reason)) => format!("{} ({reason})", human::word(verdict)),
    }
}
