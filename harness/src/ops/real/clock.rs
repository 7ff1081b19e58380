//! The clock of the work: it begins with the first call, and stands still in pauses.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(super) const SECOND: Duration = Duration::from_secs(1);

/// Begins with the first call.
pub(super) struct Clock {
    /// Seconds since 1970.
    pub(super) begun_unix_s: f64,
    pub(super) begun: Instant,
    pub(super) last: Instant,
    pub(super) due: Instant,
    pub(super) sample_due: Instant,
    pub(super) second_due: Instant,
}

impl Clock {
    pub(super) fn new(now: Instant, interval: Duration) -> Self {
        let sample_due = now + interval;
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            begun_unix_s: unix.as_secs_f64(),
            begun: now,
            last: now,
            due: sample_due,
            sample_due,
            second_due: now + SECOND,
        }
    }

    /// Go on after a pause, as if it had not been.
    pub(super) fn skip(&mut self, pause: Duration) {
        for time in [&mut self.begun, &mut self.last, &mut self.due, &mut self.sample_due] {
            *time += pause;
        }
    }
}
