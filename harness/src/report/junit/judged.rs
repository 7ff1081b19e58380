//! Claims and gates as suites of their own.

use quick_junit::{TestCaseStatus, TestSuite};

use super::{error, failure, named, skipped, test};
use crate::report::human;
use crate::report::part::verdict;
use crate::result::{ClaimResult, ClaimVerdict, GateResult, GateVerdict, RunReport};

/// Nothing where the suite claims nothing.
pub(super) fn claims(report: &RunReport) -> Option<TestSuite> {
    let tests = report.claims.iter().map(|claim| test("claims", &claim.id, of_claim(claim), None));
    suite("claims", report, tests.collect())
}

/// Nothing where no gate was asked for.
pub(super) fn gates(report: &RunReport) -> Option<TestSuite> {
    let name = |gate: &GateResult| {
        let step = gate.step.as_ref().map(|step| format!(" {step}")).unwrap_or_default();
        format!("{} {}{step}", gate.gate, gate.configuration)
    };
    let tests = report.gates.iter().map(|gate| test("gates", &name(gate), of_gate(gate), None));
    suite("gates", report, tests.collect())
}

fn suite(name: &str, report: &RunReport, tests: Vec<quick_junit::TestCase>) -> Option<TestSuite> {
    let mut suite = named(name, report);
    suite.add_test_cases(tests);
    (suite.tests > 0).then_some(suite)
}

/// Only one that must hold can fail; of others is told what became of them.
fn of_claim(claim: &ClaimResult) -> TestCaseStatus {
    let verdict = human::word(claim.verdict);
    let reason = claim.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    let message = format!("{verdict}{reason}: {}", claim.text);
    let figures = [("source", &claim.source), ("then", &claim.then), ("now", &claim.now)];
    let more: Vec<String> =
        figures.iter().filter_map(|(name, text)| Some(format!("{name}: {}", (*text).as_ref()?))).collect();
    match claim.verdict {
        ClaimVerdict::Holds => TestCaseStatus::success(),
        ClaimVerdict::DoesNotHold if claim.must => failure("does_not_hold", &message, &more),
        ClaimVerdict::DoesNotHold => skipped("does_not_hold", &format!("{message} (it need not)"), &more),
        ClaimVerdict::NotResolved => skipped("not_resolved", &message, &more),
        ClaimVerdict::NotChecked => skipped("not_checked", &message, &more),
    }
}

/// One that was to be decided and could not is an error, as it is to the exit code.
fn of_gate(gate: &GateResult) -> TestCaseStatus {
    let estimate = &gate.estimate;
    let ratio = [Some(verdict::ratio(estimate)), verdict::interval(estimate), verdict::needed(estimate)];
    let ratio = ratio.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let message = format!("{} to {}: {ratio}, n={}", gate.gate, gate.against, estimate.n);
    match gate.outcome {
        GateVerdict::Holds => TestCaseStatus::success(),
        GateVerdict::Broken => failure("broken", &format!("does not hold: {message}"), &[]),
        GateVerdict::Undecided => error("undecided", &format!("undecided: {message}"), &[]),
    }
}
