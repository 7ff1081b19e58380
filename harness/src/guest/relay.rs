//! One worker: started with the case that came through the port, and all that it tells passed on.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;

use crate::case::Event;
use crate::error::{Cannot, Error, Result};
use crate::lines::Lines;
use crate::sys::clock::monotonic_s;
use crate::sys::counters::{Counters, Shared};
use crate::sys::spawn::{WorkerExit, WorkerProcess, spawn_worker};
use crate::worker::WORKER_ARGUMENT;

use super::port::Port;

/// How often the runner hears how far the step is.
const SECOND: Duration = Duration::from_secs(1);
const LOOK: u16 = 100;

/// Run the case that comes through the port to its end.
pub(super) fn run(port: &mut Port) -> Result<()> {
    let mut requests = Lines::default();
    let case = loop {
        match requests.next() {
            Some(case) => break case,
            None if requests.read(port.file())? => {}
            None => return Err(Error::new("hear the case: the runner has gone")),
        }
    };
    let (counters, memory) = Shared::new()?;
    let number = memory.as_raw_fd().to_string();
    let mut worker = spawn_worker(&["fsduel", WORKER_ARGUMENT, &number], &[memory.as_fd()])?;
    drop(memory);
    worker.input.write_all(&case).cannot(|| "tell the worker its case".into())?;
    let mut relay = Relay { port, requests, events: Lines::default(), errors: Lines::default(), told: false };
    let exit = relay.follow(&mut worker, &counters)?;
    if relay.told { Ok(()) } else { relay.port.tell(&Event::Died { exit: exit.to_string() }) }
}

struct Relay<'a> {
    port: &'a mut Port,
    requests: Lines,
    events: Lines,
    errors: Lines,
    /// The last event of a case has been passed on.
    told: bool,
}

impl Relay<'_> {
    fn follow(&mut self, worker: &mut WorkerProcess, counters: &Counters) -> Result<WorkerExit> {
        let mut due = Instant::now() + SECOND;
        let (mut events, mut errors) = (true, true);
        // It may have come together with the case.
        self.pass_requests(worker)?;
        loop {
            if Instant::now() >= due {
                due += SECOND;
                let done = counters.read();
                let (operations, bytes) = (done.operations, done.bytes);
                self.port.tell(&Event::Done { operations, bytes, clock_s: monotonic_s() })?;
            }
            let [told, said, asked] = self.wait(worker, events, errors)?;
            if said {
                errors = self.errors.read(&mut worker.errors)?;
                self.say()?;
            }
            if told {
                events = self.events.read(&mut worker.events)?;
                self.pass()?;
            }
            if asked {
                self.ask(worker)?;
            }
            if !events && let Some(exit) = worker.try_wait()? {
                while errors && self.errors.read(&mut worker.errors)? {}
                self.say()?;
                let rest = self.errors.rest();
                self.say_text(&rest)?;
                return Ok(exit);
            }
        }
    }

    /// Sleep until the worker tells or says something, or the runner asks for something.
    fn wait(&self, worker: &WorkerProcess, events: bool, errors: bool) -> Result<[bool; 3]> {
        let [yes, no] = [PollFlags::POLLIN, PollFlags::empty()];
        let wanted = |wanted: bool| if wanted { yes } else { no };
        let mut fds = [
            PollFd::new(worker.events.as_fd(), wanted(events)),
            PollFd::new(worker.errors.as_fd(), wanted(errors)),
            PollFd::new(self.port.as_fd(), yes),
            PollFd::new(worker.as_fd(), wanted(!events)),
        ];
        // A pipe without a writer is always ready; it is not to keep this loop awake.
        if !events && !errors {
            std::thread::sleep(Duration::from_millis(5));
        }
        poll(&mut fds, PollTimeout::from(LOOK)).cannot(|| "wait for the worker".into())?;
        let ready = |fd: &PollFd| fd.revents().is_some_and(|what| !what.is_empty());
        Ok([events && ready(&fds[0]), errors && ready(&fds[1]), ready(&fds[2])])
    }

    fn pass(&mut self) -> Result<()> {
        while let Some(line) = self.events.next() {
            self.told |= line.starts_with(br#"{"event":"case_ended""#);
            self.port.pass(&line)?;
        }
        Ok(())
    }

    /// All lines that are there in one word: a command may print many.
    fn say(&mut self) -> Result<()> {
        let lines = self.errors.all();
        self.say_text(&lines)
    }

    fn say_text(&mut self, text: &[u8]) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(text);
        let line = text.strip_suffix('\n').unwrap_or(&text).to_owned();
        self.port.tell(&Event::Said { line })
    }

    /// The runner asks the worker to stop; or it has gone, and then nobody wants the result.
    fn ask(&mut self, worker: &mut WorkerProcess) -> Result<()> {
        let file: &mut File = self.port.file();
        if !self.requests.read(file)? {
            return Err(Error::new("hear the runner: it has gone"));
        }
        self.pass_requests(worker)
    }

    fn pass_requests(&mut self, worker: &WorkerProcess) -> Result<()> {
        while self.requests.next().is_some() {
            worker.signal(Signal::SIGTERM)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_word_that_came_together_with_the_case_is_not_lost() {
        let (runner, guest) = UnixStream::pair().unwrap();
        (&runner).write_all(b"{}\nstop\n").unwrap();
        let mut port = Port::of(File::from(OwnedFd::from(guest)));
        let mut requests = Lines::default();
        assert!(requests.read(port.file()).unwrap());
        assert_eq!(requests.next().as_deref(), Some(b"{}\n".as_slice()));
        let mut command = Command::new("sh");
        command.args(["-c", "exec sleep 60 >&-"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut worker = WorkerProcess::of_child(command.spawn().unwrap());
        let events = Lines::default();
        let mut relay = Relay { port: &mut port, requests, events, errors: Lines::default(), told: false };
        let exit = relay.follow(&mut worker, &Counters::default()).unwrap();
        assert_eq!(exit, WorkerExit::Signal(Signal::SIGTERM as i32));
    }
}
