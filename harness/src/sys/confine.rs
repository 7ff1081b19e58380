//! What a user's command gets beside its file system: mounts and a `/proc` of its own, the rights of
//! the user who called, and none of our descriptors.
//!
//! Between `fork` and `execve` only raw calls are allowed, so all is made ready before.

use std::ffi::{CStr, CString};
use std::io::{Error, Result};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The numbers of a user.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Ids {
    /// Of the user.
    pub uid: u32,
    /// Of the first group.
    pub gid: u32,
    /// Of all groups.
    pub groups: Vec<u32>,
}

/// Another root directory for a command.
#[derive(Clone, Debug)]
pub struct Root {
    path: CString,
    /// Where the command starts, as it sees that.
    folder: CString,
    proc: CString,
    /// What is shown in it, and where.
    shown: Vec<[CString; 2]>,
}

impl Root {
    /// The directory `root`, in which the folders `shown` are under their own names, and a `/proc`. The
    /// first is where the command starts. What is missing of these folders is made.
    ///
    /// # Errors
    ///
    /// They cannot be made.
    pub fn new(root: &Path, shown: &[&Path]) -> Result<Self> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes()).map_err(Error::from);
        let below = |path: &Path| root.join(path.strip_prefix("/").unwrap_or(path));
        let proc = below(Path::new("/proc"));
        std::fs::create_dir_all(&proc)?;
        let show = |path: &&Path| {
            std::fs::create_dir_all(below(path))?;
            Ok([text(path)?, text(&below(path))?])
        };
        Ok(Self {
            path: text(root)?,
            folder: text(shown.first().copied().unwrap_or(Path::new("/")))?,
            proc: text(&proc)?,
            shown: shown.iter().map(show).collect::<Result<_>>()?,
        })
    }
}

/// A `/proc` hides nothing of the machine's, but no program is to be started from it.
const PROC_FLAGS: libc::c_ulong = libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;

/// What becomes of the terminal on standard input: what is typed there, Ctrl-C too, goes to the command
/// alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Terminal {
    /// Nobody could wake the command after a Ctrl-Z, so that does nothing.
    NeverStopped,
    /// The command is a shell, which has jobs of its own.
    WithJobs,
}

/// How a command differs from us.
#[derive(Clone, Debug, Default)]
pub struct Confined {
    /// As whom it runs; as we do where nobody is named.
    pub ids: Option<Ids>,
    /// Its root directory, where that is not ours.
    pub root: Option<Root>,
}

/// Let `command` start with mounts of its own and a `/proc` of its PID namespace. The caller is in a PID
/// namespace of its own. With `terminal`, its standard input is one, which it gets.
#[expect(unsafe_code, reason = "what is done between fork and execve")]
pub fn confine(command: &mut Command, confined: Confined, terminal: Option<Terminal>) {
    let become_theirs = move || {
        if let Some(terminal) = terminal {
            take_terminal(terminal)?;
        }
        become_theirs(&confined)
    };
    // SAFETY: it only makes system calls, on memory that was made before the fork.
    unsafe { command.pre_exec(become_theirs) };
}

/// Become the foreground of the terminal on standard input. As long as we are not, the kernel asks
/// whoever changes that to stop, unless it does not listen.
#[expect(unsafe_code, reason = "raw calls, all of them async-signal-safe")]
fn take_terminal(terminal: Terminal) -> Result<()> {
    // SAFETY: the sets are filled in before they are used, and outlive the calls.
    unsafe {
        let (mut held, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&raw mut held);
        libc::sigaddset(&raw mut held, libc::SIGTTOU);
        done(libc::sigprocmask(libc::SIG_BLOCK, &raw const held, &raw mut before))?;
        let taken = done(libc::tcsetpgrp(0, libc::getpid()));
        done(libc::sigprocmask(libc::SIG_SETMASK, &raw const before, std::ptr::null_mut()))?;
        if terminal == Terminal::NeverStopped {
            libc::signal(libc::SIGTSTP, libc::SIG_IGN);
        }
        taken
    }
}

#[expect(unsafe_code, reason = "raw calls, all of them async-signal-safe")]
fn become_theirs(Confined { ids, root, .. }: &Confined) -> Result<()> {
    // SAFETY: strings are constants or were made before; the list of groups lives as long as the
    // closure that owns it.
    unsafe {
        done(libc::unshare(libc::CLONE_NEWNS))?;
        mount_proc(root.as_ref().map_or(c"/proc", |root| &root.proc))?;
        if let Some(root) = root {
            enter(root)?;
        }
        // Before Linux 5.11 this fails; then the standard library's own flag has to do.
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
        if let Some(ids) = ids {
            done(libc::setgroups(ids.groups.len(), ids.groups.as_ptr()))?;
            done(libc::setresgid(ids.gid, ids.gid, ids.gid))?;
            done(libc::setresuid(ids.uid, ids.uid, ids.uid))?;
        }
    }
    Ok(())
}

#[expect(unsafe_code, reason = "raw calls, all of them async-signal-safe")]
fn mount_proc(place: &CStr) -> Result<()> {
    let kind = c"proc".as_ptr();
    // SAFETY: the strings outlive the call.
    done(unsafe { libc::mount(kind, place.as_ptr(), kind, PROC_FLAGS, std::ptr::null()) })
}

#[expect(unsafe_code, reason = "raw calls, all of them async-signal-safe")]
fn enter(root: &Root) -> Result<()> {
    let flags = libc::MS_BIND | libc::MS_REC;
    for [from, to] in &root.shown {
        // SAFETY: the strings outlive the call.
        done(unsafe { libc::mount(from.as_ptr(), to.as_ptr(), std::ptr::null(), flags, std::ptr::null()) })?;
    }
    // SAFETY: as above. The folder is one of the new root, which keeps no way out of it open.
    unsafe {
        done(libc::chroot(root.path.as_ptr()))?;
        done(libc::chdir(root.folder.as_ptr()))
    }
}

fn done(answer: libc::c_int) -> Result<()> {
    if answer == 0 { Ok(()) } else { Err(Error::last_os_error()) }
}
