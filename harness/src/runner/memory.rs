//! `--memory` on this machine: the worker of a case, and all that it starts, in a memory cgroup of its
//! own.
//!
//! The worker is moved there before it is told its case, so before it allocates anything of it or
//! fills any page cache. The group is removed when the worker has been waited for. A runner that was
//! killed leaves an empty one: its name tells whose it was, and the next run with a limit, or
//! `fsduel gc`, removes it. Only empty groups can be removed at all.

use std::path::{Path, PathBuf};

use crate::case::CaseSpec;
use crate::error::Result;
use crate::result::{CaseResult, Reason, Status};
use crate::scratch::Tag;
use crate::sys::cgroup::{self, MemoryGroup};
use crate::sys::spawn::WorkerProcess;
use crate::units::Bytes;

const PREFIX: &str = "fsduel-";

/// Refuse a run whose memory cannot be limited on this machine.
///
/// # Errors
///
/// Of kind [`Unavailable`](crate::error::Kind::Unavailable), with what gets it.
pub(super) fn check(limit: Option<Bytes>) -> Result<()> {
    let Some(limit) = limit else { return Ok(()) };
    for group in find_groups().into_iter().filter(|group| !group.alive) {
        if let Err(error) = remove_group(&group) {
            log::warn!("{error}");
        }
    }
    MemoryGroup::create(&name(0)?, limit)?.remove()
}

/// Limit a worker that was started and not told its case yet, where that is asked for.
///
/// # Errors
///
/// No group can be made.
pub(super) fn limit(spec: &CaseSpec, worker: &WorkerProcess) -> Result<Option<Limited>> {
    let Some(limit) = spec.memory else { return Ok(None) };
    let group = MemoryGroup::create(&name(spec.order)?, limit)?;
    group.add(worker.pid)?;
    Ok(Some(Limited { group, limit }))
}

/// `fsduel-PID-STARTTIME-ORDER`, of this process.
fn name(order: u32) -> Result<String> {
    let Tag { pid, start_time, .. } = Tag::of_this_process("")?;
    Ok(format!("{PREFIX}{pid}-{start_time}-{order}"))
}

/// The run that made a group of this name.
fn maker(folder: &Path) -> Option<Tag> {
    let name = folder.file_name()?.to_str()?;
    let mut fields = name.strip_prefix(PREFIX)?.split('-');
    let (pid, start_time) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(Tag { pid, start_time, run_id: fields.next()?.to_owned() })
}

/// A worker with a limit.
pub(super) struct Limited {
    group: MemoryGroup,
    limit: Bytes,
}

impl Limited {
    /// Why nothing was measured, where the limit was too small for the work.
    pub(super) fn too_small(&self) -> Option<(Status, Reason)> {
        let kills = self.group.kills().filter(|kills| *kills > 0)?;
        let processes = if kills == 1 { "process" } else { "processes" };
        let text = format!(
            "the work needed more than --memory {}: the kernel killed {kills} {processes} for it",
            self.limit
        );
        let next = Some("allow more with --memory".into());
        Some((Status::Invalid, Reason { code: Reason::OUT_OF_MEMORY.into(), text, next }))
    }

    /// The worker is gone: see whether the limit was too small for what it started, and remove it.
    pub(super) fn finish(self, case: &mut CaseResult) {
        if !matches!(case.status, Status::Passed | Status::Stopped)
            && let Some((status, reason)) = self.too_small()
        {
            (case.status, case.reason) = (status, Some(reason));
        }
        if let Err(error) = self.group.remove() {
            case.verify.details.push(error.to_string());
        }
    }
}

/// A memory cgroup that some run of ours made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundGroup {
    /// Its folder.
    pub path: PathBuf,
    /// The process that made it.
    pub pid: u32,
    /// Whether that process still runs.
    pub alive: bool,
}

/// All memory cgroups on this machine that a run of ours made.
#[must_use]
pub fn find_groups() -> Vec<FoundGroup> {
    let told = |path: PathBuf| {
        let tag = maker(&path)?;
        Some(FoundGroup { alive: tag.is_alive(), pid: tag.pid, path })
    };
    cgroup::find(PREFIX).into_iter().filter_map(told).collect()
}

/// Remove a group whose maker is dead. A maker in another container looks dead from here; that does
/// no harm, since the kernel removes no group that has a process.
///
/// # Errors
///
/// A process is still in it.
pub fn remove_group(group: &FoundGroup) -> Result<()> {
    cgroup::remove(&group.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_names_its_maker() {
        let own = maker(&Path::new("/sys/fs/cgroup/memory").join(name(7).unwrap())).unwrap();
        assert_eq!(own.pid, std::process::id());
        assert!(own.is_alive());
    }

    #[test]
    fn names_of_others_are_not_ours() {
        for name in
            ["fsduel", "fsduel-", "fsduel-7", "fsduel-7-x-1", "fsduel-x-7-1", "fsduel-7-8", "user.slice"]
        {
            assert_eq!(maker(Path::new(name)), None, "{name}");
        }
    }
}
