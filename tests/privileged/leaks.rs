//! Nothing is left, however a run ends.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fsduel_harness::fs::common;
use fsduel_harness::result::{RunReport, Status};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::general;
use crate::lab::{Lab, assert_exits, stderr, told};

/// What the worker logs when a phase begins.
const PHASES: [&str; 7] = ["attach", "mkfs", "mount", "step small-files", "step fill", "unmount", "fsck"];

pub fn trials() -> Vec<Trial> {
    let mut trials = vec![];
    for filesystem in common().iter().map(|filesystem| filesystem.name()) {
        for phase in PHASES {
            let name = phase.replace([' ', '-'], "_");
            trials.push(general(
                format!("{filesystem}::sigkill_of_the_runner_in_{name}_leaves_nothing"),
                move || {
                    killed(filesystem, phase, |_, runner| Pid::from_raw(i32::try_from(runner.id()).unwrap()));
                },
            ));
            trials.push(general(
                format!("{filesystem}::sigkill_of_the_worker_in_{name}_leaves_nothing"),
                move || {
                    killed(filesystem, phase, |lab, _| worker(lab));
                },
            ));
        }
    }
    for (signal, code) in [(Signal::SIGINT, 130), (Signal::SIGTERM, 143), (Signal::SIGHUP, 129)] {
        trials.push(general(
            format!("{}_stops_in_order_and_keeps_what_had_finished", signal.as_str().to_lowercase()),
            move || signalled(signal, code),
        ));
    }
    trials.push(general("sigint_in_a_long_fill_stops_within_ten_seconds", long_fill));
    trials.push(general("sigkill_while_mkfs_has_children_leaves_nothing", children_of_mkfs));
    trials.push(general("a_failing_mkfs_is_an_error_with_its_words_and_leaves_nothing", failing_mkfs));
    trials.push(general("a_failing_mount_names_the_option_and_leaves_nothing", failing_mount));
    trials.push(general("a_time_limit_ends_the_step_and_the_rest_is_kept", time_limit));
    trials.push(general("four_runs_at_the_same_time_all_pass", four_at_once));
    trials
}

/// The same work for all phases, long enough in each step to be hit.
fn arguments(filesystem: &str) -> Vec<String> {
    let sets = ["step.small-files.count=20000", "step.fill.cap=\"300MiB\"", "size=\"512MiB\""];
    let mut arguments = vec!["run".to_owned(), "smoke".into(), "--fs".into(), filesystem.into()];
    arguments.extend(sets.iter().flat_map(|set| ["--set".to_owned(), (*set).to_owned()]));
    arguments
}

/// Wait until the worker says that a phase has begun.
pub fn wait_for(child: &mut Child, phase: &str) {
    wait_for_each(child, &[phase]);
}

/// Wait until the worker, or the one after it, has said that each of these phases has begun, in this order.
fn wait_for_each(child: &mut Child, phases: &[&str]) {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    for phase in phases {
        let mark = format!("phase: {phase}");
        let seen = lines.by_ref().map_while(Result::ok).any(|line| line.contains(&mark));
        assert!(seen, "the run ended before {phase}");
    }
    // The pipe must stay open and empty, or a later line would block or kill the run.
    std::thread::spawn(move || lines.count());
}

pub fn worker(lab: &Lab) -> Pid {
    let of_worker = |pid: &i32| {
        fs::read(format!("/proc/{pid}/cmdline"))
            .is_ok_and(|line| line.windows(8).any(|word| word == b"__worker"))
    };
    Pid::from_raw(lab.processes().into_iter().find(of_worker).expect("a worker"))
}

fn killed(filesystem: &str, phase: &str, whom: fn(&Lab, &Child) -> Pid) {
    let lab = Lab::new();
    let mut runner = lab.spawn(arguments(filesystem));
    wait_for(&mut runner, phase);
    kill(whom(&lab, &runner), Signal::SIGKILL).unwrap();
    runner.wait().unwrap();
    lab.assert_nothing_is_left();
}

fn signalled(signal: Signal, code: i32) {
    let lab = Lab::new();
    let json = lab.path("report.json");
    let mut arguments = arguments("ext4,xfs");
    arguments.extend(["--json".to_owned(), json.display().to_string()]);
    let mut runner = lab.spawn(arguments);
    // The first case has ended when the second attaches.
    wait_for_each(&mut runner, &["attach", "attach", "step small-files"]);
    kill(Pid::from_raw(i32::try_from(runner.id()).unwrap()), signal).unwrap();
    let begun = Instant::now();
    let status = runner.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(status.code(), Some(code));
    let report: RunReport = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    let statuses: Vec<Status> = report.cases.iter().map(|case| case.status).collect();
    assert_eq!(statuses, [Status::Passed, Status::Stopped]);
    lab.assert_nothing_is_left();
}

fn long_fill() {
    for filesystem in common() {
        let lab = Lab::new();
        let arguments =
            ["run", "--workload", "fill-until-enospc", "--size", "4GiB", "--fs", filesystem.name()];
        let mut runner = lab.spawn(arguments);
        wait_for(&mut runner, "step");
        std::thread::sleep(Duration::from_millis(1500));
        kill(Pid::from_raw(i32::try_from(runner.id()).unwrap()), Signal::SIGINT).unwrap();
        let begun = Instant::now();
        assert_eq!(runner.wait().unwrap().code(), Some(130));
        assert!(begun.elapsed() < Duration::from_secs(10), "{}: {:?}", filesystem.name(), begun.elapsed());
        lab.assert_nothing_is_left();
    }
}

/// A folder to put before `PATH`, with a mkfs of the test's own.
pub fn fake_mkfs(lab: &Lab, script: &str) -> String {
    let folder = lab.path("bin");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("mkfs.xfs");
    // It tells its version like any other.
    let version = "case \"$*\" in -V) echo made of cheese; exit;; esac";
    fs::write(&path, format!("#!/bin/sh\n{version}\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

fn children_of_mkfs() {
    let lab = Lab::new();
    let path = fake_mkfs(&lab, "sleep 300 & (sleep 300 &) ; sleep 300");
    let mut command = lab.fsduel(["run", "smoke", "--fs", "xfs"]);
    let mut runner = command
        .env("PATH", path)
        .env("FSDUEL_LOG", "debug")
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&mut runner, "mkfs");
    let begun = Instant::now();
    // The runner, the worker, the script, and what it has started.
    while lab.processes().len() < 6 {
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", lab.processes());
        std::thread::sleep(Duration::from_millis(20));
    }
    runner.kill().unwrap();
    runner.wait().unwrap();
    lab.assert_nothing_is_left();
}

fn failing_mkfs() {
    let lab = Lab::new();
    let path = fake_mkfs(&lab, "echo 'the disk is made of cheese' >&2; exit 3");
    let output = lab.fsduel(["run", "smoke", "--fs", "xfs"]).env("PATH", path).output().unwrap();
    assert_exits(&output, 1);
    assert!(told(&output).contains("the disk is made of cheese"), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn failing_mount() {
    for filesystem in common() {
        let lab = Lab::new();
        let spec = format!("{}:noatime,bogus=7", filesystem.name());
        let output = lab.fsduel(["run", "smoke", "--fs", &spec]).output().unwrap();
        assert_exits(&output, 2);
        assert!(stderr(&output).contains("bogus"), "{}", told(&output));
        lab.assert_nothing_is_left();
    }
}

/// The limit holds for each phase as well: long enough for all of them, not for so many fsync.
fn time_limit() {
    let lab = Lab::new();
    let arguments =
        ["run", "smoke", "--fs", "btrfs", "--timeout", "8s", "--set", "step.small-files.count=90000"];
    let more = ["--set", "step.small-files.fsync=\"file\"", "--size", "2GiB"];
    let (output, report) = lab.report(arguments.into_iter().chain(more));
    assert_exits(&output, 124);
    let case = &report.cases[0];
    assert_eq!(case.status, Status::Stopped);
    let reason = case.reason.as_ref().unwrap();
    assert_eq!(reason.code, "timeout");
    assert!(reason.text.contains("small-files") && reason.text.contains("operations"), "{}", reason.text);
    lab.assert_nothing_is_left();
}

fn four_at_once() {
    let labs: Vec<Lab> = (0..4).map(|_| Lab::new()).collect();
    let spawn = |lab: &Lab| {
        let mut command: Command = lab.fsduel(["run", "smoke"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let runs: Vec<Child> = labs.iter().map(spawn).collect();
    for (lab, run) in labs.iter().zip(runs) {
        assert_exits(&run.wait_with_output().unwrap(), 0);
        lab.assert_nothing_is_left();
    }
}
