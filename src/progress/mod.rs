//! What is going on, on stderr: one moving line on a terminal, plain lines elsewhere. Both are made
//! of the same state and the same words, and each finished case stays as a line with its figures.

mod live;
mod plain;
mod rate;
mod state;
mod words;

use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::ProgressBar;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::parts::{Forecast, RunEvent};

use plain::Plain;
use state::State;
use words::case_line;

/// The line that is on the terminal now. Global, because the logger has to write above it.
static BAR: Mutex<Option<ProgressBar>> = Mutex::new(None);

fn bar() -> Option<ProgressBar> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Do something on stderr while the moving line, if there is one, is out of the way.
pub fn above(write: impl FnOnce()) {
    match bar() {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// A line on stderr, if it is taken at once. A reader that has stalled must not stall the run,
/// which could not even be ended then: its lines are dropped.
pub fn line(text: &str) {
    if is_taken() {
        above(|| {
            let _ = writeln!(std::io::stderr(), "{}", fsduel_harness::units::plain::lines(text));
        });
    }
}

fn is_taken() -> bool {
    let stderr = std::io::stderr();
    let mut fds = [PollFd::new(stderr.as_fd(), PollFlags::POLLOUT)];
    poll(&mut fds, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

/// Shows the events of one run.
pub struct Progress {
    state: State,
    view: View,
}

enum View {
    Quiet,
    /// With more signs than ASCII has.
    Live {
        utf8: bool,
    },
    Plain(Plain),
}

impl Progress {
    /// Silent if `quiet`; a moving line if stderr is a terminal that can move one, and no command
    /// prints there.
    pub fn start(quiet: bool, printed_on: bool, forecast: Option<Forecast>) -> Self {
        let now = Instant::now();
        let variable = |name: &str| std::env::var(name).ok();
        let view = match quiet {
            true => View::Quiet,
            false if !printed_on && std::io::stderr().is_terminal() && moves(variable("TERM")) => {
                View::Live { utf8: is_utf8(variable) }
            }
            false => View::Plain(Plain::begin(now)),
        };
        if matches!(view, View::Live { .. }) {
            *BAR.lock().unwrap_or_else(PoisonError::into_inner) = Some(live::bar());
        }
        Self { state: State::begin(now, forecast), view }
    }

    /// Show an event.
    pub fn tell(&mut self, event: &RunEvent) {
        let now = Instant::now();
        if let RunEvent::Said(text) = event {
            return line(text);
        }
        if let RunEvent::CaseEnded(case) = event {
            let (name, took) = self.state.of_case(&case.id, now);
            self.stay(&case_line(&name, case, took));
        }
        self.state.note(event, now);
        match &mut self.view {
            View::Quiet => {}
            View::Live { utf8 } => {
                let words = self.state.words(now, *utf8);
                draw(&words.map(|words| live::line(&words, live::width())).unwrap_or_default());
            }
            View::Plain(plain) => match event {
                RunEvent::CaseBegun { .. } | RunEvent::CaseEnded(_) => plain.wrote(now),
                RunEvent::GoesOn { .. } if plain.is_due(now) => {
                    plain.wrote(now);
                    self.state.words(now, false).iter().for_each(|words| line(&plain::line(words)));
                }
                _ => {}
            },
        }
    }

    /// A line that stays.
    fn stay(&self, text: &str) {
        if !matches!(self.view, View::Quiet) {
            line(text);
        }
    }
}

/// Change the moving line. A terminal that is held (Ctrl-S) must not hold the run.
fn draw(text: &str) {
    if let (Some(bar), true) = (bar(), is_taken()) {
        bar.set_message(fsduel_harness::units::plain::lines(text));
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

/// Whether a terminal of this name can go back in a line.
fn moves(name: Option<String>) -> bool {
    name.is_some_and(|name| !name.is_empty() && name != "dumb")
}

/// Whether the locale has more than ASCII: the first of its variables that is set decides. Source:
/// locale(7), "the environment variables".
fn is_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
    set.is_some_and(|locale| locale.to_ascii_uppercase().replace('-', "").contains("UTF8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_variable_of_the_locale_that_is_set_decides() {
        let utf8 = |set: &[(&str, &str)]| {
            is_utf8(|name| set.iter().find(|(found, _)| *found == name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(utf8(&[("LANG", "de_DE.UTF-8")]) && utf8(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")]));
        assert!(!utf8(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]) && !utf8(&[]));
    }

    #[test]
    fn a_terminal_that_cannot_move_gets_plain_lines() {
        assert!(moves(Some("xterm".into())));
        assert!(!moves(Some("dumb".into())) && !moves(Some(String::new())) && !moves(None));
    }
}
