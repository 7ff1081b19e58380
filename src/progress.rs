//! What is going on, on stderr: one moving line on a terminal, plain lines elsewhere.
//!
//! The bar is drawn when the worker tells something, at most once a second, and never by a timer:
//! a redraw while a step is timed would be work on the machine that is measured.

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};

use fsduel_harness::case::Event;
use fsduel_harness::result::{CaseResult, Checked, EndedWord, Reason, Status, StepResult};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::parts::RunEvent;

/// The bar that is on the terminal now. Global, because the logger has to write above it.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A step whose operations are known.
const COUNTED: &str = "{prefix} {msg} {wide_bar} {human_pos}/{human_len}{rate}{left}";
/// A step that goes on until something stops it: bytes in place of operations.
const OPEN: &str = "{prefix} {msg} {binary_bytes}, {binary_bytes_per_sec}, {elapsed}";
/// Anything else.
const PHASE: &str = "{prefix} {msg}";

/// Do something on stderr while the bar, if there is one, is out of the way.
pub fn above(write: impl FnOnce()) {
    let bar = BAR.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// A line on stderr, if it is taken at once. A reader that has stalled must not stall the run,
/// which could not even be ended then: its lines are dropped.
pub fn line(text: &str) {
    let stderr = std::io::stderr();
    let mut fds = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
    if poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0) {
        above(|| {
            let _ = writeln!(std::io::stderr(), "{text}");
        });
    }
}

/// Shows the events of one run.
pub struct Progress {
    quiet: bool,
    terminal: bool,
    bar: Option<ProgressBar>,
    case: String,
}

impl Progress {
    /// Silent if `quiet`; a bar if stderr is a terminal.
    pub fn start(quiet: bool) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { quiet, terminal: terminal && !quiet, bar: None, case: String::new() }
    }

    /// Show an event.
    pub fn tell(&mut self, event: &RunEvent) {
        match event {
            RunEvent::RunBegun(_) => {}
            RunEvent::CaseBegun { id, order, total } => self.case_begun(id, *order, *total),
            RunEvent::Worker(event) => self.worker(event),
            RunEvent::CaseEnded(case) => self.line(&case_line(&self.case, case)),
        }
    }

    fn case_begun(&mut self, id: &str, order: u32, total: u32) {
        self.case = case_name(id, order, total);
        self.show("starting", PHASE, None);
    }

    fn worker(&mut self, event: &Event) {
        match event {
            Event::Phase { phase } => self.show(phase, PHASE, None),
            Event::StepBegun { step, total_count } => {
                let template = if total_count.is_some() { COUNTED } else { OPEN };
                self.show(step, template, *total_count);
            }
            Event::Progress { count, bytes } => {
                if let Some(bar) = &self.bar {
                    bar.set_position(if bar.length().is_some() { *count } else { *bytes });
                }
            }
            Event::StepEnded { step } if !self.terminal => self.line(&step_line(&self.case, step)),
            Event::StepEnded { .. } | Event::CaseEnded { .. } => {}
        }
    }

    /// Begin a phase or a step, on a bar of its own: one that is changed piece by piece shows the
    /// pieces, and its limit of redraws may swallow the last.
    fn show(&mut self, name: &str, template: &str, total: Option<u64>) {
        if !self.terminal {
            return;
        }
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr_with_hz(4))
            .with_style(style(template))
            .with_prefix(self.case.clone())
            .with_message(name.to_owned());
        if let Some(old) = self.bar.replace(bar.clone()) {
            old.finish_and_clear();
        }
        bar.force_draw();
        *BAR.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar);
    }

    /// A line that stays.
    fn line(&self, text: &str) {
        if !self.quiet {
            line(text);
        }
    }
}

impl Drop for Progress {
    /// Leaves a clean terminal, whatever ended the run.
    fn drop(&mut self) {
        if let Some(bar) = BAR.lock().unwrap_or_else(PoisonError::into_inner).take() {
            bar.finish_and_clear();
        }
    }
}

/// A template of ours. Rate and time left are told once something was done.
fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let begun = |state: &ProgressState| state.pos() > 0;
    style
        .with_key("rate", move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = if begun(state) { write!(out, " {:.0}/s", state.per_sec()) } else { Ok(()) };
        })
        .with_key("left", move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = if begun(state) { write!(out, " {:#} left", HumanDuration(state.eta())) } else { Ok(()) };
        })
}

/// `[1/3] btrfs/1`; that of block 0 does not count, and says so.
fn case_name(id: &str, order: u32, total: u32) -> String {
    let warm_up = if id.ends_with("/0") { " (warm-up)" } else { "" };
    format!("[{order}/{total}] {id}{warm_up}")
}

/// One finished step, as `[1/3] btrfs/1 small-files: 1.234 s synced, read back clean`.
fn step_line(case: &str, step: &StepResult) -> String {
    let time = step.metrics.get("synced_s").map(|s| format!("{s:.3} s synced, ")).unwrap_or_default();
    let limit = if step.ended == EndedWord::Limit { "limit reached, " } else { "" };
    let read_back = match step.read_back {
        Checked::Clean => "read back clean",
        Checked::Damaged => "READ BACK DAMAGED",
        Checked::NotChecked => "not read back",
    };
    format!("{case} {}: {time}{limit}{read_back}", step.name)
}

/// One finished case, as `[1/3] btrfs/1: passed`, with the reason if it did not pass.
fn case_line(case: &str, result: &CaseResult) -> String {
    // A case that never began ends behind the one that did.
    let case = if case.split(' ').nth(1) == Some(&result.id) { case } else { &result.id };
    let word = match result.status {
        Status::Passed => "passed",
        Status::Failed => "FAILED",
        Status::Invalid => "INVALID",
        Status::Error => "ERROR",
        Status::Stopped => "stopped",
        Status::NotRun => "not run",
    };
    match &result.reason {
        None => format!("{case}: {word}"),
        Some(Reason { text, next: None, .. }) => format!("{case}: {word}: {text}"),
        Some(Reason { text, next: Some(next), .. }) => format!("{case}: {word}: {text}\n  next: {next}"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_step_is_told_in_one_line_without_a_number_that_was_not_measured() {
        let mut step: StepResult = serde_json::from_value(json!({
            "name": "fill", "workload": "w", "started_s": 0.0, "ended": "limit",
            "facts": {}, "metrics": { "synced_s": 1.234 }, "read_back": "clean",
        }))
        .unwrap();
        assert_eq!(
            step_line("[1/3] a/1", &step),
            "[1/3] a/1 fill: 1.234 s synced, limit reached, read back clean"
        );
        step.metrics = Default::default();
        step.ended = EndedWord::Completed;
        step.read_back = Checked::Damaged;
        assert_eq!(step_line("[1/3] a/1", &step), "[1/3] a/1 fill: READ BACK DAMAGED");
    }

    #[test]
    fn every_template_is_understood() {
        for template in [COUNTED, OPEN, PHASE] {
            assert!(ProgressStyle::with_template(template).is_ok(), "{template}");
        }
    }

    #[test]
    fn a_case_that_did_not_pass_is_told_with_its_reason() {
        let case: CaseResult = serde_json::from_value(json!({
            "id": "a/1", "block": 1, "order": 1, "started_s": 0.0, "image_bytes": 0, "status": "invalid",
            "configuration": { "id": "a", "filesystem": "a", "mount_options": "", "mkfs_options": [],
                               "block_size_bytes": 4096, "environment": 0 },
            "reason": { "code": "environment", "text": "the store is full" },
        }))
        .unwrap();
        assert_eq!(case_line("[1/3] a/1", &case), "[1/3] a/1: INVALID: the store is full");
        let warm_up = CaseResult { id: "a/0".into(), ..case.clone() };
        assert_eq!(
            case_line(&case_name("a/0", 1, 3), &warm_up),
            "[1/3] a/0 (warm-up): INVALID: the store is full"
        );
        assert_eq!(case_line("[1/3] b/1", &case), "a/1: INVALID: the store is full", "it never began");
    }
}
