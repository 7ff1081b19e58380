//! Signals as flags: a handler only stores a number, and loops look at it.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use crate::error::{Cannot, Result};

static FIRST: AtomicI32 = AtomicI32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);

/// Store the first signal, and raise the stop flag of [`crate::command`].
extern "C" fn store(signal: i32) {
    let _ = FIRST.compare_exchange(0, signal, Ordering::Relaxed, Ordering::Relaxed);
    COUNT.fetch_add(1, Ordering::Relaxed);
    stop_flag().store(true, Ordering::Relaxed);
}

fn stop_flag() -> &'static AtomicBool {
    crate::command::stop_flag()
}

/// From now on, these signals ask the process to stop instead of ending it.
///
/// System calls are interrupted by them, not restarted, so that a loop around `poll` sees them at
/// once.
///
/// # Errors
///
/// The signal cannot be caught.
#[expect(unsafe_code, reason = "sigaction")]
pub fn stop_on(signals: &[Signal]) -> Result<()> {
    let action = SigAction::new(SigHandler::Handler(store), SaFlags::empty(), SigSet::empty());
    for signal in signals {
        // SAFETY: the handler only stores to atomics, which is async-signal-safe.
        unsafe { sigaction(*signal, &action) }.cannot(|| format!("catch {signal}"))?;
    }
    Ok(())
}

/// The first of these signals that came.
#[must_use]
pub fn seen() -> Option<Signal> {
    Signal::try_from(FIRST.load(Ordering::Relaxed)).ok()
}

/// How many of these signals came.
#[must_use]
pub fn count() -> u32 {
    COUNT.load(Ordering::Relaxed)
}

/// The signals that end a run in order.
pub const ENDING: [Signal; 3] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM];
