//! The clock that a machine counts by itself.

/// `CLOCK_MONOTONIC`, in seconds since about the boot.
#[must_use]
pub fn monotonic_s() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    std::time::Duration::new(
        u64::try_from(now.tv_sec).unwrap_or_default(),
        u32::try_from(now.tv_nsec).unwrap_or_default(),
    )
    .as_secs_f64()
}
