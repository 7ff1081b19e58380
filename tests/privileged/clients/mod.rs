//! Programs that know nothing of us, run by `fsduel exec` as anyone would run them: what people work
//! with, what tests file systems, and the examples for other languages.

mod examples;
mod failures;
mod programs;
mod suites;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fsduel_harness::require::Requirement;
use fsduel_harness::result::{CaseResult, Checked, RunReport, Status};
use libtest_mimic::Trial;

use crate::lab::{Lab, assert_exits, told};
use crate::{everywhere, trial};

pub fn trials() -> Vec<Trial> {
    let all = [programs::trials(), suites::trials(), failures::trials(), examples::trials()];
    all.into_iter().flatten().collect()
}

/// The common three, in images that hold each of them.
const ON_ALL: [&str; 4] = ["--fs", "ext4,btrfs,xfs", "--size", "512MiB"];

const GIT: Requirement = Requirement::Tool { program: "git", package: "git" };
const SQLITE: Requirement = Requirement::Tool { program: "sqlite3", package: "sqlite3" };

/// Git as it is without anyone's configuration.
const GIT_ALONE: [(&str, &str); 6] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
    ("GIT_AUTHOR_NAME", "someone"),
    ("GIT_AUTHOR_EMAIL", "someone@example.org"),
    ("GIT_COMMITTER_NAME", "someone"),
    ("GIT_COMMITTER_EMAIL", "someone@example.org"),
];

/// A test on the common file systems that needs a program, too.
fn client(name: &str, program: Requirement, test: fn()) -> Trial {
    trial(format!("clients::{name}"), [everywhere(), vec![program]].concat(), test)
}

type Ran = (Output, RunReport);

/// `fsduel exec OPTIONS -- WORDS`, and its result.
fn exec(lab: &Lab, options: &[&str], words: &[&str]) -> Ran {
    let json = lab.path("report.json");
    let mut command = lab.fsduel(["exec", "--json"]);
    command.arg(&json).args(options).arg("--").args(words);
    // pytest would leave its bytecode beside the examples.
    let output = command.envs(GIT_ALONE).env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
    let text = fs::read_to_string(&json).unwrap_or_else(|error| panic!("{error}: {}", told(&output)));
    (output, serde_json::from_str(&text).unwrap())
}

/// The client did what it should on each file system, and nothing is left.
fn assert_passed(lab: &Lab, (output, report): &Ran) {
    assert_exits(output, 0);
    for case in &report.cases {
        assert_eq!(case.status, Status::Passed, "{}: {}", case.id, told(output));
        assert_whole(case);
    }
    lab.assert_nothing_is_left();
}

/// Whatever the client did: what it left can be read, and fsck finds no fault in it.
fn assert_whole(case: &CaseResult) {
    let found = (case.steps[0].read_back, case.verify.fsck, case.verify.kernel_log, case.verify.teardown);
    assert_eq!(found, (Checked::Clean, Checked::Clean, Checked::Clean, Checked::Clean), "{}", case.id);
}

/// The client left the same files on all of them.
fn assert_same_tree((_, report): &Ran) {
    let hashes: BTreeSet<_> = report.cases.iter().map(|case| &case.steps[0].facts.tree_hash).collect();
    assert_eq!((report.cases.len(), hashes.len()), (3, 1), "{hashes:?}");
}

/// A shell script beside the file systems, in a folder of the lab.
fn beside(lab: &Lab, folder: &str, script: &str) -> Output {
    fs::create_dir_all(lab.path(folder)).unwrap();
    let mut shell = Command::new("sh");
    shell.args(["-ec", script]).current_dir(lab.path(folder)).envs(GIT_ALONE);
    shell.output().unwrap()
}

/// The same, which must succeed; what it printed.
fn made_beside(lab: &Lab, folder: &str, script: &str) -> String {
    let output = beside(lab, folder, script);
    assert_exits(&output, 0);
    String::from_utf8(output.stdout).unwrap()
}

/// A path as a word of a shell.
fn word(path: &Path) -> String {
    format!("'{}'", path.to_str().unwrap().replace('\'', r"'\''"))
}

/// Where our sources are.
fn sources() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
