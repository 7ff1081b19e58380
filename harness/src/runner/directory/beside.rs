//! Work in a thread of its own, and a look at it each second from the one that waits.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often to look.
const SECOND: Duration = Duration::from_secs(1);

/// Do `work`, and `look` each second until it has ended.
pub(super) fn beside<T: Send>(work: impl FnOnce() -> T + Send, mut look: impl FnMut()) -> T {
    thread::scope(|scope| {
        // Its end, a panic too, drops the sender: that is what the receiver hears.
        let (ended, told) = channel::<()>();
        let working = scope.spawn(move || {
            let _ended = ended;
            work()
        });
        while told.recv_timeout(SECOND) == Err(RecvTimeoutError::Timeout) {
            look();
        }
        working.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Instant;

    use super::*;

    /// How often it is looked at, and whether its end is not waited for.
    fn looks() -> (u32, bool) {
        let (looks, begun) = (Cell::new(0), Instant::now());
        let done = beside(
            || {
                thread::sleep(Duration::from_millis(2300));
                7
            },
            || looks.set(looks.get() + 1),
        );
        assert_eq!(done, 7);
        (looks.get(), begun.elapsed() < Duration::from_millis(2900))
    }

    #[test]
    fn it_is_looked_at_once_a_second_and_its_end_is_not_waited_for() {
        // A busy machine may take its time with one of them.
        assert!((0..3).any(|_| looks() == (2, true)));
    }

    #[test]
    #[should_panic(expected = "as it is")]
    fn a_panic_is_passed_on() {
        beside(|| panic!("as it is"), || {});
    }
}
