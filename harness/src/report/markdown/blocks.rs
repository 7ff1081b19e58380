//! The blocks of a page in the Markdown of GitHub.

use super::escape;
use crate::report::page::Block;

/// All blocks; `heading` begins those that are titles.
pub(super) fn text(blocks: &[Block], heading: &str) -> String {
    let mut text = String::new();
    let mut above = Kind::Title;
    for block in blocks {
        let (kind, written) = one(block, heading);
        // Items of one list stand together; anything else is parted by an empty line.
        if !text.is_empty() && (kind != Kind::Item || above != Kind::Item) {
            text.push('\n');
        }
        text.push_str(&written);
        text.push('\n');
        above = kind;
    }
    text
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Title,
    Item,
    Other,
}

fn one(block: &Block, heading: &str) -> (Kind, String) {
    match block {
        Block::Title(title) => (Kind::Title, format!("{heading} {}", escape::inline(title))),
        Block::Line { text, .. } => line(text),
        Block::Field { name, text } => {
            (Kind::Item, format!("- {}: {}", escape::inline(name), escape::inline(text)))
        }
        Block::Table { header, rows, right_from } => (Kind::Other, table(header, rows, *right_from)),
        Block::Command(command) => (Kind::Other, escape::command(command)),
    }
}

/// Blanks before a text say how deep in a list it is.
fn line(text: &str) -> (Kind, String) {
    let blanks = text.len() - text.trim_start_matches(' ').len();
    match blanks / 2 {
        0 => (Kind::Other, escape::text(text)),
        depth => (Kind::Item, format!("{}- {}", "  ".repeat(depth - 1), escape::text(text))),
    }
}

fn table(header: &[String], rows: &[Vec<String>], right_from: usize) -> String {
    let side = |at: usize| if at < right_from { ":--" } else { "--:" };
    let sides: Vec<String> = (0..header.len()).map(|at| side(at).to_owned()).collect();
    let heading = header.iter().map(|text| cell(text)).collect();
    let cells = rows.iter().map(|row| row.iter().map(|text| cell(text)).collect());
    let lines = [heading, sides].into_iter().chain(cells);
    lines.map(|cells: Vec<String>| format!("| {} |", cells.join(" | "))).collect::<Vec<_>>().join("\n")
}

/// Lines stay below each other.
fn cell(text: &str) -> String {
    text.split('\n').map(escape::inline).collect::<Vec<_>>().join("<br>")
}
