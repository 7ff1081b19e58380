//! Every sample of the headline, so that a reader sees outliers and trends, not only a middle.

use super::{Page, UNBROKEN};
use crate::report::{human, pick};
use crate::result::RunReport;

/// A row for each step and configuration; nothing where no block was repeated.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    let blocks = pick::blocks(report);
    let (Some(first), Some(last), true) = (blocks.first(), blocks.last(), blocks.len() > 1) else { return };
    let samples = all(report, &blocks);
    if samples.is_empty() {
        return;
    }
    page.title(&format!("Every sample (time until synced, blocks {first} to {last} in order)"));
    let missing = samples.iter().any(|row| row.values.contains(&None));
    let longest = samples.iter().flat_map(|row| row.shown()).map(|cell| cell.chars().count()).max();
    let rows = samples.iter().map(|row| row.cells(longest.unwrap_or(0))).collect();
    page.listed(&["step", "file system", "unit", "samples"], rows, 2, 4);
    legend(report.cases.iter().any(|case| case.block == 0), missing, page);
}

fn legend(warmed_up: bool, missing: bool, page: &mut Page) {
    let warm_up = warmed_up.then_some("Block 0 warmed up and enters nothing.");
    let missing = missing.then_some("-: no verified figure.");
    let parts: Vec<_> = warm_up.into_iter().chain(missing).collect();
    if !parts.is_empty() {
        page.line(&parts.join(" "), 0);
    }
}

/// The samples of a configuration in a step, one for each block.
struct Samples<'a> {
    step: &'a str,
    configuration: &'a str,
    values: Vec<Option<f64>>,
}

/// Those that have any.
fn all<'a>(report: &'a RunReport, blocks: &[u32]) -> Vec<Samples<'a>> {
    let configurations = report.configuration_ids();
    let of = |step: &'a str, configuration: &'a str| Samples {
        step,
        configuration,
        values: blocks.iter().map(|block| sample(report, configuration, *block, step)).collect(),
    };
    let steps = report.steps().into_iter();
    let all = steps.flat_map(|step| configurations.iter().map(move |id| of(&step.name, id)));
    all.filter(|row| row.values.iter().any(Option::is_some)).collect()
}

fn sample(report: &RunReport, configuration: &str, block: u32, step: &str) -> Option<f64> {
    let mut cases = report.cases.iter();
    let case = cases.find(|case| case.configuration.id == configuration && case.block == block)?;
    case.step(step).filter(|_| case.counts())?.number("synced_s")
}

impl Samples<'_> {
    /// One unit for all, so that they can be compared at a glance.
    fn unit(&self) -> (f64, &'static str) {
        let longest = self.values.iter().flatten().copied().fold(0.0, f64::max);
        match longest {
            below if below < 0.000_999_5 => (1e6, "µs"),
            below if below < 0.999_5 => (1e3, "ms"),
            _ => (1.0, "s"),
        }
    }

    fn shown(&self) -> Vec<String> {
        let (factor, _) = self.unit();
        let show = |value: &Option<f64>| {
            value.map_or_else(|| "-".into(), |value| human::significant(value * factor))
        };
        self.values.iter().map(show).collect()
    }

    /// Samples stand below each other.
    fn cells(&self, width: usize) -> Vec<String> {
        let blanks = |cell: &str| width.saturating_sub(cell.chars().count());
        let padded =
            |cell: String| std::iter::repeat_n(UNBROKEN, blanks(&cell)).chain(cell.chars()).collect();
        let samples: Vec<String> = self.shown().into_iter().map(padded).collect();
        vec![self.step.into(), self.configuration.into(), self.unit().1.into(), samples.join(" ")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::report::part::tests::text;
    use crate::result::Status;

    fn written(report: &RunReport) -> String {
        let mut page = Page::new(80);
        write(report, &mut page);
        text(&page)
    }

    #[test]
    fn blocks_stand_in_order_however_the_cases_were_stored() {
        let mut report = example::repeated();
        let in_order = written(&report);
        assert!(in_order.contains(" 412  400  420  428  408  540 "), "{in_order}");
        report.cases.reverse();
        let row = |text: &str| text.lines().find(|line| line.contains(" 412 ")).map(str::to_owned);
        assert_eq!(
            row(&written(&report)).unwrap().split('┆').next_back(),
            row(&in_order).unwrap().split('┆').next_back()
        );
    }

    #[test]
    fn the_warm_up_is_not_among_them() {
        let text = written(&example::repeated());
        assert!(text.contains("blocks 1 to 6") && text.contains("Block 0 warmed up"), "{text}");
        assert!(!text.contains("865"), "{text}");
    }

    #[test]
    fn a_block_without_a_verified_figure_is_a_dash_and_the_others_keep_their_place() {
        let mut report = example::repeated();
        let of = |text: &str| text.lines().find(|line| line.contains(" 516 ")).unwrap().to_owned();
        assert!(of(&written(&report)).contains(" 516  387  430    -  400  494 "));
        report.cases.retain(|case| case.id != "xfs/2");
        report
            .cases
            .iter_mut()
            .filter(|case| case.id == "xfs/6")
            .for_each(|case| case.status = Status::Stopped);
        assert!(of(&written(&report)).contains(" 516    -  430    -  400    - "));
    }

    #[test]
    fn without_repetition_there_is_no_such_part() {
        assert_eq!(written(&example::report()), "");
    }
}
