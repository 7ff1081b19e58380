//! What reached the loop device, to the third stop: some file systems write most of their
//! metadata only when they are unmounted.

use super::{Measurement, Metric, Started, Stop, Target, number, set_ratio};
use crate::error::Result;
use crate::ops::Record;
use crate::result::Metrics;
use crate::sys::block_stat::{BlockStat, block_stat};

/// See the module.
pub struct BlockIo;

impl Measurement for BlockIo {
    fn metrics(&self) -> &'static [Metric] {
        &[
            Metric { key: "device_read_bytes", meaning: "Read from the device, until unmount returned." },
            Metric { key: "device_written_bytes", meaning: "Written to the device, until unmount returned." },
            Metric { key: "device_flush_count", meaning: "Flushes of the device, until unmount returned." },
            Metric {
                key: "write_amplification_ratio",
                meaning: "Bytes written to the device for each byte the work wrote.",
            },
        ]
    }

    fn start(&self, target: &Target) -> Result<Box<dyn Started>> {
        Ok(Box::new(Reading { before: block_stat(target.made()?.device)?, after: None }))
    }
}

struct Reading {
    before: BlockStat,
    after: Option<BlockStat>,
}

impl Started for Reading {
    fn stop(&mut self, stop: Stop, target: &Target) -> Result<()> {
        if stop == Stop::Unmounted {
            self.after = Some(block_stat(target.made()?.device)?);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, record: &Record, metrics: &mut Metrics) {
        let Some(after) = self.after else { return };
        let done = after.since(&self.before);
        metrics.set("device_read_bytes", number(done.read.0));
        metrics.set("device_written_bytes", number(done.written.0));
        if let Some(flushes) = done.flushes {
            metrics.set("device_flush_count", number(flushes));
        }
        let written = Some(number(done.written.0));
        set_ratio(metrics, "write_amplification_ratio", written, record.counts.written_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Counts;
    use crate::units::Bytes;

    fn stat(read: u64, written: u64, flushes: Option<u64>) -> BlockStat {
        BlockStat { read: Bytes(read), written: Bytes(written), flushes }
    }

    fn finish(after: Option<BlockStat>, written_bytes: u64) -> Metrics {
        let mut metrics = Metrics::default();
        let reading = Box::new(Reading { before: stat(512, 1024, Some(3)), after });
        let counts = Counts { written_bytes, ..Counts::default() };
        reading.finish(&Record { counts, ..Record::default() }, &mut metrics);
        metrics
    }

    #[test]
    fn the_numbers_are_differences() {
        let metrics = finish(Some(stat(1536, 9216, Some(5))), 4096);
        assert_eq!(metrics.get("device_read_bytes"), Some(1024.0));
        assert_eq!(metrics.get("device_written_bytes"), Some(8192.0));
        assert_eq!(metrics.get("device_flush_count"), Some(2.0));
        assert_eq!(metrics.get("write_amplification_ratio"), Some(2.0));
    }

    #[test]
    fn what_was_not_read_is_absent() {
        assert!(finish(None, 4096).0.is_empty());
        let metrics = finish(Some(stat(512, 1024, None)), 0);
        assert_eq!(metrics.get("device_flush_count"), None);
        assert_eq!(metrics.get("write_amplification_ratio"), None);
        assert_eq!(metrics.get("device_written_bytes"), Some(0.0));
    }
}
