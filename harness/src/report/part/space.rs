//! Space told in four ways, since no single one is the truth: what was written, what the file system
//! counts, how much of that is metadata, and what the image takes on the host.

use super::{Page, unbroken};
use crate::report::{human, pick};
use crate::result::RunReport;

/// A table for each step that changes space.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    let ids = report.configuration_ids();
    let mut told = false;
    for step in report.steps() {
        let changes = |id: &&str| {
            pick::number(report, id, &step.name, "space_used_bytes").is_some_and(|bytes| bytes != 0.0)
        };
        if ids.iter().any(changes) {
            told = true;
            page.title(&step.name);
            table(report, &ids, &step.name, page);
        }
    }
    if told {
        page.line(MEANING, 0);
    }
}

const MEANING: &str = "Payload: bytes given to write. Used: growth of the blocks that statfs counts as not free, \
     after syncfs. Data, metadata: as the file system itself tells them, where it does. Image: blocks on the host \
     under the sparse image, by all steps so far; what is freed inside stays there, since discard is off.";

/// Heading, key, and how it is shown.
type Column = (&'static str, &'static str, fn(f64) -> String);

const COLUMNS: [Column; 6] = [
    ("payload", "payload_bytes", human::payload),
    ("used (statfs)", "space_used_bytes", human::size),
    ("data", "data_used_bytes", human::size),
    ("metadata", "metadata_used_bytes", human::size),
    ("metadata to payload", "metadata_ratio", human::ratio),
    ("image on the host", "image_allocated_bytes", human::size),
];

/// Columns that nobody has a number for are left out.
fn table(report: &RunReport, ids: &[&str], step: &str, page: &mut Page) {
    let number = |id: &str, key: &str| pick::number(report, id, step, key);
    let known = |column: &&Column| ids.iter().any(|id| number(id, column.1).is_some());
    let columns: Vec<&Column> = COLUMNS.iter().filter(known).collect();
    let header: Vec<&str> = std::iter::once("file system").chain(columns.iter().map(|column| column.0)).collect();
    let cell = |id: &str, (_, key, show): &Column| {
        number(id, key).map_or_else(|| "-".into(), |value| unbroken(&show(value)))
    };
    let ran = ids.iter().filter(|id| !pick::counted(report, id, step).is_empty());
    let row = |id: &&str| std::iter::once((*id).to_owned()).chain(columns.iter().map(|of| cell(id, of))).collect();
    page.table(&header, ran.map(row).collect(), 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::report::part::tests::text;

    fn written(report: &RunReport) -> String {
        let mut page = Page::new(120);
        write(report, &mut page);
        text(&page)
    }

    #[test]
    fn each_way_is_a_column_and_one_that_is_not_known_is_a_dash_or_no_column() {
        let mut report = example::report();
        let text = written(&report);
        assert!(text.contains("payload") && !text.contains("image on"), "{text}");
        report.cases[0].steps[0].metrics.set("image_allocated_bytes", 1_048_576.0);
        report.cases[0].steps[0].metrics.set("metadata_used_bytes", 655_360.0);
        let text = written(&report);
        let row = |id: &str| text.lines().find(|line| line.contains(id)).unwrap().to_owned();
        let words = |id: &str| row(id).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(words("btrfs"), "│ btrfs ┆ 49.9 kB ┆ 640 KiB ┆ 640 KiB ┆ 1 MiB │");
        assert_eq!(words("ext4"), "│ ext4 ┆ 49.9 kB ┆ 39.4 MiB ┆ - ┆ - │");
        assert!(!text.lines().any(|line| line.contains("reiserfs")), "{text}");
    }

    #[test]
    fn a_step_that_changes_no_space_has_no_table() {
        let text = written(&example::repeated());
        assert!(text.contains("small-files\n") && text.contains("remove\n") && !text.contains("list\n"), "{text}");
        assert!(text.contains("-39.4 MiB"), "{text}");
    }
}
