//! Names in a suite against what this program knows.

use std::ops::Range;

use super::Known;
use super::document::{Node, Place, Source};
use super::figure::panels;
use super::model::{Model, Step, place};
use crate::claim::{ClaimSpec, Term, fact_keys, only_workload_with};
use crate::error::Result;
use crate::names::unknown;

/// Check the names of workloads, their parameters and the file systems that will run.
pub(super) fn selection(source: &Source, model: &Model, known: &Known) -> Result<()> {
    for filesystem in &model.filesystems {
        let at = place(&filesystem.node, "name");
        if let Some((name, why)) = known.left_out.iter().find(|(name, _)| *name == filesystem.name) {
            return Err(source.error(at, &format!("no file system `{name}` here: it is {why}")));
        }
        one_of(source, at, "file system", &filesystem.name, known.filesystems.iter().copied())?;
    }
    model.steps.iter().try_for_each(|step| workload(source, step, known))
}

fn workload(source: &Source, step: &Step, known: &Known) -> Result<()> {
    let names = known.workloads.iter().map(|workload| workload.name.as_str());
    one_of(source, place(&step.node, "workload"), "workload", &step.workload, names)?;
    let workload = known.workloads.iter().find(|workload| workload.name == step.workload);
    let common = ["name", "workload", "allow-limit"];
    let parameters = workload.into_iter().flat_map(|workload| &workload.parameters).map(String::as_str);
    let keys: Vec<_> = parameters.chain(common).collect();
    step.parameters
        .0
        .iter()
        .try_for_each(|entry| one_of(source, &entry.place, "key", &entry.key, keys.iter().copied()))
}

fn one_of<'a>(
    source: &Source,
    at: &Place,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> Result<()> {
    match known.clone().any(|other| other == name) {
        true => Ok(()),
        false => Err(source.error(at, &unknown(what, name, known))),
    }
}

/// What references, figures and claims may name: that of the suite itself, whatever is selected now.
pub(super) struct Nameable<'a> {
    source: &'a Source,
    /// With their workloads.
    steps: Vec<(&'a str, &'a str)>,
    filesystems: Vec<&'a str>,
    metrics: Vec<String>,
    case_metrics: &'a [&'a str],
    scales: &'a [String],
}

impl<'a> Nameable<'a> {
    pub(super) fn new(source: &'a Source, model: &'a Model, scales: &'a [String], known: &Known<'a>) -> Self {
        let mut metrics = fact_keys();
        metrics.extend(known.metrics.iter().map(|key| (*key).to_owned()));
        Self {
            source,
            steps: model.steps.iter().map(|step| (step.name.as_str(), step.workload.as_str())).collect(),
            filesystems: model.filesystems.iter().map(|filesystem| filesystem.id.as_str()).collect(),
            metrics,
            case_metrics: known.case_metrics,
            scales,
        }
    }

    /// Check all references, figures and claims of the suite.
    pub(super) fn check(&self, model: &Model) -> Result<()> {
        for (reference, node) in &model.references {
            self.step(place(node, "step"), Some(&reference.step))?;
            self.metric(place(node, "metric"), Some(&reference.step), &reference.metric)?;
            self.filesystem(place(node, "filesystem"), &reference.filesystem)?;
        }
        for (panel, node) in model.figures.iter().flat_map(|(figure, node)| panels(figure, node)) {
            self.step(place(node, "step"), Some(&panel.step))?;
            self.metric(place(node, "metric"), Some(&panel.step), &panel.metric)?;
        }
        model.claims.iter().try_for_each(|(claim, node)| self.claim(claim, node))
    }

    fn claim(&self, claim: &ClaimSpec, node: &Node) -> Result<()> {
        self.step(place(node, "step"), claim.step.as_deref())?;
        if let Some(metric) = &claim.metric {
            self.metric(place(node, "metric"), claim.step.as_deref(), metric)?;
        }
        for scale in &claim.scales {
            let known = self.scales.iter().map(String::as_str);
            one_of(self.source, place(node, "scales"), "scale", scale, known)?;
        }
        let holds = place(node, "holds");
        let condition = claim.condition().map_err(|error| {
            self.source.error(&self.inside(holds, &claim.holds, &error.place), &error.message)
        })?;
        let term = |term: &Term| self.term(&self.inside(holds, &claim.holds, &term.place), term);
        condition.terms().into_iter().try_for_each(term)
    }

    fn term(&self, at: &Place, term: &Term) -> Result<()> {
        self.step(at, term.step.as_deref())?;
        self.metric(at, term.step.as_deref(), &term.metric)?;
        self.filesystem(at, &term.filesystem)
    }

    fn step(&self, at: &Place, step: Option<&str>) -> Result<()> {
        let names = self.steps.iter().map(|(name, _)| *name);
        step.map_or(Ok(()), |step| one_of(self.source, at, "step", step, names))
    }

    fn filesystem(&self, at: &Place, id: &str) -> Result<()> {
        one_of(self.source, at, "file system", id, self.filesystems.iter().copied())
    }

    fn metric(&self, at: &Place, step: Option<&str>, key: &str) -> Result<()> {
        let Some(step) = step else {
            let known = self.case_metrics.iter().copied();
            return one_of(self.source, at, "metric of a whole case", key, known);
        };
        one_of(self.source, at, "metric", key, self.metrics.iter().map(String::as_str))?;
        let workload = self.steps.iter().find(|(name, _)| *name == step).map(|(_, workload)| *workload);
        match (only_workload_with(key), workload) {
            (Some(only), Some(workload)) if only != workload => {
                let message = format!("only steps of {only} have `{key}`; `{step}` is a step of {workload}");
                Err(self.source.error(at, &message))
            }
            _ => Ok(()),
        }
    }

    /// The place of a part of a text; of the whole text where it is written with escapes.
    fn inside(&self, at: &Place, text: &str, part: &Range<usize>) -> Place {
        let Place::File(span) = at else { return at.clone() };
        match place_of_part(self.source.at(span), text, part) {
            Some(found) => Place::File(span.start + found.start..span.start + found.end),
            None => at.clone(),
        }
    }
}

/// Where a part of `text` is in `written`, the same text as TOML writes it: in quotes, and perhaps
/// on several lines that end in a backslash.
fn place_of_part(written: &str, text: &str, part: &Range<usize>) -> Option<Range<usize>> {
    let quotes = ["\"\"\"", "'''", "\"", "'"].iter().find(|quotes| written.starts_with(**quotes));
    let mut at = quotes.map_or(0, |quotes| quotes.len());
    // A line break after three quotes is no part of the text.
    at += usize::from(at == 3 && written[at..].starts_with('\n') && !text.starts_with('\n'));
    let mut places = vec![];
    for letter in text.chars() {
        if !written[at..].starts_with(letter) {
            at += continued(&written[at..])?;
        }
        if !written[at..].starts_with(letter) {
            return None;
        }
        places.extend(at..at + letter.len_utf8());
        at += letter.len_utf8();
    }
    let start = places.get(part.start).copied().unwrap_or(at);
    let end = part.end.checked_sub(1).and_then(|last| places.get(last)).map_or(start, |last| last + 1);
    Some(start..end.max(start))
}

/// Length of a backslash, a line break and all blanks behind it. Source: TOML 1.0, "String".
fn continued(written: &str) -> Option<usize> {
    let rest = written.strip_prefix('\\')?;
    let blanks = rest.len() - rest.trim_start().len();
    rest[..blanks].contains('\n').then_some(1 + blanks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_found_however_toml_writes_the_text() {
        let text = "a < 1 and bc > 2";
        for written in [
            "\"a < 1 and bc > 2\"",
            "'a < 1 and bc > 2'",
            "\"\"\"\\\n  a < 1 \\\n    and bc > 2\"\"\"",
            "\"\"\"\na < 1 and \\\n\n  bc > 2\"\"\"",
        ] {
            let found = place_of_part(written, text, &(10..12)).unwrap();
            assert_eq!(&written[found], "bc", "{written}");
            let end = place_of_part(written, text, &(16..16)).unwrap();
            assert_eq!(end, end.start..end.start);
            assert!(written[end.start..].starts_with(['"', '\'']), "{written}");
        }
        assert_eq!(place_of_part("\"a \\u003c 1\"", "a < 1", &(0..1)), None);
    }
}
