//! What became of gates, in a line on stderr for each that does not hold: a job of CI that keeps
//! standard output in a file would show a bare exit code else.

use fsduel_harness::result::{GateResult, GateVerdict};

use crate::progress;

/// Tell which gates do not hold, and where.
pub fn tell(gates: &[GateResult]) {
    lines(gates).iter().for_each(|line| progress::line(line));
}

fn lines(gates: &[GateResult]) -> Vec<String> {
    let of_gate = |gate: &[GateResult]| {
        [GateVerdict::Broken, GateVerdict::Undecided].into_iter().filter_map(|word| line(gate, word)).next()
    };
    gates.chunk_by(|one, next| one.gate == next.gate).filter_map(of_gate).collect()
}

/// The figures of a gate about which there is this word.
fn line(gate: &[GateResult], word: GateVerdict) -> Option<String> {
    let figures: Vec<String> = gate.iter().filter(|figure| figure.outcome == word).map(place).collect();
    let [first, ..] = gate else { return None };
    let what = match word {
        GateVerdict::Broken => "does not hold",
        _ => "is undecided: the noise does not allow a word; more --repeat may",
    };
    (!figures.is_empty()).then(|| format!("gate {} {what} ({})", first.gate, figures.join(", ")))
}

/// `ext4 small-files`.
fn place(figure: &GateResult) -> String {
    [Some(&figure.configuration), figure.step.as_ref()]
        .into_iter()
        .flatten()
        .cloned()
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(gate: &str, step: &str, outcome: GateVerdict) -> GateResult {
        GateResult {
            gate: gate.into(),
            step: Some(step.into()),
            configuration: "ext4".into(),
            against: "old".into(),
            estimate: Default::default(),
            outcome,
        }
    }

    #[test]
    fn a_gate_that_does_not_hold_is_told_with_its_worst_figures_and_one_that_holds_is_not() {
        use GateVerdict::{Broken, Holds, Undecided};
        let gates = [
            figure("synced_s<=1", "read", Holds),
            figure("synced_s<=1", "fill", Broken),
            figure("synced_s<=1", "stat", Undecided),
            figure("mkfs_s<=1", "", Holds),
            figure("unmounted_s<=1", "fill", Undecided),
        ];
        let lines = lines(&gates);
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert_eq!(lines[0], "gate synced_s<=1 does not hold (ext4 fill)");
        assert!(lines[1].starts_with("gate unmounted_s<=1 is undecided"), "{lines:?}");
    }
}
