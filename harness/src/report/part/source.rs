//! What the suite's source printed and said, beside what this run found.

use std::collections::BTreeSet;

use super::{Page, postmark, unbroken};
use crate::report::{human, pick};
use crate::result::{ClaimResult, ClaimVerdict, Reference, RunReport, id_on};

/// Figures, then claims; nothing where the suite has no source.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    figures(report, page);
    judged(report, page);
}

/// What the source says follows, and whether it does.
pub(in crate::report) fn judged(report: &RunReport, page: &mut Page) {
    if !report.claims.is_empty() {
        page.title("Claims of the source");
        claims(&report.claims, page);
    }
}

/// Now and then stand beside each other; their ratio only where both did the same work.
pub(in crate::report) fn figures(report: &RunReport, page: &mut Page) {
    if report.references.is_empty() {
        return;
    }
    let here = &report.suite.scale;
    let there = report.suite.resolved.get("base_scale").and_then(|scale| scale.as_str()).unwrap_or(here);
    let steps = each(report.references.iter().map(|reference| reference.step.as_str()));
    let (title, lead) = match steps.as_slice() {
        [step] => (format!("Then and now: {step}"), &LEAD[1..]),
        _ => ("Then and now".to_owned(), &LEAD[..]),
    };
    page.title(&title);
    if here != there {
        let text = format!(
            "The source ran scale {there}, this run is scale {here}: compare the file systems, not then with now."
        );
        page.line(&text, 0);
    }
    let columns = if here == there { &COLUMNS[..] } else { &COLUMNS[..2] };
    let (header, rows) = beside(report, lead, columns);
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    // Of a figure that was printed twice, both have to be seen.
    let once = each(report.references.iter().map(place)).len() == report.references.len();
    match once && page.has_room(&header, &rows) {
        true => page.table(&header, rows, lead.len()),
        false => below(report, lead, columns, page),
    }
}

/// What a row is about; the first one only where there are several.
const LEAD: [&str; 2] = ["step", "figure"];
/// What it says of a file system; the last one only where it means something.
const COLUMNS: [&str; 3] = ["then", "today", "now/then"];

/// Step, key of the metric, and file system.
type Place<'a> = (&'a str, &'a str, &'a str);

fn place(reference: &Reference) -> Place<'_> {
    (&reference.step, &reference.metric, &reference.filesystem)
}

/// Each figure of the source: the step, and the key of its metric.
fn each_figure(report: &RunReport) -> Vec<(&str, &str)> {
    each(report.references.iter().map(place).map(|(step, metric, _)| (step, metric)))
}

/// As in the table of the step, where PostMark has the figure.
fn name(metric: &str) -> String {
    postmark::label(metric).unwrap_or_else(|| human::words(metric))
}

fn shown(metric: &str, value: f64) -> String {
    match postmark::label(metric) {
        Some(_) => postmark::shown(metric, value),
        None => human::by_key(metric, value),
    }
}

/// A row for each figure, with columns for each file system, so that both are seen at once.
fn beside(report: &RunReport, lead: &[&str], columns: &[&str]) -> (Vec<String>, Vec<Vec<String>>) {
    let filesystems = each(report.references.iter().map(|reference| reference.filesystem.as_str()));
    let of = |filesystem: &&str| {
        let today = on_kernels(report, filesystem).into_iter();
        let today = today.flat_map(|id| columns[1..].iter().map(move |column| format!("{id} {column}")));
        std::iter::once(format!("{filesystem} {}", columns[0])).chain(today).collect::<Vec<_>>()
    };
    let names = lead.iter().map(|name| (*name).to_owned());
    let header = names.chain(filesystems.iter().flat_map(of)).collect();
    let row = |(step, metric): (&str, &str)| {
        let lead = [step.to_owned(), name(metric)].into_iter().skip(LEAD.len() - lead.len());
        let cells = filesystems.iter().flat_map(|id| {
            let at = (step, metric, *id);
            let reference = report.references.iter().find(|reference| place(reference) == at);
            let today = on_kernels(report, id).into_iter();
            let today =
                today.flat_map(|id| now(report, at, &id, reference).into_iter().take(columns.len() - 1));
            std::iter::once(then(reference)).chain(today).collect::<Vec<_>>()
        });
        lead.chain(cells).collect()
    };
    (header, each_figure(report).into_iter().map(row).collect())
}

/// A row for each file system of each figure, where the terminal is narrow.
fn below(report: &RunReport, lead: &[&str], columns: &[&str], page: &mut Page) {
    let header: Vec<&str> = lead.iter().chain(&["file system"]).chain(columns).copied().collect();
    let mut rows = Vec::new();
    for (step, metric) in each_figure(report) {
        let of_figure = |one: &&Reference| (&*one.step, &*one.metric) == (step, metric);
        let printed = report.references.iter().filter(of_figure);
        let each =
            printed.flat_map(|one| on_kernels(report, &one.filesystem).into_iter().map(move |id| (one, id)));
        rows.extend(each.enumerate().map(|(at, (one, id))| {
            let name = if at == 0 { [step.to_owned(), name(metric)] } else { Default::default() };
            let name = name.into_iter().skip(LEAD.len() - lead.len()).chain([id.clone(), then(Some(one))]);
            name.chain(now(report, place(one), &id, Some(one)).into_iter().take(columns.len() - 1)).collect()
        }));
    }
    page.table(&header, rows, lead.len() + 1);
}

/// Each once, in the order of the source.
fn each<T: PartialEq>(all: impl Iterator<Item = T>) -> Vec<T> {
    all.fold(Vec::new(), |mut known, one| {
        if !known.contains(&one) {
            known.push(one);
        }
        known
    })
}

/// The configurations of a file system that the source names: one on each kernel.
fn on_kernels(report: &RunReport, filesystem: &str) -> Vec<String> {
    let kernels = report.kernels().into_iter().map(|kernel| id_on(filesystem, kernel));
    Some(kernels.collect()).filter(|ids: &Vec<String>| !ids.is_empty()).unwrap_or(vec![filesystem.into()])
}

fn or_nothing(cell: Option<String>) -> String {
    cell.map_or_else(|| "-".into(), |text| unbroken(&text))
}

/// What the source printed.
fn then(reference: Option<&Reference>) -> String {
    or_nothing(reference.map(|one| format!("{}{}", if one.approx { "~" } else { "" }, one.printed)))
}

/// What this run found of a configuration, and its ratio to what the source printed.
fn now(report: &RunReport, (step, metric, _): Place, id: &str, reference: Option<&Reference>) -> [String; 2] {
    let now = pick::number(report, id, step, metric);
    let known = reference.map(|one| one.value).filter(|value| *value != 0.0);
    let ratio = now.zip(known).map(|(now, then)| human::ratio(now / then));
    [now.map(|now| shown(metric, now)), ratio].map(or_nothing)
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
    use crate::report::example;
    use crate::report::part::tests::text;

    fn written(write: impl Fn(&mut Page)) -> String {
        let mut page = Page::new(100);
        write(&mut page);
        text(&page)
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
    fn file_systems_stand_beside_each_other_or_where_that_is_too_wide_below() {
        let mut report = example::postmark();
        report.suite.scale = "full".into();
        let figures = |width| {
            let mut page = Page::new(width);
            figures(&report, &mut page);
            text(&page)
        };
        let row =
            |text: &str, words: &str| text.lines().find(|line| line.contains(words)).unwrap().to_owned();
        let wide = row(&figures(132), "│ total ");
        let words: Vec<&str> = wide.split_whitespace().collect();
        let expected = "│ total ┆ 498 s ┆ 498 s ┆ ×1.00 ┆ 1268 s ┆ 1,268 s ┆ ×1.00 │";
        assert_eq!(words.join(" "), expected);
        let narrow = figures(80);
        assert_eq!(narrow.matches("│ total ").count(), 1, "{narrow}");
        let first = row(&narrow, "│ total ");
        assert!(first.contains("btrfs") && !first.contains("1268"), "{narrow}");
        assert!(row(&narrow, " 1268").contains("ext4"), "{narrow}");
    }

    #[test]
    fn a_figure_that_the_source_printed_twice_is_shown_twice() {
        let mut report = example::postmark();
        let other = Reference { printed: "497 s".into(), ..report.references[0].clone() };
        report.references.push(other);
        let text = written(|page| figures(&report, page)).replace('\u{a0}', " ");
        assert!(text.contains(" 498 s ┆") && text.contains(" 497 s ┆"), "{text}");
    }

    #[test]
    fn each_kernel_has_its_own_today() {
        let report = example::kernels();
        for width in [100, 300] {
            let mut page = Page::new(width);
            figures(&report, &mut page);
            let text = text(&page);
            assert!(text.contains("btrfs@6.1 ") && text.contains("btrfs@6.12 "), "{text}");
            assert!(!text.contains("@6.1 then"), "{text}");
        }
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
