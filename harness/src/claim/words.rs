//! The figures behind a claim in words: `btrfs 95.1 MiB, ext4 401 MiB: 0.24`.

use super::expression::{Condition, Term};
use super::figures::{Figures, name};
use crate::result::Reference;
use crate::units::Bytes;

/// A figure in words, and its number for the ratio.
type Said = Option<(String, f64)>;

/// The figures of this run, as far as there are any.
pub(super) fn now(condition: &Condition, figures: &Figures) -> Option<String> {
    say(condition, |term| {
        let value = figures.value(term).ok()?;
        Some((number(&term.metric, value), value))
    })
}

/// The figures that the source printed, as far as there are any.
pub(super) fn then(condition: &Condition, references: &[Reference]) -> Option<String> {
    say(condition, |term| {
        let fits = |reference: &&Reference| {
            Some(&reference.step) == term.step.as_ref()
                && reference.metric == term.metric
                && reference.filesystem == term.filesystem
        };
        let found = references.iter().find(fits)?;
        let about = if found.approx { "about " } else { "" };
        Some((format!("{about}{}", found.printed), found.value))
    })
}

fn say(condition: &Condition, figure: impl Fn(&Term) -> Said) -> Option<String> {
    let comparisons = condition.comparisons();
    // A heading is needed where a reader could not tell the figures apart.
    let terms = condition.terms();
    let headed = terms.iter().any(|term| name(term) != name(terms[0]));
    let mut said: Vec<String> = vec![];
    for text in comparisons.into_iter().filter_map(|part| comparison(part, headed, &figure)) {
        if !said.contains(&text) {
            said.push(text);
        }
    }
    (!said.is_empty()).then(|| said.join("; "))
}

/// One comparison: its figures, and the ratio of two of the same metric.
fn comparison(condition: &Condition, headed: bool, figure: &impl Fn(&Term) -> Said) -> Option<String> {
    let mut terms: Vec<&Term> = vec![];
    for term in condition.terms() {
        let known = |other: &&Term| other.filesystem == term.filesystem && name(other) == name(term);
        if !terms.iter().any(known) {
            terms.push(term);
        }
    }
    let found: Vec<_> = terms.iter().filter_map(|term| Some((*term, figure(term)?))).collect();
    let (first, _) = found.first()?;
    let same = terms.iter().all(|term| name(term) == name(first));
    let heading = if headed && same { format!("{}: ", name(first)) } else { String::new() };
    let label = |term: &Term| match same {
        true => term.filesystem.clone(),
        false => format!("{}[{}]", name(term), term.filesystem),
    };
    let list: Vec<_> = found.iter().map(|(term, (text, _))| format!("{} {text}", label(term))).collect();
    let ratio = match found.as_slice() {
        [(a, (_, one)), (b, (_, two))] if a.metric == b.metric && terms.len() == 2 && *two != 0.0 => {
            format!(": {}", digits(one / two))
        }
        _ => String::new(),
    };
    Some(format!("{heading}{}{ratio}", list.join(", ")))
}

/// A number with the unit of its key.
fn number(key: &str, value: f64) -> String {
    if key.ends_with("_bytes_per_s") {
        format!("{}/s", size(value))
    } else if key.ends_with("_per_s") {
        format!("{}/s", digits(value))
    } else if key.ends_with("_bytes") {
        size(value)
    } else if key.ends_with("_s") {
        format!("{} s", digits(value))
    } else {
        digits(value)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` saturates, the sign is taken off before, and a byte does not matter to a reader"
)]
fn size(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", Bytes(value.abs().round() as u64))
}

/// Three digits that matter, but no whole number cut short.
fn digits(value: f64) -> String {
    let places = match value.abs() {
        0.0 => 0,
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 0.1 => 2,
        size => (4..12)
            .zip(4..)
            .find(|(power, _)| size * 10f64.powi(*power) >= 100.0)
            .map_or(12, |(_, places)| places),
    };
    let text = format!("{value:.places$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_the_unit_of_its_key() {
        let table = [
            ("space_used_bytes", 2_147_483_648.0, "2 GiB"),
            ("space_used_bytes", -1536.0, "-1.5 KiB"),
            ("payload_bytes_per_s", 46_661_632.0, "44.5 MiB/s"),
            ("operations_per_s", 12345.6, "12346/s"),
            ("kernel_cpu_s", 0.5, "0.5 s"),
            ("kernel_cpu_s", 0.0123, "0.0123 s"),
            ("mount_s", 0.000_012_34, "0.0000123 s"),
            ("files_created_count", 9999.0, "9999"),
            ("metadata_ratio", 0.2371, "0.24"),
            ("metadata_ratio", 0.0, "0"),
        ];
        for (key, value, text) in table {
            assert_eq!(number(key, value), text, "{key}");
        }
    }
}
