//! A step: start cold, measure to the third stop, read everything back, leave it cold.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Instant;

use nix::errno::Errno;

use crate::case::{CaseSpec, READ_BACK};
use crate::command::{stop_flag, stop_requested};
use crate::error::{Cannot, Error, Kind, Result};
use crate::fs::Filesystem;
use crate::measure::{Made, Running, Stop, Target};
use crate::ops::{Op, Reach, Real, Record};
use crate::result::{Checked, EndedWord, Facts, Limit, Metrics, StepResult, Which};
use crate::scratch::{Image, Mount, Scratch};
use crate::sys::statfs::statfs;
use crate::units::{Bytes, Seed};
use crate::verify::kernel_log::KernelLog;
use crate::verify::{ReadBack, read_back};
use crate::workload::{self, StepSpec, Workload};

use super::abandon::drop_dirty_files;
use super::case::mount_options;
use super::cold::{Cold, check_files};
use super::exec::Live;
use super::limit::{Moment, judge};
use super::store::StoreWatch;
use super::tell::Tell;

/// A mounted scratch file system on which steps run, one after the other.
pub(super) struct Bench<'a> {
    pub(super) spec: &'a CaseSpec,
    pub(super) filesystem: &'static dyn Filesystem,
    pub(super) scratch: &'a mut Scratch,
    pub(super) log: &'a mut KernelLog,
    pub(super) watch: &'a StoreWatch,
    pub(super) cold: &'a Cold,
    pub(super) tell: &'a mut Tell,
    pub(super) live: &'a Live,
    pub(super) started: Instant,
    /// Size of the file that an earlier step left, where one filled the file system.
    pub(super) filled: Option<Bytes>,
}

/// What the work came to, before anything was verified.
struct Worked {
    record: Record,
    limit: Option<Limit>,
    metrics: Metrics,
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
        if let Some(command) = workload.command() {
            return self.run_command(step, command);
        }
        let started_s = self.started.elapsed().as_secs_f64();
        let total = workload::totals(workload, self.spec.seed, u64::MAX).ok().flatten();
        let most = workload.fill_sizes(self.spec.image_size).first().map(|size| size.0);
        self.tell.step_begun(&step.name, total.map(|counts| counts.total()), most);
        let outcome = self.work_and_read_back(step, workload);
        if outcome.is_err() && stop_requested() && workload.fills() {
            self.abandon(step);
        }
        let (worked, back) = outcome?;
        let result = result_of(step, (workload, self.spec.seed), started_s, worked, &back);
        self.tell.step_ended(&result);
        let mut details: Vec<String> =
            back.details.iter().map(|detail| format!("{}: {detail}", step.name)).collect();
        if let Some(why) = self.filesystem.keeps_deleted_space().filter(|_| workload.fills()) {
            details.push(format!("{}: no second fill after a delete, since {why}", step.name));
        }
        if workload.fills() && !workload.is_dense() {
            details
                .push(format!("{}: holes are not looked for, since the file system compresses", step.name));
        }
        Ok((result, details))
    }

    fn work_and_read_back(&mut self, step: &StepSpec, workload: &dyn Workload) -> Result<(Worked, ReadBack)> {
        let mut worked = self.work(step, workload)?;
        let back = self.read_back(step, workload, &mut worked)?;
        Ok((worked, back))
    }

    fn abandon(&self, step: &StepSpec) {
        if let Some(mount) = self.scratch.mounted() {
            drop_dirty_files(&mount.path().join(&step.name));
        }
    }

    pub(super) fn root(&self) -> Result<File> {
        self.scratch.mounted().ok_or_else(|| Error::new("work on a file system that is not mounted"))?.root()
    }

    /// From the start of the clock to its third stop.
    fn work(&mut self, step: &StepSpec, workload: &dyn Workload) -> Result<Worked> {
        let root = self.root()?;
        let mount = self.scratch.mounted().map(Mount::path).unwrap_or(Path::new("")).to_owned();
        rustix::fs::syncfs(&root).cannot(|| "sync before the step".into())?;
        let target = target_of(self.scratch, &mount, self.filesystem);
        let (scratch, watch, log) = (&*self.scratch, self.watch, &mut *self.log);
        let real = Real::new(duplicate(&root)?, stop_flag()).counting_in(self.tell.counters());
        let mut real = real.each_second(|| watch.glance(scratch, log));
        let mut clock = Running::start(&target)?;
        let outcome = workload.run(&mut real, self.spec.seed);
        clock.stop(Stop::Returned, &target)?;
        // The sync would write back all that is dirty, which can take longer than a stop may.
        check_stop(step)?;
        let now = Moment::of(self.filesystem, &root);
        let synced = rustix::fs::syncfs(&root);
        clock.stop(Stop::Synced, &target)?;
        check_stop(step)?;
        let record = real.into_record();
        drop(root);
        self.watch.check(self.scratch, self.log)?;
        synced
            .cannot(|| format!("bring the data of step {} to the device (syncfs)", step.name))
            .map_err(|error| error.of_kind(Kind::Damage))?;
        let limit = judge(self.filesystem, &step.name, outcome, &record, now)?;
        self.tell.phase("unmount");
        self.scratch.unmount()?;
        clock.stop(Stop::Unmounted, &target_of(self.scratch, &mount, self.filesystem))?;
        if let Some(image) = self.scratch.image().filter(|_| workload.fills() && workload.is_dense()) {
            Image::holds(image.allocated()?, Bytes(record.counts.written_bytes))?;
        }
        let metrics = clock.finish(&record);
        Ok(Worked { record, limit, metrics })
    }

    /// Mount again, cold; compare everything; leave the next step a cold mount.
    fn read_back(
        &mut self,
        step: &StepSpec,
        workload: &dyn Workload,
        worked: &mut Worked,
    ) -> Result<ReadBack> {
        self.tell.phase(READ_BACK);
        self.mount_cold()?;
        let root = self.root()?;
        check_files(root.as_fd(), workload, self.spec.seed)?;
        let reach = self.reach(workload, worked);
        let back = read_back(root.as_fd(), workload, &step.name, self.spec.seed, reach, stop_flag())?;
        drop(root);
        self.counted_errors(worked.limit.as_ref())?;
        if back.checked == Checked::Clean && self.filesystem.keeps_deleted_space().is_none() {
            self.recover(workload, &mut worked.metrics).map_err(|error| match stop_requested() {
                true => error.of_kind(Kind::Stopped),
                false => error,
            })?;
        }
        self.scratch.unmount()?;
        self.watch.check(self.scratch, self.log)?;
        self.mount_cold()?;
        Ok(back)
    }

    /// Mount what was mounted before with the same options, with cold caches.
    pub(super) fn mount_cold(&mut self) -> Result<()> {
        self.cold.chill(self.scratch)?;
        self.scratch.mount(self.filesystem, &mount_options(self.spec, self.filesystem)).map_err(|error| {
            match error.errno() {
                None | Some(Errno::EBUSY | Errno::ENOMEM) => error,
                // The options were right the first time, so it is what the device holds.
                Some(_) => error.of_kind(Kind::Damage),
            }
        })?;
        self.cold.check_mounted(self.scratch)
    }

    /// How far the work came, so that the plan of what must exist ends there too.
    fn reach(&mut self, workload: &dyn Workload, worked: &Worked) -> Reach {
        let counts = &worked.record.counts;
        if workload.fills() {
            self.filled = Some(Bytes(counts.written_bytes));
        }
        if worked.limit.is_some() && !workload.fills() {
            return Reach {
                written: Some(Bytes(counts.written_bytes)),
                operations: Some(counts.total()),
                block_size: worked.record.block_size,
            };
        }
        Reach { written: self.filled, ..Reach::default() }
    }

    /// Errors that the file system itself counted while it was mounted.
    pub(super) fn counted_errors(&self, limit: Option<&Limit>) -> Result<()> {
        // A full directory index counts as a warning for each call that it refused.
        if limit.is_some_and(|limit| limit.which == Which::DirectoryIndex) {
            return Ok(());
        }
        match self.filesystem.counted_errors(self.scratch.device().name()) {
            Some(text) => Err(Error::damage(format!("trust the file system: {text}"))),
            None => Ok(()),
        }
    }

    /// Where the workload can tell: a full file system gives its space back.
    fn recover(&mut self, workload: &dyn Workload, metrics: &mut Metrics) -> Result<()> {
        if workload.fills() {
            self.tell.phase("recover");
        }
        let root = self.root()?;
        let mut free = || {
            rustix::fs::syncfs(&root).cannot(|| "sync after the delete".into())?;
            // The fill is root's and takes the reserve, so what is free for root counts.
            Ok(statfs(&root)?.free)
        };
        let mut real = Real::new(duplicate(&root)?, stop_flag());
        if let Some(recovered) = workload.recover(&mut real, self.spec.seed, &mut free)? {
            self.filled = Some(recovered.second_size);
            metrics.set("recovered_s", recovered.freed_s);
            metrics.set("second_file_size_bytes", recovered.second_size.as_f64());
        }
        Ok(())
    }
}

pub(super) fn target_of<'a>(
    scratch: &'a Scratch,
    mount: &'a Path,
    filesystem: &'static dyn Filesystem,
) -> Target<'a> {
    let (device, image) = (scratch.device().name(), scratch.image().map(AsFd::as_fd));
    Target { made: Some(Made { device, image, mount, filesystem }) }
}

fn duplicate(root: &File) -> Result<File> {
    root.try_clone().cannot(|| "duplicate a descriptor".into())
}

pub(super) fn check_stop(step: &StepSpec) -> Result<()> {
    match stop_requested() {
        true => Err(Error::stopped(format!("finish step {}: it was asked to stop", step.name))),
        false => Ok(()),
    }
}

fn result_of(
    step: &StepSpec,
    (workload, seed): (&dyn Workload, Seed),
    started_s: f64,
    worked: Worked,
    back: &ReadBack,
) -> StepResult {
    StepResult {
        name: step.name.clone(),
        workload: step.workload.clone(),
        started_s,
        ended: if worked.limit.is_some() { EndedWord::Limit } else { EndedWord::Completed },
        facts: Facts {
            tree_hash: (back.checked != Checked::NotChecked).then(|| back.tree_hash.clone()),
            ..facts(workload, seed, &worked.record, worked.limit.as_ref())
        },
        limit: worked.limit,
        metrics: worked.metrics,
        latency: worked.record.latency,
        series: worked.record.series,
        errnos: worked.record.errnos.iter().map(ToString::to_string).collect(),
        read_back: back.checked,
        command: None,
    }
}

/// What the work came to in facts, without the tree that it left.
pub(crate) fn facts(workload: &dyn Workload, seed: Seed, record: &Record, limit: Option<&Limit>) -> Facts {
    let counts = &record.counts;
    let some = |count: u64| (count > 0).then_some(count);
    let errno = limit.and_then(|limit| limit.errno.clone());
    Facts {
        files_created_count: some(counts.of(Op::Create)),
        // The first directory is the step's own, where it has one.
        directories_created_count: some(counts.of(Op::Mkdir).saturating_sub(workload.has_directory().into())),
        files_deleted_count: some(counts.of(Op::Unlink)),
        payload_bytes: some(counts.payload()),
        tree_hash: None,
        file_size_bytes: workload.fills().then_some(counts.written_bytes),
        errno: if workload.fills() { errno } else { None },
        postmark: record.postmark.clone(),
        operations_sha256: record.postmark.as_ref().and_then(|done| workload.digest(seed, done)),
    }
}
