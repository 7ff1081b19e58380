//! What the marks of a chart are, how many runs they rest on, and why there is no interval.

use super::rows::Row;
use crate::report::part::verdict;

/// Below the parts of a chart.
pub(super) struct Notes {
    pub(super) samples: String,
    /// Where ratios are drawn.
    pub(super) ratios: Option<String>,
}

impl Notes {
    pub(super) fn of(rows: &[Row], baseline: &str) -> Self {
        let counts: Vec<usize> =
            rows.iter().map(|row| row.samples.len()).filter(|count| *count > 0).collect();
        let n = range(&counts);
        let pairs: Vec<u32> = rows.iter().filter_map(|row| row.judged).map(|one| one.n).collect();
        let most = counts.iter().max().copied().unwrap_or(0);
        let marks = match most {
            0 | 1 => format!("Dot: the one run; {n}"),
            _ => format!("Dots: blocks, the first above; bar: median; line: least to most; {n}"),
        };
        let without = match (pairs.is_empty(), most, rows.len()) {
            (false, ..) => "",
            (true, 0..=2, _) => ", so there is no interval",
            (true, _, 1) => "; no interval, since nothing is compared",
            (true, ..) => "; no interval: nothing was paired",
        };
        let margin = verdict::margin();
        let ratios = (!pairs.is_empty()).then(|| {
            let pairs = range(&pairs);
            format!("Mean of the ratios to {baseline} within blocks, {pairs}; band: within {margin}")
        });
        Self { samples: format!("{marks}{without}."), ratios: ratios.map(|text| format!("{text}.")) }
    }
}

/// `n = 6`, `n = 5 to 6`.
pub(super) fn range<T: Copy + Ord + std::fmt::Display>(counts: &[T]) -> String {
    match (counts.iter().min(), counts.iter().max()) {
        (Some(least), Some(most)) if least < most => format!("n = {least} to {most}"),
        (Some(least), _) => format!("n = {least}"),
        _ => "n = 0".into(),
    }
}
