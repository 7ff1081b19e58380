//! `fsduel postmark --fs`: the same on every file system, and nothing left however it ends.

use fsduel_harness::fs::common;
use fsduel_harness::result::{Checked, RunReport, Status};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{configuration, folder, vector};
use crate::general;
use crate::lab::{Lab, assert_exits, stderr};
use crate::leaks::{wait_for, worker};

pub fn trials() -> Vec<Trial> {
    let tests: [(&str, fn()); 6] = [
        ("counts_and_operations_are_those_of_the_vector_on_every_file_system", vectors),
        ("verify_full_reads_the_same_tree_back_on_every_file_system", full),
        ("a_full_image_is_a_limit_whose_rest_is_read_back", limit),
        ("too_few_inodes_are_refused_before_the_start", inodes),
        ("sigint_in_a_run_on_a_fresh_file_system_leaves_nothing", interrupted),
        ("sigkill_of_the_worker_in_a_run_leaves_nothing", killed),
    ];
    tests.map(|(name, test)| general(format!("postmark::{name}"), test)).into()
}

/// All file systems of the table.
fn all() -> String {
    common().iter().map(|filesystem| filesystem.name()).collect::<Vec<_>>().join(",")
}

/// `fsduel postmark CONFIGURATION WORDS`, and its result.
fn run(lab: &Lab, commands: &str, words: &[&str]) -> (std::process::Output, RunReport) {
    let config = folder(lab, "config", commands).join("c").display().to_string();
    lab.report([&["postmark", &config], words].concat())
}

fn vectors() {
    let vector = vector("vectors.json", "three-locations-subdirs");
    let (lab, expected) = (Lab::new(), &vector["expected"]);
    let (output, report) = run(&lab, &configuration(&vector), &["--size", "320MiB", "--fs", &all()]);
    assert_exits(&output, 0);
    assert_eq!(report.cases.len(), common().len());
    for case in &report.cases {
        let facts = &case.steps[0].facts;
        let postmark = facts.postmark.as_ref().unwrap();
        let ours = [
            postmark.created_count,
            postmark.created_mixed_count,
            postmark.read_count,
            postmark.appended_count,
            postmark.deleted_count,
            postmark.deleted_alone_count,
            postmark.read_bytes,
            postmark.written_bytes,
            postmark.draws_count,
        ];
        let keys = ["created", "created_mixed", "read", "appended", "deleted", "deleted_alone"];
        let keys = [&keys[..], &["bytes_read_exact", "bytes_written_exact", "rng_draws"]].concat();
        let theirs: Vec<_> = keys.iter().map(|key| expected[key].as_u64().unwrap()).collect();
        assert_eq!(ours[..], theirs, "{}", case.id);
        assert_eq!(facts.operations_sha256.as_deref(), vector["ops_sha256"].as_str(), "{}", case.id);
    }
    lab.assert_nothing_is_left();
}

/// Larger than any file system keeps inside its metadata.
const LARGE: &str = "set size 20000 40000\nset number 100\nset transactions 100\nrun\n";

fn full() {
    let lab = Lab::new();
    let (output, report) = run(&lab, LARGE, &["--verify", "full", "--size", "320MiB", "--fs", &all()]);
    assert_exits(&output, 0);
    assert!(stderr(&output).contains("deletion phase"), "{}", stderr(&output));
    let trees: Vec<_> =
        report.cases.iter().map(|case| case.steps[0].facts.tree_hash.clone().unwrap()).collect();
    assert_eq!(trees.len(), common().len());
    assert!(trees.iter().all(|tree| *tree == trees[0]), "{trees:?}");
    for case in &report.cases {
        let [run, delete] = &case.steps[..] else { panic!("{} has {} steps", case.id, case.steps.len()) };
        assert_eq!([run.read_back, delete.read_back], [Checked::Clean; 2], "{}", case.id);
        let postmark = run.facts.postmark.as_ref().unwrap();
        assert_eq!(postmark.deleted_alone_count, 0, "{}", case.id);
        let left = postmark.created_count - postmark.deleted_count;
        assert_eq!((delete.name.as_str(), delete.facts.files_deleted_count), ("postmark-delete", Some(left)));
        // The hash of nothing: all of it has gone.
        assert_ne!(delete.facts.tree_hash, run.facts.tree_hash);
    }
    lab.assert_nothing_is_left();
}

/// As much data as the image is large: it passes for possible, and the metadata is too much.
const TOO_MUCH: &str = "set size 50000 100000\nset number 800\nset transactions 500\nrun\n";

fn limit() {
    let lab = Lab::new();
    let (output, report) = run(&lab, TOO_MUCH, &["--fs", "ext4", "--size", "64MiB"]);
    assert_exits(&output, 3);
    let (case, step) = (&report.cases[0], &report.cases[0].steps[0]);
    let limit = step.limit.as_ref().unwrap();
    assert_eq!((case.status, limit.errno.as_deref()), (Status::Failed, Some("ENOSPC")), "{limit:?}");
    let operation = limit.at_operation.unwrap();
    // In the creation phase the file has the number of the operation.
    let path = format!("postmark/{operation}");
    assert!(operation > 500 && limit.path.as_ref() == Some(&path), "{limit:?}");
    assert_eq!(step.facts.postmark.as_ref().unwrap().created_count, operation);
    assert!(stderr(&output).contains(&path), "{}", stderr(&output));
    assert_eq!([step.read_back, case.verify.fsck], [Checked::Clean; 2], "{:?}", case.verify.details);
    lab.assert_nothing_is_left();
}

fn inodes() {
    let lab = Lab::new();
    let config = folder(&lab, "config", "run\n").join("c").display().to_string();
    let words = ["postmark", &config, "--fs", "ext4", "--size", "64MiB", "--mkfs-options", "ext4=-N 200"];
    let output = lab.fsduel(words).output().unwrap();
    assert_exits(&output, 2);
    assert!(stderr(&output).contains("-N 5") && stderr(&output).contains("inodes"), "{}", stderr(&output));
    lab.assert_nothing_is_left();
}

/// Long enough to be met in the middle.
const LONG: &str = "set number 20000\nset transactions 200000\nset subdirectories 10\nrun\n";

fn ended_in_the_middle(by: Signal, whom: fn(&Lab, u32) -> Pid) -> Option<i32> {
    let lab = Lab::new();
    let config = folder(&lab, "config", LONG).join("c").display().to_string();
    let mut runner = lab.spawn(["postmark", &config, "--fs", "xfs", "--size", "1GiB"]);
    wait_for(&mut runner, "step postmark");
    std::thread::sleep(std::time::Duration::from_millis(300));
    kill(whom(&lab, runner.id()), by).unwrap();
    let code = runner.wait().unwrap().code();
    lab.assert_nothing_is_left();
    code
}

fn interrupted() {
    let runner = |_: &Lab, pid| Pid::from_raw(i32::try_from(pid).unwrap());
    assert_eq!(ended_in_the_middle(Signal::SIGINT, runner), Some(130));
}

fn killed() {
    assert_eq!(ended_in_the_middle(Signal::SIGKILL, |lab, _| worker(lab)), Some(1));
}
