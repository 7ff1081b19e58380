//! Why a virtual machine ended before its case did: what its console and its exit tell.

use crate::result::{Reason, Status};
use crate::sys::spawn::WorkerExit;
use crate::units::Bytes;

/// Lines of the console that a message shows.
const LAST: usize = 4;

/// How kernels say that there is no memory left: to a process, to all of them, to their own first root.
const NO_MEMORY: [&str; 4] =
    ["Out of memory", "out of memory", "deadlocked on memory", "Initramfs unpacking failed: write error"];

/// What is known of a machine that has ended.
pub struct Death<'a> {
    /// How QEMU ended.
    pub exit: WorkerExit,
    /// What its console and QEMU said.
    pub console: &'a str,
    /// What the guest did last.
    pub at: &'a str,
    /// The guest has told that it is up.
    pub came_up: bool,
    /// How the worker ended in it, where only that did.
    pub worker: Option<&'a str>,
    /// The guest's.
    pub memory: Bytes,
}

impl Death<'_> {
    /// What it means for the case.
    ///
    /// A panic while a file system is worked on is the kernel's fault, as one in its log would be; before
    /// that, nothing was tried.
    #[must_use]
    pub fn explain(&self) -> (Status, Reason) {
        if NO_MEMORY.iter().any(|words| self.console.contains(words)) {
            return self.out_of_memory();
        }
        if let Some(panic) = line_with(self.console, "Kernel panic - not syncing") {
            let status = if self.came_up { Status::Failed } else { Status::Error };
            let hung =
                line_with(self.console, "blocked for more than").filter(|_| panic.contains("hung_task"));
            let more = hung.map_or_else(|| self.last(), |task| format!("; {task}"));
            let text = format!("the guest's kernel panicked at {}: {panic}{more}", self.at);
            return (status, reason(Reason::GUEST_PANIC, text, "try another kernel, or more --memory"));
        }
        let text = match (self.worker, self.exit) {
            (Some(worker), _) => {
                let (at, last) = (self.at, self.last());
                let text = format!(
                    "the worker died in the guest before it could tell its result ({worker}), at {at}{last}"
                );
                return (Status::Error, Reason { code: Reason::WORKER_DIED.into(), text, next: None });
            }
            (None, WorkerExit::Signal(_)) => {
                format!("QEMU ended at {} ({}){}", self.at, self.exit, self.last())
            }
            (None, WorkerExit::Code(0)) => format!("the guest ended at {}{}", self.at, self.last()),
            (None, WorkerExit::Code(_)) => {
                format!("QEMU ended at {} ({}){}", self.at, self.exit, self.last())
            }
        };
        (Status::Error, reason(Reason::GUEST_ENDED, text, &self.next()))
    }

    /// A kernel that has no room to unpack itself ends without a word.
    fn next(&self) -> String {
        let debug = "FSDUEL_LOG=debug shows what the guest did";
        match self.exit {
            WorkerExit::Code(0) if !self.came_up => {
                format!("more than --memory {}, or another --kernel; {debug}", self.memory.typed())
            }
            _ => debug.to_owned(),
        }
    }

    fn out_of_memory(&self) -> (Status, Reason) {
        let text =
            format!("the guest ran out of its {} of memory, at {}{}", self.memory, self.at, self.last());
        let next = format!("more than --memory {}", self.memory.typed());
        (Status::Invalid, reason(Reason::OUT_OF_MEMORY, text, &next))
    }

    /// The end of the console, in one sentence.
    fn last(&self) -> String {
        last_lines(self.console)
    }
}

/// The last lines of a console, as the end of a sentence; nothing where it is empty.
#[must_use]
pub fn last_lines(console: &str) -> String {
    let lines: Vec<&str> = console.lines().map(plain).filter(|line| !line.is_empty()).collect();
    match &lines[lines.len().saturating_sub(LAST)..] {
        [] => String::new(),
        last => format!("; its last words: {}", last.join(" / ")),
    }
}

fn line_with<'a>(console: &'a str, word: &str) -> Option<&'a str> {
    console.lines().find(|line| line.contains(word)).map(plain)
}

/// A line without the time in front of it, and without what a serial line adds.
fn plain(line: &str) -> &str {
    let line = line.trim();
    match line.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((time, rest)) if time.trim().parse::<f64>().is_ok() => rest.trim(),
        _ => line,
    }
}

fn reason(code: &str, text: String, next: &str) -> Reason {
    Reason { code: code.into(), text, next: Some(next.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From Debian's 6.1 under QEMU 7.2, with an `/init` that is not there.
    const PANIC: &str = "[    3.351905] Failed to execute /nothing (error -2)\r\n[    3.5] Kernel panic - not syncing: No working init found.  Try passing init= option to kernel.\r\n[    3.6] CPU: 0 PID: 1 Comm: swapper/0 Not tainted 6.1.0-56-amd64 #1\r\n";

    fn death<'a>(console: &'a str, came_up: bool, worker: Option<&'a str>) -> Death<'a> {
        let exit = WorkerExit::Code(0);
        Death { exit, console, at: "step fill", came_up, worker, memory: Bytes::gib(1) }
    }

    #[test]
    fn a_panic_is_told_with_its_line_and_is_the_kernels_fault_once_the_guest_was_up() {
        let (status, reason) = death(PANIC, false, None).explain();
        assert_eq!((status, reason.code.as_str()), (Status::Error, Reason::GUEST_PANIC));
        assert!(reason.text.contains("at step fill: Kernel panic - not syncing: No working init found."));
        assert!(reason.text.contains("its last words: Failed to execute"), "{}", reason.text);
        assert_eq!(death(PANIC, true, None).explain().0, Status::Failed);
    }

    #[test]
    fn a_task_that_hangs_is_named() {
        let console = "[  16.1] INFO: task sh:88 blocked for more than 10 seconds.\r\n[  16.2]       Not tainted 6.1.0\r\n\
                       [  16.3] Kernel panic - not syncing: hung_task: blocked tasks\r\n[  16.4] CPU: 0 PID: 24\r\n";
        let (_, reason) = death(console, true, None).explain();
        let told = "hung_task: blocked tasks; INFO: task sh:88 blocked for more than 10 seconds.";
        assert!(reason.text.ends_with(told), "{}", reason.text);
    }

    #[test]
    fn memory_that_ran_out_is_told_before_what_came_of_it() {
        for console in [
            "[   20.1] Out of memory: Killed process 77 (fsduel) total-vm:9kB\n",
            "[    1.0] Kernel panic - not syncing: System is deadlocked on memory\n",
            "[    1.2] Initramfs unpacking failed: write error\n",
        ] {
            let (status, reason) = death(console, true, Some("killed by SIGKILL")).explain();
            assert_eq!((status, reason.code.as_str()), (Status::Invalid, Reason::OUT_OF_MEMORY));
            assert_eq!(reason.next.as_deref(), Some("more than --memory 1GiB"));
        }
    }

    #[test]
    fn a_guest_that_ended_before_its_first_word_may_have_had_too_little_memory() {
        let next = |came_up| death("", came_up, None).explain().1.next.unwrap();
        assert!(next(false).starts_with("more than --memory 1GiB"), "{}", next(false));
        assert!(!next(true).contains("--memory"), "{}", next(true));
    }

    #[test]
    fn a_worker_that_died_and_a_machine_that_ended_differ() {
        let (_, reason) = death("", true, Some("exit status 1")).explain();
        assert_eq!(reason.code, Reason::WORKER_DIED);
        assert!(reason.text.contains("(exit status 1), at step fill"), "{}", reason.text);
        let killed = Death { exit: WorkerExit::Signal(9), ..death("", true, None) };
        assert_eq!(killed.explain().1.text, "QEMU ended at step fill (killed by SIGKILL)");
        let refused = Death { exit: WorkerExit::Code(1), ..death("qemu: no kernel\n", false, None) };
        assert!(refused.explain().1.text.ends_with("(exit status 1); its last words: qemu: no kernel"));
    }
}
