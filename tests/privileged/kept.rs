//! What `--keep` leaves is enough to go on by hand, and nothing is left of that either.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use fsduel_harness::fs::Filesystem;
use fsduel_harness::result::{RunReport, Status};
use libtest_mimic::Trial;

use crate::lab::{Lab, assert_exits, told};
use crate::{general, of};

pub fn trials(filesystem: &'static dyn Filesystem) -> Vec<Trial> {
    vec![
        of(filesystem, "the_script_of_a_kept_case_makes_it_again_and_looks_into_it", by_script),
        of(filesystem, "the_script_looks_into_a_copy_where_a_log_has_to_be_replayed", unreplayed),
    ]
}

pub fn general_trials() -> Vec<Trial> {
    vec![
        general("only_a_case_that_did_not_pass_is_kept_where_that_was_asked_for", only_failed),
        general("a_folder_that_the_store_has_no_room_for_is_named_all_the_same", no_room),
        general("a_kept_folder_goes_with_gc_but_not_what_somebody_put_there", foreign_file),
    ]
}

fn by_script(filesystem: &'static dyn Filesystem) {
    let lab = Lab::new();
    let (output, report) = lab.report(["run", "smoke", "--fs", filesystem.name(), "--keep"]);
    assert_exits(&output, 0);
    let folder = PathBuf::from(report.cases[0].kept.as_ref().unwrap());
    assert!(told(&output).contains(folder.to_str().unwrap()), "every report names it: {}", told(&output));
    let written = |name| fs::read_to_string(folder.join(name)).unwrap();
    assert!(!written("fsck.txt").is_empty());
    // The kernel may have had nothing to say, or too much at once.
    assert!(written("kernel.log").lines().all(|line| line.contains("loop")), "{}", written("kernel.log"));
    let kept = script(&folder, &["--kept", "ls"]);
    assert_exits(&kept, 0);
    assert!(told(&kept).contains("fill"), "the tree of the case: {}", told(&kept));
    let anew = script(&folder, &["sh", "-c", "ls; echo made > here; cat here"]);
    assert_exits(&anew, 0);
    assert!(told(&anew).contains("made") && !told(&anew).contains("fill"), "{}", told(&anew));
    assert_exits(&script(&folder, &["sh", "-c", "exit 42"]), 42);
    assert_exits(&script(&folder, &["--kept", "touch", "read-only"]), 1);
    killed(&lab, &folder);
    assert!(lab.devices().is_empty(), "{:?}", lab.devices());
    assert!(!folder.join("mnt").exists() && !folder.join("again.img").exists());
    remove_all(&lab, 1);
    lab.assert_nothing_is_left();
}

/// As a file system is left that the kernel has shut down.
fn unreplayed(filesystem: &'static dyn Filesystem) {
    let lab = Lab::new();
    let (output, report) = lab.report(["run", "smoke", "--fs", filesystem.name(), "--keep"]);
    assert_exits(&output, 0);
    let folder = PathBuf::from(report.cases[0].kept.as_ref().unwrap());
    let image = folder.join("image.img");
    // The image is copied while a change that was synced is in its log only.
    let change =
        "mkdir a; sync -f a; echo new > late; sync late; cp --sparse=always ../again.img ../image.img";
    assert_exits(&script(&folder, &["sh", "-c", change]), 0);
    let before = fs::read(&image).unwrap();
    let looked = script(&folder, &["--kept", "cat", "late"]);
    assert_exits(&looked, 0);
    assert!(told(&looked).contains("new") && told(&looked).contains("a copy"), "{}", told(&looked));
    assert!(fs::read(&image).unwrap() == before, "what was kept stays as it was");
    assert!(lab.devices().is_empty() && !folder.join("again.img").exists(), "{:?}", lab.devices());
    remove_all(&lab, 1);
    lab.assert_nothing_is_left();
}

/// One at a time, and one that is killed leaves no device and nothing that the next one trips over.
fn killed(lab: &Lab, folder: &Path) {
    let mut command = Command::new("sh");
    command.arg(folder.join("repeat.sh")).args(["sh", "-c", "echo ready > ready; sync; cat"]);
    let mut running =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let namespace = format!("/proc/{}/root{}/mnt/ready", running.id(), folder.display());
    within(|| Path::new(&namespace).exists(), "the command has begun");
    let second = script(folder, &["true"]);
    assert_exits(&second, 1);
    assert!(told(&second).contains("another one"), "{}", told(&second));
    running.kill().unwrap();
    // Its standard input ends, and with it the command.
    drop(running.stdin.take());
    running.wait().unwrap();
    within(|| lab.devices().is_empty(), "the device has gone");
    assert!(folder.join("again.img").exists());
    assert_exits(&script(folder, &["true"]), 0);
}

fn within(holds: impl Fn() -> bool, what: &str) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "not in time: {what}");
        sleep(Duration::from_millis(20));
    }
}

fn script(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("sh");
    command.arg(folder.join("repeat.sh")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

fn only_failed() {
    let lab = Lab::new();
    let (output, report) = lab.report(["run", "smoke", "--fs", "ext4", "--keep=failed"]);
    assert_exits(&output, 0);
    assert_eq!(report.cases[0].kept, None);
    lab.assert_nothing_is_left();
    // As much data as the image is large, so that the metadata is too much.
    let work = ["run", "--workload", "many-small-files", "--set", "count=16000", "--set", "file-size=4KiB"];
    let (output, report) =
        lab.report([&work[..], &["--fs", "ext4", "--size", "64MiB", "--keep=failed"]].concat());
    assert_exits(&output, 3);
    let case = &report.cases[0];
    assert_eq!(case.status, Status::Failed);
    let text = fs::read_to_string(Path::new(case.kept.as_ref().unwrap()).join("repeat.sh")).unwrap();
    assert!(text.contains(&case.reason.as_ref().unwrap().text), "{text}");
    assert!(text.contains("count") && !text.contains(case.uuid.as_ref().unwrap()), "{text}");
    remove_all(&lab, 1);
    lab.assert_nothing_is_left();
}

fn no_room() {
    let lab = Lab::new();
    // The image, its folder, fsck.txt, and no more; the mount goes with its namespace.
    let mounted = "mount -t tmpfs -o nr_inodes=5,size=1G tmpfs \"$FSDUEL_STORE\" && cd / && exec \"$@\"";
    let mut command = lab.command("unshare");
    command.args(["--mount", "--propagation", "slave", "sh", "-c", mounted, "sh"]);
    command.args([env!("CARGO_BIN_EXE_fsduel"), "run", "smoke", "--fs", "ext4", "--keep", "--json"]);
    let output = command.arg(lab.path("report.json")).output().unwrap();
    let text = fs::read_to_string(lab.path("report.json")).unwrap();
    let report: RunReport = serde_json::from_str(&text).unwrap();
    let (case, told) = (&report.cases[0], told(&output));
    let folder = case.kept.as_ref().unwrap();
    assert!(folder.starts_with(lab.store().to_str().unwrap()) && told.contains(folder), "{told}");
    let details = case.verify.details.join("; ");
    assert!(details.contains("kernel.log") && details.contains("worker.log"), "{details}");
    lab.assert_nothing_is_left();
}

fn foreign_file() {
    let lab = Lab::new();
    let (_, report) = lab.report(["run", "smoke", "--fs", "ext4", "--keep"]);
    let folder = PathBuf::from(report.cases[0].kept.as_ref().unwrap());
    fs::write(folder.join("notes"), "mine").unwrap();
    let refused = lab.fsduel(["gc", "--force"]).output().unwrap();
    assert!(told(&refused).contains("not removed"), "{}", told(&refused));
    assert_eq!(fs::read_to_string(folder.join("notes")).unwrap(), "mine");
    fs::remove_file(folder.join("notes")).unwrap();
    remove_all(&lab, 1);
    lab.assert_nothing_is_left();
}

fn remove_all(lab: &Lab, count: usize) {
    let listed = lab.fsduel(["gc"]).output().unwrap();
    let lines = told(&listed).lines().filter(|line| line.contains(lab.store().to_str().unwrap())).count();
    assert_eq!(lines, count, "{}", told(&listed));
    assert_exits(&lab.fsduel(["gc", "--force"]).output().unwrap(), 0);
}
