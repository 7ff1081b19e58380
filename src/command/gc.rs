//! `fsduel gc`: devices and memory cgroups of ours that outlived their run, and folders that `--keep`
//! kept.
//!
//! A run leaves nothing even when it is killed. What is found here was kept alive from outside: a
//! mount namespace that copied ours, or a program that still has the device open; or it is the empty
//! memory cgroup of a run that was killed. Only what carries our tag and whose run is dead is ever
//! freed.

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

/// Something of ours that was found.
struct Leftover {
    /// What it is, and of which process or how large.
    what: String,
    /// The run that made it goes on.
    alive: bool,
    /// What it is called that it is there, and that it is gone.
    words: [&'static str; 2],
    free: Box<dyn Fn() -> Result<()>>,
}

/// List what is left; free it with `--force`.
pub fn gc(arguments: &GcArguments) -> Result<u8> {
    let found = find(arguments.store.as_deref().unwrap_or(Path::new(DEFAULT_STORE)))?;
    let mut code = exit::OK;
    // Others cannot open the devices, and an empty list would be no answer.
    if let Some(missing) = parts::check(&[Requirement::Root]).into_iter().next() {
        let error = Error::unavailable("look at the loop devices of this machine");
        return Err(error.because(missing.text).next(missing.next));
    }
    to_stdout(|out| {
        if found.is_empty() {
            return writeln!(out, "nothing of ours is left").cannot(doing);
        }
        for leftover in &found {
            let (word, failed) = fate(leftover, arguments.force);
            code = exit::first([code, failed]);
            writeln!(out, "{}: {word}", leftover.what).cannot(doing)?;
        }
        Ok(())
    })?;
    if !arguments.force && found.iter().any(|leftover| !leftover.alive) {
        let _ = writeln!(std::io::stderr(), "  next: fsduel gc --force");
    }
    Ok(code)
}

fn find(store: &Path) -> Result<Vec<Leftover>> {
    let devices = parts::find_ours()?.into_iter().map(|found| Leftover {
        what: format!("{}, {}, of process {}", found.device.display(), found.bytes, found.tag.pid),
        alive: found.alive,
        words: ["left over", "freed"],
        free: Box::new(move || parts::free(&found)),
    });
    let groups = parts::find_groups().into_iter().map(|group| Leftover {
        what: format!("{}, of process {}", group.path.display(), group.pid),
        alive: group.alive,
        words: ["left over", "removed"],
        free: Box::new(move || parts::remove_group(&group)),
    });
    let kept = parts::find_kept(store)?.into_iter().map(|folder| Leftover {
        what: format!("{}, {}", folder.path.display(), folder.allocated),
        alive: folder.alive,
        words: ["kept", "removed"],
        free: Box::new(move || parts::remove_kept(&folder)),
    });
    Ok(devices.chain(groups).chain(kept).collect())
}

fn doing() -> String {
    "write the list".into()
}

/// What becomes of one of them, and the exit code of that.
fn fate(leftover: &Leftover, force: bool) -> (String, u8) {
    let [there, gone] = leftover.words;
    if leftover.alive {
        return (IN_USE.into(), exit::OK);
    }
    if !force {
        return (there.into(), exit::OK);
    }
    match (leftover.free)() {
        Ok(()) => (gone.into(), exit::OK),
        Err(error) => {
            let next = error.next_step().map(|next| format!("; {next}")).unwrap_or_default();
            (format!("not {gone}: {error}{next}"), exit::HARNESS)
        }
    }
}
