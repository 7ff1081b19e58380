//! Every external program: described as data, run in one place.
//!
//! Programs run with `LC_ALL=C` and without the settings that would change a result
//! (`MKE2FS_*`, `LIBBLKID_*`, `BTRFS_*`). They are found on `PATH` and in the sbin folders, which
//! an ordinary user's `PATH` lacks.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, PipeReader, Read, pipe};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use rustix::process::{PidfdFlags, pidfd_open};

use crate::error::{Cannot, Error, Result};

pub mod theirs;

/// Set when this process is asked to stop. Programs that run are then killed.
static STOP: AtomicBool = AtomicBool::new(false);

/// How much of the end of a program's output is kept.
const KEPT_BYTES: usize = 64 << 10;

/// Variables that would change what a tool does, by their beginning.
const REMOVED: [&str; 4] = ["MKE2FS_", "LIBBLKID_", "BLKID_", "BTRFS_"];

/// Where programs run. It has folders only and nothing can be made in it, not even by root: a name
/// without a slash among their arguments never is a file or device of somebody. And where we were
/// started may be gone.
const NOWHERE: &str = "/proc/sys";

/// A command line as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invocation {
    /// Name of the program.
    pub program: &'static str,
    /// Its arguments.
    pub arguments: Vec<OsString>,
    /// Added to the environment.
    pub environment: Vec<(&'static str, OsString)>,
}

impl Invocation {
    /// `program` with `arguments`.
    pub fn new<I: IntoIterator<Item: Into<OsString>>>(program: &'static str, arguments: I) -> Self {
        Self { program, arguments: arguments.into_iter().map(Into::into).collect(), environment: vec![] }
    }

    /// Set a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// The words as a person would type them.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        std::iter::once(self.program.to_owned())
            .chain(self.arguments.iter().map(|word| word.to_string_lossy().into_owned()))
            .collect()
    }
}

/// A word as a shell reads it: only what no shell changes stands without quotes.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "-_./:,=+@%#".contains(sign);
    match !word.is_empty() && !word.starts_with('#') && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\"'\"'")),
    }
}

/// What a program came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its exit status; 128+n where signal n ended it.
    pub status: i32,
    /// stdout and stderr, in the order in which they were written, at most 64 KiB of its end.
    pub text: String,
}

/// Ask this process to stop: programs that run are killed, and [`run`] fails from now on.
pub fn request_stop() {
    STOP.store(true, Ordering::SeqCst);
}

/// Whether this process was asked to stop.
#[must_use]
pub fn stop_requested() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// The flag itself, for a signal handler.
#[must_use]
pub fn stop_flag() -> &'static AtomicBool {
    &STOP
}

/// Where a program is: on `PATH`, or in a sbin folder.
#[must_use]
pub fn find(program: &str) -> Option<PathBuf> {
    find_on(&std::env::var_os("PATH").unwrap_or_default(), program)
}

fn find_on(path: &OsStr, program: &str) -> Option<PathBuf> {
    let sbin = ["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from);
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .chain(sbin)
        .map(|folder| folder.join(program))
        .find(|file| is_executable(file))
}

/// Whether this file is a program to somebody.
#[must_use]
pub fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// Run a program to its end. It is killed when this process is asked to stop (see [`request_stop`]).
///
/// # Errors
///
/// It is not installed (with the package that has it), cannot be started, or was stopped.
pub fn run(invocation: &Invocation) -> Result<Output> {
    run_until(invocation, &STOP)
}

fn run_until(invocation: &Invocation, stop: &AtomicBool) -> Result<Output> {
    let program = invocation.program;
    let (reader, writer) = pipe().cannot(|| format!("make a pipe for {program}"))?;
    let second = writer.try_clone().cannot(|| format!("make a pipe for {program}"))?;
    let mut command = prepare(invocation)?;
    command.stdout(writer).stderr(second);
    let mut child = command.spawn().cannot(|| format!("run {program}"))?;
    // It holds our copies of the writing end, without which the reading end would never end.
    drop(command);
    let ended = wait(&mut child, reader, stop);
    if ended.is_err() {
        kill(&mut child);
    }
    let (status, text) = ended.map_err(|error| match error.errno() {
        Some(Errno::ECANCELED) => Error::stopped(format!("finish {program}: it was asked to stop")),
        _ => error,
    })?;
    Ok(Output { status: status_of(status), text: String::from_utf8_lossy(&text).into_owned() })
}

fn prepare(invocation: &Invocation) -> Result<Command> {
    let path = find(invocation.program).ok_or_else(|| missing(invocation.program))?;
    let path = std::path::absolute(&path).cannot(|| format!("find {}", path.display()))?;
    let mut command = Command::new(path);
    let is_removed =
        |name: &OsStr| REMOVED.iter().any(|start| name.as_encoded_bytes().starts_with(start.as_bytes()));
    for name in std::env::vars_os().map(|(name, _)| name).filter(|name| is_removed(name)) {
        command.env_remove(name);
    }
    command
        .env("LC_ALL", "C")
        .envs(invocation.environment.iter().map(|(name, value)| (name, value)))
        .args(&invocation.arguments)
        .current_dir(NOWHERE)
        .stdin(Stdio::null())
        .process_group(0);
    Ok(command)
}

fn missing(program: &str) -> Error {
    let next = match crate::require::package_of(program) {
        Some(package) => format!("apt install {package}"),
        None => format!("install the package that has {program}"),
    };
    Error::unavailable(format!("run {program}: it is not on PATH, nor in /usr/sbin or /sbin")).next(next)
}

/// Read what the program writes until it ends. A daemon that it leaves behind may hold the pipe,
/// so that end-of-file is no measure of it; its pidfd is.
fn wait(child: &mut Child, mut reader: PipeReader, stop: &AtomicBool) -> Result<(ExitStatus, Vec<u8>)> {
    let doing = || "wait for a program".to_owned();
    let pid = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
    let pid = pid.ok_or_else(|| Error::new(doing()))?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(crate::sys::errno).cannot(doing)?;
    rustix::io::ioctl_fionbio(&reader, true).map_err(crate::sys::errno).cannot(doing)?;
    let (mut text, mut open) = (Vec::new(), true);
    loop {
        wait_for(&pidfd, open.then_some(&reader), stop).cannot(doing)?;
        let status = child.try_wait().cannot(doing)?;
        open = open && drain(&mut reader, &mut text).cannot(doing)?;
        if let Some(status) = status {
            return Ok((status, text));
        }
    }
}

/// Sleep until the program ends, writes, or is to be stopped (`ECANCELED`).
fn wait_for(pidfd: &OwnedFd, reader: Option<&PipeReader>, stop: &AtomicBool) -> Result<(), Errno> {
    let mut fds = vec![PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
    fds.extend(reader.map(|reader| PollFd::new(reader.as_fd(), PollFlags::POLLIN)));
    // A signal handler on another thread does not wake this one.
    match poll(&mut fds, PollTimeout::from(100_u8)) {
        Ok(_) | Err(Errno::EINTR) if stop.load(Ordering::SeqCst) => Err(Errno::ECANCELED),
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Take what is in the pipe; false at its end.
fn drain(reader: &mut PipeReader, text: &mut Vec<u8>) -> std::io::Result<bool> {
    let mut chunk = [0; 4096];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => return Ok(false),
            Ok(length) => keep_end(text, &chunk[..length]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn keep_end(text: &mut Vec<u8>, more: &[u8]) {
    text.extend_from_slice(more);
    let surplus = text.len().saturating_sub(KEPT_BYTES);
    text.drain(..surplus);
}

/// End the program and all it started in its process group.
fn kill(child: &mut Child) {
    if let Ok(pid) = i32::try_from(child.id()) {
        // Only ESRCH is possible, and then there is nothing to kill.
        let _ = killpg(Pid::from_raw(pid), Signal::SIGKILL);
    }
    if let Err(error) = child.wait() {
        log::warn!("cannot wait for process {}: {error}", child.id());
    }
}

fn status_of(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(-1)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn shell(script: &str) -> Invocation {
        Invocation::new("sh", ["-c", script])
    }

    #[test]
    fn both_streams_come_in_the_order_of_writing() {
        let output = run(&shell("echo one; echo two >&2; echo three; exit 3")).unwrap();
        assert_eq!(output, Output { status: 3, text: "one\ntwo\nthree\n".into() });
    }

    #[test]
    fn a_signal_is_128_and_its_number() {
        assert_eq!(run(&shell("kill -TERM $$")).unwrap().status, 143);
    }

    #[test]
    fn only_the_end_of_a_long_output_is_kept() {
        let output = run(&shell("seq 1 100000")).unwrap();
        assert_eq!(output.text.len(), KEPT_BYTES);
        assert!(output.text.ends_with("\n100000\n"), "{}", &output.text[KEPT_BYTES - 20..]);
    }

    #[test]
    fn the_environment_is_the_invocations_own() {
        let script = "echo $LC_ALL $MKE2FS_CONFIG; read line || echo no input";
        let output = run(&shell(script).env("MKE2FS_CONFIG", "/ours")).unwrap();
        assert_eq!(output.text, "C /ours\nno input\n");
    }

    #[test]
    fn no_file_is_found_or_made_by_a_name_without_a_slash() {
        let output = run(&shell("find . -maxdepth 1 ! -type d; (echo > undo) 2> /dev/null || echo refused"));
        assert_eq!(output.unwrap().text, "refused\n");
    }

    #[test]
    fn a_daemon_left_behind_does_not_delay_the_end() {
        let begun = Instant::now();
        assert_eq!(run(&shell("sleep 5 & echo done")).unwrap().text, "done\n");
        assert!(begun.elapsed() < Duration::from_secs(4));
    }

    #[test]
    fn a_program_is_killed_with_its_group_when_a_stop_is_requested() {
        let begun = Instant::now();
        let error = run_until(&shell("sleep 60 & wait"), &AtomicBool::new(true)).unwrap_err();
        assert_eq!(error.kind(), crate::error::Kind::Stopped);
        assert!(begun.elapsed() < Duration::from_secs(20));
    }

    #[test]
    fn a_program_that_is_not_there_names_its_package() {
        let error = run(&Invocation::new("mkfs.jfs-of-another-machine", [""; 0])).unwrap_err();
        assert_eq!(error.kind(), crate::error::Kind::Unavailable);
        assert_eq!(missing("mkfs.xfs").next_step(), Some("apt install xfsprogs"));
    }

    #[test]
    fn programs_are_found_on_the_path_before_the_sbin_folders() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mkfs.ext4");
        std::fs::write(&file, "").unwrap();
        assert_ne!(find_on(folder.path().as_os_str(), "mkfs.ext4"), Some(file.clone()), "not executable");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find_on(folder.path().as_os_str(), "mkfs.ext4"), Some(file));
    }

    #[test]
    fn a_word_is_quoted_only_where_a_shell_would_change_it() {
        for plain in
            ["quick", "fixtures/a.toml", "lzo=btrfs:noatime,compress=lzo", "step.a.count=5", "ext4#2"]
        {
            assert_eq!(quoted(plain), plain);
        }
        assert_eq!(quoted("ext4=-O ^has_journal"), "'ext4=-O ^has_journal'");
        assert_eq!(quoted("a;b"), "'a;b'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's"), "'it'\"'\"'s'");
    }
}
