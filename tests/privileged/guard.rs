//! What would disturb a run is told before it starts, and keeps a strict one from starting.
//!
//! Other tests run at the same time and hold the lock too, so none of these needs it to be free;
//! one has a `/run` of its own.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use fsduel_harness::result::RunReport;
use libtest_mimic::Trial;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};

use crate::general;
use crate::lab::{Lab, assert_exits, stderr, told};
use crate::leaks::{wait_for, worker};

const LOCK: &str = "/run/fsduel.lock";

pub fn trials() -> Vec<Trial> {
    vec![
        general("another_run_is_told_and_a_strict_run_does_not_start", another_run),
        general("a_run_holds_the_lock_and_its_workers_do_not_keep_it", lock_ends),
    ]
}

/// The lock of the machine, taken as another run would. Runs of other tests have it for seconds.
fn hold() -> Flock<File> {
    let begun = Instant::now();
    loop {
        let file = File::options().read(true).write(true).create(true).truncate(false).open(LOCK).unwrap();
        match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(mut file) if is_there(&file) => {
                file.set_len(0).unwrap();
                writeln!(file, "{}", std::process::id()).unwrap();
                return file;
            }
            Ok(_) | Err((_, Errno::EWOULDBLOCK)) => {}
            Err((_, error)) => panic!("{error}"),
        }
        assert!(begun.elapsed() < Duration::from_secs(300), "other runs hold the lock for too long");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Not removed meanwhile by the run that held it.
fn is_there(file: &File) -> bool {
    is_at(file, Path::new(LOCK))
}

fn is_at(file: &File, path: &Path) -> bool {
    let file = file.metadata().unwrap();
    fs::metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == (file.dev(), file.ino()))
}

/// Removed before it is free, as a run does.
fn release(held: Flock<File>) {
    fs::remove_file(LOCK).unwrap();
    drop(held);
}

fn another_run() {
    let lab = Lab::new();
    let held = hold();
    let name = format!("another run of fsduel (process {}) measures", std::process::id());
    let smoke = ["run", "smoke", "--fs", "ext4"];

    let strict = lab.fsduel([&smoke[..], &["--strict"]].concat()).output().unwrap();
    assert_exits(&strict, 7);
    assert!(stderr(&strict).contains(&name) && stderr(&strict).contains("--strict"), "{}", told(&strict));
    assert!(strict.stdout.is_empty(), "{}", told(&strict));

    let plan = lab.fsduel([&smoke[..], &["--strict", "--dry-run"]].concat()).output().unwrap();
    assert_exits(&plan, 0);
    assert!(stderr(&plan).contains(&format!("warning: {name}")), "{}", told(&plan));

    let (output, report) = lab.report(smoke);
    assert_exits(&output, 0);
    assert!(stderr(&output).contains(&format!("warning: {name}")), "{}", told(&output));
    assert!(told_by(&report), "{:?}", report.manifest.warnings);
    assert!(String::from_utf8_lossy(&output.stdout).contains(&name), "{}", told(&output));
    release(held);
    lab.assert_nothing_is_left();
}

fn told_by(report: &RunReport) -> bool {
    report.manifest.warnings.iter().filter(|warning| warning.code == "other_run").count() == 1
}

/// A killed run leaves the file at most: the lock is free, though its worker lives an instant longer.
fn lock_ends() {
    let lab = Lab::new();
    let mut run = alone(&lab);
    wait_for(&mut run, "step fill-until-enospc");
    let lock = File::open(format!("/proc/{}/root{LOCK}", run.id())).unwrap();
    let locks = |pid: &i32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
        open.filter(|entry| is_at(&lock, &entry.path())).count()
    };
    let (own, others): (Vec<_>, Vec<_>) =
        lab.processes().into_iter().partition(|pid| u32::try_from(*pid) == Ok(run.id()));
    assert_eq!(own.iter().map(locks).sum::<usize>(), 1);
    assert!(others.contains(&worker(&lab).as_raw()));
    assert_eq!(others.iter().map(locks).sum::<usize>(), 0);

    let (lock, error) = Flock::lock(lock, FlockArg::LockExclusiveNonblock).expect_err("the run has it");
    assert_eq!(error, Errno::EWOULDBLOCK);
    run.kill().unwrap();
    run.wait().unwrap();
    Flock::lock(lock, FlockArg::LockExclusiveNonblock).expect("nobody has it");
    lab.assert_nothing_is_left();
}

/// A run with a `/run` of its own, so that the lock is not with a run of another test.
fn alone(lab: &Lab) -> Child {
    let mut command = lab.command("unshare");
    let own_run = "mount -t tmpfs tmpfs /run && exec \"$0\" \"$@\"";
    command.args(["--mount", "--propagation", "private", "sh", "-c", own_run, env!("CARGO_BIN_EXE_fsduel")]);
    command.args(["run", "--workload", "fill-until-enospc", "--size", "4GiB", "--fs", "ext4"]);
    command.env("FSDUEL_LOG", "debug").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
}
