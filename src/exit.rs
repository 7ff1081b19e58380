//! Exit codes. They are an interface: scripts and CI jobs decide by them, so a number never
//! changes its meaning. When several apply, [`PRECEDENCE`] says which one is told.

use fsduel_harness::error::{Error, Kind};
use fsduel_harness::result::{
    CaseResult, Checked, ClaimVerdict, CommandResult, GateResult, GateVerdict, Reason, RunReport, Status,
};

/// Ran, verified, and every claim that must hold holds.
pub const OK: u8 = 0;
/// The harness itself failed: a case is `error` (worker died, teardown not proven).
pub const HARNESS: u8 = 1;
/// Usage, or a suite file that is wrong.
pub const USAGE: u8 = 2;
/// Ran and verified, but a claim that must hold, a gate or a known fact does not, or a limit that is
/// not allowed was met.
pub const CLAIM: u8 = 3;
/// The selection is empty.
pub const EMPTY: u8 = 4;
/// Verification failed: data differ, fsck found damage, the kernel logged a fault, an unexpected
/// errno.
pub const DAMAGE: u8 = 5;
/// Asked to decide, and the noise does not allow it.
pub const UNDECIDED: u8 = 6;
/// The environment broke a measurement: a case is `invalid`.
pub const ENVIRONMENT: u8 = 7;
/// A file system that was named on the command line cannot run here, or none can (`EX_UNAVAILABLE`
/// of sysexits.h).
pub const UNAVAILABLE: u8 = 69;
/// The command of `exec` cannot be executed (as in a shell). No file system was made.
pub const NOT_EXECUTABLE: u8 = 126;
/// The command of `exec` is not there (as in a shell). No file system was made.
pub const NOT_FOUND: u8 = 127;
/// A time limit ran out (as `timeout(1)`).
pub const TIME_LIMIT: u8 = 124;
/// Ended by SIGHUP (128 + 1).
pub const HANGUP: u8 = 129;
/// Ended by SIGINT (128 + 2).
pub const INTERRUPTED: u8 = 130;
/// Ended by SIGTERM (128 + 15).
pub const TERMINATED: u8 = 143;

/// Which code is told when several apply: the first. A code that is not here stands alone.
pub const PRECEDENCE: [u8; 13] = [
    HANGUP,
    INTERRUPTED,
    TERMINATED,
    HARNESS,
    DAMAGE,
    ENVIRONMENT,
    TIME_LIMIT,
    USAGE,
    UNAVAILABLE,
    EMPTY,
    CLAIM,
    UNDECIDED,
    OK,
];

/// What the caller asked for, as far as it decides the code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// The file systems were named on the command line.
    pub named: bool,
    /// None may be missing.
    pub require_all: bool,
    /// The signal that ended the run.
    pub signal: Option<u8>,
}

/// The code of a run: that of the first command that failed, if nothing else went wrong.
#[must_use]
pub fn code(report: &RunReport, asked: Asked) -> u8 {
    match (ours(report, asked), failed_command(report)) {
        (OK, Some((_, command))) => command.code(),
        (ours, _) => ours,
    }
}

/// Whose code this is, where a command failed.
#[must_use]
pub fn whose(report: &RunReport, code: u8) -> Option<String> {
    let (case, command) = failed_command(report)?;
    let (id, ending) = (&case.id, command.ending());
    Some(match command.code() == code {
        true => format!("exit status {code} is the command's: it {ending} in {id}"),
        false => format!("exit status {code} is not the command's, which {ending} in {id}"),
    })
}

/// The first command of the user's that failed; a check that failed is verification, and no command.
fn failed_command(report: &RunReport) -> Option<(&CaseResult, &CommandResult)> {
    let of_case =
        |case: &&CaseResult| case.reason.as_ref().is_some_and(|reason| reason.code == Reason::COMMAND);
    let case = report.cases.iter().find(of_case)?;
    let command =
        case.steps.iter().filter_map(|step| step.command.as_ref()).find(|command| !command.succeeded())?;
    Some((case, command))
}

fn ours(report: &RunReport, asked: Asked) -> u8 {
    let none_ran = report.cases.iter().all(|case| case.status == Status::NotRun);
    let missing_counts = asked.named || asked.require_all || none_ran;
    let cases = report.cases.iter().map(|case| match case.status {
        // Only the file system itself can tell that a mount option makes no sense.
        Status::NotRun if case.reason.as_ref().is_some_and(|reason| reason.code == Reason::USAGE) => USAGE,
        Status::NotRun if case.reason.as_ref().is_some_and(|reason| reason.code == Reason::NOT_REACHED) => OK,
        Status::NotRun if missing_counts => UNAVAILABLE,
        _ => of_case(case),
    });
    let broken = |claim: &&fsduel_harness::result::ClaimResult| {
        claim.must && claim.verdict == ClaimVerdict::DoesNotHold
    };
    let claims = report.claims.iter().filter(broken).map(|_| CLAIM);
    let empty = report.cases.is_empty().then_some(EMPTY);
    let signal = asked.signal.map(|signal| 128 + signal);
    first(cases.chain(claims).chain(report.gates.iter().map(of_gate)).chain(empty).chain(signal))
}

/// The code of one gate.
pub fn of_gate(gate: &GateResult) -> u8 {
    match gate.outcome {
        GateVerdict::Holds => OK,
        GateVerdict::Broken => CLAIM,
        GateVerdict::Undecided => UNDECIDED,
    }
}

/// The code of one case that started.
fn of_case(case: &CaseResult) -> u8 {
    match case.status {
        Status::Passed | Status::NotRun => OK,
        Status::Error => HARNESS,
        Status::Invalid => ENVIRONMENT,
        // A signal goes before this in the order, so what remains is the time limit.
        Status::Stopped => TIME_LIMIT,
        Status::Failed if is_damaged(case) => DAMAGE,
        Status::Failed => match &case.reason {
            Some(reason) if reason.code == Reason::LIMIT => CLAIM,
            // Its own status is told, unless something else went wrong.
            Some(reason) if reason.code == Reason::COMMAND => OK,
            _ => DAMAGE,
        },
    }
}

fn is_damaged(case: &CaseResult) -> bool {
    let verify = &case.verify;
    [verify.read_back, verify.fsck, verify.kernel_log].contains(&Checked::Damaged)
        || case.steps.iter().any(|step| step.read_back == Checked::Damaged)
}

/// The code of an error that ended everything.
#[must_use]
pub fn of_error(error: &Error, signal: Option<u8>) -> u8 {
    match error.kind() {
        Kind::Harness => HARNESS,
        Kind::Usage => USAGE,
        Kind::Unavailable => UNAVAILABLE,
        Kind::Environment => ENVIRONMENT,
        Kind::Damage => DAMAGE,
        Kind::Empty => EMPTY,
        Kind::Stopped => signal.map_or(TIME_LIMIT, |signal| 128 + signal),
    }
}

/// The first of several codes by [`PRECEDENCE`].
pub fn first(codes: impl IntoIterator<Item = u8>) -> u8 {
    let rank = |code: &u8| PRECEDENCE.iter().position(|known| known == code);
    codes.into_iter().min_by_key(rank).unwrap_or(OK)
}

#[cfg(test)]
mod tests {
    use fsduel_harness::result::ClaimResult;
    use serde_json::json;

    use super::*;
    use crate::example::case;

    fn report(cases: Vec<CaseResult>, broken_claim: bool) -> RunReport {
        let claim = ClaimResult {
            id: "c".into(),
            text: String::new(),
            source: None,
            then: None,
            now: None,
            verdict: ClaimVerdict::DoesNotHold,
            must: broken_claim,
            reason: None,
        };
        let report = RunReport::of(String::new(), Default::default(), Default::default());
        RunReport { cases, claims: vec![claim], ..report }
    }

    fn plain(status: &str) -> CaseResult {
        case(status, json!({}))
    }

    const SUITE: Asked = Asked { named: false, require_all: false, signal: None };
    const NAMED: Asked = Asked { named: true, ..SUITE };
    const ALL: Asked = Asked { require_all: true, ..SUITE };
    const CTRL_C: Asked = Asked { signal: Some(2), ..SUITE };

    #[test]
    fn every_status_has_its_code() {
        let limit = json!({ "reason": { "code": "limit", "text": "" } });
        let fsck = json!({ "reason": { "code": "limit", "text": "" },
            "verify": { "read_back": "clean", "fsck": "damaged", "kernel_log": "clean",
                        "teardown": "clean", "details": [] } });
        for (cases, broken_claim, asked, wanted) in [
            (vec![plain("passed")], false, SUITE, OK),
            (vec![plain("passed")], true, SUITE, CLAIM),
            (vec![], false, SUITE, EMPTY),
            (vec![plain("error")], false, SUITE, HARNESS),
            (vec![plain("failed")], false, SUITE, DAMAGE),
            (vec![case("failed", limit)], false, SUITE, CLAIM),
            (vec![case("failed", fsck)], false, SUITE, DAMAGE),
            (vec![plain("invalid")], false, SUITE, ENVIRONMENT),
            (vec![plain("stopped")], false, SUITE, TIME_LIMIT),
            (vec![plain("stopped")], false, CTRL_C, INTERRUPTED),
            (vec![plain("not_run"), plain("passed")], false, SUITE, OK),
            (vec![plain("not_run"), plain("passed")], false, NAMED, UNAVAILABLE),
            (vec![plain("not_run"), plain("passed")], false, ALL, UNAVAILABLE),
            (vec![plain("not_run"), plain("not_run")], false, SUITE, UNAVAILABLE),
        ] {
            let statuses: Vec<_> = cases.iter().map(|case| case.status).collect();
            assert_eq!(code(&report(cases, broken_claim), asked), wanted, "{statuses:?} {asked:?}");
        }
    }

    #[test]
    fn when_several_apply_the_first_of_the_order_is_told() {
        let order = [
            ("error", HARNESS),
            ("failed", DAMAGE),
            ("invalid", ENVIRONMENT),
            ("stopped", TIME_LIMIT),
            ("not_run", UNAVAILABLE),
        ];
        for (at, (_, wanted)) in order.iter().enumerate() {
            let cases = order[at..].iter().rev().map(|(status, _)| plain(status)).collect();
            assert_eq!(code(&report(cases, true), NAMED), *wanted);
        }
        assert_eq!(code(&report(vec![plain("error")], true), CTRL_C), INTERRUPTED);
    }

    #[test]
    fn every_kind_of_error_has_its_code() {
        for (error, wanted) in [
            (Error::new("x"), HARNESS),
            (Error::usage("x"), USAGE),
            (Error::unavailable("x"), UNAVAILABLE),
            (Error::environment("x"), ENVIRONMENT),
            (Error::damage("x"), DAMAGE),
            (Error::empty("x"), EMPTY),
            (Error::stopped("x"), TIME_LIMIT),
        ] {
            assert_eq!(of_error(&error, None), wanted, "{error}");
        }
        assert_eq!(of_error(&Error::stopped("x"), Some(15)), TERMINATED);
    }
}
