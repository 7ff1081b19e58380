//! Work in a thread of its own, and a look at it each second from the one that waits.

use std::panic::resume_unwind;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// How often to look.
const SECOND: Duration = Duration::from_secs(1);

/// Do `work`, and `look` each second until it has ended.
pub(super) fn beside<T: Send>(work: impl FnOnce() -> T + Send, look: impl FnMut()) -> T {
    beside_each(SECOND, work, look)
}

fn beside_each<T: Send>(pause: Duration, work: impl FnOnce() -> T + Send, mut look: impl FnMut()) -> T {
    thread::scope(|scope| {
        // Its end, a panic too, drops the sender: that is what the receiver hears.
        let (ended, told) = channel::<()>();
        let working = scope.spawn(move || {
            let _ended = ended;
            work()
        });
        while told.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            look();
        }
        working.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn it_is_looked_at_after_each_pause_and_its_end_is_not_waited_for() {
        let (look, looked) = channel();
        let begun = Instant::now();
        let until_five_looks = move || looked.iter().take(5).count();
        let pause = Duration::from_millis(20);
        let looks = beside_each(pause, until_five_looks, || look.send(()).unwrap_or_default());
        assert_eq!(looks, 5);
        assert!(begun.elapsed() >= 5 * pause);
        let done = beside_each(Duration::from_secs(600), || 7, || panic!("it has ended"));
        assert_eq!(done, 7);
        assert!(begun.elapsed() < Duration::from_secs(300));
    }

    #[test]
    #[should_panic(expected = "as it is")]
    fn a_panic_is_passed_on() {
        beside(|| panic!("as it is"), || {});
    }
}
