//! The machine, and whether it does something else.

use std::fs;
use std::thread::available_parallelism;

/// Processes that ran or waited for a disk, on average over a minute.
pub fn average() -> f64 {
    first_word("/proc/loadavg").parse().unwrap_or(0.0)
}

/// The smaller of two: the build before the first counts there, and our own work in the second.
pub fn is_busy(before: f64, after: f64) -> bool {
    before.min(after) > f64::from(processors())
}

/// For below the table.
pub fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!(
        "{} processors ({}), Linux {}, load average {:.1}",
        processors(),
        model.map_or("of an unknown model", |(_, name)| name),
        first_word("/proc/sys/kernel/osrelease"),
        average()
    )
}

fn processors() -> u32 {
    available_parallelism().ok().and_then(|count| u32::try_from(count.get()).ok()).unwrap_or(1)
}

fn first_word(path: &str) -> String {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_ascii_whitespace().next().unwrap_or_default().to_owned()
}
