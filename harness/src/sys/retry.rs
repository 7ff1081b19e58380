//! Tries again for a bounded time: desktops and udev open a device for a moment after each change,
//! and a process that is just being started holds copies of our descriptors until its `execve`.

use std::time::{Duration, Instant};

/// How long a device or mount may be busy before that is an error.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Call `attempt` until it succeeds, fails in a way that is not `transient`, or `limit` is over. The
/// pauses grow from half a millisecond to 50 milliseconds.
///
/// # Errors
///
/// Those of the last attempt.
pub fn retry<T, E>(
    limit: Duration,
    transient: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(500);
    loop {
        match attempt() {
            Err(error) if transient(&error) && begun.elapsed() < limit => {}
            ended => return ended,
        }
        std::thread::sleep(pause);
        pause = (pause * 3 / 2).min(Duration::from_millis(50));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transient_failure_is_tried_again_and_any_other_is_not() {
        let mut left = 3;
        let mut step = |failure: &'static str| {
            left -= 1;
            if left > 0 { Err(failure) } else { Ok(left) }
        };
        assert_eq!(retry(PATIENCE, |e| *e == "busy", || step("broken")), Err("broken"));
        assert_eq!(retry(PATIENCE, |e| *e == "busy", || step("busy")), Ok(0));
    }

    #[test]
    fn the_last_failure_is_told_when_the_time_is_over() {
        assert_eq!(retry(Duration::from_millis(5), |_| true, || Err::<(), _>("busy")), Err("busy"));
    }
}
