//! Whether what was asked to hold does: a line for each gate, with the figures that decided it.

use super::{Page, verdict};
use crate::result::{Changes, GateResult, GateVerdict};

/// Nothing where no gate was asked for.
pub(in crate::report) fn write(gates: &[GateResult], changes: Option<&Changes>, page: &mut Page) {
    let Some(first) = gates.first() else { return };
    // What an earlier run is compared with, the part above says.
    match changes.is_none() && gates.iter().all(|gate| gate.against == first.against) {
        true => page.title(&format!("Gates (ratio to {})", first.against)),
        false => page.title("Gates"),
    }
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
    let at_least = gate.contains(">=");
    let badness = |one: &GateResult| {
        one.estimate.ratio.map_or(f64::INFINITY, |ratio| if at_least { -ratio } else { ratio })
    };
    all.sort_by(|one, other| badness(other).total_cmp(&badness(one)));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::report::part::tests::text;

    fn gate(ratio: f64, outcome: GateVerdict) -> GateResult {
        let (_, gates) = example::changes();
        let mut gate = gates[0].clone();
        gate.configuration = format!("id-{ratio}");
        gate.estimate.ratio = Some(ratio);
        GateResult { outcome, ..gate }
    }

    fn told(gates: &[GateResult]) -> String {
        line("synced_s<=1.05", gates.iter().collect())
    }

    #[test]
    fn one_broken_figure_breaks_a_gate_and_the_worst_come_first() {
        let mut gates: Vec<_> =
            [1.2, 1.5, 1.1, 1.4, 1.3].map(|ratio| gate(ratio, GateVerdict::Broken)).into();
        gates.push(gate(9.0, GateVerdict::Undecided));
        let text = told(&gates);
        assert!(text.starts_with("✗ synced_s<=1.05 does not hold: id-1.5 small-files ×1.50 ["), "{text}");
        assert!(text.contains("id-1.3") && !text.contains("id-1.2") && text.contains(", 2 more;"), "{text}");
        assert!(text.ends_with("; undecided for 1 figure") && !text.contains("id-9"), "{text}");
    }

    #[test]
    fn a_gate_is_undecided_as_long_as_one_figure_is() {
        let mut open = gate(1.04, GateVerdict::Undecided);
        open.estimate.ci95 = None;
        open.estimate.n = 1;
        let text = told(&[gate(1.0, GateVerdict::Holds), open]);
        assert!(text.starts_with("? synced_s<=1.05 undecided: id-1.04 small-files ×1.04 (n=1"), "{text}");
        assert!(!text.contains("id-1 "), "{text}");
    }

    #[test]
    fn a_gate_that_holds_names_the_figure_that_is_nearest() {
        let text = told(&[gate(0.5, GateVerdict::Holds), gate(1.02, GateVerdict::Holds)]);
        assert!(text.starts_with("✓ synced_s<=1.05 holds for 2 figures; the worst is id-1.02"), "{text}");
    }

    #[test]
    fn of_what_should_be_much_the_least_is_the_worst() {
        let all = [gate(0.9, GateVerdict::Holds), gate(1.4, GateVerdict::Holds)];
        let text = line("synced_s>=0.8", all.iter().collect());
        assert!(text.contains("the worst is id-0.9"), "{text}");
    }

    #[test]
    fn what_is_not_an_earlier_run_is_named() {
        let (changes, gates) = example::changes();
        let written = |changes| {
            let mut page = Page::new(80);
            write(&gates, changes, &mut page);
            text(&page)
        };
        assert!(written(Some(&changes)).starts_with("Gates\n"));
        assert!(written(None).starts_with(&format!("Gates (ratio to {})", gates[0].against)));
    }
}
