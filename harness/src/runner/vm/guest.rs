//! A guest that works on a case, as it looks from outside.

use std::io::Write;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::case::{CaseSpec, Event};
use crate::error::{Cannot, Error, Result};
use crate::fs;
use crate::result::{CaseResult, Reason, Status};
use crate::runner::backend::Place;
use crate::scratch::Image;
use crate::sys::clock::monotonic_s;
use crate::sys::proc::is_stopped;
use crate::sys::spawn::{WorkerExit, WorkerProcess};
use crate::units::{Bytes, duration_text};
use crate::vm::Death;
use crate::worker::{kept, sequence};

/// From the start of QEMU to the first word of the guest; an emulated processor on a busy machine is
/// slow.
const BOOT: Duration = Duration::from_secs(180);
/// A guest tells each second that it lives.
const SILENCE: Duration = Duration::from_secs(180);

/// A guest that works on a case.
pub(super) struct Guest {
    pub(super) image: Image,
    pub(super) memory: Bytes,
    /// The host's page cache is not below the disk.
    pub(super) direct: bool,
    /// Whether the store was still before the boot, where that was waited for.
    pub(super) quiet: Option<bool>,
    /// QEMU.
    pub(super) machine: i32,
    pub(super) heard: Heard,
}

/// What was heard and seen of it.
pub(super) struct Heard {
    at: Instant,
    clock: Clocks,
    /// What the image took of the store when each step was unmounted.
    allocated: Vec<(String, Bytes)>,
    step: String,
    died: Option<String>,
    left: Option<(String, String)>,
    /// The store was full at a moment.
    was_full: bool,
    /// A signal made QEMU wait.
    was_stopped: bool,
}

impl Heard {
    /// Nothing yet.
    pub(super) fn nothing() -> Self {
        Self {
            at: Instant::now(),
            clock: Clocks::default(),
            allocated: vec![],
            step: String::new(),
            died: None,
            left: None,
            was_full: false,
            was_stopped: false,
        }
    }

    fn is_up(&self) -> bool {
        !self.clock.0.is_empty()
    }
}

/// The guest's clock and ours at each of its words.
#[derive(Clone, Debug, Default)]
struct Clocks(Vec<(f64, f64)>);

impl Clocks {
    fn hear(&mut self, guest_s: f64) {
        self.0.push((guest_s, monotonic_s()));
    }

    /// How long both say that it took, if they disagree by more than a message may be late. Of the
    /// first third and of the last the message that was least late counts.
    fn disagree(&self) -> Option<(f64, f64)> {
        let third = self.0.len().div_ceil(3);
        let least_late = |some: &[(f64, f64)]| {
            some.iter().copied().min_by(|one, other| (one.1 - one.0).total_cmp(&(other.1 - other.0)))
        };
        let (first, last) = (least_late(self.0.get(..third)?)?, least_late(&self.0[self.0.len() - third..])?);
        let (guest, host) = (last.0 - first.0, last.1 - first.1);
        ((guest - host).abs() > 0.5 + host / 50.0).then_some((guest, host))
    }
}

impl Guest {
    /// Of a machine that was stopped the clocks may tell nothing: an emulated one goes on with the time
    /// that it is then.
    fn glance(&mut self) {
        self.heard.was_stopped |= is_stopped(self.machine);
        self.heard.was_full |= self.image.lacks_room();
    }

    /// What broke the measurement from outside.
    ///
    /// # Errors
    ///
    /// Something did: then nothing of the case means anything.
    fn check(&self, spec: &CaseSpec, case: &CaseResult) -> Result<()> {
        if self.heard.was_full {
            return Err(self.image.out_of_space("the store has no space left"));
        }
        self.image.check_unchanged()?;
        self.check_fills(spec, case)?;
        const GO_ON: &str = "do not stop or suspend this machine or QEMU meanwhile";
        if self.heard.was_stopped {
            return Err(Error::environment("use what was measured: QEMU was stopped by a signal meanwhile")
                .next(GO_ON));
        }
        match self.heard.clock.disagree() {
            None => Ok(()),
            Some((guest, host)) => Err(Error::environment(format!(
                "use what was measured: the guest's clock went {guest:.2} s while this machine's went {host:.2} s"
            ))
            .next(GO_ON)),
        }
    }

    fn allocated(&self, step: &str) -> Option<Bytes> {
        let mut all = self.heard.allocated.iter();
        all.find(|(name, _)| name == step).map(|(_, bytes)| *bytes)
    }

    /// As a worker does that sees the image itself.
    fn check_fills(&self, spec: &CaseSpec, case: &CaseResult) -> Result<()> {
        let Some(filesystem) = fs::by_name(&spec.configuration.filesystem) else { return Ok(()) };
        for (step, workload) in case.steps.iter().zip(sequence(spec, filesystem)?) {
            if let (true, Some(got)) = (workload.fills() && workload.is_dense(), self.allocated(&step.name)) {
                Image::holds(got, Bytes(step.facts.file_size_bytes.unwrap_or(0)))?;
            }
        }
        Ok(())
    }

    fn keep(&self, spec: &CaseSpec, case: &mut CaseResult) -> Result<()> {
        if !kept::is_wanted(spec.keep, case.status == Status::Passed) {
            return Ok(());
        }
        let tag = crate::scratch::Tag::of_this_process(&spec.run_id)?.to_string();
        let Some(folder) = kept::Folder::make(spec, &tag)? else { return Ok(()) };
        case.kept = Some(folder.path().display().to_string());
        folder.image(&self.image)?;
        let (fsck, kernel_log) = self.heard.left.clone().unwrap_or_default();
        folder.text("fsck.txt", &fsck)?;
        folder.text("kernel.log", &kernel_log)
    }
}

impl Place for Guest {
    fn stop(&mut self, worker: &mut WorkerProcess) -> Result<()> {
        // One that is not up does not listen, and has nothing to lose.
        match self.heard.is_up() {
            false => worker.signal(Signal::SIGKILL),
            true => worker.input.write_all(b"stop\n").cannot(|| "ask the guest to stop".into()),
        }
    }

    fn speaks(&self) -> bool {
        false
    }

    fn note(&mut self, event: &Event) {
        self.heard.at = Instant::now();
        match event {
            Event::Up { clock_s, kernel } => {
                log::debug!("the guest is up: Linux {kernel}");
                self.heard.clock.hear(*clock_s);
            }
            Event::Done { clock_s, .. } => self.heard.clock.hear(*clock_s),
            Event::StepBegun { step, .. } => self.heard.step.clone_from(step),
            // The first thing after the third stop.
            Event::Phase { phase } if phase == crate::case::READ_BACK => {
                if let Ok(bytes) = self.image.allocated() {
                    self.heard.allocated.push((self.heard.step.clone(), bytes));
                }
            }
            Event::Died { exit } => self.heard.died = Some(exit.clone()),
            Event::Left { fsck, kernel_log } => self.heard.left = Some((fsck.clone(), kernel_log.clone())),
            _ => {}
        }
    }

    fn look(&mut self, now: Instant) -> Option<Reason> {
        self.glance();
        let (limit, what) = match self.heard.is_up() {
            false => (BOOT, "come up"),
            true => (SILENCE, "give a sign of life"),
        };
        (now.saturating_duration_since(self.heard.at) > limit).then(|| Reason {
            code: Reason::GUEST_HUNG.into(),
            text: format!("the guest did not {what} within {}", duration_text(limit)),
            next: Some("another --kernel; or a machine with less to do".into()),
        })
    }

    fn lost(&self, exit: WorkerExit, at: &str, said: &str) -> (Status, Reason) {
        let (came_up, worker) = (self.heard.is_up(), self.heard.died.as_deref());
        Death { exit, console: said, at, came_up, worker, memory: self.memory }.explain()
    }

    fn finish(&mut self, spec: &CaseSpec, case: &mut CaseResult) {
        self.glance();
        if let Err(error) = self.check(spec, case)
            && !matches!(case.status, Status::Stopped | Status::NotRun)
        {
            (case.status, case.reason) = (Status::Invalid, Some(Reason::from(&error)));
        }
        for step in &mut case.steps {
            if let Some(bytes) = self.allocated(&step.name) {
                step.metrics.set("image_allocated_bytes", bytes.as_f64());
            }
        }
        // The guest knows of its own disk only.
        case.quiet = case.quiet.map(|quiet| quiet && self.quiet.unwrap_or(true));
        if !self.direct {
            let detail = "this machine's page cache is below the disk of the guest: what was written may be read from memory";
            case.verify.details.push(detail.into());
        }
        if let Err(error) = self.keep(spec, case) {
            case.verify.details.push(error.to_string());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_may_differ_by_what_a_message_takes_and_no_more() {
        let clocks = |guest: f64, host: f64| Clocks(vec![(5.0, 100.0), (5.0 + guest, 100.0 + host)]);
        assert_eq!(clocks(10.0, 10.6).disagree(), None);
        assert_eq!(clocks(600.0, 605.0).disagree(), None);
        assert!(clocks(10.0, 20.0).disagree().is_some());
        assert!(clocks(20.0, 10.0).disagree().is_some());
        assert_eq!(Clocks::default().disagree(), None);
    }

    #[test]
    fn a_message_that_is_late_accuses_no_clock() {
        let at = |late: &[(usize, f64)]| {
            let said = |second: usize| f64::from(u32::try_from(second).unwrap());
            let late = |second| late.iter().find(|(at, _)| *at == second).map_or(0.0, |(_, late)| *late);
            Clocks((0..12).map(|second| (said(second), 100.0 + said(second) + late(second))).collect())
        };
        assert_eq!(at(&[(0, 3.0), (11, 2.0)]).disagree(), None);
        let standing: Vec<_> = (6..12).map(|second| (second, 2.0)).collect();
        assert!(at(&standing).disagree().is_some());
    }
}
