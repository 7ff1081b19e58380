//! Processors that others use, or that do not run at one speed.

use std::fs;
use std::time::Duration;

use super::{first_number, percent, read, warning};
use crate::result::Warning;

/// A look before the start: 20 ticks for each processor.
const LOOK: Duration = Duration::from_millis(200);
/// Of a short look, in which one tick of one processor is 2.5 % of two.
const STOLEN_NOW_MOST: f64 = 0.05;
/// Of a whole run.
const STOLEN_MOST: f64 = 0.01;
/// Fewer ticks (0.05 s) say nothing about a run of a second.
const STOLEN_LEAST: u64 = 5;
/// Of the time of a run. A run alone seldom keeps more threads busy than there are processors.
const PRESSURE_MOST: f64 = 0.5;
/// The worker and the file system's kernel threads, beside one for each processor.
const OWN_LOAD: f64 = 2.0;

/// Ticks of all processors since the machine started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticks {
    all: u64,
    stolen: u64,
}

impl Ticks {
    /// Of `/proc/stat`. The eight numbers are user, nice, system, idle, iowait, irq, softirq and steal;
    /// time of guests behind them is part of user. Source: `proc_stat(5)`.
    pub(super) fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().next()?.strip_prefix("cpu ")?;
        let ticks: Vec<u64> =
            line.split_ascii_whitespace().take(8).map(|tick| tick.parse().ok()).collect::<Option<_>>()?;
        Some(Self { all: ticks.iter().sum(), stolen: *ticks.get(7)? })
    }

    pub(super) fn now() -> Option<Self> {
        Self::parse(&read("/proc/stat"))
    }

    /// Share of the time since `before` that the hypervisor gave to others.
    fn stolen_since(self, before: Self) -> f64 {
        let stolen = self.stolen.saturating_sub(before.stolen);
        let all = self.all.saturating_sub(before.all);
        if stolen < STOLEN_LEAST || all == 0 { 0.0 } else { ratio(stolen, all) }
    }

    /// Steal over a whole run.
    pub(super) fn over_the_run(self, before: Self) -> Option<Warning> {
        let share = self.stolen_since(before);
        let text =
            || format!("the hypervisor took {} of the processors' time during the run", percent(share));
        (share > STOLEN_MOST).then(|| warning("steal_run", text()))
    }

    fn at_the_start(self, before: Self) -> Option<Warning> {
        let (stolen, all) = (self.stolen.saturating_sub(before.stolen), self.all.saturating_sub(before.all));
        let share = if stolen < 2 || all == 0 { 0.0 } else { ratio(stolen, all) };
        let text = || format!("the hypervisor takes {} of the processors' time: times vary", percent(share));
        (share > STOLEN_NOW_MOST).then(|| warning("steal", text()))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole as f64
}

/// Whether the hypervisor takes time away just now. A machine from which it never did is not looked at.
pub(super) fn stolen_now() -> Option<Warning> {
    let before = Ticks::now().filter(|ticks| ticks.stolen > 0)?;
    std::thread::sleep(LOOK);
    Ticks::now()?.at_the_start(before)
}

/// Others use more than half of the processors.
pub(super) fn load(loadavg: &str, processors: u32) -> Option<Warning> {
    let load = first_number(loadavg).filter(|load| *load > f64::from(processors) / 2.0)?;
    let text =
        format!("the load average is {load} on {processors} processors: other work competes with this run");
    Some(warning("load", text))
}

/// More load at the end than a run makes, where there was little before it.
pub(super) fn load_came(before: &str, after: &str, processors: u32) -> Option<Warning> {
    if load(before, processors).is_some() {
        return None;
    }
    let most = f64::from(processors) + OWN_LOAD;
    let load = first_number(after).filter(|load| *load > most)?;
    let text =
        format!("the load average at the end is {load} on {processors} processors: other work came up");
    Some(warning("load_end", text))
}

/// `powersave` keeps the lowest frequency, except where the driver decides by itself and the name
/// only means its default. Source: Linux `Documentation/admin-guide/pm/intel_pstate.rst` and
/// `amd-pstate.rst`, active mode; in passive mode the drivers have other names.
pub(super) fn governor(governor: &str, driver: &str) -> Option<Warning> {
    const ACTIVE: [&str; 2] = ["intel_pstate", "amd-pstate-epp"];
    let slow = governor.trim() == "powersave" && !ACTIVE.contains(&driver.trim());
    slow.then(|| {
        warning("governor", "the CPU governor is powersave, the lowest frequency; use `performance`")
    })
}

/// Source: Linux `Documentation/ABI/testing/sysfs-class-power`.
pub(super) fn battery() -> Option<Warning> {
    let supplies = fs::read_dir("/sys/class/power_supply").ok()?;
    let on_battery = supplies.flatten().any(|supply| {
        let field = |name| read(supply.path().join(name));
        is_draining(&field("type"), &field("scope"), &field("status"))
    });
    on_battery.then(|| warning("battery", "the machine runs on its battery: times vary"))
}

/// A mouse is a battery too; only the machine's own has no scope, or the scope System.
fn is_draining(kind: &str, scope: &str, status: &str) -> bool {
    kind.trim() == "Battery" && scope.trim() != "Device" && status.trim() == "Discharging"
}

/// Share of the run in which some thread waited for a processor.
pub(super) fn pressure(waited: f64) -> Option<Warning> {
    (waited > PRESSURE_MOST).then(|| {
        let text = format!("for {} of the run some work waited for a processor", percent(waited));
        warning("cpu_pressure", text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  1883495 31870 1011655 1362775 209533 0 43899 4901 0 0\ncpu0 938001 15744 503671 689117 104110 0 22014 2467 0 0\nintr 1\n";

    fn ticks(all: u64, stolen: u64) -> Ticks {
        Ticks { all, stolen }
    }

    #[test]
    fn the_eighth_number_is_stolen_time() {
        assert_eq!(Ticks::parse(STAT), Some(ticks(4_548_128, 4901)));
        // Linux 2.6.10 and older had no steal.
        assert_eq!(Ticks::parse("cpu  1 2 3 4 5 6 7\n"), None);
        assert_eq!(Ticks::parse(""), None);
    }

    #[test]
    fn more_than_one_percent_of_a_run_is_told_and_a_tick_is_not() {
        let before = ticks(10_000, 50);
        assert_eq!(ticks(20_000, 150).over_the_run(before), None);
        let warning = ticks(20_000, 151).over_the_run(before).unwrap();
        assert_eq!(warning.code, "steal_run");
        assert!(warning.text.contains("took 1.01 % of"), "{}", warning.text);
        assert_eq!(ticks(10_100, 54).over_the_run(before), None);
        assert_eq!(before.over_the_run(before), None);
    }

    #[test]
    fn a_look_before_the_start_needs_more_than_one_tick() {
        let before = ticks(1000, 10);
        assert_eq!(ticks(1010, 11).at_the_start(before), None);
        assert_eq!(ticks(1040, 12).at_the_start(before), None);
        assert_eq!(ticks(1040, 13).at_the_start(before).unwrap().code, "steal");
    }

    #[test]
    fn load_is_told_before_the_start_and_what_came_later_at_the_end() {
        let (calm, busy) = ("0.89 1.01 2.02 2/92 4091\n", "1.50 1.01 2.02 2/92 4091\n");
        assert_eq!(load(calm, 2), None);
        assert!(load(busy, 2).unwrap().text.starts_with("the load average is 1.5 on 2"));
        let much = "4.01 1.01 2.02 9/92 4091\n";
        assert_eq!(load_came(calm, busy, 2), None);
        assert_eq!(load_came(busy, much, 2), None);
        assert_eq!(load_came(calm, much, 2).unwrap().code, "load_end");
        assert_eq!(load("", 2), None);
    }

    #[test]
    fn powersave_is_slow_only_where_the_driver_does_not_decide() {
        let warns = |name, driver| governor(name, driver).is_some();
        assert!(warns("powersave\n", "acpi-cpufreq\n"));
        assert!(warns("powersave\n", "intel_cpufreq\n"));
        assert!(warns("powersave\n", "amd-pstate\n"));
        assert!(!warns("powersave\n", "intel_pstate\n"));
        assert!(!warns("powersave\n", "amd-pstate-epp\n"));
        assert!(!warns("schedutil\n", "acpi-cpufreq\n"));
        assert!(!warns("", ""));
    }

    #[test]
    fn only_the_machines_own_battery_counts() {
        assert!(is_draining("Battery\n", "", "Discharging\n"));
        assert!(is_draining("Battery\n", "System\n", "Discharging\n"));
        assert!(!is_draining("Battery\n", "Device\n", "Discharging\n"));
        assert!(!is_draining("Battery\n", "", "Charging\n"));
        assert!(!is_draining("Mains\n", "", ""));
    }

    #[test]
    fn waiting_for_processors_is_told_from_half_of_the_run_on() {
        assert_eq!(pressure(0.5), None);
        assert_eq!(pressure(0.51).unwrap().code, "cpu_pressure");
    }
}
