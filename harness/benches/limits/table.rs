//! One row for each limit.

use comfy_table::{Table, presets};

/// A value beside its limit.
pub struct Row {
    /// What was measured.
    pub what: String,
    /// In `unit`; the reason where there is none.
    pub value: Result<f64, String>,
    /// The most it may be, where something was set.
    pub limit: Option<f64>,
    /// Of both.
    pub unit: &'static str,
    /// Measurements.
    pub n: usize,
}

impl Row {
    /// What was not measured, or has no limit, breaks none.
    pub fn is_met(&self) -> bool {
        let (Ok(value), Some(limit)) = (&self.value, self.limit) else { return true };
        *value <= limit
    }

    fn verdict(&self) -> &'static str {
        match (&self.value, self.limit) {
            (Err(_), _) => "skipped",
            (Ok(_), None) => "-",
            (Ok(_), Some(_)) if self.is_met() => "met",
            (Ok(_), Some(_)) => "NOT MET",
        }
    }

    fn cells(&self) -> [String; 5] {
        let number = |value: f64| format!("{value:.3} {}", self.unit).trim_end().to_owned();
        [
            self.what.clone(),
            self.value.as_ref().map_or_else(Clone::clone, |value| number(*value)),
            self.limit.map_or_else(|| "-".to_owned(), |limit| format!("at most {}", number(limit))),
            self.verdict().to_owned(),
            self.n.to_string(),
        ]
    }
}

/// As text.
pub fn render(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(["what", "value", "limit", "", "n"]);
    for row in rows {
        table.add_row(row.cells());
    }
    format!("{table}\n")
}

/// The middle one; of an even number, the lower of the two.
pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}
