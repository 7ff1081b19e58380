//! The first look: every step on every configuration, by the time that counts.

use super::cells::{headline, rows};
use super::{Page, UNBROKEN, differences, verdict};
use crate::report::pick;
use crate::result::RunReport;

/// A row for each step; nothing where none ran, or where nothing is synced.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    let configurations = report.configuration_ids();
    let steps = report.steps();
    if configurations.is_empty() || steps.is_empty() {
        return;
    }
    let baseline = pick::against(report);
    let title = match configurations.len() {
        1 => "Time until synced".to_owned(),
        // The ratio of two medians may be another one.
        _ if pick::blocks(report).len() > 1 => {
            format!("Time until synced (median; × is the mean ratio to {baseline} within blocks)")
        }
        _ => format!("Time until synced (× is the ratio to {baseline})"),
    };
    let rows: Vec<Vec<String>> = steps
        .iter()
        .map(|step| {
            let cells = rows(report, pick::FILESYSTEMS, &step.name);
            std::iter::once(step.name.clone()).chain(cells.iter().map(headline)).collect()
        })
        .collect();
    // In directories that exist there is no such time.
    if rows.iter().all(|row| row[1..].iter().all(|cell| cell == "-")) {
        return;
    }
    page.title(&title);
    page.spread(&["step"], &configurations, &in_one_line(&rows, &configurations, page), 1);
    differences::answer(report, page);
    if configurations.len() > 1 && rows.iter().flatten().any(|cell| cell.contains('×')) {
        lonely(report, page);
    }
}

/// Time, ratio and word beside each other, where all columns have room for that.
fn in_one_line(rows: &[Vec<String>], configurations: &[&str], page: &Page) -> Vec<Vec<String>> {
    let words = rows.iter().flatten().filter_map(|cell| cell.split_once('\n'));
    let widest = words.map(|(_, word)| word.chars().count()).max().unwrap_or(0);
    let joined = |cell: &String| match cell.split_once('\n') {
        Some((time, word)) => {
            let word = word.replace(' ', &UNBROKEN.to_string());
            let blanks = UNBROKEN.to_string().repeat(widest - word.chars().count());
            format!("{time}{UNBROKEN}{word}{blanks}")
        }
        None => cell.clone(),
    };
    let lines: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(joined).collect()).collect();
    let header: Vec<&str> = std::iter::once("step").chain(configurations.iter().copied()).collect();
    if page.has_room(&header, &lines) { lines } else { rows.to_vec() }
}

/// A ratio of one pair may be noise alone, so nobody is called faster for it.
fn lonely(report: &RunReport, page: &mut Page) {
    let pairs = pick::headlines(report, pick::FILESYSTEMS).iter().map(|one| one.estimate.n).max();
    if pairs.map_or_else(|| pick::blocks(report).len() < 2, |pairs| pairs < 2) {
        page.line(&verdict::lonely(report), 0);
    }
}
