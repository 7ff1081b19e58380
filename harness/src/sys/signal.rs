//! Signals as flags: a handler only stores a number, and loops look at it.

use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};

use nix::errno::Errno;
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
/// once. A signal that we were started to ignore (by `nohup`, or by a shell without job control)
/// stays ignored.
///
/// # Errors
///
/// The signal cannot be caught.
#[expect(unsafe_code, reason = "sigaction")]
pub fn stop_on(signals: &[Signal]) -> Result<()> {
    let action = SigAction::new(SigHandler::Handler(store), SaFlags::empty(), SigSet::empty());
    for signal in signals {
        if is_ignored(*signal)? {
            continue;
        }
        // SAFETY: the handler only stores to atomics, which is async-signal-safe.
        unsafe { sigaction(*signal, &action) }.cannot(|| format!("catch {signal}"))?;
    }
    Ok(())
}

/// Asked without setting anything, so that no signal is caught or lost meanwhile.
#[expect(unsafe_code, reason = "sigaction")]
fn is_ignored(signal: Signal) -> Result<bool> {
    let mut now = std::mem::MaybeUninit::<libc::sigaction>::uninit();
    // SAFETY: a null action changes nothing; `now` has room for what the kernel stores.
    let done = unsafe { libc::sigaction(signal as i32, std::ptr::null(), now.as_mut_ptr()) };
    Errno::result(done).cannot(|| format!("ask what {signal} does"))?;
    // SAFETY: the call succeeded, so it is filled in.
    Ok(unsafe { now.assume_init() }.sa_sigaction == libc::SIG_IGN)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(unsafe_code, reason = "sigaction")]
    fn a_signal_that_is_ignored_stays_ignored() {
        let (ignored, other) = (Signal::SIGUSR1, Signal::SIGUSR2);
        let ignore = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
        // SAFETY: no handler is installed, and no other test sends or catches these signals.
        unsafe { sigaction(ignored, &ignore) }.unwrap();
        stop_on(&[ignored, other]).unwrap();
        // SAFETY: as above.
        let now = |signal| unsafe { sigaction(signal, &ignore) }.unwrap().handler();
        assert!(matches!(now(ignored), SigHandler::SigIgn));
        assert!(matches!(now(other), SigHandler::Handler(_)));
    }
}
