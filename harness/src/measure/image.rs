//! What the image takes of the store, at the third stop.

use super::{Measurement, Metric, Started, Stop, Target, number};
use crate::error::{Cannot, Result};
use crate::ops::Record;
use crate::result::Metrics;

/// See the module.
pub struct Image;

/// The unit of `st_blocks`, whatever the file system's block size is. Source: `stat(3type)`.
const BLOCK: u64 = 512;

impl Measurement for Image {
    fn metrics(&self) -> &'static [Metric] {
        &[Metric {
            key: "image_allocated_bytes",
            meaning: "Space that the image takes of the store after unmount, not only of this step.",
        }]
    }

    fn start(&self, _target: &Target) -> Result<Box<dyn Started>> {
        Ok(Box::new(Reading { allocated: None }))
    }
}

struct Reading {
    allocated: Option<u64>,
}

impl Started for Reading {
    fn stop(&mut self, stop: Stop, target: &Target) -> Result<()> {
        if let (Stop::Unmounted, Some(image)) = (stop, target.made()?.image) {
            let stat = rustix::fs::fstat(image).cannot(|| "ask for the size of the image".into())?;
            self.allocated = u64::try_from(stat.st_blocks).ok().map(|blocks| blocks * BLOCK);
        }
        Ok(())
    }

    fn finish(self: Box<Self>, _record: &Record, metrics: &mut Metrics) {
        if let Some(bytes) = self.allocated {
            metrics.set("image_allocated_bytes", number(bytes));
        }
    }
}
