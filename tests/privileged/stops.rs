//! How a run ends before its time: by a signal in any phase, by a second one, or with a worker that
//! does not answer; and what a tool leaves behind.

use std::fs;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use fsduel_harness::result::Status;
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::general;
use crate::lab::{Lab, assert_exits};
use crate::leaks::{fake_mkfs, wait_for, worker};

const PHASES: [&str; 8] =
    ["attach", "mkfs", "mount", "step small-files", "step fill", "recover", "read back", "fsck"];

pub fn trials() -> Vec<Trial> {
    let mut trials: Vec<_> = PHASES
        .map(|phase| {
            let name = phase.replace([' ', '-'], "_");
            general(format!("sigint_in_{name}_stops_within_ten_seconds"), move || in_phase(phase))
        })
        .into();
    trials.push(general("a_second_signal_ends_a_run_at_once", second_signal));
    trials.push(general("a_worker_that_hangs_is_killed_after_the_grace", hanging_worker));
    trials.push(general("a_worker_that_is_killed_is_an_error_and_keeps_its_steps", killed_worker));
    trials.push(general("a_process_that_mkfs_leaves_behind_disturbs_nothing", orphan));
    trials.push(general("without_direct_io_every_step_is_cold_too", cold));
    trials
}

/// So many files in the first step: many where it is to be hit, few where a later phase is.
fn arguments(files: u32) -> Vec<String> {
    let sets = [&format!("step.small-files.count={files}"), "step.fill.cap=\"300MiB\"", "size=\"512MiB\""];
    let mut arguments: Vec<String> = ["run", "smoke", "--fs", "ext4"].map(Into::into).into();
    arguments.extend(sets.iter().flat_map(|set| ["--set".to_owned(), (*set).to_owned()]));
    arguments
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(i32::try_from(child.id()).unwrap())
}

/// Wait for the end of the run, its code and how long that took.
fn ended(mut runner: Child) -> (Option<i32>, Duration) {
    let begun = Instant::now();
    (runner.wait().unwrap().code(), begun.elapsed())
}

fn in_phase(phase: &str) {
    let lab = Lab::new();
    let files = if phase == "step small-files" { 20_000 } else { 100 };
    let json = lab.path("report.json");
    let mut arguments = arguments(files);
    arguments.extend(["--json".to_owned(), json.display().to_string()]);
    let mut runner = lab.spawn(arguments);
    wait_for(&mut runner, phase);
    kill(pid(&runner), Signal::SIGINT).unwrap();
    let (code, took) = ended(runner);
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(10), "{took:?}");
    let report: fsduel_harness::result::RunReport =
        serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    // The last phases may be over before the signal is there.
    let case = &report.cases[0];
    assert!(matches!(case.status, Status::Stopped | Status::Passed), "{:?}", case.reason);
    lab.assert_nothing_is_left();
}

/// A run whose worker is stopped, so that it cannot answer a signal.
fn with_hanging_worker(lab: &Lab) -> Child {
    let mut runner = lab.spawn(arguments(20_000));
    wait_for(&mut runner, "step small-files");
    kill(worker(lab), Signal::SIGSTOP).unwrap();
    kill(pid(&runner), Signal::SIGINT).unwrap();
    runner
}

fn second_signal() {
    let lab = Lab::new();
    let runner = with_hanging_worker(&lab);
    // Sooner, it would pass for an echo of the first.
    std::thread::sleep(Duration::from_secs(1));
    kill(pid(&runner), Signal::SIGINT).unwrap();
    let (code, took) = ended(runner);
    assert_eq!(code, Some(130));
    assert!(took < Duration::from_secs(4), "{took:?}");
    lab.assert_nothing_is_left();
}

fn hanging_worker() {
    let lab = Lab::new();
    let (code, took) = ended(with_hanging_worker(&lab));
    assert_eq!(code, Some(130));
    assert!((Duration::from_secs(5)..Duration::from_secs(10)).contains(&took), "{took:?}");
    lab.assert_nothing_is_left();
}

fn killed_worker() {
    let lab = Lab::new();
    let json = lab.path("report.json");
    let mut arguments = arguments(100);
    arguments.extend(["--json".to_owned(), json.display().to_string(), "--keep=failed".to_owned()]);
    let mut runner = lab.spawn(arguments);
    wait_for(&mut runner, "step fill");
    kill(worker(&lab), Signal::SIGKILL).unwrap();
    assert_eq!(ended(runner).0, Some(1));
    let report: fsduel_harness::result::RunReport =
        serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let case = &report.cases[0];
    assert_eq!(case.status, Status::Error);
    assert_eq!(case.reason.as_ref().unwrap().code, "worker_died");
    assert_eq!(case.steps[0].name, "small-files");
    // Its image died with it; what it said and the commands are there.
    let kept = |name: &str| Path::new(case.kept.as_ref().unwrap()).join(name);
    assert!(fs::read_to_string(kept("worker.log")).unwrap().contains("phase: step fill"));
    assert!(kept("repeat.sh").exists() && !kept("image.img").exists());
    assert_exits(&lab.fsduel(["gc", "--force"]).output().unwrap(), 0);
    lab.assert_nothing_is_left();
}

/// The real mkfs, and two processes that outlive it: one that goes on, one that ends as an orphan.
fn orphan() {
    let lab = Lab::new();
    let path = fake_mkfs(&lab, "sleep 300 & (sleep 0.1 &); PATH=/usr/sbin:/sbin exec mkfs.xfs \"$@\"");
    let output = lab.fsduel(["run", "smoke", "--fs", "xfs"]).env("PATH", path).output().unwrap();
    assert_exits(&output, 0);
    lab.assert_nothing_is_left();
}

/// A page of the device or the image that is still cached at a mount makes the case invalid.
fn cold() {
    let lab = Lab::new();
    let (output, report) = lab.report(["run", "smoke", "--direct-io", "off"]);
    assert_exits(&output, 0);
    for case in &report.cases {
        assert!(!case.loop_device.as_ref().unwrap().direct_io);
        let read = case.steps.iter().find(|step| step.workload == "read").unwrap();
        let payload = read.facts.payload_bytes.unwrap() as f64;
        assert!(read.metrics.get("device_read_bytes").unwrap() >= payload, "{}", case.id);
    }
    lab.assert_nothing_is_left();
}
