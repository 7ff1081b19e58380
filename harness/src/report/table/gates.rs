//! Whether what was asked to hold does: a line for each gate, with the figures that decided it.

use super::{Page, verdict};
use crate::result::{GateResult, GateVerdict};

/// Nothing where no gate was asked for.
pub(super) fn write(gates: &[GateResult], page: &mut Page) {
    if gates.is_empty() {
        return;
    }
    page.title("Gates");
    let mut known: Vec<&str> = vec![];
    for gate in gates {
        if !known.contains(&gate.gate.as_str()) {
            known.push(&gate.gate);
            let of_gate = gates.iter().filter(|other| other.gate == gate.gate).collect();
            page.line(&format!("  {}", line(&gate.gate, of_gate)), 4);
        }
    }
}

/// The worst outcome is that of the gate.
fn line(gate: &str, mut all: Vec<&GateResult>) -> String {
    let by_ratio = |one: &GateResult| one.estimate.ratio.unwrap_or(f64::INFINITY);
    all.sort_by(|one, other| by_ratio(other).total_cmp(&by_ratio(one)));
    let of = |wanted| all.iter().copied().filter(|one| one.outcome == wanted).collect::<Vec<_>>();
    let (broken, open) = (of(GateVerdict::Broken), of(GateVerdict::Undecided));
    match (broken.as_slice(), open.as_slice()) {
        ([], []) => {
            let worst = all.first().map(|one| figure(one)).unwrap_or_default();
            format!("✓ {gate} holds for {}; the worst is {worst}", figures(all.len()))
        }
        ([], open) => format!("? {gate} undecided: {}", listed(open)),
        (broken, []) => format!("✗ {gate} does not hold: {}", listed(broken)),
        (broken, open) => {
            let open = figures(open.len());
            format!("✗ {gate} does not hold: {}; undecided for {open}", listed(broken))
        }
    }
}

fn figures(count: usize) -> String {
    if count == 1 { "1 figure".into() } else { format!("{count} figures") }
}

/// More than these nobody reads in a line.
const MOST: usize = 3;

fn listed(worst_first: &[&GateResult]) -> String {
    let told = worst_first.iter().take(MOST).map(|one| figure(one));
    let more = worst_first.len().checked_sub(MOST).filter(|more| *more > 0);
    told.chain(more.map(|more| format!("{more} more"))).collect::<Vec<_>>().join(", ")
}

/// `ext4 small-files ×1.31 [1.22, 1.40]`.
fn figure(gate: &GateResult) -> String {
    let estimate = &gate.estimate;
    let interval = verdict::interval(estimate);
    let none = (interval.is_none() && gate.outcome == GateVerdict::Undecided)
        .then(|| format!("(n={} has no interval)", estimate.n));
    let needed = verdict::needed(estimate).filter(|_| gate.outcome == GateVerdict::Undecided);
    let ratio = estimate.ratio.map(|_| verdict::ratio(estimate));
    let parts = [Some(gate.configuration.clone()), gate.step.clone(), ratio, interval, none, needed];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}
