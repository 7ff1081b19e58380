//! The report for a browser: one file that needs no network and no program, for a wide screen, a
//! phone, or paper.
//!
//! The parts say the same as on a terminal; what is here arranges them, the answer first. The page
//! forbids itself everything but its own style, so that no label of a stored run can do anything; and
//! every text passes the template's escaping and [`signs`], so that none can look like another.

mod download;
mod sections;
mod shown;
mod signs;

use std::io::Write;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Output, State, context, escape_formatter};

use super::part::answer::{self, Tone};
use super::{Format, Style, chart, write_text};
use crate::error::{Cannot, Result};
use crate::result::RunReport;

pub(super) const FORMAT: Format =
    Format { name: "html", meaning: "One file for a browser, with charts; needs no network.", write };

fn write(report: &RunReport, to: &mut dyn Write, _style: &Style) -> Result<()> {
    write_text(&text(report)?, to)
}

fn text(report: &RunReport) -> Result<String> {
    rendered(report).cannot(|| "write the report as HTML".into())
}

/// The stored run comes last and takes the room that is left.
fn rendered(report: &RunReport) -> std::result::Result<String, minijinja::Error> {
    let environment = template()?;
    let mut page = environment.get_template(PAGE)?.render(data(report))?;
    let download = download::of(report, MOST.saturating_sub(page.len()));
    let end = context! { program => program(report), download => Value::from(Serde(download)) };
    page.push_str(&environment.get_template(END)?.render(end)?);
    Ok(page)
}

/// Bytes of a page, about: more than 2 MB nobody sends around.
const MOST: usize = 1_900_000;

/// The end of their names turns escaping on.
const PAGE: &str = "page.html";
const END: &str = "end.html";

fn template() -> std::result::Result<Environment<'static>, minijinja::Error> {
    let mut environment = Environment::new();
    let mut syntax = SyntaxConfig::builder();
    syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true);
    environment.set_syntax(syntax.build()?);
    environment.set_formatter(format);
    environment.add_template(PAGE, include_str!("html/page.html"))?;
    environment.add_template(END, include_str!("html/end.html"))?;
    Ok(environment)
}

/// The one way of every text into the page.
fn format(out: &mut Output, state: &mut State, value: &Value) -> std::result::Result<(), minijinja::Error> {
    match value.as_str().filter(|_| !value.is_safe()).and_then(signs::replaced) {
        Some(plain) => escape_formatter(out, state, &Value::from(plain)),
        None => escape_formatter(out, state, value),
    }
}

fn data(report: &RunReport) -> Value {
    let ending = answer::ending(report);
    let steps = answer::steps(report).into_iter();
    let steps = steps.map(|answer| context! { name => answer.step, figures => answer.figures });
    context! {
        style => format!("{}{}", chart::THEME, include_str!("html/style.css")),
        title => title(report),
        about => about(report),
        program => program(report),
        tone => tone(ending.tone),
        word => ending.word,
        sentences => ending.sentences,
        warnings => sections::warnings(report).len(),
        steps => steps.collect::<Vec<_>>(),
        caveat => answer::caveat(report),
        sections => Value::from(Serde(sections::all(report))),
    }
}

fn program(report: &RunReport) -> String {
    format!("{} {}", report.tool.name, report.tool.version)
}

fn title(report: &RunReport) -> &str {
    let suite = &report.suite;
    [&suite.title, &suite.name]
        .into_iter()
        .find(|text| !text.trim().is_empty())
        .map_or("A run", String::as_str)
}

/// What a reader wants to know of any figure: what ran, where, when, and how often.
fn about(report: &RunReport) -> Vec<String> {
    let (suite, manifest) = (&report.suite, &report.manifest);
    let scale = Some(&suite.scale).filter(|scale| *scale != crate::result::ONLY_SCALE && !scale.is_empty());
    let scale = scale.map(|scale| format!(", scale {scale}")).unwrap_or_default();
    let blocks = super::pick::blocks(report).len();
    let day = manifest.started_at.split('T').next().unwrap_or_default();
    let all = [
        format!("{}{scale}", suite.name),
        report.configuration_ids().join(", "),
        if blocks > 1 { format!("{blocks} blocks") } else { String::new() },
        Some(kernels(report))
            .filter(|all| !all.is_empty())
            .map_or_else(String::new, |all| format!("Linux {all}")),
        day.to_owned(),
    ];
    all.into_iter().filter(|text| !text.is_empty()).collect()
}

/// Those that mounted the file systems: in virtual machines, none of them is this machine's.
fn kernels(report: &RunReport) -> String {
    let mut all: Vec<&str> = report.environments.iter().map(|there| there.kernel.as_str()).collect();
    all.dedup();
    if all.is_empty() { report.manifest.kernel.clone() } else { all.join(", ") }
}

const fn tone(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Open => "open",
        Tone::Bad => "bad",
    }
}

#[cfg(test)]
mod tests;
