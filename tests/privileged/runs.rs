//! A whole run of a suite on one file system.

use fsduel_harness::fs::Filesystem;
use fsduel_harness::result::{Checked, Facts, RunReport, Status};
use libtest_mimic::Trial;
use serde_json::json;

use crate::golden::assert_golden;
use crate::lab::{Lab, assert_exits};
use crate::of;

pub fn trials(filesystem: &'static dyn Filesystem) -> Vec<Trial> {
    vec![
        of(filesystem, "smoke_passes_is_verified_and_leaves_nothing", smoke),
        of(filesystem, "the_same_seed_makes_the_same_tree_and_another_seed_another", seeds),
        of(filesystem, "features_inode_size_and_journal_are_the_known_ones", features),
        of(filesystem, "a_file_too_many_for_the_file_system_is_a_limit_with_a_name", limit),
        of(filesystem, "a_step_starts_cold", cold),
    ]
}

fn run(lab: &Lab, filesystem: &dyn Filesystem, more: &[&str]) -> RunReport {
    let (output, report) = lab.report([&["run", "smoke", "--fs", filesystem.name()], more].concat());
    assert_exits(&output, 0);
    report
}

fn smoke(filesystem: &'static dyn Filesystem) {
    let lab = Lab::new();
    let report = run(&lab, filesystem, &[]);
    let case = &report.cases[0];
    assert_eq!(case.status, Status::Passed);
    let verify = &case.verify;
    assert_eq!(
        [verify.read_back, verify.fsck, verify.kernel_log, verify.teardown],
        [Checked::Clean; 4],
        "{verify:?}"
    );
    for step in &case.steps {
        let stops = ["returned_s", "synced_s", "unmounted_s"].map(|key| step.metrics.get(key).unwrap());
        assert!(stops.is_sorted(), "{}: {stops:?}", step.name);
    }
    assert_golden(&report);
    lab.assert_nothing_is_left();
}

fn trees(report: &RunReport) -> Vec<Option<String>> {
    let fixed = |facts: &&Facts| facts.errno.is_none();
    report.cases[0]
        .steps
        .iter()
        .map(|step| &step.facts)
        .filter(fixed)
        .map(|facts| facts.tree_hash.clone())
        .collect()
}

fn seeds(filesystem: &'static dyn Filesystem) {
    let lab = Lab::new();
    let one = trees(&run(&lab, filesystem, &["--seed", "1"]));
    assert_eq!(one, trees(&run(&lab, filesystem, &["--seed", "1"])));
    assert_ne!(one, trees(&run(&lab, filesystem, &["--seed", "2"])));
    lab.assert_nothing_is_left();
}

/// What every version of the tools must make: without one of these, another file system is measured.
const ALWAYS: [(&str, &[&str], &str, u64); 3] = [
    ("btrfs", &["EXTENDED_IREF", "MIXED_BACKREF", "SKINNY_METADATA"], "node_size_bytes", 16384),
    (
        "ext4",
        &["64bit", "dir_index", "extent", "flex_bg", "has_journal", "metadata_csum"],
        "inode_size_bytes",
        256,
    ),
    ("xfs", &["crc=1", "finobt=1", "ftype=1", "sparse=1"], "inode_size_bytes", 512),
];

/// What this version of the tools made is held against the golden facts of `smoke`, above.
fn features(filesystem: &'static dyn Filesystem) {
    let lab = Lab::new();
    let report = run(&lab, filesystem, &[]);
    let case = &report.cases[0];
    let (_, always, size, bytes) = ALWAYS.iter().find(|(name, ..)| *name == filesystem.name()).unwrap();
    for feature in *always {
        assert!(case.features.iter().any(|made| made == feature), "no {feature} in {:?}", case.features);
    }
    assert_eq!(case.ledger[*size], json!(bytes));
}

fn limit(filesystem: &'static dyn Filesystem) {
    let lab = Lab::new();
    let size = filesystem.min_size().0.next_multiple_of(64 << 20);
    // As much data as the image is large: it passes for possible, and the metadata is too much.
    let (size, count) = (size.to_string(), format!("count={}", size / 4096 - 300));
    let arguments = ["run", "--workload", "many-small-files", "--fs", filesystem.name(), "--size", &size];
    let plan = ["--set", &count, "--set", "file-size=4KiB"];
    let (output, report) = lab.report([&arguments[..], &plan[..]].concat());
    assert_exits(&output, 3);
    let case = &report.cases[0];
    let limit = case.steps[0].limit.as_ref().unwrap();
    assert_eq!(limit.errno.as_deref(), Some("ENOSPC"), "{limit:?}");
    assert!(limit.at_count > 1000 && limit.text.is_some() && limit.call.is_some(), "{limit:?}");
    // What was written until then is there.
    assert_eq!(case.steps[0].read_back, Checked::Clean, "{:?}", case.verify.details);
    lab.assert_nothing_is_left();
}

fn cold(filesystem: &'static dyn Filesystem) {
    let lab = Lab::new();
    let report = run(&lab, filesystem, &[]);
    let step = |name: &str| report.cases[0].steps.iter().find(|step| step.workload == name).unwrap();
    let read = step("read");
    let payload = read.facts.payload_bytes.unwrap();
    let from_device = read.metrics.get("device_read_bytes").unwrap();
    assert!(from_device >= payload as f64, "{from_device} bytes read from the device for {payload}");
}
