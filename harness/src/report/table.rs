//! The report for a terminal.
//!
//! In the order in which a reader asks: where it ran, who was faster, what it took, how sure that
//! is, what changed, whether it was fair, what the source said, what did not run, what was
//! verified, and how to run it again. A missing number is `-`, never 0.

mod cells;
mod changes;
mod differences;
mod gates;
mod head;
mod ledger;
mod outcome;
mod overview;
mod postmark;
mod samples;
mod source;
mod steps;
mod verdict;

use std::io::Write;

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::{Format, Style, human, write_text};
use crate::error::Result;
use crate::result::{Changes, GateResult, RunReport};

pub(super) const FORMAT: Format = Format { name: "table", meaning: "Tables for a terminal.", write };

fn write(report: &RunReport, to: &mut dyn Write, style: &Style) -> Result<()> {
    let mut page = Page::new(style);
    head::write(report, &mut page);
    overview::write(report, &mut page);
    steps::write(report, &mut page);
    differences::write(report, &mut page);
    samples::write(report, &mut page);
    if let Some(changes) = &report.changes {
        let title = format!("Against the earlier run {}", changes.base_run_id);
        changes::write(&title, changes, &report.gates, &mut page);
    }
    gates::write(&report.gates, report.changes.as_ref(), &mut page);
    ledger::write(report, &mut page);
    source::write(report, &mut page);
    outcome::write(report, &mut page);
    write_text(&page.finish(), to)
}

/// One run against another, without the rest of a report.
pub(super) fn of_changes(title: &str, changes: &Changes, gates: &[GateResult], style: &Style) -> String {
    let mut page = Page::new(style);
    changes::write(title, changes, gates, &mut page);
    gates::write(gates, Some(changes), &mut page);
    page.finish()
}

/// What was written so far.
struct Page {
    width: usize,
    style: Style,
    text: String,
}

impl Page {
    fn new(style: &Style) -> Self {
        Self { width: usize::from(style.width), style: *style, text: String::new() }
    }

    /// A new part, after an empty line.
    fn title(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.line(title, 2);
    }

    /// A line; where it is too long, those after it are indented.
    fn line(&mut self, text: &str, indent: usize) {
        for line in human::wrap(text, self.width, indent) {
            self.text.push_str(line.trim_end());
            self.text.push('\n');
        }
    }

    /// `  name      text`.
    fn field(&mut self, name: &str, text: &str) {
        let room = self.width.saturating_sub(FIELD).max(1);
        for (at, line) in human::wrap(text, room, 0).into_iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            self.text.push_str(format!("  {name:<10}{line}").trim_end());
            self.text.push('\n');
        }
    }

    /// A table; the columns from `right_from` on are numbers. Words are broken only where the
    /// longest of all columns do not fit beside each other.
    fn table(&mut self, header: &[&str], rows: Vec<Vec<String>>, right_from: usize) {
        let widths = longest_words(header, &rows);
        let lines =
            if self.style.ascii { presets::ASCII_FULL_CONDENSED } else { presets::UTF8_FULL_CONDENSED };
        let mut table = Table::new();
        table.load_style(lines).set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(self.style.width);
        table.set_header(header.iter().map(Cell::new));
        table.add_rows(rows);
        for column in table.column_iter_mut().skip(right_from) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        if needed(&widths) <= self.width {
            for (column, width) in table.column_iter_mut().zip(widths) {
                let width = u16::try_from(width + PADDING).unwrap_or(u16::MAX);
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
            }
        }
        self.text.push_str(&table.trim_fmt());
        self.text.push('\n');
    }

    /// A table with a column for each of `ids` after the first ones; several tables, if one is too
    /// wide.
    fn spread(&mut self, first: &[&str], ids: &[&str], rows: &[Vec<String>], right_from: usize) {
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
    /// share it; on a terminal that is too narrow a line for each row.
    fn listed(&mut self, header: &[&str], mut rows: Vec<Vec<String>>, lead: usize, right_from: usize) {
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
    fn has_room(&self, header: &[&str], rows: &[Vec<String>]) -> bool {
        needed(&longest_words(header, rows)) <= self.width
    }

    /// Sign for sign, so that columns stay in line.
    fn finish(self) -> String {
        let ascii = self.style.ascii;
        let plain = |sign| match sign {
            UNBROKEN => ' ',
            '×' if ascii => 'x',
            '✓' if ascii => 'y',
            '✗' if ascii => 'n',
            '–' if ascii => '-',
            'µ' if ascii => 'u',
            other => other,
        };
        self.text.chars().map(plain).collect()
    }
}

/// A blank at which no line is broken.
const UNBROKEN: char = '\u{a0}';

/// A number stays beside its unit.
fn unbroken(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Blanks around the text of a cell.
const PADDING: usize = 2;

/// Of each column.
fn longest_words(header: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let longest = |text: &str| text.split([' ', '\n']).map(|word| word.chars().count()).max().unwrap_or(1);
    let of_column = |(at, heading): (usize, &&str)| {
        rows.iter().filter_map(|row| row.get(at)).map(|cell| longest(cell)).fold(longest(heading), usize::max)
    };
    header.iter().enumerate().map(of_column).collect()
}

/// Width of a table, with a line on both sides of each column.
fn needed(widths: &[usize]) -> usize {
    widths.iter().map(|width| width + PADDING + 1).sum::<usize>() + 1
}

/// Where the text of a field begins.
const FIELD: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::result::{EndedWord, Reason, Status, Verdict};

    pub(super) fn written(report: &RunReport, style: Style) -> String {
        let mut bytes = Vec::new();
        write(report, &mut bytes, &style).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_whole_report_of_the_example() {
        insta::assert_snapshot!("table", written(&example::report(), Style::default()));
    }

    fn with_changes() -> RunReport {
        let (changes, gates) = example::changes();
        RunReport { changes: Some(changes), gates, ..example::report() }
    }

    #[test]
    fn the_whole_report_of_a_run_that_was_repeated() {
        insta::assert_snapshot!("repeated", written(&example::repeated(), Style::default()));
        let wide = written(&example::repeated(), Style { width: 120, ascii: false });
        insta::assert_snapshot!("repeated_120", wide);
        let narrow = written(&example::repeated(), Style { width: 50, ascii: true });
        insta::assert_snapshot!("repeated_ascii_50", narrow);
    }

    #[test]
    fn in_ascii_every_sign_is_ascii() {
        let text = written(&example::report(), Style { width: 100, ascii: true });
        assert!(text.is_ascii(), "{text}");
        insta::assert_snapshot!("table_ascii_100", text);
    }

    #[test]
    fn no_line_is_longer_than_the_width() {
        for report in [example::report(), example::repeated(), with_changes()] {
            for width in [40, 50, 60, 80, 100, 132] {
                let text = written(&report, Style { width, ascii: false });
                let long = text.lines().find(|line| line.chars().count() > usize::from(width));
                assert_eq!(long, None, "at {width}");
                assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
            }
        }
    }

    #[test]
    fn a_ratio_of_one_pair_has_no_word() {
        let mut report = example::report();
        for comparison in &mut report.comparisons {
            comparison.estimate.verdict = Some(Verdict::NotResolved);
        }
        let text = written(&report, Style::default());
        assert!(text.contains("668 ms ×1.62") && text.contains("One repetition"), "{text}");
        assert!(!text.contains("not resolved") && !text.contains("Differences"), "{text}");
        let text = written(&example::repeated(), Style::default());
        assert!(!text.contains("One repetition") && text.contains("×1.62 slower"), "{text}");
    }

    #[test]
    fn a_comparison_without_a_ratio_leaves_no_empty_sign() {
        let mut report = example::repeated();
        for comparison in &mut report.comparisons {
            comparison.estimate.ratio = None;
            comparison.estimate.ci95 = None;
        }
        report.claims.clear();
        let text = written(&report, Style::default());
        let signs = text.matches('×').count();
        assert_eq!(signs, 2, "only that of the processors and that of the title: {text}");
    }

    #[test]
    fn a_run_that_was_killed_while_it_warmed_up_says_so() {
        let mut report = example::repeated();
        report.cases.truncate(2);
        report.comparisons.clear();
        report.claims.clear();
        let text = written(&report, Style::default());
        assert!(text.contains("no block is measured"), "{text}");
        report.cases.clear();
        assert!(!written(&report, Style::default()).contains("Time until"));
    }

    #[test]
    fn no_number_of_an_invalid_case_is_shown() {
        let mut report = example::report();
        for case in report.cases.iter_mut().filter(|case| case.configuration.id == "btrfs") {
            case.status = Status::Invalid;
        }
        let text = written(&report, Style::default());
        assert!(!text.contains("668 ms") && !text.contains("640 KiB"), "{text}");
        assert!(text.contains("invalid"), "{text}");
    }

    #[test]
    fn of_several_blocks_the_median_is_shown() {
        let mut report = example::report();
        for (block, seconds) in [(2, 0.5), (3, 0.9)] {
            let mut case = report.cases[0].clone();
            case.block = block;
            case.steps[0].metrics.set("synced_s", seconds);
            report.cases.push(case);
        }
        let text = written(&report, Style::default());
        assert!(text.contains("668 ms") && text.contains("medians of 3 blocks"), "{text}");
        report.cases[0].status = Status::Failed;
        let text = written(&report, Style::default());
        assert!(text.contains("700 ms") && text.contains("2 of 3"), "{text}");
    }

    #[test]
    fn a_case_that_met_a_limit_shows_what_was_reached_and_no_ratio() {
        let mut report = example::report();
        let limit = report.cases[0].steps[1].limit.clone();
        let case = &mut report.cases[0];
        case.status = Status::Failed;
        case.reason = Some(Reason { code: "limit".into(), text: "no room".into(), next: None });
        case.steps[0].limit = limit;
        case.steps[0].ended = EndedWord::Limit;
        case.steps[0].facts.files_created_count = Some(1234);
        report.comparisons.clear();
        let text = written(&report, Style { width: 120, ascii: false });
        let row = |name: &str| text.lines().find(|line| line.contains(name)).unwrap().to_owned();
        assert!(row("│ small-files").contains("668 ms limit"), "{text}");
        assert!(row("│ btrfs").contains("ENOSPC (space) after 1,234 files"), "{text}");
    }

    #[test]
    fn without_references_and_claims_the_source_has_no_part() {
        let report = RunReport { references: vec![], claims: vec![], ..example::report() };
        assert!(!written(&report, Style::default()).contains("Then and now"));
    }
}
