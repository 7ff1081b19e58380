//! What disturbed a run, seen from counters at its start and its end.
//!
//! Nothing is read in between: that would be work on the machine that is measured.

use std::time::Instant;

use super::memory::{self, Swapped};
use super::processors::{self, Ticks};
use super::read;
use crate::result::Warning;
use crate::sys;

/// Counters from the start of a run on.
#[derive(Debug)]
pub struct Watch {
    begun: Instant,
    before: Counters,
}

impl Watch {
    /// Read all counters.
    #[must_use]
    pub fn begin() -> Self {
        Self { begun: Instant::now(), before: Counters::now() }
    }

    /// What disturbed the run: stolen time above 1 %, swap traffic, load that came up, and work that
    /// waited for memory or processors.
    #[must_use]
    pub fn end(self) -> Vec<Warning> {
        Counters::now().since(&self.before, self.begun.elapsed().as_secs_f64(), sys::processors())
    }
}

/// What the kernel counts; absent what it does not tell.
#[derive(Clone, Debug, Default)]
struct Counters {
    ticks: Option<Ticks>,
    swapped: Option<Swapped>,
    loadavg: String,
    /// Seconds in which all work waited for memory.
    memory_waited_s: Option<f64>,
    /// Seconds in which some work waited for a processor.
    cpu_waited_s: Option<f64>,
}

impl Counters {
    fn now() -> Self {
        Self {
            ticks: Ticks::now(),
            swapped: Swapped::parse(&read("/proc/vmstat")),
            loadavg: read("/proc/loadavg"),
            memory_waited_s: waited_s(&read("/proc/pressure/memory"), "full"),
            cpu_waited_s: waited_s(&read("/proc/pressure/cpu"), "some"),
        }
    }

    fn since(&self, before: &Self, elapsed_s: f64, processors: u32) -> Vec<Warning> {
        let share = |now: Option<f64>, then: Option<f64>| Some((now? - then?) / elapsed_s.max(1.0));
        let found = [
            self.ticks.zip(before.ticks).and_then(|(now, then)| now.over_the_run(then)),
            self.swapped.zip(before.swapped).and_then(|(now, then)| now.since(then, sys::page_size())),
            processors::load_came(&before.loadavg, &self.loadavg, processors),
            share(self.memory_waited_s, before.memory_waited_s).and_then(memory::pressure),
            share(self.cpu_waited_s, before.cpu_waited_s).and_then(processors::pressure),
        ];
        found.into_iter().flatten().collect()
    }
}

/// The total of a line of `/proc/pressure`, which is in microseconds. Source: Linux
/// `Documentation/accounting/psi.rst`.
fn waited_s(pressure: &str, line: &str) -> Option<f64> {
    let rest = pressure.lines().find_map(|found| found.strip_prefix(line)?.strip_prefix(' '))?;
    let total = rest.split_ascii_whitespace().find_map(|field| field.strip_prefix("total="))?;
    Some(total.parse::<f64>().ok()? / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRESSURE: &str = "some avg10=0.34 avg60=2.08 avg300=0.86 total=39736238\nfull avg10=0.31 avg60=1.84 avg300=0.76 total=22056552\n";

    #[test]
    fn the_total_of_a_pressure_is_in_microseconds() {
        assert_eq!(waited_s(PRESSURE, "full"), Some(22.056_552));
        assert_eq!(waited_s(PRESSURE, "some"), Some(39.736_238));
        assert_eq!(waited_s("", "some"), None);
    }

    fn counters(stolen: u64, memory: f64) -> Counters {
        let stat = format!("cpu  {} 0 0 0 0 0 0 {stolen} 0 0\n", 10_000 + 100 * stolen);
        Counters {
            ticks: Ticks::parse(&stat),
            swapped: Swapped::parse(&format!("pswpin 0\npswpout {stolen}00\n")),
            loadavg: "0.10 0.10 0.10 1/90 1\n".into(),
            memory_waited_s: Some(memory),
            cpu_waited_s: None,
        }
    }

    #[test]
    fn what_happened_over_the_run_is_told_and_what_was_before_is_not() {
        let before = counters(10, 50.0);
        assert_eq!(before.since(&before, 10.0, 2), []);
        let mut after = counters(20, 51.0);
        after.loadavg = "9.00 1.00 1.00 1/90 1\n".into();
        let codes: Vec<_> = after.since(&before, 10.0, 2).into_iter().map(|found| found.code).collect();
        assert_eq!(codes, ["swap_traffic", "load_end", "memory_pressure"]);
        assert_eq!(after.since(&Counters::default(), 10.0, 2).len(), 1, "the load alone needs no start");
    }

    #[test]
    fn this_machine_can_be_watched() {
        let watch = Watch::begin();
        assert!(watch.before.ticks.is_some() && watch.before.swapped.is_some());
        let _ = watch.end();
    }
}
