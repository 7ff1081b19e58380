//! One test's own corner of the machine: a store, a mark in the environment, and the proof that
//! both are as before.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use fsduel_harness::result::RunReport;
use tempfile::TempDir;

/// Written back, at most 30 s after the death of the last process.
const GONE_WITHIN: Duration = Duration::from_secs(30);

pub struct Lab {
    store: TempDir,
    elsewhere: TempDir,
    mark: String,
}

impl Lab {
    pub fn new() -> Self {
        let elsewhere = tempfile::tempdir_in("/var/tmp").unwrap();
        let mark = elsewhere.path().file_name().unwrap().to_str().unwrap().to_owned();
        Self { store: tempfile::tempdir_in("/var/tmp").unwrap(), elsewhere, mark }
    }

    pub fn store(&self) -> &Path {
        self.store.path()
    }

    /// A path of the test's own, outside of the store.
    pub fn path(&self, name: &str) -> PathBuf {
        self.elsewhere.path().join(name)
    }

    /// `fsduel ARGUMENTS` with this lab's store.
    pub fn fsduel<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_fsduel"));
        command.args(arguments);
        command
    }

    /// A program that runs `fsduel` with this lab's store.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("FSDUEL_STORE", self.store()).env("FSDUEL_TEST_MARK", &self.mark);
        // Tests say themselves who has called; whoever started them through sudo is not meant.
        for name in ["FSDUEL_REQUIRE_ALL", "SUDO_UID", "SUDO_GID", "SUDO_USER"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null());
        command
    }

    /// Run with `--json` and read the report back.
    pub fn report<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> (Output, RunReport) {
        let json = self.path("report.json");
        let output = self.fsduel(arguments).arg("--json").arg(&json).output().unwrap();
        let text = fs::read_to_string(&json).unwrap_or_else(|error| panic!("{error}: {}", told(&output)));
        (output, serde_json::from_str(&text).unwrap())
    }

    pub fn spawn<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Child {
        let mut command = self.fsduel(arguments);
        command.env("FSDUEL_LOG", "debug").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Processes that carry this lab's mark.
    pub fn processes(&self) -> Vec<i32> {
        let mark = format!("FSDUEL_TEST_MARK={}", self.mark);
        let pids = fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            let pid = entry.file_name().to_str()?.parse().ok()?;
            let environment = fs::read(entry.path().join("environ")).ok()?;
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes()).then_some(pid)
        });
        pids.collect()
    }

    /// Loop devices whose image is in this lab's store.
    pub fn devices(&self) -> Vec<String> {
        let devices = fs::read_dir("/sys/block").unwrap().flatten().filter_map(|entry| {
            let image = fs::read(entry.path().join("loop/backing_file")).ok()?;
            image
                .starts_with(self.store().as_os_str().as_bytes())
                .then(|| entry.file_name().into_string().unwrap())
        });
        devices.collect()
    }

    fn left(&self) -> String {
        let (processes, devices) = (self.processes(), self.devices());
        let files: Vec<_> = fs::read_dir(self.store()).unwrap().flatten().map(|entry| entry.path()).collect();
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let mounts: Vec<_> = mounts.lines().filter(|line| line.contains(&self.mark)).collect();
        if processes.is_empty() && devices.is_empty() && files.is_empty() && mounts.is_empty() {
            return String::new();
        }
        format!("processes {processes:?}, devices {devices:?}, files {files:?}, mounts {mounts:?}")
    }

    /// No process, no loop device, no file and no mount of this lab is left, after a while.
    pub fn assert_nothing_is_left(&self) {
        let begun = Instant::now();
        loop {
            let left = self.left();
            if left.is_empty() {
                return;
            }
            assert!(begun.elapsed() < GONE_WITHIN, "left: {left}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Lab {
    /// A failed test must not leave a run behind that goes on; each process is the test's own.
    fn drop(&mut self) {
        for pid in self.processes() {
            let _ =
                nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
        }
    }
}

/// What a program printed, for the message of a failed assertion.
pub fn told(output: &Output) -> String {
    format!(
        "{}\n--- stdout\n{}\n--- stderr\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Assert an exit code.
pub fn assert_exits(output: &Output, code: i32) {
    assert_eq!(output.status.code(), Some(code), "{}", told(output));
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
