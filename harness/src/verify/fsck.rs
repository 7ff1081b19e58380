//! A file system's own checker, read-only.
//!
//! A checker that is not there, or does not start, has checked nothing: that is never clean.

use std::path::Path;
use std::time::Instant;

use crate::command;
use crate::error::{Kind, Result};
use crate::fs::{Filesystem, Verdict};
use crate::result::Checked;

/// What the checker of `filesystem` says of the unmounted `device`, and the seconds it took;
/// without seconds where it did not run.
///
/// # Errors
///
/// The run is being stopped.
pub fn fsck(filesystem: &dyn Filesystem, device: &Path) -> Result<(Verdict, Option<f64>)> {
    let Some(check) = filesystem.fsck(device) else {
        return Ok((not_checked(format!("{} has no checker", filesystem.name())), None));
    };
    let start = Instant::now();
    match command::run(&check) {
        Ok(told) => {
            let verdict = filesystem.verdict(told.status, &told.text);
            Ok((verdict, Some(start.elapsed().as_secs_f64())))
        }
        Err(error) if error.kind() == Kind::Stopped => Err(error),
        Err(error) => Ok((not_checked(error.to_string()), None)),
    }
}

fn not_checked(text: String) -> Verdict {
    Verdict { checked: Checked::NotChecked, text }
}
