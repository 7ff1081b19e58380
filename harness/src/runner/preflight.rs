//! Whether a plan can fit, found out before anything is written.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::fs::{Filesystem, MkfsOptions};
use crate::ops::Op;
use crate::result::Configuration;
use crate::suite::Resolved;
use crate::units::Bytes;
use crate::workload::{self, Workload};

/// How much a case does, in counts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    /// Files and directories at the fullest moment.
    pub(super) files: u64,
    pub(super) directories: u64,
    pub(super) payload: Bytes,
    /// Calls of all steps, and bytes that all steps write.
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
            most.operations += own.operations;
            most.written.0 += own.written.0;
            most.filled = most.filled.max(own.filled);
            alive.retain(|(name, _)| !workload.removes().iter().any(|gone| gone.step == *name));
            alive.push((step.name.clone(), own));
            let sum = |count: fn(&Self) -> u64| alive.iter().map(|(_, work)| count(work)).sum::<u64>();
            most.files = most.files.max(sum(|work| work.files));
            most.directories = most.directories.max(sum(|work| work.directories));
            most.payload.0 = most.payload.0.max(sum(|work| work.payload.0));
        }
        most.least = filesystem.least_space(most.files, most.directories, most.payload, resolved.block_size);
        Ok(most)
    }
}

/// What one step makes, alone.
fn own(step: &str, workload: &Arc<dyn Workload>, resolved: &Resolved) -> Result<Work> {
    // Every entry takes more than this of the image, for each of its calls: no need to count on.
    let most = resolved.image_size.0 / 32;
    let counts = workload::totals(&**workload, resolved.seed, most).map_err(|_| {
        let doing =
            format!("fit step {step}: no file system has room for so many files in {}", resolved.image_size);
        Error::usage(doing).next("a larger --size, or fewer files with --set")
    })?;
    let Some(counts) = counts else {
        let sizes = workload.fill_sizes(resolved.image_size);
        let filled = sizes.iter().copied().max().unwrap_or_default();
        let written = Bytes(sizes.iter().map(|size| size.0).sum());
        return Ok(Work { files: 1, filled, written, ..Work::default() });
    };
    Ok(Work {
        files: counts.of(Op::Create),
        directories: counts.of(Op::Mkdir),
        payload: Bytes(counts.written_bytes),
        operations: counts.total(),
        written: Bytes(counts.written_bytes),
        filled: Bytes(0),
        least: Bytes(0),
    })
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
        .next(format!("--size {} or more, or fewer files with --set", rounded_up(work.least.0))));
    }
    let Some(inodes) = filesystem.inodes(image, options)? else { return Ok(()) };
    let need = work.files + work.directories;
    if need <= inodes {
        return Ok(());
    }
    let scaled = u128::from(image.0) * u128::from(need) / u128::from(inodes.max(1));
    let size = rounded_up(u64::try_from(scaled).unwrap_or(u64::MAX));
    Err(Error::usage(format!(
        "fit the plan on {name}: it makes {need} files and directories, an image of {image} has {inodes} inodes"
    ))
    .next(format!("--size {size}, or more inodes with --mkfs-options '{name}=-N {need}'")))
}

/// A tenth more, as whole quarters of a GiB: a size to type.
fn rounded_up(bytes: u64) -> Bytes {
    let step = Bytes::mib(256).0;
    Bytes((bytes.saturating_add(bytes / 10)).div_ceil(step).saturating_mul(step))
}
