//! What disturbs a measurement on this machine, looked for before a run and over it.
//!
//! A warning is read only while it is rare, so each has a limit below which nothing is said, and
//! nothing that is always on somewhere (a virtual machine, say) makes one: that is in the manifest.
//! What cannot be read makes no warning either. Readers take texts from `/proc` and `/sys` and
//! hand them to functions that only compute.

mod lock;
mod memory;
mod processors;
mod store;
mod watch;

use std::fs;
use std::path::Path;

use crate::result::{StoreInfo, Warning};
use crate::sys;
use crate::units::Bytes;

pub use lock::{Held, Lock};
pub use watch::Watch;

/// What a run asks of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand {
    /// The most bytes that the steps of one case write.
    pub written: Bytes,
    /// What must be free in the store.
    pub image: Bytes,
}

/// All that would disturb a run with these images, before it starts. Takes 0.2 s where the
/// hypervisor has ever taken time away, else next to nothing.
#[must_use]
pub fn look(store: &StoreInfo, demand: Demand) -> Vec<Warning> {
    let meminfo = read("/proc/meminfo");
    let cpufreq = |name: &str| read(Path::new("/sys/devices/system/cpu/cpu0/cpufreq").join(name));
    let found = [
        store::warning(store),
        memory::short(store, demand.image),
        memory::edge(&meminfo, demand.written),
        memory::swap_in_use(&meminfo),
        processors::load(&read("/proc/loadavg"), sys::processors()),
        processors::stolen_now(),
        processors::governor(&cpufreq("scaling_governor"), &cpufreq("scaling_driver")),
        processors::battery(),
        Lock::other(),
    ];
    found.into_iter().flatten().collect()
}

fn warning(code: &str, text: impl Into<String>) -> Warning {
    Warning { code: code.into(), text: text.into() }
}

/// Empty where the file is not there or not readable.
fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The first number of a text.
fn first_number(text: &str) -> Option<f64> {
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// A share as a percentage, for people.
fn percent(share: f64) -> String {
    format!("{} %", crate::units::human::significant(share * 100.0))
}
