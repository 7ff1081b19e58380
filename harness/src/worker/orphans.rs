//! What process 1 owes to the others of its namespace: a process whose parent has ended becomes
//! its child, and stays a zombie until somebody waits for it.

use rustix::process::{WaitOptions, wait};

/// Wait for every orphan that has ended. Call it only while no program of ours runs: the one that
/// is waited for elsewhere must not be taken away.
pub(super) fn reap() {
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        log::debug!("an orphan has ended: process {pid:?}, {status:?}");
    }
}
