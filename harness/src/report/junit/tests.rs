use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use quick_junit::{Report, TestCaseStatus};

use super::*;
use crate::report::{example, json};
use crate::result::{Checked, ClaimVerdict, EndedWord, Reason, Status, Warning};

fn written(report: &RunReport) -> String {
    let mut bytes = vec![];
    write(report, &mut bytes, &Style::default()).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Below the root of the project.
fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// What `xmllint` says against the schema of Jenkins; `None` where there is no such program.
#[expect(clippy::print_stderr, reason = "a test that is left out says why")]
fn refused(text: &str) -> Option<String> {
    let schema = fixtures().join("schema/junit-10.xsd");
    let mut command = Command::new("xmllint");
    command.args(["--noout", "--nonet", "--schema"]).arg(schema).arg("-");
    let started = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = started else {
        assert_ne!(std::env::var("FSDUEL_REQUIRE_ALL").as_deref(), Ok("1"), "apt install libxml2-utils");
        eprintln!("skipped: no xmllint here; apt install libxml2-utils");
        return None;
    };
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    Some(if output.status.success() { String::new() } else { told })
}

fn recorded() -> Vec<RunReport> {
    let files = std::fs::read_dir(fixtures().join("recorded")).unwrap().map(|entry| entry.unwrap().path());
    let runs = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    runs.map(|path| json::read(&std::fs::read_to_string(path).unwrap()).unwrap()).collect()
}

const HOSTILE: &str = "]]><b>&\"' \u{0}\u{1b}[31m\u{202e}\u{ffff}\u{9b}\n\t skipped=\"0\"";

/// Every text from outside is hostile, and every status is there.
fn hostile() -> RunReport {
    let mut report = example::repeated();
    let (changes, gates) = example::changes();
    (report.changes, report.gates) = (Some(changes), gates);
    report.suite.name = HOSTILE.into();
    report.manifest.started_at = HOSTILE.into();
    report.manifest.warnings.push(Warning { code: HOSTILE.into(), text: HOSTILE.into() });
    report.claims[0].text = HOSTILE.into();
    report.gates[0].gate = HOSTILE.into();
    for (at, case) in report.cases.iter_mut().enumerate() {
        case.configuration.id = format!("{}{HOSTILE}{}", case.configuration.id, "x".repeat(200));
        case.status =
            [Status::Passed, Status::Failed, Status::Invalid, Status::Error, Status::Stopped][at % 5];
        case.reason = Some(Reason { code: HOSTILE.into(), text: HOSTILE.into(), next: Some(HOSTILE.into()) });
        case.verify.fsck = [Checked::Clean, Checked::Damaged, Checked::NotChecked][at % 3];
        case.verify.details = vec![format!("fsck: {HOSTILE}")];
        for step in &mut case.steps {
            step.name.push_str(HOSTILE);
            step.metrics.set(HOSTILE, 1e300);
            step.metrics.set("synced_s", 1e300);
        }
    }
    report
}

#[test]
fn every_run_is_valid_by_the_schema_of_jenkins() {
    let empty = RunReport { cases: vec![], claims: vec![], ..example::report() };
    let examples = [example::report(), example::repeated(), example::postmark(), empty, hostile()];
    assert!(!recorded().is_empty());
    for report in recorded().into_iter().chain(examples) {
        let Some(told) = refused(&written(&report)) else { return };
        assert_eq!(told, "", "{}", report.suite.name);
    }
    let wrong = written(&example::report()).replacen("<testcase name=", "<testcase nome=", 1);
    assert!(refused(&wrong).unwrap().contains("nome"), "a schema that takes everything is none");
}

#[test]
fn what_xml_forbids_is_replaced_and_markup_stays_text() {
    let text = written(&hostile());
    let bad = |sign: char| sign.is_control() && sign != '\n' && sign != '\t';
    assert!(!text.contains(|sign: char| bad(sign) || matches!(sign, '\u{202e}' | '\u{ffff}')));
    assert!(!text.contains("<b>") && text.contains("&lt;b&gt;&amp;"), "{text}");
}

/// The report as the crate reads it, with the attribute that its reader wants.
fn parsed(report: &RunReport) -> Report {
    Report::deserialize_from_str(&written(report)).unwrap()
}

fn status_of(report: &RunReport, suite: &str, test: &str) -> TestCaseStatus {
    let parsed = parsed(report);
    let suite = parsed.test_suites.iter().find(|one| one.name.as_str() == suite).unwrap();
    suite.test_cases.iter().find(|one| one.name.as_str() == test).unwrap().status.clone()
}

/// `failure damage: fsck damaged`: the kind, its code, and its message.
fn told_of(report: &RunReport, suite: &str, test: &str) -> String {
    let (kind, ty, message) = match status_of(report, suite, test) {
        TestCaseStatus::Success { .. } => return "passed".into(),
        TestCaseStatus::NonSuccess { kind, ty, message, .. } => {
            (format!("{kind:?}").to_lowercase(), ty, message)
        }
        TestCaseStatus::Skipped { ty, message, .. } => ("skipped".into(), ty, message),
    };
    format!("{kind} {}: {}", ty.unwrap().as_str(), message.unwrap().as_str())
}

#[test]
fn each_configuration_is_a_suite_and_each_step_and_check_a_test() {
    let parsed = parsed(&example::report());
    let suite = |name: &str| parsed.test_suites.iter().find(|one| one.name.as_str() == name).unwrap();
    let names: Vec<&str> = suite("btrfs").test_cases.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, ["small-files", "fill", "read-back", "fsck", "kernel log", "teardown"]);
    let first = &suite("btrfs").test_cases[0];
    assert_eq!(first.classname.as_ref().unwrap().as_str(), "linux-magazin-2010.btrfs");
    assert_eq!(first.time, Some(Duration::from_millis(668)));
    assert_eq!(suite("btrfs").time, Some(Duration::from_millis(3768)));
    let suites: Vec<&str> = parsed.test_suites.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(suites, ["ext4", "btrfs", "xfs", "reiserfs", "claims"]);
}

#[test]
fn properties_name_the_machine_as_xfstests_does_and_hold_every_median() {
    let parsed = parsed(&example::repeated());
    let of = |suite: &str, name: &str| {
        let suite = parsed.test_suites.iter().find(|one| one.name.as_str() == suite).unwrap();
        let found = suite.properties.iter().find(|one| one.name.as_str() == name);
        found.map(|one| one.value.as_str().to_owned())
    };
    let told = ["KERNEL", "CPUS", "MEM_KB", "FSTYP", "MKFS_OPTIONS", "MOUNT_OPTIONS", "seed"]
        .map(|name| of("ext4", name).unwrap());
    assert_eq!(told, ["6.18.44", "2", "24689328", "ext4", "", "noatime,nodiscard", "2010"]);
    // Of 0.412 times 1, 0.97, 1.02, 1.04, 0.99 and 1.31: between the third and the fourth.
    let median: f64 = of("ext4", "small-files.synced_s").unwrap().parse().unwrap();
    assert!((median - 0.412 * 1.01).abs() < 1e-9, "{median}");
    assert_eq!(of("ext4", "small-files.files_created_count").unwrap(), "9999");
    assert_eq!(of("ext4", "mkfs_s").unwrap(), "0.056");
    assert_eq!(of("reiserfs", "small-files.synced_s"), None, "absent, never 0");
}

#[test]
fn blocks_are_told_apart_where_there_are_several() {
    let report = example::repeated();
    assert_eq!(told_of(&report, "ext4", "list [warm-up]"), "passed");
    assert_eq!(told_of(&report, "ext4", "fsck [block 6]"), "passed");
    let invalid = told_of(&report, "xfs", "list [block 4]");
    assert_eq!(invalid, "error environment: invalid: the store filled up under the image");
}

#[test]
fn what_did_not_run_or_was_not_checked_is_skipped_with_its_reason() {
    let report = example::report();
    let told = told_of(&report, "reiserfs", "small-files");
    assert_eq!(told, "skipped unavailable: not run: cannot mount reiserfs: this kernel does not have it");
    let told = told_of(&report, "xfs", "kernel log");
    assert_eq!(told, "skipped not_checked: not checked: kernel log: /dev/kmsg is not readable (EPERM)");
    assert_eq!(told_of(&report, "xfs", "fill"), "skipped not_reached: not reached");
    assert!(written(&report).contains("next: Linux 6.13 removed reiserfs"));
}

#[test]
fn damage_fails_the_check_with_its_details_and_every_step_of_the_case() {
    let mut report = example::report();
    let case = &mut report.cases[0];
    case.status = Status::Failed;
    case.kept = Some("/var/tmp/kept".into());
    case.verify.fsck = Checked::Damaged;
    case.verify.details = vec!["small-files: holes are not looked for".into(), "fsck: bad tree root".into()];
    case.reason = Some(Reason { code: "damage".into(), text: "fsck: bad tree root".into(), next: None });
    assert_eq!(told_of(&report, "btrfs", "fsck"), "failure damage: fsck damaged: fsck: bad tree root");
    assert_eq!(told_of(&report, "btrfs", "small-files"), "failure damage: failed: fsck: bad tree root");
    let text = written(&report);
    assert!(text.contains("kept: /var/tmp/kept") && !text.contains("time=\"0.668\""), "{text}");
}

#[test]
fn a_case_that_ended_early_is_never_all_green() {
    for (status, kind) in [
        (Status::Error, "error"),
        (Status::Invalid, "error"),
        (Status::Stopped, "error"),
        (Status::Failed, "failure"),
    ] {
        let mut report = example::report();
        report.cases.truncate(1);
        report.cases[0].status = status;
        for known in [true, false] {
            if !known {
                report.cases[0].steps.clear();
            }
            let name = if known { "small-files" } else { "case" };
            assert!(told_of(&report, "btrfs", name).starts_with(kind), "{status:?}");
        }
    }
}

#[test]
fn a_case_that_ended_in_a_step_tells_so_there_and_those_after_it_were_not_reached() {
    for (status, kind) in [(Status::Stopped, "error"), (Status::Error, "error"), (Status::Failed, "failure")]
    {
        let mut report = example::report();
        let case = &mut report.cases[0];
        case.status = status;
        case.reason = Some(Reason { code: "timeout".into(), text: "it was slow".into(), next: None });
        case.steps.clear();
        let of = |step: &str| told_of(&report, "btrfs", step);
        assert!(of("small-files").starts_with(&format!("{kind} timeout: ")), "{}", of("small-files"));
        assert_eq!(of("fill"), "skipped not_reached: not reached");
    }
}

#[test]
fn a_limit_that_fails_a_case_fails_its_step_and_no_other() {
    let mut report = example::report();
    let limit = report.cases[0].steps[1].limit.clone();
    let case = &mut report.cases[0];
    case.status = Status::Failed;
    case.reason = Some(Reason { code: Reason::LIMIT.into(), text: "no room".into(), next: None });
    case.steps[1].facts.file_size_bytes = None;
    (case.steps[1].limit, case.steps[1].ended) = (limit, EndedWord::Limit);
    assert_eq!(told_of(&report, "btrfs", "fill"), "failure limit: no room");
    assert_eq!(told_of(&report, "btrfs", "small-files"), "passed");
    assert_eq!(told_of(&report, "ext4", "fill"), "passed", "a fill is done when the room is");
}

#[test]
fn only_a_claim_that_must_hold_fails_and_an_open_gate_is_an_error() {
    let mut report = example::report();
    report.gates = example::changes().1;
    assert_eq!(told_of(&report, "claims", "space"), "passed");
    assert!(told_of(&report, "claims", "time").starts_with("skipped does_not_hold: "));
    assert!(told_of(&report, "claims", "large-file").contains("not checked (only at scale full)"));
    report.claims[0].verdict = ClaimVerdict::DoesNotHold;
    assert!(told_of(&report, "claims", "space").starts_with("failure does_not_hold: does not hold"));
    let broken = told_of(&report, "gates", "synced_s<=1.05 ext4 small-files");
    assert!(broken.starts_with("failure broken: ") && broken.contains("×1.31"), "{broken}");
    assert!(told_of(&report, "gates", "synced_s<=1.05 btrfs small-files").starts_with("error undecided"));
    assert_eq!(told_of(&report, "gates", "space_used_bytes<=1.02 ext4 small-files"), "passed");
}

#[test]
fn emulated_times_are_told_in_every_suite() {
    let text = written(&example::emulated());
    assert_eq!(text.matches("name=\"timings_comparable\"").count(), 4, "{text}");
    assert!(text.contains("emulated processor") && text.contains("value=\"6.12.95+deb13-amd64\""));
    assert!(!written(&example::kernels()).contains("timings_comparable"));
}
