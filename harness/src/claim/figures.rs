//! The figures of a run that a claim can ask for.

use super::expression::{Condition, Quantity, Term};
use crate::result::{CaseResult, Facts, Postmark, RunReport, Status};

/// Keys of the facts that are numbers, so that a claim can compare them.
#[must_use]
pub fn fact_keys() -> Vec<String> {
    let all = Facts {
        files_created_count: Some(0),
        directories_created_count: Some(0),
        files_deleted_count: Some(0),
        payload_bytes: Some(0),
        file_size_bytes: Some(0),
        postmark: Some(Postmark::default()),
        ..Facts::default()
    };
    all.numbers().map(|(key, _)| key).collect()
}

/// Point values over the measured blocks of a run.
pub(super) struct Figures<'a> {
    cases: Vec<&'a CaseResult>,
}

impl<'a> Figures<'a> {
    /// Block 0 is the warm-up of a run with several blocks and enters nothing.
    pub(super) fn of(report: &'a RunReport) -> Self {
        Self { cases: report.cases.iter().filter(|case| case.block > 0).collect() }
    }

    /// The figure, or why there is none.
    pub(super) fn value(&self, term: &Term) -> Result<f64, String> {
        let id = &term.filesystem;
        let cases: Vec<_> = self.cases.iter().filter(|case| case.configuration.id == *id).collect();
        if cases.is_empty() {
            return Err(format!("{id} is not in this run"));
        }
        if let Some(case) = cases.iter().find(|case| case.status != Status::Passed) {
            let why = case.reason.as_ref().map_or(String::new(), |reason| format!(": {}", reason.text));
            return Err(format!("case {} did not pass{why}", case.id));
        }
        let missing = || format!("{} was not measured on {id}", name(term));
        let values = cases.iter().map(|case| figure(case, term)).collect::<Option<Vec<_>>>();
        values.map(|values| mean(&values)).ok_or_else(missing)
    }

    fn quantity(&self, quantity: &Quantity) -> Result<f64, String> {
        Ok(match quantity {
            Quantity::Number(value) => *value,
            Quantity::Term(term) => self.value(term)?,
            Quantity::Binary(left, sign, right) => {
                let (left, right) = (self.quantity(left)?, self.quantity(right)?);
                match *sign {
                    "*" => left * right,
                    "/" => left / right,
                    "+" => left + right,
                    _ => left - right,
                }
            }
        })
    }

    /// Whether the condition holds, or why that cannot be said.
    pub(super) fn holds(&self, condition: &Condition) -> Result<bool, String> {
        let both = |left, right| {
            let (left, right) = (self.quantity(left)?, self.quantity(right)?);
            let defined = left.is_finite() && right.is_finite();
            defined.then_some((left, right)).ok_or_else(|| "a division by zero".to_owned())
        };
        match condition {
            Condition::Near(left, right, percent) => {
                both(left, right).map(|(left, right)| (left - right).abs() <= right.abs() * percent / 100.0)
            }
            Condition::Compare(left, sign, right) => both(left, right).map(|(left, right)| match *sign {
                "<" => left < right,
                ">" => left > right,
                "<=" => left <= right,
                _ => left >= right,
            }),
            // Every part is looked at, so that a missing figure is never hidden by a part that
            // does not hold.
            Condition::All(parts) => {
                let parts = parts.iter().map(|part| self.holds(part)).collect::<Result<Vec<_>, _>>()?;
                Ok(parts.into_iter().all(|holds| holds))
            }
        }
    }
}

/// `STEP.METRIC`, or the metric of a whole case.
pub(super) fn name(term: &Term) -> String {
    match &term.step {
        Some(step) => format!("{step}.{}", term.metric),
        None => term.metric.clone(),
    }
}

fn figure(case: &CaseResult, term: &Term) -> Option<f64> {
    let Some(step) = &term.step else { return case.metrics.get(&term.metric) };
    let step = case.steps.iter().find(|result| result.name == *step)?;
    step.metrics.get(&term.metric).or_else(|| step.facts.number(&term.metric))
}

/// The geometric mean; the arithmetic one where a value has no logarithm. One value is itself.
fn mean(values: &[f64]) -> f64 {
    let [first, .., _] = values else { return values.iter().sum() };
    if values.iter().all(|value| value == first) {
        return *first;
    }
    let count = u32::try_from(values.len()).map_or(f64::INFINITY, f64::from);
    if values.iter().all(|value| *value > 0.0) {
        return (values.iter().map(|value| value.ln()).sum::<f64>() / count).exp();
    }
    values.iter().sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_geometric_where_it_can_be() {
        assert!((mean(&[1.0, 100.0]) - 10.0).abs() < 1e-9);
        assert!((mean(&[-1.0, 3.0]) - 1.0).abs() < 1e-9);
        assert_eq!(mean(&[7.0]).to_bits(), 7f64.to_bits());
        assert_eq!(mean(&[0.1, 0.1, 0.1]).to_bits(), 0.1f64.to_bits());
    }

    #[test]
    fn a_fact_that_is_a_number_can_be_claimed() {
        assert!(fact_keys().contains(&"file_size_bytes".to_owned()));
        assert!(!fact_keys().contains(&"tree_hash".to_owned()));
        assert!(!fact_keys().contains(&"operations_sha256".to_owned()));
    }

    #[test]
    fn what_only_postmark_counts_can_be_claimed_by_its_own_key() {
        for key in ["created_count", "created_alone_count", "read_count", "read_bytes", "draws_count"] {
            assert!(fact_keys().contains(&key.to_owned()), "{key}");
        }
        let counts = Postmark { read_count: 250_007, ..Postmark::default() };
        let facts = Facts { files_created_count: Some(3), postmark: Some(counts), ..Facts::default() };
        assert_eq!(facts.number("read_count"), Some(250_007.0));
        assert_eq!(facts.number("files_created_count"), Some(3.0));
        assert_eq!(facts.number("postmark"), None);
    }
}
