//! Starts the worker as process 1 of its own PID and mount namespace; or another program, such as a
//! virtual machine, that is bound to our life in the same way.
//!
//! `clone3` makes both namespaces before the first instruction of the child, so that no process of
//! a worker ever exists outside them: when the worker dies, the kernel kills all below it, and the
//! last of them takes mount, loop device and image along. The other direction is bound twice: the
//! death signal, and end-of-file on the worker's standard input (the runner keeps the other end).
//!
//! Between `clone3` and `execve` the child may call nothing but raw system calls: another thread
//! of the parent may have held the allocator's lock at the moment of the copy. So everything is
//! prepared before.

use std::ffi::{CStr, CString, c_char};
use std::fmt;
use std::fs::File;
use std::io::{Read, pipe};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use nix::errno::Errno;
use nix::sys::signal::Signal;
use rustix::process::{WaitId, WaitIdOptions, WaitIdStatus, pidfd_send_signal, waitid};

use crate::error::{Cannot, Error, Kind, Result};
use crate::sys::errno;

/// How a worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerExit {
    /// With this status.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl fmt::Display for WorkerExit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit status {code}"),
            Self::Signal(signal) => match Signal::try_from(*signal) {
                Ok(signal) => write!(f, "killed by {signal}"),
                Err(_) => write!(f, "killed by signal {signal}"),
            },
        }
    }
}

/// A worker that runs, or has ended and was not waited for. Dropping it kills it.
#[derive(Debug)]
pub struct WorkerProcess {
    /// The worker's standard input. While it is open, the worker knows that we live.
    pub input: File,
    /// The worker's standard output.
    pub events: File,
    /// The worker's standard error.
    pub errors: File,
    /// Readable once the worker has ended.
    pub pidfd: OwnedFd,
    /// As we see it; the worker itself is 1.
    pub pid: i32,
    exit: Option<WorkerExit>,
}

/// Start this very program again with `argv` (its name first), as a worker. It inherits these
/// descriptors beside its standard ones, under the same numbers.
///
/// Call it from the main thread: the death signal comes when the *thread* that started the worker
/// ends. Returns once the new program runs.
///
/// # Errors
///
/// Namespaces are refused, or the program cannot be started again.
pub fn spawn_worker(argv: &[&str], inherited: &[BorrowedFd]) -> Result<WorkerProcess> {
    let (input_read, input) = pipe().cannot(|| "make a pipe to a worker".into())?;
    let (events, events_write) = pipe().cannot(|| "make a pipe from a worker".into())?;
    let (errors, errors_write) = pipe().cannot(|| "make a pipe from a worker".into())?;
    let streams = [input_read.as_fd(), events_write.as_fd(), errors_write.as_fd()];
    let program = Program { path: Path::new("/proc/self/exe"), argv, streams, inherited, namespaces: true };
    let pipes = [OwnedFd::from(input), OwnedFd::from(events), OwnedFd::from(errors)].map(File::from);
    let (worker, failure) = start(&program, pipes)?;
    drop((input_read, events_write, errors_write));
    runs(worker, failure)
}

/// Start the program at `path`, which is not ours, in the namespaces of this process. What it is told
/// and tells goes through `port`, one end of a pair of sockets of which it inherits the other, as it
/// does the rest of `inherited`, under their own numbers. What it prints is read as its standard error.
///
/// Call it from the main thread, as [`spawn_worker`]. Returns once the program runs.
///
/// # Errors
///
/// It cannot be started.
pub fn spawn_machine(
    path: &Path,
    argv: &[&str],
    port: File,
    inherited: &[BorrowedFd],
) -> Result<WorkerProcess> {
    let doing = || "make the pipes of a virtual machine".to_owned();
    let nothing = File::open("/dev/null").cannot(doing)?;
    let (errors, errors_write) = pipe().cannot(doing)?;
    let input = port.try_clone().cannot(doing)?;
    let streams = [nothing.as_fd(), errors_write.as_fd(), errors_write.as_fd()];
    let program = Program { path, argv, streams, inherited, namespaces: false };
    let (worker, failure) = start(&program, [input, port, OwnedFd::from(errors).into()])?;
    drop(errors_write);
    runs(worker, failure)
}

/// What is started, and how.
struct Program<'a> {
    path: &'a Path,
    argv: &'a [&'a str],
    /// Its standard input, output and error.
    streams: [BorrowedFd<'a>; 3],
    inherited: &'a [BorrowedFd<'a>],
    /// In PID and mount namespaces of its own.
    namespaces: bool,
}

/// Start it; also where it tells why it could not become another program.
fn start(program: &Program, [input, events, errors]: [File; 3]) -> Result<(WorkerProcess, File)> {
    let (failure, failure_write) = pipe().cannot(|| "make a pipe from a worker".into())?;
    let prepared = Prepared::new(program)?;
    let inherited: Vec<RawFd> = program.inherited.iter().map(AsRawFd::as_raw_fd).collect();
    let child = Child {
        path: &prepared.path,
        streams: program.streams.map(|stream| stream.as_raw_fd()),
        failure: failure_write.as_raw_fd(),
        inherited: &inherited,
        namespaces: program.namespaces,
        argv: &prepared.argv,
        envp: &prepared.envp,
    };
    let (pid, pidfd) = clone3(&child).map_err(refused)?;
    drop(failure_write);
    let worker = WorkerProcess { input, events, errors, pidfd, pid, exit: None };
    Ok((worker, OwnedFd::from(failure).into()))
}

fn runs(mut worker: WorkerProcess, failure: File) -> Result<WorkerProcess> {
    match told(failure)? {
        None => Ok(worker),
        Some(error) => {
            worker.wait()?;
            Err(error)
        }
    }
}

impl WorkerProcess {
    /// Send a signal. A worker that has ended already is left in peace.
    ///
    /// # Errors
    ///
    /// The kernel refuses it.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let Some(raw) = rustix::process::Signal::from_named_raw(signal as i32) else {
            return Err(Error::new(format!("send {signal} to a worker: no such signal")));
        };
        match pidfd_send_signal(&self.pidfd, raw) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(errno(error)).cannot(|| format!("send {signal} to worker {}", self.pid)),
        }
    }

    /// Wait for its end. By then every process below it has ended too.
    ///
    /// # Errors
    ///
    /// Somebody else has waited for it.
    pub fn wait(&mut self) -> Result<WorkerExit> {
        loop {
            if let Some(exit) = self.poll(WaitIdOptions::EXITED)? {
                return Ok(exit);
            }
        }
    }

    /// How it ended, if it has.
    ///
    /// # Errors
    ///
    /// Somebody else has waited for it.
    pub fn try_wait(&mut self) -> Result<Option<WorkerExit>> {
        self.poll(WaitIdOptions::EXITED | WaitIdOptions::NOHANG)
    }

    /// Do not wait for its end, although it was killed. Only where this process ends, too: nobody
    /// else knows when the worker is gone.
    pub fn leave(self) {
        std::mem::forget(self);
    }

    fn poll(&mut self, options: WaitIdOptions) -> Result<Option<WorkerExit>> {
        if self.exit.is_none() {
            self.exit = match waitid(WaitId::PidFd(self.pidfd.as_fd()), options) {
                Ok(status) => status.as_ref().and_then(exit_of),
                Err(rustix::io::Errno::INTR) => None,
                Err(error) => return Err(errno(error)).cannot(|| format!("wait for worker {}", self.pid)),
            };
        }
        Ok(self.exit)
    }
}

impl AsFd for WorkerProcess {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if self.exit.is_some() {
            return;
        }
        let ended = self.signal(Signal::SIGKILL).and_then(|()| self.wait());
        if let Err(error) = ended {
            log::warn!("{error}");
        }
    }
}

fn exit_of(status: &WaitIdStatus) -> Option<WorkerExit> {
    let code = status.exit_status().map(WorkerExit::Code);
    code.or_else(|| status.terminating_signal().map(WorkerExit::Signal))
}

fn refused(errno: Errno) -> Error {
    let next = match errno {
        Errno::ENOSYS => {
            "Linux 5.7 or later is needed; an old seccomp profile hides it too: --security-opt seccomp=unconfined"
        }
        Errno::EPERM => "run as root (sudo), or in a container started with --privileged",
        Errno::ENOSPC | Errno::EUSERS => "raise /proc/sys/user/max_pid_namespaces and max_mnt_namespaces",
        _ => "see clone(2)",
    };
    let kind = match errno {
        Errno::ENOSYS | Errno::EPERM => Kind::Unavailable,
        _ => Kind::Harness,
    };
    let doing = "start a worker in namespaces of its own (clone3)";
    Error::new(doing).of_kind(kind).because(errno).next(next)
}

/// Nothing once the new program runs (its end of the pipe closes on exec); else what failed in the child.
fn told(mut failure: File) -> Result<Option<Error>> {
    let mut words = Vec::new();
    failure.read_to_end(&mut words).cannot(|| "hear from a worker that starts".into())?;
    let [stage, rest @ ..] = words.as_slice() else { return Ok(None) };
    let raw = rest.try_into().map_or(0, i32::from_ne_bytes);
    let doing = STAGES.get(usize::from(*stage)).unwrap_or(&"start");
    Ok(Some(Error::new(format!("start a worker: cannot {doing}")).because(Errno::from_raw(raw))))
}

/// What the child does before it becomes another program, in the words of an error.
const STAGES: [&str; 6] = [
    "bind it to our life (prctl PR_SET_PDEATHSIG)",
    "give it a process group (setpgid)",
    "keep its mounts to itself (mount MS_SLAVE on /)",
    "connect its pipes and files (dup2, fcntl)",
    "reset its signal mask (sigprocmask)",
    "run its program (for a worker /proc/self/exe: is /proc mounted?)",
];

/// Strings that must live until `execve`, and the null-terminated lists of pointers to them.
struct Prepared {
    argv: Vec<*const c_char>,
    envp: Vec<*const c_char>,
    path: CString,
    _strings: Vec<CString>,
}

impl Prepared {
    fn new(program: &Program) -> Result<Self> {
        let string = |bytes: Vec<u8>| CString::new(bytes).cannot(|| "pass a NUL byte to a worker".into());
        let path = string(program.path.as_os_str().as_encoded_bytes().to_vec())?;
        let words = program.argv.iter().map(|word| string((*word).into())).collect::<Result<Vec<_>>>()?;
        let variables = std::env::vars_os()
            .map(|(name, value)| string([name.into_vec(), value.into_vec()].join(&b'=')))
            .collect::<Result<Vec<_>>>()?;
        let pointers = |strings: &[CString]| {
            strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect::<Vec<_>>()
        };
        let (argv, envp) = (pointers(&words), pointers(&variables));
        // Moved, not cloned: the pointers point into them.
        let strings = words.into_iter().chain(variables).collect();
        Ok(Self { argv, envp, path, _strings: strings })
    }
}

/// What the child needs; all of it made before the copy.
struct Child<'a> {
    path: &'a CStr,
    streams: [RawFd; 3],
    failure: RawFd,
    inherited: &'a [RawFd],
    namespaces: bool,
    argv: &'a [*const c_char],
    envp: &'a [*const c_char],
}

/// Copy this process, into new PID and mount namespaces where that is asked for. The copy never returns from here.
#[expect(unsafe_code, reason = "no crate has clone3")]
fn clone3(child: &Child) -> std::result::Result<(i32, OwnedFd), Errno> {
    let mut pidfd: RawFd = -1;
    let namespaces = if child.namespaces { libc::CLONE_NEWPID | libc::CLONE_NEWNS } else { 0 };
    let flags = namespaces | libc::CLONE_PIDFD;
    // SAFETY: all fields of clone_args are integers, for which zero is "not used".
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = u64::try_from(flags).map_err(|_| Errno::EINVAL)?;
    arguments.pidfd = (&raw mut pidfd).addr() as u64;
    arguments.exit_signal = u64::try_from(libc::SIGCHLD).map_err(|_| Errno::EINVAL)?;
    // SAFETY: without CLONE_VM the child has its own copy of the memory and of this stack, as after
    // fork. `arguments` and `pidfd` outlive the call, and the size is that of the structure.
    let answer =
        unsafe { libc::syscall(libc::SYS_clone3, &raw mut arguments, size_of::<libc::clone_args>()) };
    match Errno::result(answer)? {
        0 => become_worker(child),
        // SAFETY: CLONE_PIDFD stored a new descriptor there that nobody else owns.
        pid => Ok((i32::try_from(pid).unwrap_or(0), unsafe { OwnedFd::from_raw_fd(pidfd) })),
    }
}

/// In the child: raw system calls only, up to `execve`.
#[expect(unsafe_code, reason = "between clone3 and execve only raw calls are allowed")]
fn become_worker(child: &Child) -> ! {
    // SAFETY: the calls are async-signal-safe; the strings, lists and descriptors were made before
    // the copy and are whole in it. The lists end in null pointers. The standard library has made
    // sure that descriptors 0 to 2 were open, so that no pipe has one of these numbers.
    unsafe {
        step(child, 0, libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL));
        step(child, 1, libc::setpgid(0, 0));
        if child.namespaces {
            let (none, slave) = (c"none".as_ptr(), libc::MS_REC | libc::MS_SLAVE);
            step(child, 2, libc::mount(none, c"/".as_ptr(), std::ptr::null(), slave, std::ptr::null()));
        }
        step(child, 3, libc::dup2(child.streams[0], 0));
        step(child, 3, libc::dup2(child.streams[1], 1));
        step(child, 3, libc::dup2(child.streams[2], 2));
        // What the caller of this program left open is none of the worker's business. Before
        // Linux 5.11 this fails, and the worker inherits it.
        let flag = libc::CLOSE_RANGE_CLOEXEC;
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, flag);
        for inherited in child.inherited {
            step(child, 3, libc::fcntl(*inherited, libc::F_SETFD, 0));
        }
        let mut mask: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut mask);
        step(child, 4, libc::sigprocmask(libc::SIG_SETMASK, &raw const mask, std::ptr::null_mut()));
        step(child, 5, libc::execve(child.path.as_ptr(), child.argv.as_ptr(), child.envp.as_ptr()));
        libc::_exit(127)
    }
}

/// In the child: go on, or tell the parent which step failed and how, and end with 127.
#[expect(unsafe_code, reason = "between clone3 and execve only raw calls are allowed")]
fn step(child: &Child, stage: u8, answer: i32) {
    if answer >= 0 {
        return;
    }
    let errno = Errno::last_raw().to_ne_bytes();
    let told = [stage, errno[0], errno[1], errno[2], errno[3]];
    // SAFETY: both calls are async-signal-safe, and `told` is as long as is said.
    unsafe {
        libc::write(child.failure, told.as_ptr().cast(), told.len());
        libc::_exit(127)
    }
}

#[cfg(test)]
mod tests;
