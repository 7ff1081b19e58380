//! What stands below the answer, in the order in which a reader asks: what did not pass and why, what
//! it looks like, what the source said, whether it was fair, what it cost, and how it was made.

use std::collections::BTreeSet;

use serde::Serialize;

use super::shown::{self, Shown};
use crate::report::chart::{self, Chart};
use crate::report::page::{Block, Page};
use crate::report::part;
use crate::result::{RunReport, StepResult};

/// Begins with a heading of the second order.
#[derive(Serialize)]
pub(super) struct Section {
    id: String,
    title: String,
    note: Option<String>,
    parts: Vec<Part>,
}

/// Begins with a heading of the third order, where it has a title.
#[derive(Default, Serialize)]
struct Part {
    title: Option<String>,
    figures: Vec<Figure>,
    blocks: Vec<Shown>,
}

#[derive(Serialize)]
struct Figure {
    title: String,
    text: String,
    width: String,
    height: String,
    body: String,
}

impl From<Chart> for Figure {
    fn from(chart: Chart) -> Self {
        let (width, height) = (chart.width.to_string(), chart.height.to_string());
        Self { title: chart.title, text: chart.text, width, height, body: chart.body }
    }
}

/// All that have something to say.
pub(super) fn all(report: &RunReport) -> Vec<Section> {
    let mut sections = told(|page| part::outcome::not_passed(report, page));
    sections.extend(figure(report));
    sections.extend(grouped("Step by step", steps(report)));
    sections.extend(told(|page| {
        part::overview::write(report, page);
        part::differences::write(report, page);
        part::kernels::write(report, page);
        part::source::write(report, page);
        part::ledger::write(report, page);
    }));
    sections.extend(grouped("Space, told in four ways", parts(|page| part::space::write(report, page))));
    sections.extend(grouped("Latency by percentiles", parts(|page| part::latency::write(report, page))));
    sections.extend(grouped("Throughput over time", series(report)));
    sections.extend(told(|page| part::samples::write(report, page)));
    sections.extend(grouped("Machine and manifest", manifest(report)));
    sections.extend(warned(report));
    sections.extend(told(|page| outcome(report, page)));
    name(&mut sections);
    sections
}

/// The figure of the source, made again; where there is none, every step at a glance.
fn figure(report: &RunReport) -> Option<Section> {
    let of = |charts: Vec<Chart>| charts.into_iter().map(Figure::from).collect::<Vec<_>>();
    let again = of(chart::figure(report));
    let (title, part) = match again.is_empty() {
        true => ("Every step at a glance", Part { figures: of(chart::overview(report)), ..Part::default() }),
        false => {
            let title = chart::figure_title(report);
            ("The figure of the source, made again", Part { title, figures: again, ..Part::default() })
        }
    };
    grouped(title, vec![part])
}

/// A chart for each step, and the numbers below it.
fn steps(report: &RunReport) -> Vec<Part> {
    let (reading, changing) = part::steps::sorted(report);
    let mut all: Vec<Part> = changing.into_iter().map(|step| changed(report, step)).collect();
    let drawn = reading.iter().map(|step| Part {
        title: Some(step.name.clone()),
        figures: chart::step(report, &step.name).into_iter().map(Figure::from).collect(),
        blocks: vec![],
    });
    all.extend(drawn.filter(|part| !part.figures.is_empty()));
    all.extend(parts(|page| part::steps::read(report, &reading, page)));
    if all.iter().any(|part| !part.is_empty()) {
        all.extend(parts(|page| part::steps::meaning(report, page)));
    }
    all
}

fn changed(report: &RunReport, step: &StepResult) -> Part {
    let figures = chart::step(report, &step.name).into_iter().map(Figure::from).collect();
    let told = parts(|page| part::steps::changed(report, step, page));
    let part = told.into_iter().next().unwrap_or_default();
    Part { title: part.title.or_else(|| Some(step.name.clone())), figures, ..part }
}

/// Of steps that fill: there a file system shows how it ages.
fn series(report: &RunReport) -> Vec<Part> {
    let steps = report.steps().into_iter();
    let fills = steps.filter(|step| step.facts.file_size_bytes.is_some());
    let one = |step: &StepResult| {
        let figure = Figure::from(chart::series(report, &step.name)?);
        Some(Part { title: Some(step.name.clone()), figures: vec![figure], blocks: vec![] })
    };
    fills.filter_map(one).collect()
}

/// The machine first; its warnings have a section of their own.
fn manifest(report: &RunReport) -> Vec<Part> {
    let fields = head(report).into_iter().filter(|block| !is_warning(block)).collect();
    let machine = Part { title: Some("The machine".into()), blocks: shown::all(fields), ..Part::default() };
    let mut all = vec![machine];
    all.extend(parts(|page| part::origin::write(report, page)));
    all
}

fn head(report: &RunReport) -> Vec<Block> {
    let mut page = Page::boundless();
    part::head::write(report, &mut page);
    page.blocks
}

fn is_warning(block: &Block) -> bool {
    matches!(block, Block::Field { name, .. } if name == "warning")
}

/// What makes the figures less trustworthy.
pub(super) fn warnings(report: &RunReport) -> Vec<String> {
    let texts = head(report).into_iter().filter(is_warning).filter_map(|block| match block {
        Block::Field { text, .. } => Some(text),
        _ => None,
    });
    texts.collect()
}

fn warned(report: &RunReport) -> Option<Section> {
    let mut page = Page::boundless();
    warnings(report).iter().for_each(|text| page.line(text.trim(), 2));
    let blocks = shown::all(page.blocks);
    grouped("Warnings", vec![Part { blocks, ..Part::default() }])
}

fn outcome(report: &RunReport, page: &mut Page) {
    if let Some(changes) = &report.changes {
        let title = format!("Against the earlier run {}", changes.base_run_id);
        part::changes::write(&title, changes, &report.gates, page);
    }
    part::gates::write(&report.gates, report.changes.as_ref(), page);
    part::outcome::verification(report, page);
    part::outcome::again(report, page);
}

impl Part {
    fn is_empty(&self) -> bool {
        self.figures.is_empty() && self.blocks.is_empty()
    }
}

/// Under one heading; `None` where nothing is said.
fn grouped(title: &str, mut parts: Vec<Part>) -> Option<Section> {
    parts.retain(|part| !part.is_empty());
    let section = Section { id: String::new(), title: title.into(), note: None, parts };
    (!section.parts.is_empty()).then_some(section)
}

/// What is written, cut at its titles.
fn parts(write: impl FnOnce(&mut Page)) -> Vec<Part> {
    let mut page = Page::boundless();
    write(&mut page);
    let mut parts: Vec<(Option<String>, Vec<Block>)> = vec![];
    for block in page.blocks {
        match (block, parts.last_mut()) {
            (Block::Title(title), _) => parts.push((Some(title), vec![])),
            (block, Some((_, blocks))) => blocks.push(block),
            (block, None) => parts.push((None, vec![block])),
        }
    }
    let part = |(title, blocks)| Part { title, blocks: shown::all(blocks), figures: vec![] };
    parts.into_iter().map(part).collect()
}

/// Each title begins a section; what stands in brackets at its end is a note.
fn told(write: impl FnOnce(&mut Page)) -> Vec<Section> {
    let section = |mut part: Part| {
        let whole = part.title.take().unwrap_or_default();
        let cut = whole.strip_suffix(')').and_then(|title| title.split_once(" ("));
        let note = cut.map(|(_, note)| note.to_owned());
        let title = cut.map_or(&*whole, |(title, _)| title).to_owned();
        Section { id: String::new(), title, note, parts: vec![part] }
    };
    parts(write).into_iter().map(section).collect()
}

/// Ids of plain letters, each once.
fn name(sections: &mut [Section]) {
    let mut known: BTreeSet<String> = RESERVED.map(str::to_owned).into();
    for (at, section) in sections.iter_mut().enumerate() {
        let letters = section.title.to_lowercase().chars().take(40).collect::<String>();
        let words: Vec<&str> = letters
            .split(|sign: char| !sign.is_ascii_alphanumeric())
            .filter(|word| !word.is_empty())
            .collect();
        let id = words.join("-");
        let plain = id.starts_with(|first: char| first.is_ascii_alphabetic()) && !known.contains(&id);
        section.id = if plain { id } else { format!("section-{at}") };
        known.insert(section.id.clone());
    }
}

/// Ids of the page itself.
const RESERVED: [&str; 2] = ["answer", "raw-data"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    fn titles(report: &RunReport) -> Vec<String> {
        all(report).into_iter().map(|section| section.title).collect()
    }

    #[test]
    fn sections_stand_in_the_order_in_which_a_reader_asks() {
        let (changes, gates) = example::changes();
        let report = RunReport { changes: Some(changes), gates, ..example::report() };
        let found = titles(&report);
        let expected = [
            "Did not pass",
            "Step by step",
            "Time until synced",
            "Then and now",
            "Claims of the source",
            "Fairness ledger",
            "Space, told in four ways",
            "Latency by percentiles",
            "Machine and manifest",
            "Warnings",
            "Against the earlier run 0a0c7f0a-0000-4000-8000-000000000000",
            "Gates",
            "Verification",
            "Run it again",
        ];
        let places: Vec<_> = expected.iter().map(|title| found.iter().position(|one| one == title)).collect();
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{found:?}");
        assert!(titles(&example::repeated()).iter().any(|title| title == "Every sample"));
    }

    #[test]
    fn ids_are_plain_and_each_stands_once() {
        let section =
            |title: &str| Section { id: String::new(), title: title.into(), note: None, parts: vec![] };
        let mut all = ["Gates", "Gates", "Answer", "2 <b>", "שלום", "A \"b\""].map(section);
        name(&mut all);
        let ids: Vec<_> = all.iter().map(|section| section.id.as_str()).collect();
        assert_eq!(ids, ["gates", "section-1", "section-2", "section-3", "section-4", "a-b"]);
    }

    #[test]
    fn a_warning_stands_in_its_section_only() {
        let shown = |section: &Section| serde_json::to_string(section).unwrap();
        let sections = all(&example::report());
        let with: Vec<_> = sections.iter().filter(|one| shown(one).contains("the load average is")).collect();
        assert_eq!(with.iter().map(|one| one.title.as_str()).collect::<Vec<_>>(), ["Warnings"]);
    }
}
