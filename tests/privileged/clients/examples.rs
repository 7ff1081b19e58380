//! The examples for tests in other languages, as they stand in `fixtures/examples`.

use fsduel_harness::command::find;
use libtest_mimic::Trial;

use super::{ON_ALL, assert_passed, exec, sources};
use crate::lab::{Lab, assert_exits, told};
use crate::{Lack, everywhere, general, lack, trial_unless};

/// Debian's name, and everyone else's.
const PYTEST: [&str; 2] = ["pytest-3", "pytest"];

pub fn trials() -> Vec<Trial> {
    vec![
        with("tests_by_pytest_run_on_each_and_their_status_is_passed_on", lack_of_pytest, pytest),
        with("tests_in_go_run_on_each_and_their_status_is_passed_on", lack_of_go, go),
        general("clients::tests_by_a_shell_script_run_on_each_and_their_status_is_passed_on", shell),
    ]
}

fn with(name: &str, other: fn() -> Option<Lack>, test: fn()) -> Trial {
    trial_unless(format!("clients::{name}"), move || lack(&everywhere()).or_else(other), test)
}

fn lack_of_pytest() -> Option<Lack> {
    lack_of(&PYTEST, "apt install python3-pytest", false)
}

fn lack_of_go() -> Option<Lack> {
    lack_of(&["go"], "apt install golang-go", true)
}

fn lack_of(programs: &[&str], next: &str, is_excused: bool) -> Option<Lack> {
    let text = format!("{} is not on PATH", programs[0]);
    let is_there = programs.iter().any(|program| find(program).is_some());
    (!is_there).then(|| Lack { text, next: next.into(), is_excused })
}

fn example(name: &str) -> String {
    sources().join("fixtures/examples").join(name).display().to_string()
}

/// They pass on each; `wrong` are the same words with a test among them that cannot pass.
fn assert_both(options: &[&str], right: &[&str], wrong: &[&str], code: i32) {
    let lab = Lab::new();
    let options = [&ON_ALL[..], options].concat();
    let ran = exec(&lab, &options, right);
    assert_passed(&lab, &ran);
    assert_eq!(ran.1.cases.len(), 3, "{}", told(&ran.0));
    assert_exits(&exec(&lab, &options, wrong).0, code);
    lab.assert_nothing_is_left();
}

fn pytest() {
    let program = PYTEST.into_iter().find(|program| find(program).is_some()).unwrap();
    let tests = example("pytest");
    let words = [program, "-p", "no:cacheprovider", "--basetemp=tmp", &tests];
    // They refuse to work anywhere else.
    let outside = Lab::new();
    let elsewhere = format!("--basetemp={}", outside.path("tmp").display());
    assert_both(&[], &words, &[&words[..3], &[&elsewhere, &tests]].concat(), 1);
}

fn go() {
    let words = ["go", "test", "-count=1", "./..."];
    let wrong = ["env", "-u", "FSDUEL_MOUNT", "go", "test", "-count=1", "./..."];
    assert_both(&["--copy", &example("go")], &words, &wrong, 1);
}

fn shell() {
    let wrong = ["env", "FSDUEL_MOUNT=/proc", "./run-tests.sh"];
    assert_both(&["--copy", &example("shell")], &["./run-tests.sh"], &wrong, 1);
}
