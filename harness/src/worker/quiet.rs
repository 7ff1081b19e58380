//! Waits until nothing of before goes on below: the write-back of the last case, the space of its
//! image that the store frees, tables that a file system fills in while it is idle.
//!
//! Only repeated runs wait, since only they promise that a difference is not the neighbour's. A
//! machine that never rests is measured all the same, and the report says so. A virtual machine sees
//! its disk only; the store below it is waited for before it boots.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::error::{Cannot, Error, Result};
use crate::fs;
use crate::sys::activity::{Counters, running};
use crate::sys::signal;

/// How long all must be still.
const STILL: Duration = Duration::from_secs(1);
/// How long to wait for that.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often to look.
const LOOK: Duration = Duration::from_millis(100);

/// Wait until the device of a case and the store have been still for a second. False if they never
/// were.
///
/// # Errors
///
/// The run is being stopped, or the kernel shows no counters.
pub(crate) fn wait(device: Option<&str>, store: Option<&Path>) -> Result<bool> {
    let mut watched: Vec<_> = device.into_iter().map(Counters::of_device).collect();
    if let Some(store) = store {
        let folder = std::fs::File::open(store).cannot(|| format!("open {}", store.display()))?;
        rustix::fs::syncfs(&folder).cannot(|| format!("sync {}", store.display()))?;
        watched.push(Counters::below(store)?);
    }
    let late: Vec<&str> = fs::ALL.iter().flat_map(|filesystem| filesystem.late_work()).copied().collect();
    let look = || Ok((watched.iter().map(Counters::read).collect::<Result<Vec<_>>>()?, running(&late)));
    until_still(look, |(_, threads)| threads.is_empty())
}

/// Wait until `look` tells the same for [`STILL`], and that is `rest`.
fn until_still<T: PartialEq>(look: impl Fn() -> Result<T>, rest: impl Fn(&T) -> bool) -> Result<bool> {
    let begun = Instant::now();
    let (mut last, mut since) = (look()?, begun);
    loop {
        if signal::seen().is_some() {
            return Err(Error::stopped("wait until the disk is quiet: the run is being stopped"));
        }
        std::thread::sleep(LOOK);
        let now = look()?;
        if now != last || !rest(&now) {
            (last, since) = (now, Instant::now());
        }
        if since.elapsed() >= STILL {
            return Ok(true);
        }
        if begun.elapsed() >= PATIENCE {
            return Ok(false);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_second_of_stillness_is_enough() {
        let begun = Instant::now();
        assert!(until_still(|| Ok(7), |_| true).unwrap());
        assert!((STILL..PATIENCE).contains(&begun.elapsed()), "{:?}", begun.elapsed());
    }

    #[test]
    fn a_change_begins_the_second_anew_and_what_never_rests_ends_the_patience() {
        let (count, begun) = (Cell::new(0), Instant::now());
        let moving = || {
            count.set(count.get() + 1);
            Ok(count.get().min(6))
        };
        assert!(until_still(moving, |_| true).unwrap());
        assert!(begun.elapsed() >= STILL + 4 * LOOK, "{:?}", begun.elapsed());
        assert!(!until_still(|| Ok(7), |_| false).unwrap());
    }
}
