//! An end for a test that would have none: what it waits for is told, and ended.
//!
//! A run in a test has no time limit of its own as a rule, as most users' runs have none. One that hangs
//! would keep all other results with it.

use std::fs;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, gettid};

/// Some six times what the longest test takes on two processors.
const LIMIT: Duration = Duration::from_secs(12 * 60);

/// For a run that is told to end, and for one that is killed.
const END: Duration = Duration::from_secs(2 * 60);

/// Do a test. What it has started is asked to end at the limit, so that it fails with what that said,
/// and killed later.
pub fn within_limit(name: &str, test: impl FnOnce()) {
    let (running, ended) = channel::<()>();
    let (name, thread) = (name.to_owned(), gettid());
    std::thread::spawn(move || watch(&name, thread, &ended));
    test();
    drop(running);
}

fn watch(name: &str, thread: Pid, ended: &Receiver<()>) {
    for (limit, signal) in [(LIMIT, Signal::SIGINT), (END, Signal::SIGKILL)] {
        if ended.recv_timeout(limit) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let all = descendants(thread);
        eprintln!("test {name} does not end; {signal} to what it waits for:\n{}", told(&all));
        let meant = if signal == Signal::SIGINT { children(thread) } else { all };
        for pid in meant {
            let _ = kill(pid, signal);
        }
    }
    if ended.recv_timeout(END) == Err(RecvTimeoutError::Timeout) {
        eprintln!("test {name} does not end, and with it all tests");
        std::process::exit(1);
    }
}

/// What a thread, or the first one of a process, has started.
fn children(thread: Pid) -> Vec<Pid> {
    let children = fs::read_to_string(format!("/proc/{thread}/task/{thread}/children")).unwrap_or_default();
    children.split_ascii_whitespace().filter_map(|pid| Some(Pid::from_raw(pid.parse().ok()?))).collect()
}

fn descendants(thread: Pid) -> Vec<Pid> {
    let children = children(thread);
    let below = children.iter().flat_map(|child| descendants(*child)).collect();
    [children, below].concat()
}

/// Who they are, and where they are in the kernel.
fn told(pids: &[Pid]) -> String {
    let of = |pid: &Pid, file: &str| {
        let text = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
        String::from_utf8_lossy(&text).replace('\0', " ").trim().to_owned()
    };
    let one = |pid: &Pid| {
        let status = of(pid, "status");
        let state = status.lines().find(|line| line.starts_with("State:")).unwrap_or("State: gone");
        format!("process {pid}: {}\n{state}\n{}", of(pid, "cmdline"), of(pid, "stack"))
    };
    pids.iter().map(one).collect::<Vec<_>>().join("\n")
}
