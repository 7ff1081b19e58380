//! Tells a limit of the file system from a fault, by the errno and by the state it was met in.

use std::fs::File;

use nix::errno::Errno;

use crate::error::{Error, Result};
use crate::fs::{Filesystem, SpaceDetail};
use crate::ops::{self, Failure, Record};
use crate::result::{Limit, Which};
use crate::sys::statfs::{StatFs, statfs};
use crate::workload::Ended;

/// The file system at the moment when the work ended, to tell which limit it met.
pub(super) struct Moment {
    statfs: StatFs,
    space: Option<SpaceDetail>,
}

impl Moment {
    pub(super) fn of(filesystem: &dyn Filesystem, root: &File) -> Result<Self> {
        Ok(Self { statfs: statfs(root)?, space: filesystem.space(root)? })
    }
}

/// The limit that ended the work, if one did.
///
/// # Errors
///
/// The work ended with an errno that is no limit: damage.
pub(super) fn judge(
    filesystem: &dyn Filesystem,
    step: &str,
    outcome: ops::Result<Ended>,
    record: &Record,
    now: Result<Moment>,
) -> Result<Option<Limit>> {
    limit_of(step, outcome, record, |failure| {
        let now = now?;
        Ok(filesystem.limit(failure.errno, &now.statfs, now.space.as_ref()))
    })
}

/// The limit that ended the work, if one did; `which` tells what a failure stands for.
///
/// # Errors
///
/// As [`judge`].
pub(crate) fn limit_of(
    step: &str,
    outcome: ops::Result<Ended>,
    record: &Record,
    which: impl FnOnce(&Failure) -> Result<(Which, String)>,
) -> Result<Option<Limit>> {
    let mut operation = None;
    let failure = match outcome {
        Ok(Ended::Completed) => return Ok(None),
        Ok(Ended::Capped(text)) => return Ok(Some(limit(Which::FileSize, None, record, text))),
        Ok(Ended::Differs(text)) => return Err(Error::damage(format!("do the work of step {step}: {text}"))),
        Ok(Ended::Full(failure)) => failure,
        Ok(Ended::Limit(failure, number)) => {
            operation = Some(number);
            failure
        }
        Err(failure) if failure.is_limit() => failure,
        Err(failure) => {
            let next = next_step(&failure);
            return Err(Error::damage(format!("do the work of step {step}")).because(failure).next(next));
        }
    };
    let (which, text) = which(&failure)?;
    Ok(Some(Limit { at_operation: operation, ..limit(which, Some(failure), record, text) }))
}

/// What an errno speaks of: of files that have gone, or of a fault below them.
fn next_step(failure: &Failure) -> &'static str {
    match failure.errno {
        Errno::ENOENT | Errno::EEXIST | Errno::ENOTEMPTY | Errno::EACCES | Errno::EPERM => {
            "see what else changes files there; if nothing does, look at the kernel log"
        }
        _ => "look at the kernel log; the disk or the file system is faulty",
    }
}

fn limit(which: Which, failure: Option<Failure>, record: &Record, text: String) -> Limit {
    Limit {
        which,
        errno: failure.as_ref().map(|failure| format!("{:?}", failure.errno)),
        call: failure.as_ref().map(|failure| failure.op.name().to_owned()),
        path: failure.map(|failure| failure.path),
        at_count: record.counts.total(),
        at_operation: None,
        at_bytes: record.counts.written_bytes,
        text: Some(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use crate::fs::ALL;
    use crate::ops::Op;
    use crate::units::Bytes;

    fn judged(outcome: ops::Result<Ended>) -> Result<Option<Limit>> {
        let full = StatFs {
            total: Bytes::gib(1),
            free: Bytes(0),
            available: Bytes(0),
            inodes: 1000,
            inodes_free: 500,
            read_only: false,
        };
        let now = Ok(Moment { statfs: full, space: None });
        judge(ALL[0], "fill", outcome, &Record::default(), now)
    }

    fn failed(op: Op, errno: Errno) -> Failure {
        Failure { op, path: "fill/file".into(), errno }
    }

    #[test]
    fn completed_work_has_no_limit() {
        assert_eq!(judged(Ok(Ended::Completed)).unwrap(), None);
    }

    #[test]
    fn no_space_is_a_limit_whichever_call_says_it() {
        for op in [Op::Mkdir, Op::Create, Op::Write, Op::Fsync, Op::Close] {
            let limit = judged(Err(failed(op, Errno::ENOSPC))).unwrap().unwrap();
            assert_eq!(limit.errno.as_deref(), Some("ENOSPC"));
            assert_eq!(limit.call.as_deref(), Some(op.name()));
        }
    }

    #[test]
    fn any_other_errno_is_damage() {
        for errno in [Errno::EIO, Errno::EROFS, Errno::EUCLEAN] {
            assert_eq!(judged(Err(failed(Op::Write, errno))).unwrap_err().kind(), Kind::Damage);
        }
    }

    #[test]
    fn a_cap_is_a_limit_without_errno() {
        let limit = judged(Ok(Ended::Capped("the cap".into()))).unwrap().unwrap();
        assert_eq!((limit.which, limit.errno), (Which::FileSize, None));
        assert_eq!(limit.text.as_deref(), Some("the cap"));
    }
}
