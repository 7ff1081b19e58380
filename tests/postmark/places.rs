//! The places of a run: refused where they are taken, and as before however it ends.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use super::{folder, names, program, run, told, wait};

#[test]
fn a_place_that_is_missing_or_taken_is_refused_before_anything_is_done() {
    let folder = folder("set location a\nset location +b\nrun\n");
    let missing = run(folder.path(), &[]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("next: mkdir -p b\n"), "{}", missing.err);
    fs::create_dir(folder.path().join("b")).unwrap();
    fs::write(folder.path().join("b/17"), "mine").unwrap();
    let taken = run(folder.path(), &[]);
    assert_eq!(taken.code, 2);
    assert!(taken.err.contains("it holds `17`") && taken.err.contains("  next: "), "{}", taken.err);
    assert_eq!(fs::read_to_string(folder.path().join("b/17")).unwrap(), "mine");
    assert!(names(&folder.path().join("a")).is_empty());
}

#[test]
fn a_place_with_numbered_files_of_others_passes_and_keeps_them() {
    let folder = folder(
        "set location a\nset location +a/\nset subdirectories 3\nrun\n\
                         set location a\nset number 50\nset transactions 100\nrun\n",
    );
    fs::write(folder.path().join("a/20140625"), "mine").unwrap();
    let told = run(folder.path(), &["--strict"]);
    assert_eq!(told.code, 0, "{}", told.err);
    assert_eq!(names(&folder.path().join("a")), ["20140625"]);
}

#[test]
fn a_signal_ends_a_run_and_the_place_is_as_before() {
    for (signal, subdirectories, code) in [(Signal::SIGINT, 1, 130), (Signal::SIGTERM, 50, 143)] {
        let folder = folder(&format!(
            "set location a\nset subdirectories {subdirectories}\nset number 50000\n\
             set transactions 1000000\nrun\n"
        ));
        let place = folder.path().join("a");
        fs::write(place.join("mail"), "mine").unwrap();
        let child = program(folder.path(), &["--no-verify"]).spawn().unwrap();
        let begun = Instant::now();
        while names(&place).len() < 20 && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(5));
        }
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), signal).unwrap();
        let told = told(wait(child));
        assert_eq!((told.code, told.out.as_str()), (code, ""), "{}", told.err);
        assert!(told.err.contains(signal.as_str()), "{}", told.err);
        assert_eq!(names(&place), ["mail"]);
    }
}

#[test]
fn a_signal_ends_a_run_while_it_is_only_planned_or_its_text_made() {
    for configuration in ["set size 1\nset number 50000000\n", "set size 1073741823\nset number 2\n"] {
        let folder = folder(&format!("set location a\n{configuration}run\n"));
        let child = program(folder.path(), &[]).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(1));
        kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGTERM).unwrap();
        let begun = Instant::now();
        let told = told(wait(child));
        assert_eq!((told.code, told.out.as_str()), (143, ""), "{}", told.err);
        assert!(begun.elapsed() < Duration::from_secs(5), "it went on for {:?}", begun.elapsed());
        assert!(names(&folder.path().join("a")).is_empty());
    }
}

#[test]
fn one_place_that_is_written_in_many_ways_is_one() {
    for subdirectories in [1, 4] {
        let folder = folder(&format!(
            "set location a\nset location +a/\nset location +./a/../a\nset location +link\n\
             set subdirectories {subdirectories}\nrun\n"
        ));
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        let told = run(folder.path(), &[]);
        assert_eq!(told.code, 0, "{}", told.err);
        assert!(names(&folder.path().join("a")).is_empty());
    }
}

#[test]
fn what_others_have_at_a_place_stays_and_disturbs_nothing() {
    let folder = folder("set location a\nrun\n");
    let place = folder.path().join("a");
    // 1000 is the highest number that a file can have here.
    let others = ["+1", "0", "01", "1001", "2024", "99999999999999999999", "s0"];
    others.iter().for_each(|name| fs::write(place.join(name), "mine").unwrap());
    let told = run(folder.path(), &[]);
    assert_eq!(told.code, 0, "{}", told.err);
    assert_eq!(names(&place), others);
}

#[test]
fn a_place_where_another_run_is_at_work_is_refused() {
    let folder = folder("set location a\nrun\n");
    let place = fs::File::open(folder.path().join("a")).unwrap();
    let lock = nix::fcntl::Flock::lock(place, nix::fcntl::FlockArg::LockExclusiveNonblock).unwrap();
    let told = run(folder.path(), &[]);
    assert_eq!(told.code, 2, "{}", told.err);
    assert!(told.err.contains("another run is at work there\n  next: "), "{}", told.err);
    drop(lock);
}

#[test]
fn a_limit_exits_with_3_and_names_the_call_the_file_and_the_operation() {
    // The first file of the default configuration has 1390 bytes, and none may have more than 1 KiB.
    let folder = folder("set location a\nrun\n");
    let script = "trap '' XFSZ; ulimit -f 2; exec \"$0\" postmark c --json -";
    let mut command = Command::new("dash");
    command.args(["-c", script, env!("CARGO_BIN_EXE_fsduel")]).current_dir(folder.path());
    let told = told(command.env_clear().stdin(Stdio::null()).output().unwrap());
    assert_eq!(told.code, 3, "{}", told.err);
    assert!(told.err.contains("in write a/1 (EFBIG) of operation 1: "), "{}", told.err);
    let report: Value = serde_json::from_str(&told.out).unwrap();
    let limit = &report["cases"][0]["steps"][0]["limit"];
    assert_eq!((&limit["which"], &limit["errno"]), (&"file_size".into(), &"EFBIG".into()));
    assert_eq!((&limit["path"], &limit["at_operation"]), (&"a/1".into(), &1.into()));
    assert!(names(&folder.path().join("a")).is_empty());
}
