//! What runs in a guest comes to the same as what runs here.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fsduel_harness::result::{Checked, RunReport, Status};
use libtest_mimic::Trial;
use nix::unistd::Uid;

use crate::lab::{Lab, assert_exits, told};
use crate::{kernel, trial};

/// Every workload, with a fill that ends at a cap.
const SMALL: [&str; 6] = ["run", "smoke", "--set", "step.fill.cap=8MiB", "--set", "step.fill.recover=false"];

/// `nobody` everywhere.
pub const NOBODY: u32 = 65534;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("every_file_system_in_a_guest_without_root_has_the_facts_of_this_machine", every_file_system),
        trial("two_kernels_are_compared_in_one_run", two_kernels),
    ]
}

/// Where guests are put together; kept from test to test, since unpacking a kernel takes its time.
pub fn cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("vm-cache")
}

pub fn words(more: &[&str]) -> Vec<OsString> {
    SMALL.iter().chain(more).map(OsString::from).collect()
}

/// `fsduel` in a guest of Debian's kernel `version`.
pub fn in_guest(lab: &Lab, version: &str, more: &[&str]) -> Command {
    let mut command = lab.fsduel(words(more));
    command.args(["--backend", "vm", "--kernel"]).arg(kernel(version)).env("XDG_CACHE_HOME", cache());
    command
}

/// The program and a kernel where `nobody` can read them, and a place of its own.
pub fn for_nobody(lab: &Lab) -> (Command, PathBuf) {
    let home = lab.path("home");
    fs::create_dir(&home).unwrap();
    let (program, image) = (lab.path("fsduel"), lab.path("linux.deb"));
    fs::copy(env!("CARGO_BIN_EXE_fsduel"), &program).unwrap();
    fs::copy(kernel("6.12"), &image).unwrap();
    for path in [home.as_path(), lab.store()] {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    fs::set_permissions(home.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = lab.command("setpriv");
    let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"), "--clear-groups".into()];
    command.args(ids).arg(program).env("HOME", &home).env_remove("XDG_CACHE_HOME");
    (command, image)
}

/// On the newer kernel: since 6.5 one tells of each cached block of a device, read by a mount too.
fn every_file_system() {
    let lab = Lab::new();
    let names = "ext4,btrfs,xfs,jfs,reiserfs,f2fs,nilfs2";
    let output = if Uid::effective().is_root() {
        let (mut command, image) = for_nobody(&lab);
        command.args(words(&["--fs", names, "--json", "-", "--backend", "vm", "--kernel"])).arg(image);
        command.output().unwrap()
    } else {
        in_guest(&lab, "6.12", &["--fs", names, "--json", "-"]).output().unwrap()
    };
    assert_exits(&output, 0);
    let guests: RunReport = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(guests.cases.len(), 7, "{}", told(&output));
    assert!(guests.environments[0].kernel.starts_with("6.12."), "{:?}", guests.environments);
    for case in &guests.cases {
        assert_eq!(case.status, Status::Passed, "{:?}", case.reason);
        assert_eq!(case.verify.read_back, Checked::Clean);
        assert_eq!(case.verify.kernel_log, Checked::Clean, "{:?}", case.verify.details);
        let first = &guests.cases[0];
        assert_eq!(facts(case), facts(first), "{} and {}", case.id, first.id);
        let allocated = case.steps[0].metrics.get("image_allocated_bytes").unwrap();
        assert!(allocated > 4096.0, "{allocated}");
    }
    if Uid::effective().is_root() {
        same_as_here(&lab, &guests);
    }
    lab.assert_nothing_is_left();
}

/// What a seed decides is the same on this machine's own kernel.
fn same_as_here(lab: &Lab, guests: &RunReport) {
    let (output, here) = lab.report(words(&["--fs", "ext4", "--backend", "host"]));
    assert_exits(&output, 0);
    assert_eq!(here.environments[0].backend, "host");
    assert_eq!(facts(&guests.cases[0]), facts(&here.cases[0]));
}

fn facts(case: &fsduel_harness::result::CaseResult) -> Vec<(String, serde_json::Value)> {
    case.steps.iter().map(|step| (step.name.clone(), serde_json::to_value(&step.facts).unwrap())).collect()
}

fn two_kernels() {
    let lab = Lab::new();
    let json = lab.path("run.json");
    let output: Output = in_guest(&lab, "6.1", &["--fs", "ext4,btrfs"])
        .arg("--kernel")
        .arg(kernel("6.12"))
        .arg("--json")
        .arg(&json)
        .output()
        .unwrap();
    assert_exits(&output, 0);
    let run: RunReport = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    let ids = run.configuration_ids();
    assert_eq!(ids, ["ext4@6.1", "btrfs@6.1", "ext4@6.12", "btrfs@6.12"], "{}", told(&output));
    let kernels: Vec<_> = run.environments.iter().map(|environment| environment.kernel.as_str()).collect();
    assert!(kernels[0].starts_with("6.1.") && kernels[1].starts_with("6.12."), "{kernels:?}");
    let compared = |baseline: &str, candidate: &str| {
        run.comparisons.iter().any(|one| one.baseline == baseline && one.candidate == candidate)
    };
    assert!(compared("ext4@6.1", "ext4@6.12") && compared("btrfs@6.1", "btrfs@6.12"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("By kernel"), "{text}");
    lab.assert_nothing_is_left();
}
