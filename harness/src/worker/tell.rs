//! Events to the runner, as JSON lines; and counters, which it reads when it likes.

use std::io::{Stdout, Write};

use crate::case::Event;
use crate::error::{Cannot, Result};
use crate::result::{CaseResult, StepResult};
use crate::sys::counters::{Counters, Shared};

/// Writes events to the runner.
pub(super) struct Tell {
    output: Stdout,
    counters: Shared,
}

impl Tell {
    pub(super) fn new(output: Stdout, counters: Shared) -> Self {
        Self { output, counters }
    }

    /// How far a step is: the runner sees it, and nothing is told while the clock runs.
    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    /// A phase has begun. A lost event is not worth losing the case for.
    pub(super) fn phase(&mut self, phase: &str) {
        log::debug!("phase: {phase}");
        self.quietly(&Event::Phase { phase: phase.to_owned() });
    }

    pub(super) fn step_begun(&mut self, step: &str, total_count: Option<u64>, most_bytes: Option<u64>) {
        log::debug!("phase: step {step}");
        self.counters.begin();
        self.quietly(&Event::StepBegun { step: step.to_owned(), total_count, most_bytes });
    }

    pub(super) fn step_ended(&mut self, step: &StepResult) {
        self.quietly(&Event::StepEnded { step: Box::new(step.clone()) });
    }

    /// What `--keep` wants, where the image is not the worker's to keep.
    pub(super) fn left(&mut self, fsck: String, kernel_log: &str) {
        self.quietly(&Event::Left { fsck, kernel_log: kernel_log.to_owned() });
    }

    pub(super) fn case_ended(&mut self, case: CaseResult) -> Result<()> {
        self.write(&Event::CaseEnded { case: Box::new(case) })
    }

    fn quietly(&mut self, event: &Event) {
        if let Err(error) = self.write(event) {
            log::warn!("{error}");
        }
    }

    fn write(&mut self, event: &Event) -> Result<()> {
        let mut line = serde_json::to_vec(event).cannot(|| "write an event as JSON".into())?;
        line.push(b'\n');
        self.output.write_all(&line).cannot(|| "tell the runner".into())?;
        self.output.flush().cannot(|| "tell the runner".into())
    }
}
