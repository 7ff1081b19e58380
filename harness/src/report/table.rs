//! The report for a terminal.

mod command;

use std::io::Write;

use comfy_table::{Cell, CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};

use super::page::{Block, PADDING, Page, UNBROKEN, longest_words, needed};
use super::{Format, Style, human, part, write_text};
use crate::error::Result;
use crate::result::{Changes, GateResult, RunReport};
use crate::units::plain;

pub(super) const FORMAT: Format = Format { name: "table", meaning: "Tables for a terminal.", write };

fn write(report: &RunReport, to: &mut dyn Write, style: &Style) -> Result<()> {
    let mut page = Page::new(style.width);
    part::all(report, &mut page);
    write_text(&text(&page, style), to)
}

/// One run against another, without the rest of a report.
pub(super) fn of_changes(title: &str, changes: &Changes, gates: &[GateResult], style: &Style) -> String {
    let mut page = Page::new(style.width);
    part::changes::write(title, changes, gates, &mut page);
    part::gates::write(gates, Some(changes), &mut page);
    text(&page, style)
}

/// A page, line for line.
pub(super) fn text(page: &Page, style: &Style) -> String {
    let mut lines = Lines { width: page.width, text: String::new() };
    for block in &page.blocks {
        match block {
            Block::Title(title) => lines.title(title),
            Block::Line { text, indent } => lines.wrapped(text, *indent),
            Block::Field { name, text } => lines.field(name, text),
            Block::Table { header, rows, right_from } => lines.add(&table(header, rows, *right_from, style)),
            Block::Command(command) => lines.command(command),
        }
    }
    lines.finish(style)
}

/// What was written so far.
struct Lines {
    width: usize,
    text: String,
}

impl Lines {
    fn add(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// After an empty line.
    fn title(&mut self, title: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.wrapped(title, 2);
    }

    fn wrapped(&mut self, text: &str, indent: usize) {
        for line in human::wrap(text, self.width, indent) {
            self.add(line.trim_end());
        }
    }

    fn field(&mut self, name: &str, text: &str) {
        let room = self.width.saturating_sub(FIELD).max(1);
        for (at, line) in human::wrap(text, room, 0).into_iter().enumerate() {
            let name = if at == 0 { name } else { "" };
            self.add(format!("  {name:<10}{line}").trim_end());
        }
    }

    /// Broken as a shell reads it, so that it can be copied.
    fn command(&mut self, command: &str) {
        let room = self.width.saturating_sub(4).max(1);
        let command = command.replace('\n', " ");
        self.add(&format!("  {}", command::lines_of(&command, room).join(" \\\n    ")));
    }

    /// Sign for sign, so that columns stay in line.
    fn finish(self, style: &Style) -> String {
        let ascii = style.ascii;
        let shown = |sign| match sign {
            UNBROKEN | '\t' => ' ',
            '×' if ascii => 'x',
            '✓' if ascii => 'y',
            '✗' if ascii => 'n',
            '–' if ascii => '-',
            'µ' if ascii => 'u',
            other => other,
        };
        plain::lines(&self.text).chars().map(shown).collect()
    }
}

/// Words are broken only where the longest of all columns do not fit beside each other.
fn table(header: &[String], rows: &[Vec<String>], right_from: usize, style: &Style) -> String {
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let widths = longest_words(&header, rows);
    let lines = if style.ascii { presets::ASCII_FULL_CONDENSED } else { presets::UTF8_FULL_CONDENSED };
    let mut table = Table::new();
    table.load_style(lines).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(style.width);
    table.set_header(header.iter().map(Cell::new));
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(right_from) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    if needed(&widths) <= usize::from(style.width) {
        for (column, width) in table.column_iter_mut().zip(widths) {
            let width = u16::try_from(width + PADDING).unwrap_or(u16::MAX);
            column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
        }
    }
    table.trim_fmt()
}

/// Where the text of a field begins.
const FIELD: usize = 12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::result::{EndedWord, Reason, Status, Verdict};

    fn written(report: &RunReport, style: Style) -> String {
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
    fn the_whole_report_of_two_kernels_and_of_an_emulated_processor() {
        insta::assert_snapshot!("kernels", written(&example::kernels(), Style::default()));
        insta::assert_snapshot!("emulated", written(&example::emulated(), Style::default()));
    }

    #[test]
    fn in_ascii_every_sign_is_ascii() {
        let text = written(&example::report(), Style { width: 100, ascii: true });
        assert!(text.is_ascii(), "{text}");
        insta::assert_snapshot!("table_ascii_100", text);
    }

    #[test]
    fn no_line_is_longer_than_the_width() {
        for report in [example::report(), example::repeated(), with_changes(), example::emulated()] {
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
