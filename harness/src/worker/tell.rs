//! Events to the runner, as JSON lines.

use std::io::{Stdout, Write};

use crate::case::Event;
use crate::error::{Cannot, Result};
use crate::result::{CaseResult, StepResult};

/// Writes events to the runner.
pub(super) struct Tell {
    output: Stdout,
}

impl Tell {
    pub(super) fn new(output: Stdout) -> Self {
        Self { output }
    }

    /// A phase has begun. A lost event is not worth losing the case for.
    pub(super) fn phase(&mut self, phase: &str) {
        log::debug!("phase: {phase}");
        self.quietly(&Event::Phase { phase: phase.to_owned() });
    }

    pub(super) fn step_begun(&mut self, step: &str, total_count: Option<u64>) {
        log::debug!("phase: step {step}");
        self.quietly(&Event::StepBegun { step: step.to_owned(), total_count });
    }

    pub(super) fn progress(&mut self, count: u64, bytes: u64) {
        self.quietly(&Event::Progress { count, bytes });
    }

    pub(super) fn step_ended(&mut self, step: &StepResult) {
        self.quietly(&Event::StepEnded { step: Box::new(step.clone()) });
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
