//! Space as the file system counts it, read after `syncfs` before and after the work.
//!
//! Nothing is held open in between: an open directory would keep the file system mounted.

use std::fs::File;

use super::{Measurement, Metric, Started, Stop, Target, growth, number, set_ratio};
use crate::error::{Cannot, Result};
use crate::fs::SpaceDetail;
use crate::ops::Record;
use crate::result::Metrics;
use crate::sys::statfs::{StatFs, statfs};
use crate::units::Bytes;

/// See the module.
pub struct Space;

impl Measurement for Space {
    fn metrics(&self) -> &'static [Metric] {
        &[
            Metric {
                key: "space_used_bytes",
                meaning: "Growth of used space ((f_blocks - f_bfree) * f_frsize), both ends after syncfs.",
            },
            Metric { key: "space_used_total_bytes", meaning: "Used space after the step, as df counts it." },
            Metric {
                key: "inodes_used_count",
                meaning: "Growth of used inodes, where the file system counts them.",
            },
            Metric {
                key: "data_used_bytes",
                meaning: "Growth of the space for file contents, where the file system tells.",
            },
            Metric {
                key: "metadata_used_bytes",
                meaning: "Growth of the space for all else, copies counted, where the file system tells.",
            },
            Metric { key: "metadata_ratio", meaning: "Metadata for each byte the work wrote." },
            Metric { key: "space_amplification_ratio", meaning: "Used space for each byte the work wrote." },
        ]
    }

    fn start(&self, target: &Target) -> Result<Box<dyn Started>> {
        Ok(Box::new(Reading { before: used(target)?, after: None }))
    }
}

struct Used {
    statfs: StatFs,
    detail: SpaceDetail,
}

fn used(target: &Target) -> Result<Used> {
    let made = target.made()?;
    let mount =
        File::open(made.mount).cannot(|| format!("open {} to ask for its space", made.mount.display()))?;
    Ok(Used { statfs: statfs(&mount)?, detail: made.filesystem.space(&mount)?.unwrap_or_default() })
}

struct Reading {
    before: Used,
    after: Option<Used>,
}

impl Started for Reading {
    fn stop(&mut self, stop: Stop, target: &Target) -> Result<()> {
        if stop == Stop::Synced {
            self.after = Some(used(target)?);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, record: &Record, metrics: &mut Metrics) {
        let Some(after) = &self.after else { return };
        by_statfs(&self.before.statfs, &after.statfs, metrics);
        by_detail(&self.before.detail, &after.detail, metrics);
        let (space, metadata) = (metrics.get("space_used_bytes"), metrics.get("metadata_used_bytes"));
        set_ratio(metrics, "space_amplification_ratio", space, record.counts.written_bytes);
        set_ratio(metrics, "metadata_ratio", metadata, record.counts.written_bytes);
    }
}

fn by_statfs(before: &StatFs, after: &StatFs, metrics: &mut Metrics) {
    metrics.set("space_used_bytes", growth(before.used().0, after.used().0));
    metrics.set("space_used_total_bytes", number(after.used().0));
    if after.inodes > 0 {
        let used = |at: &StatFs| at.inodes.saturating_sub(at.inodes_free);
        metrics.set("inodes_used_count", growth(used(before), used(after)));
    }
}

fn by_detail(before: &SpaceDetail, after: &SpaceDetail, metrics: &mut Metrics) {
    let mut set = |key, before: Option<Bytes>, after: Option<Bytes>| {
        if let Some((before, after)) = before.zip(after) {
            metrics.set(key, growth(before.0, after.0));
        }
    };
    set("data_used_bytes", before.data_used, after.data_used);
    set("metadata_used_bytes", before.metadata_used, after.metadata_used);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Counts;

    fn at(used: u64, inodes: u64, metadata: Option<u64>) -> Used {
        let (total, free) = (Bytes::mib(100), Bytes(Bytes::mib(100).0 - used));
        Used {
            statfs: StatFs {
                total,
                free,
                available: free,
                inodes: inodes * 100,
                inodes_free: inodes * 90,
                read_only: false,
            },
            detail: SpaceDetail { metadata_used: metadata.map(Bytes), ..SpaceDetail::default() },
        }
    }

    fn finish(before: Used, after: Used, written_bytes: u64) -> Metrics {
        let mut metrics = Metrics::default();
        let reading = Box::new(Reading { before, after: Some(after) });
        let counts = Counts { written_bytes, ..Counts::default() };
        reading.finish(&Record { counts, ..Record::default() }, &mut metrics);
        metrics
    }

    #[test]
    fn growth_and_total_are_two_numbers() {
        let metrics = finish(at(4096, 0, Some(1000)), at(12288, 0, Some(3000)), 4000);
        assert_eq!(metrics.get("space_used_bytes"), Some(8192.0));
        assert_eq!(metrics.get("space_used_total_bytes"), Some(12288.0));
        assert_eq!(metrics.get("metadata_used_bytes"), Some(2000.0));
        assert_eq!(metrics.get("metadata_ratio"), Some(0.5));
        assert_eq!(metrics.get("space_amplification_ratio"), Some(2.048));
    }

    #[test]
    fn inodes_made_on_demand_have_no_count() {
        assert_eq!(finish(at(0, 0, None), at(0, 0, None), 1).get("inodes_used_count"), None);
        assert_eq!(finish(at(0, 1, None), at(0, 3, None), 1).get("inodes_used_count"), Some(20.0));
    }

    #[test]
    fn a_step_that_removes_uses_less_than_nothing_and_has_no_ratio() {
        let metrics = finish(at(8192, 0, None), at(4096, 0, None), 0);
        assert_eq!(metrics.get("space_used_bytes"), Some(-4096.0));
        assert_eq!(metrics.get("space_amplification_ratio"), None);
        assert_eq!(metrics.get("metadata_used_bytes"), None);
    }
}
