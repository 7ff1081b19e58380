//! A step whose work is a command of the user's.
//!
//! The clock runs from its start until it and all that it started have ended. What it leaves is not
//! ours to know, so it is read back as it is: cold, every name and every byte. A command that fails
//! is a result of its own, and the file system below it is checked all the same.

mod around;
mod live;
mod processes;
mod shell;

use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, killpg};

use crate::case::READ_BACK;
use crate::command::theirs::{Kept, Running as Started, Theirs};
use crate::command::{Invocation, run, stop_flag, stop_requested};
use crate::error::{Cannot, Error, Kind, Result};
use crate::measure::{Running, Stop};
use crate::ops::{Command, Record};
use crate::result::{Checked, CommandResult, EndedWord, Facts, Metrics, Role, StepResult};
use crate::scratch::{Mount, pins};
use crate::units::Bytes;
use crate::verify::{ReadBack, walk};
use crate::workload::StepSpec;

pub(super) use live::Live;
use processes::{Processes, end_all};

use super::step::{Bench, check_stop, target_of};

/// How long what a command leaves may run on, and how long it may take to end when it is asked to.
const GRACE: Duration = Duration::from_secs(2);

/// What a command came to.
struct Ran {
    result: CommandResult,
    /// The most that it and all its processes had in memory at once.
    peak: Bytes,
}

impl Bench<'_> {
    /// Run the command of a step; also a sentence for each thing that was not as it must be.
    ///
    /// # Errors
    ///
    /// Everything but a command that fails, and what cannot be read back.
    pub(super) fn run_command(
        &mut self,
        step: &StepSpec,
        command: &Command,
    ) -> Result<(StepResult, Vec<String>)> {
        let started_s = self.started.elapsed().as_secs_f64();
        let blank = StepResult {
            name: step.name.clone(),
            workload: step.workload.clone(),
            started_s,
            ended: EndedWord::Completed,
            limit: None,
            facts: Facts::default(),
            metrics: Metrics::default(),
            latency: Default::default(),
            series: vec![],
            errnos: vec![],
            read_back: Checked::NotChecked,
            command: None,
        };
        let processes = Processes::seen_at(self.scratch.folder("proc")?)?;
        let unready = self.make_ready(command, &processes)?;
        self.tell.step_begun(&step.name, None, None);
        let (ran, metrics, changed) = match unready {
            Some(failed) => (failed, Metrics::default(), None),
            None => self.timed(step, command, &processes)?,
        };
        let (back, checked) = self.look_at_what_it_left(command, &ran, &processes)?;
        // Damage shows in the options, too, and tells more.
        if let (Some(error), Checked::Clean) = (changed, back.checked) {
            return Err(error);
        }
        let result = StepResult {
            facts: Facts { tree_hash: Some(back.tree_hash), ..Facts::default() },
            metrics,
            read_back: back.checked,
            command: Some(checked.unwrap_or(ran)),
            ..blank
        };
        self.tell.step_ended(&result);
        Ok((result, back.details.iter().map(|detail| format!("{}: {detail}", step.name)).collect()))
    }

    /// Put in what it needs, untimed; the command that failed to.
    fn make_ready(&mut self, command: &Command, processes: &Processes) -> Result<Option<CommandResult>> {
        self.give_root_to_user(command)?;
        if command.copy.is_none() && command.prepare.is_none() {
            return Ok(None);
        }
        if let Some(folder) = &command.copy {
            self.tell.phase("copy");
            let mut from = folder.clone().into_os_string();
            from.push("/.");
            let to = self.mount()?.path().as_os_str().to_owned();
            let invocation = Invocation::new("cp", ["-a".into(), "--".into(), from, to]);
            let copied = run(&invocation)?;
            if copied.status != 0 {
                let last = copied.text.lines().last().unwrap_or_default();
                return Err(Error::usage(format!("copy {} into the file system: {last}", folder.display()))
                    .next("see whether all of it can be read, or take a larger --size"));
            }
            // The copy gives the root the owner of the folder.
            self.give_root_to_user(command)?;
        }
        if let Some(line) = &command.prepare {
            self.tell.phase("prepare");
            let ran = self.ran(&shell(line), Role::Prepare, command, processes)?;
            if !ran.result.succeeded() {
                return Ok(Some(ran.result));
            }
        }
        self.tell.phase("unmount");
        self.scratch.unmount()?;
        self.mount_cold()?;
        Ok(None)
    }

    fn give_root_to_user(&self, command: &Command) -> Result<()> {
        let Some(user) = self.user(command) else { return Ok(()) };
        let root = self.mount()?.path();
        std::os::unix::fs::chown(root, Some(user.ids.uid), Some(user.ids.gid))
            .cannot(|| format!("give {} to {}", root.display(), user.name))
    }

    fn mount(&self) -> Result<&Mount> {
        self.scratch.mounted().ok_or_else(|| Error::new("work on a file system that is not mounted"))
    }

    /// From the start of the clock to its third stop; also what makes it void.
    fn timed(
        &mut self,
        step: &StepSpec,
        command: &Command,
        processes: &Processes,
    ) -> Result<(CommandResult, Metrics, Option<Error>)> {
        let root = self.root()?;
        let mount = self.mount()?.path().to_owned();
        let before = self.mount()?.effective_options()?;
        rustix::fs::syncfs(&root).cannot(|| "sync before the step".into())?;
        let target = target_of(self.scratch, &mount, self.filesystem);
        let mut clock = Running::start(&target)?;
        let ran = self.ran(&command.words, Role::Command, command, processes)?;
        clock.stop(Stop::Returned, &target)?;
        check_stop(step)?;
        let synced = rustix::fs::syncfs(&root);
        clock.stop(Stop::Synced, &target)?;
        check_stop(step)?;
        drop(root);
        self.watch.check(self.scratch, self.log)?;
        synced
            .cannot(|| format!("bring the data of step {} to the device (syncfs)", step.name))
            .map_err(|error| error.of_kind(Kind::Damage))?;
        let changed = self.same_options(&before)?;
        self.tell.phase("unmount");
        self.scratch.unmount()?;
        clock.stop(Stop::Unmounted, &target_of(self.scratch, &mount, self.filesystem))?;
        let mut metrics = clock.finish(&Record::default());
        metrics.set("peak_memory_bytes", ran.peak.as_f64());
        Ok((ran.result, metrics, changed))
    }

    /// A command that may do anything can mount the file system in another way, too.
    fn same_options(&self, before: &str) -> Result<Option<Error>> {
        let after = self.mount()?.effective_options()?;
        if after == before || self.live.is_shell() {
            return Ok(None);
        }
        let doing = format!("use what was measured: the command changed the mount options to {after}");
        Ok(Some(Error::environment(doing).next(format!("leave them as they were: {before}"))))
    }

    /// Read all of it, and let the user's own check look at it, both cold; a check that failed. The next
    /// step gets a cold mount.
    fn look_at_what_it_left(
        &mut self,
        command: &Command,
        ran: &CommandResult,
        processes: &Processes,
    ) -> Result<(ReadBack, Option<CommandResult>)> {
        self.tell.phase(READ_BACK);
        self.scratch.unmount()?;
        self.mount_cold()?;
        let root = self.root()?;
        let back = walk(root.as_fd(), self.spec.image_size, stop_flag())?;
        drop(root);
        self.counted_errors(None)?;
        let mut failed = None;
        if let (Some(line), true, Checked::Clean) = (&command.check, ran.succeeded(), back.checked) {
            self.scratch.unmount()?;
            self.mount_cold()?;
            self.tell.phase("check");
            let checked = self.ran(&shell(line), Role::Check, command, processes)?.result;
            failed = (!checked.succeeded()).then_some(checked);
        }
        self.scratch.unmount()?;
        self.watch.check(self.scratch, self.log)?;
        self.mount_cold()?;
        Ok((back, failed))
    }

    /// Run one command to its end, and to the end of all that it started.
    fn ran(&self, words: &[String], role: Role, command: &Command, processes: &Processes) -> Result<Ran> {
        let result = CommandResult {
            role,
            argv: words.to_vec(),
            user: self.user(command).map(|user| user.name.clone()),
            ..CommandResult::default()
        };
        let mut running = match self.start(words, role, command) {
            Ok(running) => running,
            Err(error) => return Ok(Ran { result: not_started(result, error)?, peak: Bytes(0) }),
        };
        let (status, peak) = follow(&mut running, processes)?;
        let Some(status) = status else {
            end_all()?;
            pins::release(self.mount()?.path())?;
            let [_, errors] = running.printed()?;
            self.say_last_words(&errors);
            return Err(Error::stopped(format!("finish {}: it was asked to stop", words[0])));
        };
        self.end_what_is_left(processes)?;
        let [stdout, stderr] = running.printed()?;
        Ok(Ran { result: told(result, status, &stdout, &stderr), peak })
    }

    fn start(&self, words: &[String], role: Role, command: &Command) -> Result<Started> {
        let (mut words, mut environment) = (words.to_vec(), self.environment(command)?);
        if self.live.is_shell() && role == Role::Command {
            let start = self.shell(&words)?;
            environment.extend(start.environment.into_iter().map(|(name, value)| (name.into(), value)));
            words = start.words;
        }
        let theirs = Theirs {
            words: &words,
            folder: self.mount()?.path(),
            environment: &environment,
            confined: self.confined(command)?,
            streams: self.live.streams(role == Role::Command),
        };
        theirs.start()
    }

    /// The command has ended, so all that it left is ended, too: processes, and what outlives those.
    fn end_what_is_left(&self, processes: &Processes) -> Result<()> {
        let mut left: Vec<String> = processes.wait_for_all(GRACE)?.into_iter().collect();
        left.extend(pins::release(self.mount()?.path())?);
        let left = left.join(", ");
        if self.live.is_shell() && !left.is_empty() {
            self.live.say(&format!("what was left was ended: {left}"));
        } else if !left.is_empty() {
            return Err(Error::new(format!(
                "end the command in order: what it left had to be ended: {left}"
            ))
            .next("let the command wait for what it starts, and take down what it sets up"));
        }
        Ok(())
    }

    /// A person's shell: they are told where they are.
    fn shell(&self, words: &[String]) -> Result<shell::Start> {
        let label = format!("{} {}", self.spec.configuration.id, self.spec.image_size);
        let (mount, device) = (self.mount()?, self.scratch.device().path().display());
        let (path, options) = (mount.path().display(), mount.effective_options()?);
        self.live.say(&format!("{label} on {device}, mounted at {path} ({options}); `exit` gives it back"));
        shell::start(words, &label, &self.scratch.folder("shell")?)
    }

    /// What a command that was stopped printed last helps to see why it took so long.
    fn say_last_words(&self, errors: &Kept) {
        let text = String::from_utf8_lossy(&errors.end);
        if self.live.is_nothing()
            && let Some(line) = text.lines().rfind(|line| !line.trim().is_empty())
        {
            log::warn!("the command was stopped; its last line was: {line}");
        }
    }
}

fn shell(line: &str) -> [String; 3] {
    ["sh", "-c", line].map(str::to_owned)
}

/// As a shell tells it: 127 where something is not there, 126 where it may not be executed.
fn not_started(result: CommandResult, error: Error) -> Result<CommandResult> {
    let (status, why) = match error.errno() {
        Some(Errno::ENOENT) if Path::new(&result.argv[0]).is_file() => (127, "its interpreter is not there"),
        Some(Errno::ENOENT) => (127, "it is not there"),
        Some(Errno::EACCES) => (126, "it may not be executed"),
        Some(Errno::ENOEXEC) => (126, "it is no program of this machine"),
        _ => return Err(error),
    };
    let whom = result.user.as_ref().map(|user| format!(" by {user}")).unwrap_or_default();
    Ok(CommandResult { exit_status: Some(status), not_started: Some(format!("{why}{whom}")), ..result })
}

/// How the command ended, and the most that it and all its processes had in memory at once; no status,
/// where it was asked to stop meanwhile.
fn follow(running: &mut Started, processes: &Processes) -> Result<(Option<ExitStatus>, Bytes)> {
    let (mut peak, mut asked) = (processes.resident(), None::<Instant>);
    loop {
        if let Some(status) = running.look()? {
            return Ok((asked.is_none().then_some(status), peak));
        }
        peak = peak.max(processes.resident());
        match asked {
            None if stop_requested() => {
                asked = Some(Instant::now());
                let _ = killpg(running.pid(), Signal::SIGTERM);
            }
            Some(when) if when.elapsed() > GRACE => return Ok((None, peak)),
            _ => {}
        }
    }
}

fn told(result: CommandResult, status: ExitStatus, stdout: &Kept, stderr: &Kept) -> CommandResult {
    let text = |kept: &Kept| String::from_utf8_lossy(&kept.end).into_owned();
    let signal = status.signal().map(|number| match Signal::try_from(number) {
        Ok(signal) => signal.to_string(),
        Err(_) => format!("signal {number}"),
    });
    CommandResult {
        exit_status: status.code(),
        signal,
        signal_number: status.signal(),
        stdout_bytes: stdout.bytes,
        stdout: text(stdout),
        stderr_bytes: stderr.bytes,
        stderr: text(stderr),
        ..result
    }
}
