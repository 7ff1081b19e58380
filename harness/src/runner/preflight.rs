//! Whether a plan can fit, found out before anything is written.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::fs::{Filesystem, MkfsOptions};
use crate::ops::{Counts, Op};
use crate::result::Configuration;
use crate::suite::Resolved;
use crate::units::Bytes;
use crate::workload::{self, Fullest, Workload};

use super::place::Where;

/// Refuse a root directory of a command's own where it runs on this machine.
///
/// # Errors
///
/// There is one; or a step is wrong.
pub(super) fn roots(resolved: &Resolved, place: &Where) -> Result<()> {
    let Where::Host = place else { return Ok(()) };
    let (block_size, image_size) = (resolved.block_size, resolved.image_size);
    let sequence = workload::sequence(&resolved.steps, block_size, image_size, false)
        .map_err(|(step, error)| resolved.places.explain(&step, error))?;
    let root = sequence.iter().find_map(|workload| workload.command()?.root.as_ref());
    root.map_or(Ok(()), |root| {
        Err(Error::usage(format!(
            "run a command with {} as its root directory: that is done in a virtual machine only",
            root.display()
        ))
        .next("add --backend vm"))
    })
}

/// How much a case does, in counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    /// Files and directories at the fullest moment.
    pub(super) files: u64,
    pub(super) directories: u64,
    /// Files that hold at least a byte, as far as the payload tells.
    pub(super) with_data: u64,
    pub(super) payload: Bytes,
    /// Calls of all steps that take their time, and bytes that all steps write.
    pub(super) operations: u64,
    pub(super) written: Bytes,
    /// Size of the largest file that fills the image, or up to its cap.
    pub(super) filled: Bytes,
    /// Least space that the fullest moment takes.
    pub(super) least: Bytes,
}

impl Work {
    /// Plan every step and keep the fullest moment.
    pub(super) fn of(
        resolved: &Resolved,
        configuration: &Configuration,
        filesystem: &dyn Filesystem,
    ) -> Result<Self> {
        let compressing = filesystem.compresses(&configuration.mount_options);
        let (block_size, image_size) = (resolved.block_size, resolved.image_size);
        let sequence = workload::sequence(&resolved.steps, block_size, image_size, compressing)
            .map_err(|(step, error)| resolved.places.explain(&step, error))?;
        let mut most = Self::default();
        let mut alive: Vec<(String, Self)> = vec![];
        for (step, workload) in resolved.steps.iter().zip(&sequence) {
            let own = own(&step.name, workload, resolved)?;
            most.operations = most.operations.saturating_add(own.operations);
            most.written = Bytes(most.written.0.saturating_add(own.written.0));
            most.filled = most.filled.max(own.filled);
            alive.retain(|(name, _)| !workload.removes().iter().any(|gone| gone.step == *name));
            alive.push((step.name.clone(), own));
            let now = Self::sum(alive.iter().map(|(_, work)| work));
            most.files = most.files.max(now.files);
            most.directories = most.directories.max(now.directories);
            most.least = most.least.max(now.least(filesystem, compressing, block_size));
        }
        Ok(most)
    }

    /// What is there when all of these are.
    fn sum<'a>(works: impl Iterator<Item = &'a Self> + Clone) -> Self {
        let all = |count: fn(&Self) -> u64| sum(works.clone().map(count));
        Self {
            files: all(|work| work.files),
            directories: all(|work| work.directories),
            with_data: all(|work| work.with_data),
            payload: Bytes(all(|work| work.payload.0)),
            ..Self::default()
        }
    }

    /// Compressed data take less than their size, and it is not known how much less.
    fn least(&self, filesystem: &dyn Filesystem, compressing: bool, block_size: Bytes) -> Bytes {
        let (files, payload) = if compressing { (0, Bytes(0)) } else { (self.with_data, self.payload) };
        filesystem.least_space(files, self.directories, payload, block_size)
    }
}

/// A sum that stops at the largest number: sizes come from the command line.
pub(super) fn sum(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, u64::saturating_add)
}

/// What one step makes, alone.
fn own(step: &str, workload: &Arc<dyn Workload>, resolved: &Resolved) -> Result<Work> {
    if workload.command().is_some() {
        // It does what it likes, and can fill the image.
        return Ok(Work { written: resolved.image_size, ..Work::default() });
    }
    let fullest = workload.fullest(resolved.seed);
    // Every entry takes more than this of the image, for each of its calls: no need to count on,
    // unless room is used again.
    let most = if fullest.is_some() { u64::MAX } else { resolved.image_size.0 / 32 };
    let counts = workload::totals(&**workload, resolved.seed, most).map_err(|failure| {
        if failure.is_stop() {
            return Error::stopped(format!("plan step {step}"));
        }
        let doing =
            format!("fit step {step}: no file system has room for so many files in {}", resolved.image_size);
        Error::usage(doing).next("a larger --size, or fewer files with --set")
    })?;
    let Some(counts) = counts else {
        let sizes = workload.fill_sizes(resolved.image_size);
        let filled = sizes.iter().copied().max().unwrap_or_default();
        let written = Bytes(sum(sizes.iter().map(|size| size.0)));
        return Ok(Work { files: 1, filled, written, ..Work::default() });
    };
    let fullest = fullest.unwrap_or(Fullest {
        files: counts.of(Op::Create),
        directories: counts.of(Op::Mkdir),
        payload: Bytes(counts.written_bytes),
    });
    Ok(Work {
        files: fullest.files,
        with_data: fullest.files.min(fullest.payload.0),
        directories: fullest.directories,
        payload: fullest.payload,
        operations: slow_calls(&counts),
        written: Bytes(counts.written_bytes),
        filled: Bytes(0),
        least: Bytes(0),
    })
}

/// Calls that take their time: of those that move bytes, one for each file. The bytes count for the
/// others.
fn slow_calls(counts: &Counts) -> u64 {
    let moving = counts.of(Op::Read) + counts.of(Op::Write);
    counts.total() - moving + moving.min(counts.of(Op::Create) + counts.of(Op::Open))
}

/// Refuse work that the file system cannot hold, with the size that would do.
pub(super) fn fits(
    filesystem: &dyn Filesystem,
    work: &Work,
    options: &MkfsOptions,
    image: Bytes,
) -> Result<()> {
    let name = filesystem.name();
    if work.least > image {
        return Err(Error::usage(format!(
            "fit the plan on {name}: it needs {} for {} files, the image has {image}",
            work.least, work.files
        ))
        .next(format!("--size {} or more, or fewer files", rounded_up(work.least.0).typed())));
    }
    let Some(inodes) = filesystem.inodes(image, options)? else { return Ok(()) };
    let need = work.files.saturating_add(work.directories);
    if need <= inodes {
        return Ok(());
    }
    let scaled = u128::from(image.0) * u128::from(need) / u128::from(inodes.max(1));
    let size = rounded_up(u64::try_from(scaled).unwrap_or(u64::MAX));
    Err(Error::usage(format!(
        "fit the plan on {name}: it makes {need} files and directories, an image of {image} has {inodes} inodes"
    ))
    .next(format!("--size {}, or more inodes with --mkfs-options '{name}=-N {need}'", size.typed())))
}

/// A tenth more, as whole GiB or, where it is small, quarters of one: a size to type.
fn rounded_up(bytes: u64) -> Bytes {
    let step = if bytes < Bytes::gib(4).0 { Bytes::mib(256) } else { Bytes::gib(1) }.0;
    Bytes((bytes.saturating_add(bytes / 10)).div_ceil(step).saturating_mul(step))
}

#[cfg(test)]
mod tests;
