//! File systems that are full in the middle of a run: with `--bug-compatible` the figures are
//! those of the real program, which does not notice; without, the run ends and says where.
//!
//! Each is a tmpfs of a few files, mounted where nobody else sees it.

use std::path::Path;
use std::process::{Command, Output};

use fsduel_harness::require::Requirement;
use fsduel_harness::result::RunReport;
use libtest_mimic::Trial;
use serde_json::Value;

use super::{configuration, expected, figures, folder, text, vector};
use crate::lab::{Lab, assert_exits, stderr};
use crate::trial;

/// Vector, mount option, what is full, and the call that is the first to tell.
const FAULTS: [(&str, &str, &str, &str); 2] = [
    ("full-disk", "size=1m", "space", "write"),
    // The root of the file system is an inode, too.
    ("inodes-100", "nr_inodes=101", "inodes", "create"),
];

pub fn trials() -> Vec<Trial> {
    let trials = FAULTS.map(|fault| {
        let name = |end: &str| format!("postmark::{}_{end}", fault.0.replace('-', "_"));
        let requirements = || vec![Requirement::Root];
        [
            trial(name("has_the_figures_of_the_real_program"), requirements(), move || goes_on(fault)),
            trial(name("ends_a_run_that_says_where_and_leaves_nothing"), requirements(), move || ends(fault)),
        ]
    });
    trials.into_iter().flatten().collect()
}

/// Mount at `a`, do the rest of the words, and tell what is left in `a`.
const SCRIPT: &str = "set -eu; mount -t tmpfs -o $0 tmpfs a; code=0; \"$@\" || code=$?
    test -z \"$(ls -A a)\" || echo left: $(ls -A a); exit $code";

fn on_tmpfs(lab: &Lab, vector: &Value, mount: &str, more: &[&str]) -> Output {
    let folder = folder(lab, "run", &configuration(vector).replace("/X/a", "a"));
    let fsduel = lab.fsduel(["postmark", "c"].iter().chain(more));
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "slave", "sh", "-c", SCRIPT, mount]);
    command.arg(fsduel.get_program()).args(fsduel.get_args());
    command.current_dir(folder).output().unwrap()
}

fn goes_on((name, mount, ..): (&str, &str, &str, &str)) {
    let lab = Lab::new();
    let vector = vector("vectors_faults.json", name);
    let output = on_tmpfs(&lab, &vector, mount, &["--bug-compatible"]);
    assert_exits(&output, 0);
    assert_eq!(figures(&text(&output)), expected(&vector));
    assert!(!text(&output).contains("left:"), "{}", text(&output));
}

fn ends((name, mount, which, call): (&str, &str, &str, &str)) {
    let lab = Lab::new();
    let output = on_tmpfs(&lab, &vector("vectors_faults.json", name), mount, &["--json", "report.json"]);
    assert_exits(&output, 3);
    assert!(!text(&output).contains("left:"), "{}", text(&output));
    let limit = limit(&lab.path("run/report.json"));
    let [found, errno, first, path] =
        ["which", "errno", "call", "path"].map(|key| limit[key].as_str().unwrap());
    assert_eq!([found, errno, first], [which, "ENOSPC", call], "{limit}");
    // Nothing was deleted before: the file has the number of the operation.
    assert_eq!(path, format!("a/{}", limit["at_operation"]), "{limit}");
    if which == "inodes" {
        assert_eq!(path, "a/101", "{limit}");
    }
    let place = format!("{call} {path} (ENOSPC) of operation {}", limit["at_operation"]);
    assert!(stderr(&output).contains(&place), "{}", stderr(&output));
}

fn limit(json: &Path) -> Value {
    let report: RunReport = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    serde_json::to_value(report.cases[0].steps[0].limit.as_ref().unwrap()).unwrap()
}
