//! `fsduel gc`: devices of ours that outlived their run, and folders that `--keep` kept.
//!
//! A run leaves nothing even when it is killed. What is found here was kept alive from outside: a
//! mount namespace that copied ours, or a program that still has the device open. Only devices
//! that carry our tag and whose run is dead are ever freed, and only folders that carry it removed.

use std::io::Write;
use std::path::Path;

use fsduel_harness::error::Cannot;
use fsduel_harness::require::Requirement;
use fsduel_harness::suite::DEFAULT_STORE;
use fsduel_harness::{Error, Result};

use crate::cli::GcArguments;
use crate::destination::to_stdout;
use crate::{exit, parts};

const IN_USE: &str = "in use by a run that goes on";

/// List what is left; free it with `--force`.
pub fn gc(arguments: &GcArguments) -> Result<u8> {
    let found = parts::find_ours()?;
    let kept = parts::find_kept(arguments.store.as_deref().unwrap_or(Path::new(DEFAULT_STORE)))?;
    let mut code = exit::OK;
    // Others cannot open the devices, and an empty list would be no answer.
    if let Some(missing) = parts::check(&[Requirement::Root]).into_iter().next() {
        let error = Error::unavailable("look at the loop devices of this machine");
        return Err(error.because(missing.text).next(missing.next));
    }
    to_stdout(|out| {
        if found.is_empty() && kept.is_empty() {
            return writeln!(out, "nothing of ours is left").cannot(doing);
        }
        for leftover in &found {
            let (word, failed) = fate(leftover, arguments.force);
            code = exit::first([code, failed]);
            writeln!(out, "{}: {word}", describe(leftover)).cannot(doing)?;
        }
        for folder in &kept {
            let (word, failed) = fate_of_kept(folder, arguments.force);
            code = exit::first([code, failed]);
            writeln!(out, "{}, {}: {word}", folder.path.display(), folder.allocated).cannot(doing)?;
        }
        Ok(())
    })?;
    if !arguments.force
        && (kept.iter().any(|folder| !folder.alive) || found.iter().any(|leftover| !leftover.alive))
    {
        let _ = writeln!(std::io::stderr(), "  next: fsduel gc --force");
    }
    Ok(code)
}

/// `/dev/loop4, 2 GiB, of process 812`.
fn describe(found: &parts::Found) -> String {
    let (device, bytes, pid) = (found.device.display(), found.bytes, found.tag.pid);
    format!("{device}, {bytes}, of process {pid}")
}

fn doing() -> String {
    "write the list".into()
}

/// What becomes of one of them, and the exit code of that.
fn fate(leftover: &parts::Found, force: bool) -> (String, u8) {
    if leftover.alive {
        return (IN_USE.into(), exit::OK);
    }
    if !force {
        return ("left over".into(), exit::OK);
    }
    match parts::free(leftover) {
        Ok(()) => ("freed".into(), exit::OK),
        Err(error) => (format!("not freed: {error}"), exit::HARNESS),
    }
}

/// What becomes of a folder that was kept, and the exit code of that.
fn fate_of_kept(folder: &parts::Kept, force: bool) -> (String, u8) {
    if folder.alive {
        return (IN_USE.into(), exit::OK);
    }
    if !force {
        return ("kept".into(), exit::OK);
    }
    match parts::remove_kept(folder) {
        Ok(()) => ("removed".into(), exit::OK),
        Err(error) => (not_removed(&error), exit::HARNESS),
    }
}

fn not_removed(error: &Error) -> String {
    let next = error.next_step().map(|next| format!("; {next}")).unwrap_or_default();
    format!("not removed: {error}{next}")
}
