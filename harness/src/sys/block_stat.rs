//! Counters of a block device, as `/sys/block/loop4/stat` has them.
//!
//! They go on counting over attach and detach, so only differences mean anything.

use std::path::Path;

use crate::error::{Cannot, Error, Result};
use crate::units::Bytes;

/// The unit of the sector fields, whatever the logical block size of the device is.
/// Source: Linux `Documentation/block/stat.rst`, "read sectors".
const SECTOR: u64 = 512;

/// What was read from and written to a device since it exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockStat {
    /// Read.
    pub read: Bytes,
    /// Written.
    pub written: Bytes,
    /// Flushes of the device's cache; absent before Linux 5.5.
    pub flushes: Option<u64>,
}

impl BlockStat {
    /// What came since `earlier`.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let flushes = self.flushes.zip(earlier.flushes);
        Self {
            read: Bytes(self.read.0.wrapping_sub(earlier.read.0)),
            written: Bytes(self.written.0.wrapping_sub(earlier.written.0)),
            flushes: flushes.map(|(now, then)| now.wrapping_sub(then)),
        }
    }
}

/// Read the counters of `device`, such as `loop0`.
///
/// # Errors
///
/// No such device, or a line this kernel writes in another shape.
pub fn block_stat(device: &str) -> Result<BlockStat> {
    let path = Path::new("/sys/block").join(device).join("stat");
    let text = std::fs::read_to_string(&path).cannot(|| format!("read {}", path.display()))?;
    parse(&text).ok_or_else(|| {
        Error::new(format!("understand {}: `{}`", path.display(), text.trim()))
            .next("report this line and `uname -r`; the kernel may have changed the format")
    })
}

/// Fields 3 and 7 are sectors read and written, field 16 is flushes.
/// Source: Linux `Documentation/block/stat.rst`.
fn parse(text: &str) -> Option<BlockStat> {
    let fields: Vec<u64> =
        text.split_ascii_whitespace().map(|field| field.parse().ok()).collect::<Option<_>>()?;
    let sectors = |index: usize| fields.get(index)?.checked_mul(SECTOR).map(Bytes);
    Some(BlockStat { read: sectors(2)?, written: sectors(6)?, flushes: fields.get(15).copied() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A virtio disk, Linux 6.18.
    const VDA: &str = "   16455     5956  5241143    17949     5977    28847 11586904    75260        0     7828    93702     4031       44   103848      469      316       22\n";

    #[test]
    fn one_sector_is_512_bytes() {
        let stat = parse(VDA).unwrap();
        assert_eq!(stat.read, Bytes(5_241_143 * 512));
        assert_eq!(stat.written, Bytes(11_586_904 * 512));
        assert_eq!(stat.flushes, Some(316));
    }

    #[test]
    fn a_kernel_without_flush_counts_has_none() {
        let old = VDA.split_ascii_whitespace().take(11).collect::<Vec<_>>().join(" ");
        assert_eq!(parse(&old).unwrap().flushes, None);
    }

    #[test]
    fn a_short_line_is_refused() {
        assert_eq!(parse("1 2 3"), None);
        assert_eq!(parse("1 2 3 4 5 6 seven"), None);
    }

    #[test]
    fn counters_are_subtracted() {
        let then = parse(VDA).unwrap();
        let now = BlockStat { read: Bytes(then.read.0 + 4096), flushes: None, ..then };
        let since = now.since(&then);
        assert_eq!(since, BlockStat { read: Bytes(4096), written: Bytes(0), flushes: None });
    }

    #[test]
    fn a_device_that_does_not_exist_is_named() {
        let message = block_stat("loop-none").unwrap_err().to_string();
        assert!(message.contains("/sys/block/loop-none/stat"), "{message}");
    }
}
