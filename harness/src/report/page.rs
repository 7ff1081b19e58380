//! What a report says, as blocks: a terminal, a browser and a pull request show the same ones.
//!
//! The parts of a report (`part/`) write into a page; a format turns its blocks into text. The width
//! is known while they write, since what has no room is told in another way: where nothing is too
//! wide, as in a browser, nothing is shortened.

use super::human::columns;

/// What was said so far.
pub(super) struct Page {
    /// Columns that a table may have.
    pub(super) width: usize,
    pub(super) blocks: Vec<Block>,
}

/// One thing that is said.
pub(super) enum Block {
    /// Begins a part.
    Title(String),
    /// A sentence; where it is too long, the lines after the first are indented.
    Line { text: String, indent: usize },
    /// A short name, and what there is to say about it.
    Field { name: String, text: String },
    /// The columns from `right_from` on are numbers.
    Table { header: Vec<String>, rows: Vec<Vec<String>>, right_from: usize },
    /// A command for a shell.
    Command(String),
}

impl Page {
    /// For so many columns.
    pub(super) fn new(width: u16) -> Self {
        Self { width: width.into(), blocks: vec![] }
    }

    /// Where nothing is too wide.
    pub(super) fn boundless() -> Self {
        Self { width: usize::MAX, blocks: vec![] }
    }

    /// A new part.
    pub(super) fn title(&mut self, title: &str) {
        self.blocks.push(Block::Title(title.to_owned()));
    }

    /// A line; where it is too long, those after it are indented.
    pub(super) fn line(&mut self, text: &str, indent: usize) {
        self.blocks.push(Block::Line { text: text.to_owned(), indent });
    }

    /// `  name      text`.
    pub(super) fn field(&mut self, name: &str, text: &str) {
        self.blocks.push(Block::Field { name: name.to_owned(), text: text.to_owned() });
    }

    /// A command, to be copied.
    pub(super) fn command(&mut self, command: &str) {
        self.blocks.push(Block::Command(command.to_owned()));
    }

    /// A table; the columns from `right_from` on are numbers.
    pub(super) fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>, right_from: usize) {
        let header = header.iter().map(|heading| (*heading).to_owned()).collect();
        self.blocks.push(Block::Table { header, rows, right_from });
    }

    /// A table with a column for each of `ids` after the first ones; several tables, if one is too
    /// wide.
    pub(super) fn spread(&mut self, first: &[&str], ids: &[&str], rows: &[Vec<String>], right_from: usize) {
        let keep = first.len();
        let parts = |at_once: usize| {
            (0..ids.len()).step_by(at_once).map(move |from| {
                let these = from..ids.len().min(from + at_once);
                let header: Vec<&str> = first.iter().chain(&ids[these.clone()]).copied().collect();
                let of_row =
                    |row: &Vec<String>| [&row[..keep], &row[keep + these.start..keep + these.end]].concat();
                (header, rows.iter().map(of_row).collect::<Vec<_>>())
            })
        };
        let fits = |at_once: &usize| parts(*at_once).all(|(header, rows)| self.has_room(&header, &rows));
        let at_once = (1..=ids.len()).rev().find(fits).unwrap_or(1);
        for (header, rows) in parts(at_once) {
            self.table(&header, rows, right_from);
        }
    }

    /// A table whose first `lead` columns say what a row is about, each told once for the rows that
    /// share it; where that is too wide a line for each row.
    pub(super) fn listed(
        &mut self,
        header: &[&str],
        mut rows: Vec<Vec<String>>,
        lead: usize,
        right_from: usize,
    ) {
        if !self.has_room(header, &rows) {
            for mut row in rows {
                // A sign alone says nothing without its heading.
                let short = row.iter_mut().zip(header).filter(|(_, heading)| heading.len() == 1);
                short.for_each(|(cell, heading)| *cell = format!("{heading}={cell}"));
                let (about, told) = row.split_at(lead.min(row.len()));
                self.line(&format!("{}: {}", about.join(" "), told.join(" ")), 2);
            }
            return;
        }
        for at in (1..rows.len()).rev() {
            let (before, after) = rows.split_at_mut(at);
            let shared = before[at - 1].iter().zip(&after[0]).take_while(|(one, other)| one == other).count();
            after[0][..shared.min(lead.saturating_sub(1))].iter_mut().for_each(String::clear);
        }
        self.table(header, rows, right_from);
    }

    /// Whether a table has room for its longest words.
    pub(super) fn has_room(&self, header: &[&str], rows: &[Vec<String>]) -> bool {
        needed(&longest_words(header, rows)) <= self.width
    }
}

/// A blank at which no line is broken.
pub(super) const UNBROKEN: char = '\u{a0}';

/// A number stays beside its unit.
pub(super) fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Blanks around the text of a cell.
pub(super) const PADDING: usize = 2;

/// Of each column.
pub(super) fn longest_words(header: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let longest = |text: &str| text.split([' ', '\n']).map(columns).max().unwrap_or(1);
    let of_column = |(at, heading): (usize, &&str)| {
        rows.iter().filter_map(|row| row.get(at)).map(|cell| longest(cell)).fold(longest(heading), usize::max)
    };
    header.iter().enumerate().map(of_column).collect()
}

/// Width of a table, with a line on both sides of each column.
pub(super) fn needed(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + PADDING + 1).sum::<usize>() + 1
}
