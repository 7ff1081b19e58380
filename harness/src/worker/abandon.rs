//! Ending a fill in the middle: what it wrote is dropped, not written back.
//!
//! An unmount writes back all that is dirty, which after half a fill can be gigabytes and take
//! longer than the ten seconds in which a run must stop. Pages of a deleted file are dropped.

use std::path::Path;

/// Delete the files directly below `directory`. What cannot be deleted is written back instead.
pub(super) fn drop_dirty_files(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        if let Err(error) = std::fs::remove_file(entry.path()) {
            log::debug!("cannot drop {}: {error}", entry.path().display());
        }
    }
}
