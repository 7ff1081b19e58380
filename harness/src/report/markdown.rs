//! For a comment on a pull request, in the Markdown of GitHub.
//!
//! Who reads it wants the answer on one screen: where it ran, the time until synced with its ratios
//! and words, and what did not hold or did not pass. Everything else is folded up, and left out
//! where the comment would be longer than GitHub takes; then it says so. Nothing in it calls people
//! or points at issues: see [`escape`].

mod blocks;
mod escape;

use std::io::Write;

use super::page::{Block, Page};
use super::{Format, Style, part, pick, write_text};
use crate::error::Result;
use crate::result::RunReport;

pub(super) const FORMAT: Format = Format {
    name: "markdown",
    meaning: "For a comment on a pull request: the answer, the rest folded up.",
    write,
};

/// GitHub takes 65,536 characters; counted in bytes, which are never fewer.
const MOST: usize = 65_536;

/// Room for what comes after everything that may be left out.
const END: usize = 4096;

fn write(report: &RunReport, to: &mut dyn Write, _style: &Style) -> Result<()> {
    write_text(&text(report), to)
}

fn text(report: &RunReport) -> String {
    let command = part::outcome::command(report).map(escape::command).unwrap_or_default();
    // A command that does not fit would be cut, and so be another one.
    let command = if command.len() > END / 2 { String::new() } else { command };
    let mut text = String::new();
    let mut left_out = shorten(&mut text, &answer(report));
    for (title, folded) in folded(report) {
        if text.len() + folded.len() <= MOST - END {
            text.push_str(&folded);
        } else {
            left_out.push(title);
        }
    }
    if !left_out.is_empty() {
        let what = left_out.join(", ");
        text.push_str(&format!(
            "\nLeft out, since a comment has no room for it: {what}. The other formats have it.\n"
        ));
    }
    if !command.is_empty() {
        text.push_str(&format!("\nRun it again: {command}\n"));
    }
    text
}

/// As many whole lines as there is room for.
fn shorten(text: &mut String, whole: &str) -> Vec<&'static str> {
    let room = MOST - 2 * END;
    let lines = whole.split_inclusive('\n');
    for line in lines {
        if text.len() + line.len() > room {
            return vec!["a part of the above"];
        }
        text.push_str(line);
    }
    vec![]
}

/// What is not folded up.
fn answer(report: &RunReport) -> String {
    let mut page = Page::boundless();
    part::overview::write(report, &mut page);
    part::kernels::write(report, &mut page);
    part::outcome::not_passed(report, &mut page);
    part::gates::write(&report.gates, report.changes.as_ref(), &mut page);
    if let Some(changes) = &report.changes {
        let title = format!("Against the earlier run {}", changes.base_run_id);
        part::changes::write(&title, changes, &report.gates, &mut page);
    }
    part::source::judged(report, &mut page);
    format!("{}\n{}", head(report), blocks::text(&page.blocks, "####"))
}

/// The title, where it ran in a line, and what makes the figures less trustworthy.
fn head(report: &RunReport) -> String {
    let mut page = Page::boundless();
    part::head::write(report, &mut page);
    let field = |wanted: &str| {
        let found = page.blocks.iter().find_map(|block| match block {
            Block::Field { name, text } if name == wanted => Some(text.as_str()),
            _ => None,
        });
        found.map(escape::text)
    };
    let machine = ["suite", "machine", "memory", "kernel", "kernels", "disk", "image", "repeated"]
        .iter()
        .filter_map(|name| field(name));
    let machine = machine.collect::<Vec<_>>().join(" · ");
    let title = page.blocks.iter().find_map(|block| match block {
        Block::Title(title) => Some(escape::text(title)),
        _ => None,
    });
    let mut text = format!("### {}\n\n{machine}\n", title.unwrap_or_default());
    if let Some(warnings) = warnings(report) {
        text.push_str(&format!("\n{warnings}\n"));
    }
    text
}

/// How many there are, and the first: all of them are folded up.
fn warnings(report: &RunReport) -> Option<String> {
    let mut texts = pick::untimed(report);
    texts.extend(report.manifest.warnings.iter().map(|warning| warning.text.clone()));
    let first = escape::text(texts.first()?);
    let more = texts.len() - 1;
    let more = if more > 0 { format!(" (and {more} more below)") } else { String::new() };
    Some(format!("⚠ {first}{more}"))
}

type Part = fn(&RunReport, &mut Page);

/// What is folded up, by the title of the fold.
fn folded(report: &RunReport) -> Vec<(&'static str, String)> {
    let parts: [(&str, Part); 6] = [
        ("Each step", part::steps::write),
        ("Differences", part::differences::write),
        ("Every sample", part::samples::write),
        ("Fairness ledger", part::ledger::write),
        ("Figures of the source", part::source::figures),
        ("Machine and verification", |report, page| {
            part::head::write(report, page);
            part::outcome::verification(report, page);
        }),
    ];
    let fold = |(title, write): (&'static str, Part)| {
        let mut page = Page::boundless();
        write(report, &mut page);
        let inner = blocks::text(&page.blocks, "#####");
        let fold = format!("\n<details><summary>{title}</summary>\n\n{inner}\n</details>\n");
        (!page.blocks.is_empty()).then_some((title, fold))
    };
    parts.into_iter().filter_map(fold).collect()
}

#[cfg(test)]
mod tests;
