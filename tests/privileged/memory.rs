//! `--memory` on this machine: the work gets so much, and no cgroup of ours outlives it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use fsduel_harness::result::{RunReport, Status};
use fsduel_harness::runner::{FoundGroup, find_groups};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::general;
use crate::lab::{Lab, assert_exits, stderr, told};
use crate::leaks::wait_for;

pub fn trials() -> Vec<Trial> {
    vec![
        general("memory::what_does_not_fit_is_read_from_the_device_again", device_reads),
        general("memory::too_little_of_it_makes_the_case_invalid_and_says_so", too_little),
        general("memory::gc_removes_the_group_of_a_run_that_was_killed", killed),
        general("memory::without_cgroups_the_run_does_not_start", no_cgroups),
    ]
}

/// Groups that processes of this lab made, or that a killed one of ours did.
fn groups_of(pid: u32) -> Vec<FoundGroup> {
    find_groups().into_iter().filter(|group| group.pid == pid).collect()
}

/// Bytes read in the step `postmark`.
fn read_in(report: &RunReport) -> f64 {
    let step = report.cases[0].steps.iter().find(|step| step.name == "postmark").unwrap();
    step.metrics.0["device_read_bytes"]
}

/// 100 MiB of mail, which do not stay cached within 48 MiB.
fn device_reads() {
    let sets =
        ["--set", "step.postmark.size=1048576..1048576", "--set", "number=100", "--set", "transactions=200"];
    let mail =
        || ["run", "--workload", "postmark", "--fs", "ext4", "--size", "512MiB"].into_iter().chain(sets);
    let lab = Lab::new();
    let (output, all) = lab.report(mail());
    assert_exits(&output, 0);
    let (output, limited) = lab.report(mail().chain(["--memory", "48MiB"]));
    assert_exits(&output, 0);
    let (all, limited_read) = (read_in(&all), read_in(&limited));
    assert!(limited_read > all + f64::from(16 << 20), "{limited_read} with a limit, {all} without");
    assert_eq!(limited.environments[0].memory_bytes, Some(48 << 20));
    lab.assert_nothing_is_left();
}

fn too_little() {
    let lab = Lab::new();
    let (output, report) = lab.report(["run", "smoke", "--fs", "ext4", "--memory", "4MiB"]);
    assert_exits(&output, 7);
    let case = &report.cases[0];
    assert_eq!(case.status, Status::Invalid);
    assert!(case.steps.is_empty() && case.metrics.0.is_empty(), "no number is stored");
    let reason = case.reason.as_ref().unwrap();
    assert_eq!(reason.code, "out_of_memory", "as in a virtual machine");
    assert!(reason.text.contains("--memory 4 MiB") && reason.next.is_some(), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn killed() {
    let lab = Lab::new();
    let mut command = lab.fsduel(["run", "smoke", "--fs", "ext4", "--memory", "256MiB"]);
    command.env("FSDUEL_LOG", "debug").stdout(Stdio::null()).stderr(Stdio::piped());
    let mut runner = command.spawn().unwrap();
    wait_for(&mut runner, "step small-files");
    let [group] = groups_of(runner.id()).try_into().expect("one group");
    assert!(!processes(&group.path).is_empty(), "the worker is in it");
    kill(Pid::from_raw(i32::try_from(runner.id()).unwrap()), Signal::SIGKILL).unwrap();
    runner.wait().unwrap();
    lab.assert_nothing_is_left();
    let gc = lab.fsduel(["gc", "--force"]).output().unwrap();
    assert_exits(&gc, 0);
    // Another run with a limit, which removes such groups too, may have been faster.
    assert!(!group.path.exists(), "{}", told(&gc));
}

fn processes(group: &Path) -> Vec<String> {
    let text = fs::read_to_string(group.join("cgroup.procs")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn no_cgroups() {
    let lab = Lab::new();
    let json: PathBuf = lab.path("report.json");
    let script = "umount -R /sys/fs/cgroup && exec \"$@\"";
    let mut command = lab.command("unshare");
    command.args(["-m", "--propagation", "private", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_fsduel")]);
    let output = command.args(["run", "smoke", "--memory", "512M", "--json"]).arg(&json).output().unwrap();
    assert_exits(&output, 69);
    let said = stderr(&output);
    assert!(said.contains("limit the memory") && said.contains("--cgroupns=host"), "{said}");
}
