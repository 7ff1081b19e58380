//! Processor time of this process and of commands that it ran and waited for.

use std::ops::AddAssign;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// Processor time, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTime {
    /// In the process itself.
    pub user: Duration,
    /// In the kernel on behalf of the process.
    pub kernel: Duration,
}

impl CpuTime {
    /// What was spent since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            user: self.user.saturating_sub(before.user),
            kernel: self.kernel.saturating_sub(before.kernel),
        }
    }
}

impl AddAssign for CpuTime {
    fn add_assign(&mut self, other: Self) {
        self.user += other.user;
        self.kernel += other.kernel;
    }
}

/// What was spent until now.
#[must_use]
pub fn cpu_time() -> CpuTime {
    let mut sum = CpuTime::default();
    for who in [UsageWho::RUSAGE_SELF, UsageWho::RUSAGE_CHILDREN] {
        // It fails for another `who` or a bad address only: getrusage(2).
        let Ok(usage) = getrusage(who) else { continue };
        let time = |microseconds: i64| Duration::from_micros(microseconds.unsigned_abs());
        sum += CpuTime {
            user: time(usage.user_time().num_microseconds()),
            kernel: time(usage.system_time().num_microseconds()),
        };
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_counted() {
        let before = cpu_time();
        let begun = std::time::Instant::now();
        let mut sum = 0_u64;
        while begun.elapsed().as_millis() < 60 {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        let spent = cpu_time().since(before);
        let spent = (spent.user + spent.kernel).as_secs_f64();
        assert!((0.001..60.0).contains(&spent), "{spent}");
    }
}
