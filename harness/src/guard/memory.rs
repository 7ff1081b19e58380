//! Memory that is short, or just as large as the data.

use super::warning;
use crate::result::{StoreInfo, Warning};
use crate::sys::proc::kib_field;
use crate::units::Bytes;

/// Less swap traffic than this over a run is the kernel's housekeeping.
const SWAPPED_LEAST: Bytes = Bytes::mib(1);
/// Of the time of a run; while all work waits for memory nothing is measured but that.
const PRESSURE_MOST: f64 = 0.05;

/// The data of one case between a half and twice the memory: a little more or less of it stays
/// cached, and times differ by orders of magnitude. Source: Tarasov and others, HotOS XIII (2011).
pub(super) fn edge(meminfo: &str, written: Bytes) -> Option<Warning> {
    let memory = kib_field(meminfo, "MemTotal")?;
    let on_the_edge = written.0 >= memory.0 / 2 && written.0 <= memory.0.saturating_mul(2);
    on_the_edge.then(|| {
        let text = format!(
            "a case writes {written}, and this machine has {memory} of memory: how much stays cached decides"
        );
        warning("memory_edge", text)
    })
}

/// An image in memory that takes more than three quarters of what is available: programs and the
/// page cache fight for the rest.
pub(super) fn short(store: &StoreInfo, image: Bytes) -> Option<Warning> {
    let available = Bytes(store.free_bytes);
    let is_short = store.filesystem == "memory" && image.0 > available.0 / 4 * 3;
    is_short.then(|| {
        let text = format!("an image in memory needs {image} of the {available} that are available");
        warning("memory_short", text)
    })
}

/// Swap that is in use says that memory was short before.
pub(super) fn swap_in_use(meminfo: &str) -> Option<Warning> {
    let field = |name| kib_field(meminfo, name).unwrap_or_default().0;
    let used = field("SwapTotal").saturating_sub(field("SwapFree"));
    (used > 0).then(|| warning("swap", format!("{} MiB of swap are in use: memory is short", used >> 20)))
}

/// Pages that were swapped in and out since the machine started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Swapped {
    into: u64,
    out: u64,
}

impl Swapped {
    /// Of `/proc/vmstat`.
    pub(super) fn parse(vmstat: &str) -> Option<Self> {
        let field = |name: &str| {
            let mut lines = vmstat.lines().filter_map(|line| line.split_once(' '));
            lines.find(|(key, _)| *key == name)?.1.trim().parse().ok()
        };
        Some(Self { into: field("pswpin")?, out: field("pswpout")? })
    }

    /// Any swap traffic over a run is time that belongs to no file system.
    pub(super) fn since(self, before: Self, page_size: u64) -> Option<Warning> {
        let bytes = |now: u64, then: u64| Bytes(now.saturating_sub(then).saturating_mul(page_size));
        let (into, out) = (bytes(self.into, before.into), bytes(self.out, before.out));
        (into.0.saturating_add(out.0) >= SWAPPED_LEAST.0).then(|| {
            let text = format!(
                "during the run {} MiB were swapped out and {} MiB in: memory was short",
                out.0 >> 20,
                into.0 >> 20
            );
            warning("swap_traffic", text)
        })
    }
}

/// Share of the run in which every process that had work waited for memory.
pub(super) fn pressure(waited: f64) -> Option<Warning> {
    (waited > PRESSURE_MOST).then(|| {
        let text = format!("for {} of the run all work waited for memory", super::percent(waited));
        warning("memory_pressure", text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str = "MemTotal:       24689328 kB\nMemFree:        20000000 kB\nMemAvailable:   22000000 kB\nSwapTotal:       2097148 kB\nSwapFree:        1048572 kB\n";
    const VMSTAT: &str = "nr_free_pages 161527\npgpgin 83110394\npgpgout 171245316\npswpin 12\npswpout 300\npswpoutx 7\npgalloc_dma 0\n";

    #[test]
    fn data_about_as_large_as_memory_are_told_and_others_are_not() {
        let code = |gib| edge(MEMINFO, Bytes::gib(gib)).map(|warning| warning.code);
        for gib in [12, 24, 47] {
            assert_eq!(code(gib).as_deref(), Some("memory_edge"), "{gib}");
        }
        for gib in [0, 11, 48] {
            assert_eq!(code(gib), None, "{gib}");
        }
        assert_eq!(edge("", Bytes::gib(1)), None);
    }

    #[test]
    fn an_image_in_memory_leaves_room_or_is_told() {
        let store = |filesystem: &str| StoreInfo {
            path: "memory".into(),
            filesystem: filesystem.into(),
            free_bytes: 4 << 30,
        };
        assert_eq!(short(&store("memory"), Bytes::gib(3)), None);
        assert_eq!(short(&store("memory"), Bytes::mib(3073)).unwrap().code, "memory_short");
        assert_eq!(short(&store("xfs"), Bytes::gib(4)), None);
    }

    #[test]
    fn swap_in_use_and_swap_traffic_are_two_things() {
        assert!(swap_in_use(MEMINFO).unwrap().text.starts_with("1024 MiB of swap"));
        assert_eq!(swap_in_use("SwapTotal: 0 kB\nSwapFree: 0 kB\n"), None);
        let before = Swapped::parse(VMSTAT).unwrap();
        assert_eq!(before, Swapped { into: 12, out: 300 });
        let after = |into, out| Swapped { into, out }.since(before, 4096);
        assert_eq!(after(12, 300), None);
        assert_eq!(after(20, 310), None);
        let text = after(12 + 512, 300 + 1024).unwrap().text;
        assert_eq!(text, "during the run 4 MiB were swapped out and 2 MiB in: memory was short");
        assert_eq!(Swapped::parse("pswpin 1\n"), None);
    }
}
