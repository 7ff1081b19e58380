//! A case from the attach to the proof that nothing is left.

use std::sync::Arc;
use std::time::Instant;

use crate::case::{CaseSpec, DirectIo, MKFS, QUIET, Store};
use crate::command::stop_requested;
use crate::error::{Error, Kind, Result};
use crate::fs::{self, Description, Filesystem};
use crate::result::{CaseResult, Checked, Metrics, Reason, Status};
use crate::scratch::{Mount, Scratch, ScratchSpec, Tag};
use crate::units::Bytes;
use crate::verify::fsck::{Checkup, fsck};
use crate::verify::kernel_log::KernelLog;
use crate::workload::{self, Workload};

use super::cold::Cold;
use super::exec::Live;
use super::kept::{self, Folder};
use super::step::Bench;
use super::store::StoreWatch;
use super::tell::Tell;
use super::verdict::{all_of, ends_the_case, failed_command, not_allowed, not_clean, status_of};
use super::{orphans, quiet};

/// Run the case. Whatever happens ends up in the result.
pub(super) fn run(spec: &CaseSpec, tell: &mut Tell, live: &Live) -> CaseResult {
    let mut case =
        Case { spec, started: Instant::now(), tell, live, result: CaseResult::planned(spec), fsck: None };
    let outcome = case.run();
    case.conclude(outcome);
    case.result
}

struct Case<'a> {
    spec: &'a CaseSpec,
    started: Instant,
    tell: &'a mut Tell,
    live: &'a Live,
    result: CaseResult,
    /// What the checker printed, once it ran.
    fsck: Option<String>,
}

impl Case<'_> {
    fn run(&mut self) -> Result<()> {
        let filesystem = fs::by_name(&self.spec.configuration.filesystem).ok_or_else(|| {
            Error::usage(format!("find a file system named {}", self.spec.configuration.filesystem))
        })?;
        let mut log = KernelLog::begin(log_word(&self.spec.store));
        self.tell.phase("attach");
        let mut scratch = Scratch::attach(&scratch_spec(self.spec)?)?;
        let watch = StoreWatch::default();
        let worked = self
            .work(filesystem, &mut scratch, &mut log, &watch)
            .map_err(|error| watch.blame(error, &scratch, &mut log));
        self.tell.phase("unmount");
        let unmounted = scratch.unmount();
        log.drain();
        let said = log.about(scratch.device().name()).join("\n");
        self.read_log(log, &scratch);
        let passed = worked.is_ok() && unmounted.is_ok() && self.clean();
        if kept::is_wanted(self.spec.keep, passed) {
            self.keep(filesystem, &scratch, &said, unmounted.is_ok());
        }
        let torn_down = self.tear_down(scratch);
        // A mount that could not be ended is the harness's own failure, and comes first.
        torn_down.and(unmounted).and(worked)
    }

    fn work(
        &mut self,
        filesystem: &'static dyn Filesystem,
        scratch: &mut Scratch,
        log: &mut KernelLog,
        watch: &StoreWatch,
    ) -> Result<()> {
        self.make(filesystem, scratch)?;
        let cold = Cold::new(self.spec, filesystem.read_by_mount(&self.result.ledger))?;
        self.mount(filesystem, scratch, &cold)?;
        if self.spec.quiet {
            self.tell.phase(QUIET);
            let store = store_folder(&self.spec.store);
            self.result.quiet = Some(quiet::wait(Some(scratch.device().name()), store.as_deref())?);
        }
        let sequence = sequence(self.spec, filesystem)?;
        let bench = Bench {
            spec: self.spec,
            filesystem,
            scratch,
            log,
            watch,
            cold: &cold,
            tell: self.tell,
            live: self.live,
            started: self.started,
            filled: None,
        };
        run_steps(bench, &sequence, &mut self.result)?;
        self.tell.phase("unmount");
        scratch.unmount()?;
        scratch.go_cold()?;
        self.check(filesystem, scratch)?;
        watch.check(scratch, log)
    }

    fn make(&mut self, filesystem: &dyn Filesystem, scratch: &Scratch) -> Result<()> {
        let device = scratch.device();
        self.result.loop_device = device.loop_info();
        self.tell.phase(MKFS);
        let options = self.spec.mkfs_options();
        let invocation = filesystem.mkfs(device.path(), &options);
        self.result.mkfs_command = invocation.words();
        self.result.uuid = filesystem.takes_uuid().then_some(options.uuid);
        let begun = Instant::now();
        let output = scratch.mkfs(&invocation).map_err(|error| self.explain_mkfs(error))?;
        self.result.metrics.set("mkfs_s", begun.elapsed().as_secs_f64());
        let description = filesystem.describe(device.path(), &output)?;
        orphans::reap();
        same_block_size(&description, options.block_size)?;
        self.result.features = description.features;
        self.result.ledger = description.ledger;
        Ok(())
    }

    fn mount(
        &mut self,
        filesystem: &'static dyn Filesystem,
        scratch: &mut Scratch,
        cold: &Cold,
    ) -> Result<()> {
        self.tell.phase("mount");
        // mkfs and the tools that describe what it made have warmed the device.
        cold.chill(scratch)?;
        let begun = Instant::now();
        scratch.mount(filesystem, &mount_options(self.spec, filesystem))?;
        self.result.metrics.set("mount_s", begun.elapsed().as_secs_f64());
        cold.check_mounted(scratch)?;
        self.result.mount_options_effective = scratch.mounted().map(Mount::effective_options).transpose()?;
        Ok(())
    }

    /// A tool that fails with options of the user's has been asked for something that it cannot do.
    fn explain_mkfs(&self, error: Error) -> Error {
        match error.kind() {
            Kind::Harness if !self.spec.configuration.mkfs_options.is_empty() => error.of_kind(Kind::Usage),
            _ => error,
        }
    }

    /// The file system's own checker, read-only, on the unmounted device.
    fn check(&mut self, filesystem: &dyn Filesystem, scratch: &Scratch) -> Result<()> {
        self.tell.phase("fsck");
        let Checkup { verdict, seconds, output } = fsck(filesystem, scratch.device().path())?;
        self.fsck = Some(output);
        orphans::reap();
        if let Some(seconds) = seconds {
            self.result.metrics.set("fsck_s", seconds);
        }
        self.result.verify.fsck = verdict.checked;
        if verdict.checked != Checked::Clean {
            self.result.verify.details.push(format!("fsck: {}", verdict.text));
        }
        // Without its check the case is not verified, and so is no result.
        if verdict.checked == Checked::NotChecked && filesystem.fsck(scratch.device().path()).is_some() {
            return Err(Error::new(format!("check the file system: {}", verdict.text))
                .next("see whether the checker runs: fsduel doctor"));
        }
        Ok(())
    }

    fn read_log(&mut self, log: KernelLog, scratch: &Scratch) {
        let (checked, details) = log.finish(scratch.device().name());
        let verify = &mut self.result.verify;
        verify.kernel_log = checked;
        verify.details.extend(details);
    }

    /// Whether what has been checked so far speaks against the case.
    fn clean(&self) -> bool {
        let steps = &self.result.steps;
        let damaged = steps.iter().any(|step| step.read_back != Checked::Clean);
        !damaged
            && not_clean(&self.result.verify).is_none()
            && not_allowed(&self.spec.steps, steps).is_none()
            && failed_command(steps).is_none()
    }

    /// Leave a folder with all that one needs to look into the case by hand; the runner adds to it.
    fn keep(&mut self, filesystem: &dyn Filesystem, scratch: &Scratch, said: &str, unmounted: bool) {
        let fsck = match self.fsck.take() {
            None if unmounted && !stop_requested() => {
                fsck(filesystem, scratch.device().path()).map(|told| told.output).unwrap_or_default()
            }
            told => told.unwrap_or_default(),
        };
        let result = &mut self.result;
        let Some(image) = scratch.image() else { return self.tell.left(fsck, said) };
        let mut fill = || -> Result<()> {
            let tag = Tag::of_this_process(&self.spec.run_id)?.to_string();
            let Some(folder) = Folder::make(self.spec, &tag)? else { return Ok(()) };
            // It is there from now on, even if the store has no room for all of it.
            result.kept = Some(folder.path().display().to_string());
            folder.image(image)?;
            folder.text("fsck.txt", &fsck)?;
            folder.text("kernel.log", said)
        };
        if let Err(error) = fill() {
            self.result.verify.details.push(error.to_string());
        }
    }

    fn tear_down(&mut self, scratch: Scratch) -> Result<()> {
        self.tell.phase("detach");
        let closed = scratch.close();
        let verify = &mut self.result.verify;
        match &closed {
            Ok(()) => verify.teardown = Checked::Clean,
            Err(error) => {
                verify.teardown = Checked::Damaged;
                verify.details.push(error.to_string());
            }
        }
        closed
    }

    fn conclude(&mut self, outcome: Result<()>) {
        let result = &mut self.result;
        result.verify.read_back = all_of(result.steps.iter().map(|step| step.read_back));
        let failed = match &outcome {
            Err(error) => Some((status_of(error), Reason::from(error))),
            Ok(()) => not_clean(&result.verify)
                .or_else(|| not_allowed(&self.spec.steps, &result.steps))
                .or_else(|| failed_command(&result.steps)),
        };
        (result.status, result.reason) = match failed {
            Some((status, reason)) => (status, Some(reason)),
            None => (Status::Passed, None),
        };
        if result.status == Status::Invalid {
            // No number of an invalid case is shown, so none is stored.
            result.steps.clear();
            result.metrics = Metrics::default();
        }
    }
}

/// One after the other, to the first that no other can follow.
fn run_steps(mut bench: Bench, sequence: &[Arc<dyn Workload>], result: &mut CaseResult) -> Result<()> {
    for (step, workload) in bench.spec.steps.iter().zip(sequence) {
        let (step, details) = bench.run(step, &**workload)?;
        let end = ends_the_case(&step);
        result.steps.push(step);
        result.verify.details.extend(details);
        if let Some(end) = end {
            let is_last = result.steps.len() == sequence.len();
            result.verify.details.extend((!is_last).then_some(end));
            break;
        }
    }
    Ok(())
}

/// The work of each step on this file system.
pub(crate) fn sequence(spec: &CaseSpec, filesystem: &dyn Filesystem) -> Result<Vec<Arc<dyn Workload>>> {
    let compressing = filesystem.compresses(&mount_options(spec, filesystem));
    workload::sequence(&spec.steps, block_size(spec), spec.image_size, compressing)
        .map_err(|(_, error)| error)
}

/// Options of mkfs can win over ours, and a file system with another block size compares nothing.
fn same_block_size(made: &Description, wanted: Bytes) -> Result<()> {
    match made.ledger.get("block_size_bytes") {
        Some(found) if *found != wanted.0 => {
            let doing =
                format!("compare file systems of one block size: mkfs made {found} bytes, not {}", wanted.0);
            Err(Error::usage(doing).next("leave it out of the mkfs options; --block-size sets it for all"))
        }
        _ => Ok(()),
    }
}

/// As the case mounts it.
pub(super) fn mount_options(spec: &CaseSpec, filesystem: &dyn Filesystem) -> String {
    filesystem.mount_options(&spec.configuration.mount_options)
}

fn block_size(spec: &CaseSpec) -> Bytes {
    Bytes(spec.configuration.block_size_bytes.into())
}

fn scratch_spec(spec: &CaseSpec) -> Result<ScratchSpec> {
    Ok(ScratchSpec {
        disk: match &spec.store {
            Store::Disk(disk) => Some(disk.clone()),
            _ => None,
        },
        store: store_folder(&spec.store),
        size: spec.image_size,
        preallocate: spec.preallocate,
        logical_block_size: spec.logical_block_size,
        direct_io: match spec.direct_io {
            DirectIo::Auto => None,
            DirectIo::On => Some(true),
            DirectIo::Off => Some(false),
        },
        tag: Tag::of_this_process(&spec.run_id)?.to_string(),
    })
}

/// What every name of a device holds that this case may get.
fn log_word(store: &Store) -> String {
    match store {
        Store::Disk(disk) => disk.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        _ => "loop".into(),
    }
}

fn store_folder(store: &Store) -> Option<std::path::PathBuf> {
    match store {
        Store::Directory(folder) => Some(folder.clone()),
        Store::Memory | Store::Disk(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn another_block_size_than_that_of_the_run_is_refused() {
        let made = |bytes: u64| Description {
            ledger: [("block_size_bytes".to_owned(), bytes.into())].into(),
            ..Description::default()
        };
        same_block_size(&made(4096), Bytes(4096)).unwrap();
        let error = same_block_size(&made(1024), Bytes(4096)).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().contains("1024 bytes, not 4096"), "{error}");
        assert!(error.next_step().is_some_and(|next| next.contains("--block-size")));
    }
}
