//! A step: start cold, measure to the third stop, read everything back, leave it cold.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nix::errno::Errno;

use crate::case::CaseSpec;
use crate::command::{stop_flag, stop_requested};
use crate::error::{Cannot, Error, Result};
use crate::fs::{Filesystem, SpaceDetail};
use crate::measure::{Running, Stop, Target};
use crate::ops::{Counts, Op, Reach, Real, Record};
use crate::result::{Checked, EndedWord, Facts, Limit, Metrics, StepResult, Which};
use crate::scratch::Scratch;
use crate::sys::statfs::{StatFs, statfs};
use crate::units::Bytes;
use crate::verify::kernel_log::KernelLog;
use crate::verify::{ReadBack, read_back};
use crate::workload::{self, Ended, StepSpec, Workload};

use super::abandon::drop_dirty_files;
use super::case::mount_options;
use super::store::StoreWatch;
use super::tell::Tell;

/// A mounted scratch file system on which steps run, one after the other.
pub(super) struct Bench<'a> {
    spec: &'a CaseSpec,
    filesystem: &'static dyn Filesystem,
    scratch: &'a mut Scratch,
    log: &'a mut KernelLog,
    watch: &'a StoreWatch,
    tell: &'a mut Tell,
    started: Instant,
    /// Size of the file that an earlier step left, where one filled the file system.
    filled: Option<Bytes>,
}

/// What the work came to, before anything was verified.
struct Worked {
    record: Record,
    limit: Option<Limit>,
    metrics: Metrics,
}

impl<'a> Bench<'a> {
    pub(super) fn new(
        spec: &'a CaseSpec,
        filesystem: &'static dyn Filesystem,
        scratch: &'a mut Scratch,
        log: &'a mut KernelLog,
        watch: &'a StoreWatch,
        tell: &'a mut Tell,
        started: Instant,
    ) -> Self {
        Self { spec, filesystem, scratch, log, watch, tell, started, filled: None }
    }
}

impl Bench<'_> {
    /// Run one step; also a sentence for each thing that was not as it must be.
    ///
    /// # Errors
    ///
    /// Everything but a limit of the file system and a difference in what was read back.
    pub(super) fn run(
        &mut self,
        step: &StepSpec,
        workload: &dyn Workload,
    ) -> Result<(StepResult, Vec<String>)> {
        let started_s = self.started.elapsed().as_secs_f64();
        let total = workload::totals(workload, self.spec.seed).map(|counts| counts.total());
        self.tell.step_begun(&step.name, total);
        let mut worked = self.work(step, workload)?;
        let back = self.read_back(step, workload, &mut worked)?;
        let result = StepResult {
            name: step.name.clone(),
            workload: step.workload.clone(),
            started_s,
            ended: match worked.limit {
                None => EndedWord::Completed,
                Some(_) => EndedWord::Limit,
            },
            facts: facts(workload, &worked, &back),
            limit: worked.limit,
            metrics: worked.metrics,
            latency: worked.record.latency,
            series: worked.record.series,
            read_back: back.checked,
        };
        self.tell.step_ended(&result);
        Ok((result, back.details.iter().map(|detail| format!("{}: {detail}", step.name)).collect()))
    }

    fn mount_path(&self) -> Result<PathBuf> {
        let mount =
            self.scratch.mounted().ok_or_else(|| Error::new("work on a file system that is not mounted"))?;
        Ok(mount.path().to_owned())
    }

    fn root(&self) -> Result<File> {
        self.scratch.mounted().ok_or_else(|| Error::new("work on a file system that is not mounted"))?.root()
    }

    /// From the start of the clock to its third stop.
    fn work(&mut self, step: &StepSpec, workload: &dyn Workload) -> Result<Worked> {
        let mount = self.mount_path()?;
        let root = self.root()?;
        rustix::fs::syncfs(&root).cannot(|| "sync before the step".into())?;
        let target = target_of(self.scratch, &mount, self.filesystem);
        let mut clock = Running::start(&target)?;
        let (outcome, record) = {
            let tell = &mut *self.tell;
            let progress = Box::new(|count, bytes| tell.progress(count, bytes));
            let descriptor = root.try_clone().cannot(|| "duplicate a descriptor".into())?;
            let mut real = Real::new(descriptor, stop_flag(), progress);
            let outcome = workload.run(&mut real, self.spec.seed);
            clock.stop(Stop::Returned, &target)?;
            (outcome, real.into_record())
        };
        let now = Moment::of(self.filesystem, &root);
        let synced = rustix::fs::syncfs(&root);
        clock.stop(Stop::Synced, &target)?;
        drop(root);
        if stop_requested() {
            if workload.fills() {
                drop_dirty_files(&mount.join(&step.name));
            }
            return Err(Error::stopped(format!("finish step {}: it was asked to stop", step.name)));
        }
        self.watch.check(self.scratch, self.log)?;
        synced
            .cannot(|| format!("bring the data of step {} to the device (syncfs)", step.name))
            .map_err(|error| error.of_kind(crate::error::Kind::Damage))?;
        let limit = self.judge(step, outcome, &record, now)?;
        self.tell.phase("unmount");
        self.scratch.unmount()?;
        clock.stop(Stop::Unmounted, &target_of(self.scratch, &mount, self.filesystem))?;
        self.scratch.go_cold()?;
        let metrics = clock.finish(&record.counts);
        Ok(Worked { record, limit, metrics })
    }

    /// Tell a limit of the file system from a fault.
    fn judge(
        &self,
        step: &StepSpec,
        outcome: crate::ops::Result<Ended>,
        record: &Record,
        now: Result<Moment>,
    ) -> Result<Option<Limit>> {
        let ended = match outcome {
            Ok(ended) => ended,
            Err(failure) if is_limit(failure.errno) => Ended::Limit { which: None, failure: Some(failure) },
            Err(failure) => {
                let doing = format!("do the work of step {}", step.name);
                return Err(Error::damage(doing)
                    .because(failure)
                    .next("look at the kernel log; the disk or the file system is faulty"));
            }
        };
        let Ended::Limit { which, failure } = ended else { return Ok(None) };
        let (which, text) = match (which, &failure) {
            (Some(which), _) => (which, None),
            (None, Some(failure)) => {
                let now = now?;
                let (which, text) = self.filesystem.limit(failure.errno, &now.statfs, now.space.as_ref());
                (which, Some(text))
            }
            (None, None) => (Which::FileSize, None),
        };
        let limit = Limit {
            which,
            errno: failure.as_ref().map(|failure| format!("{:?}", failure.errno)),
            call: failure.as_ref().map(|failure| failure.op.name().to_owned()),
            path: failure.as_ref().map(|failure| failure.path.clone()),
            at_count: record.counts.total(),
            at_bytes: record.counts.written_bytes,
            text,
        };
        Ok(Some(limit))
    }

    /// Mount again, cold; compare everything; leave the next step a cold mount.
    fn read_back(
        &mut self,
        step: &StepSpec,
        workload: &dyn Workload,
        worked: &mut Worked,
    ) -> Result<ReadBack> {
        self.tell.phase("read back");
        let options = mount_options(self.spec, self.filesystem);
        self.scratch.mount(self.filesystem, &options)?;
        let root = self.root()?;
        let reach = self.reach(workload, worked);
        let back = read_back(root.as_fd(), workload, &step.name, self.spec.seed, reach, stop_flag())?;
        drop(root);
        self.counted_errors(worked)?;
        if back.checked == Checked::Clean {
            self.recover(workload, &mut worked.metrics)?;
        }
        self.scratch.unmount()?;
        self.scratch.go_cold()?;
        self.watch.check(self.scratch, self.log)?;
        self.scratch.mount(self.filesystem, &options)?;
        Ok(back)
    }

    /// How far the work came, so that the plan of what must exist ends there too.
    fn reach(&mut self, workload: &dyn Workload, worked: &Worked) -> Reach {
        let counts = &worked.record.counts;
        if workload.fills() {
            self.filled = Some(Bytes(counts.written_bytes));
        }
        if worked.limit.is_some() && !workload.fills() {
            return Reach { written: Some(Bytes(counts.written_bytes)), operations: Some(counts.total()) };
        }
        Reach { written: self.filled, operations: None }
    }

    /// Errors that the file system itself counted while it was mounted.
    fn counted_errors(&self, worked: &Worked) -> Result<()> {
        // A full directory index counts as a warning for each call that it refused.
        if worked.limit.as_ref().is_some_and(|limit| limit.which == Which::DirectoryIndex) {
            return Ok(());
        }
        match self.filesystem.counted_errors(self.scratch.device().name()) {
            Some(text) => Err(Error::damage(format!("trust the file system: {text}"))),
            None => Ok(()),
        }
    }

    /// Where the workload can tell: a full file system gives its space back.
    fn recover(&mut self, workload: &dyn Workload, metrics: &mut Metrics) -> Result<()> {
        let root = self.root()?;
        let mut free = || {
            rustix::fs::syncfs(&root).cannot(|| "sync after the delete".into())?;
            // The fill is root's and takes the reserve, so what is free for root counts.
            Ok(statfs(&root)?.free)
        };
        let descriptor = root.try_clone().cannot(|| "duplicate a descriptor".into())?;
        let mut real = Real::new(descriptor, stop_flag(), Box::new(|_, _| {}));
        if let Some(recovered) = workload.recover(&mut real, self.spec.seed, &mut free)? {
            self.filled = Some(recovered.second_size);
            metrics.set("recovered_s", recovered.freed_s);
            metrics.set("second_file_size_bytes", bytes_as_f64(recovered.second_size));
        }
        Ok(())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a file of 2^53 bytes does not fit on a loop device")]
fn bytes_as_f64(bytes: Bytes) -> f64 {
    bytes.0 as f64
}

fn target_of<'a>(scratch: &'a Scratch, mount: &'a Path, filesystem: &'static dyn Filesystem) -> Target<'a> {
    Target { device: scratch.device().name(), image: scratch.image().as_fd(), mount, filesystem }
}

/// The file system at the moment when the work ended, to tell which limit it met.
struct Moment {
    statfs: StatFs,
    space: Option<SpaceDetail>,
}

impl Moment {
    fn of(filesystem: &dyn Filesystem, root: &File) -> Result<Self> {
        Ok(Self { statfs: statfs(root)?, space: filesystem.space(root)? })
    }
}

/// The errnos with which a file system says that it is full, in one way or another.
fn is_limit(errno: Errno) -> bool {
    matches!(errno, Errno::ENOSPC | Errno::EDQUOT | Errno::EMLINK | Errno::EFBIG)
}

fn facts(workload: &dyn Workload, worked: &Worked, back: &ReadBack) -> Facts {
    let counts = &worked.record.counts;
    let some = |count: u64| (count > 0).then_some(count);
    let errno = worked.limit.as_ref().and_then(|limit| limit.errno.clone());
    Facts {
        files_created_count: some(counts.of(Op::Create)),
        // The first directory is the step's own.
        directories_created_count: some(counts.of(Op::Mkdir).saturating_sub(1)),
        files_deleted_count: some(counts.of(Op::Unlink)),
        payload_bytes: some(payload(counts)),
        tree_hash: (back.checked != Checked::NotChecked).then(|| back.tree_hash.clone()),
        file_size_bytes: workload.fills().then_some(counts.written_bytes),
        errno: if workload.fills() { errno } else { None },
        operations_sha256: None,
    }
}

fn payload(counts: &Counts) -> u64 {
    if counts.written_bytes > 0 { counts.written_bytes } else { counts.read_bytes }
}
