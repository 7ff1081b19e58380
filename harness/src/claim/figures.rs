//! The figures of a run that a claim can ask for.

use std::collections::BTreeSet;

use super::expression::{Quantity, Term};
use super::interval::Pairs;
use crate::result::{CaseResult, Facts, Postmark, RunReport, Status, id_on, split_id};

/// Keys of the facts that are numbers, so that a claim can compare them.
#[must_use]
pub fn fact_keys() -> Vec<String> {
    numbers(Some(Postmark::default()))
}

fn numbers(postmark: Option<Postmark>) -> Vec<String> {
    let all = Facts {
        files_created_count: Some(0),
        directories_created_count: Some(0),
        files_deleted_count: Some(0),
        payload_bytes: Some(0),
        file_size_bytes: Some(0),
        postmark,
        ..Facts::default()
    };
    all.numbers().map(|(key, _)| key).collect()
}

/// The workload whose steps alone have this figure, if there is one: a claim about another step
/// could never be checked.
#[must_use]
pub fn only_workload_with(key: &str) -> Option<&'static str> {
    let is_postmarks = || {
        numbers(Some(Postmark::default())).iter().any(|known| known == key)
            && !numbers(None).iter().any(|known| known == key)
    };
    match key {
        "file_size_bytes" | "second_file_size_bytes" => Some("fill-until-enospc"),
        _ if key.starts_with("postmark_") || is_postmarks() => Some("postmark"),
        _ => None,
    }
}

/// The figures of the measured blocks of a run, on one of its kernels: a claim names file systems.
pub(super) struct Figures<'a> {
    report: &'a RunReport,
    kernel: Option<&'a str>,
}

impl<'a> Figures<'a> {
    pub(super) fn of(report: &'a RunReport, kernel: Option<&'a str>) -> Self {
        Self { report, kernel }
    }

    /// The id of the kernel, where configurations have one.
    pub(super) fn kernel(&self) -> Option<&'a str> {
        self.kernel
    }

    fn is(&self, case: &CaseResult, filesystem: &str) -> bool {
        split_id(&case.configuration.id) == (filesystem, self.kernel)
    }

    /// Block 0 is the warm-up of a run with several blocks and enters nothing.
    fn of_configuration<'s>(&'s self, id: &'s str) -> impl Iterator<Item = &'a CaseResult> + 's {
        self.report.cases.iter().filter(move |case| case.block > 0 && self.is(case, id))
    }

    /// Why nothing is to be concluded from these figures, if so.
    pub(super) fn withheld(&self, terms: &[&Term]) -> Option<String> {
        let withheld = |term: &&Term| {
            let configuration = id_on(&term.filesystem, self.kernel);
            self.report.withholds(&term.metric, &[&configuration])
        };
        terms.iter().any(withheld).then(|| EMULATED.into())
    }

    /// Why a configuration has no measured block: what fails in the warm-up does not run again.
    fn unmeasured(&self, id: &str) -> String {
        match self.report.cases.iter().find(|case| self.is(case, id)) {
            None => format!("{} is not in this run", id_on(id, self.kernel)),
            Some(case) if case.status == Status::Passed => format!("the run ended before {id} was measured"),
            Some(case) => did_not_pass(case),
        }
    }

    /// The blocks in which every file system of these terms passed, or why there are none.
    ///
    /// A case that was stopped, was not run or met a fault of the environment leaves its block out:
    /// it says nothing. One that failed says that something is wrong, and no other block heals that.
    pub(super) fn blocks(&self, terms: &[&Term]) -> Result<Vec<u32>, String> {
        let ids: BTreeSet<&str> = terms.iter().map(|term| term.filesystem.as_str()).collect();
        if ids.is_empty() {
            return Ok(vec![1]);
        }
        if let Some(id) = ids.iter().find(|id| self.of_configuration(id).next().is_none()) {
            return Err(self.unmeasured(id));
        }
        let mine: Vec<_> = ids.iter().flat_map(|id| self.of_configuration(id)).collect();
        if let Some(case) = mine.iter().find(|case| matches!(case.status, Status::Failed | Status::Error)) {
            return Err(did_not_pass(case));
        }
        let all: BTreeSet<u32> = mine.iter().map(|case| case.block).collect();
        let passed = |id: &str, block: u32| {
            self.of_configuration(id).any(|case| case.block == block && case.status == Status::Passed)
        };
        let whole: Vec<u32> =
            all.into_iter().filter(|block| ids.iter().all(|id| passed(id, *block))).collect();
        let broken = mine.iter().find(|case| case.status != Status::Passed);
        match (whole.is_empty(), broken) {
            (false, _) => Ok(whole),
            (true, Some(case)) => Err(did_not_pass(case)),
            (true, None) => Err("no block has all of its file systems".into()),
        }
    }

    /// The figure in each of these blocks, or why there is none.
    pub(super) fn values(&self, term: &Term, blocks: &[u32]) -> Result<Vec<f64>, String> {
        let id = &term.filesystem;
        let value = |block: &u32| figure(self.of_configuration(id).find(|case| case.block == *block)?, term);
        let values = blocks.iter().map(value).collect::<Option<Vec<_>>>();
        values.ok_or_else(|| format!("{} was not measured on {id}", name(term)))
    }

    /// Both sides of a comparison in each of these blocks, or why that cannot be said.
    pub(super) fn pairs(&self, sides: [&Quantity; 2], blocks: &[u32]) -> Result<Pairs, String> {
        let [left, right] = sides;
        let (left, right) = (self.quantity(left, blocks)?, self.quantity(right, blocks)?);
        let pairs: Pairs = left.into_iter().zip(right).collect();
        let defined = pairs.iter().all(|(left, right)| left.is_finite() && right.is_finite());
        defined.then_some(pairs).ok_or_else(|| "a division by zero".to_owned())
    }

    fn quantity(&self, quantity: &Quantity, blocks: &[u32]) -> Result<Vec<f64>, String> {
        Ok(match quantity {
            Quantity::Number(value) => vec![*value; blocks.len()],
            Quantity::Term(term) => self.values(term, blocks)?,
            Quantity::Binary(left, sign, right) => {
                let (left, right) = (self.quantity(left, blocks)?, self.quantity(right, blocks)?);
                let both = left.into_iter().zip(right);
                both.map(|(left, right)| match *sign {
                    "*" => left * right,
                    "/" => left / right,
                    "+" => left + right,
                    _ => left - right,
                })
                .collect()
            }
        })
    }
}

const EMULATED: &str = "times come from an emulated processor";

/// Why a case has no figures.
fn did_not_pass(case: &CaseResult) -> String {
    let why = case.reason.as_ref().map_or(String::new(), |reason| format!(": {}", reason.text));
    format!("case {} did not pass{why}", case.id)
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
pub(super) fn mean(values: &[f64]) -> f64 {
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
    fn a_figure_of_one_workload_is_known_by_a_workload_that_exists() {
        let exists = |name: &str| crate::workload::ALL.iter().any(|row| row.name == name);
        for key in ["file_size_bytes", "postmark_total_s", "read_count"] {
            assert!(only_workload_with(key).is_some_and(exists), "{key}");
        }
        for key in ["synced_s", "files_created_count", "payload_bytes", "no_such_s"] {
            assert_eq!(only_workload_with(key), None, "{key}");
        }
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
