//! One file that grows until the file system is full: how much fits, and whether deleting it
//! gives the space back.
//!
//! Chunks are halved after a short write or `ENOSPC`, down to the block size, so that the size
//! does not depend on the chunk. `ENOSPC` may also come from `fsync` or `close`: both are checked.

use std::sync::Arc;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use serde::{Deserialize, Serialize};

use super::shared::parameters::{self, Parameter, Span};
use super::{Build, Ended, Recovered, Row, Workload};
use crate::content::{Content, Pattern};
use crate::error::{Cannot, Error, Result};
use crate::ops::{self, Failure, Handle, Ops};
use crate::units::{Bytes, Seed};

pub(super) const ROW: Row = Row {
    name: "fill-until-enospc",
    meaning: "Write one file until the file system is full.",
    parameters: &[
        Parameter { key: "pattern", meaning: "`zero`, `random` or `text`.", default: "\"zero\"" },
        Parameter { key: "chunk", meaning: "Bytes of one write, while there is room.", default: "\"1MiB\"" },
        Parameter {
            key: "cap",
            meaning: "End at this size, as \"1GiB\"; else at 4 times the image where the mount options ask for compression.",
            default: "none",
        },
        Parameter {
            key: "recover",
            meaning: "Afterwards, untimed, delete the file, wait for the space and fill again.",
            default: "true",
        },
    ],
    build,
};

/// btrfs with single metadata was seen to need 29 s until its cleaner gave the space back.
const PATIENCE: Duration = Duration::from_secs(35);
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Parameters {
    pattern: Pattern,
    chunk: Span,
    cap: Option<Span>,
    recover: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        let chunk = Span { low: 1 << 20, high: 1 << 20 };
        Self { pattern: Pattern::Zero, chunk, cap: None, recover: true }
    }
}

struct FillUntilEnospc {
    step: String,
    pattern: Pattern,
    chunk: usize,
    block: usize,
    cap: u64,
    recover: bool,
    compressing: bool,
}

fn build(build: &Build) -> Result<Arc<dyn Workload>> {
    let Parameters { pattern, chunk, cap, recover } = parameters::read(build)?;
    let limits = chunk.low == chunk.high && cap.is_none_or(|cap| cap.low == cap.high && cap.low > 0);
    let fitting = (build.block_size.0..=64 << 20).contains(&chunk.high);
    if !limits || !fitting {
        return Err(Error::usage(format!("run step `{}` with this `chunk` or `cap`", build.step)).next(
            format!(
                "give one number for each: a chunk of {} bytes to 64 MiB, a cap above 0",
                build.block_size.0
            ),
        ));
    }
    let compressed = build.compressing.then(|| build.image_size.0.saturating_mul(4));
    let size = |bytes| usize::try_from(bytes).expect("at most 64 MiB");
    Ok(Arc::new(FillUntilEnospc {
        step: build.step.to_owned(),
        pattern,
        chunk: size(chunk.high),
        block: size(build.block_size.0.clamp(1, 64 << 20)),
        cap: cap.map(|cap| cap.high).or(compressed).unwrap_or(u64::MAX),
        recover,
        compressing: build.compressing,
    }))
}

impl FillUntilEnospc {
    fn path(&self) -> String {
        format!("{}/file", self.step)
    }

    /// Make the file and let it grow until something ends it.
    fn fill(&self, ops: &mut dyn Ops, seed: Seed) -> ops::Result<Ended> {
        match ops.create(&self.path()) {
            Ok(file) => self.fill_file(ops, file, seed),
            Err(failure) => limit(failure),
        }
    }

    fn fill_file(&self, ops: &mut dyn Ops, file: Handle, seed: Seed) -> ops::Result<Ended> {
        let grown = self.grow(ops, file, seed.derive(&self.step));
        let synced = ops.fsync(file);
        let closed = ops.close(file);
        let grown = grown?;
        // What `fsync` or `close` refuses was lost after `write` had taken it, so it comes first.
        match synced.and(closed).err().or(grown) {
            Some(failure) => limit(failure),
            None => Ok(Ended::Capped(self.capped())),
        }
    }

    /// Why a file that could have grown on did not.
    fn capped(&self) -> String {
        let why = match self.compressing {
            true => ": zeros take next to nothing where they are compressed",
            false => "",
        };
        format!("the cap of {} on the file, not the file system{why}", Bytes(self.cap))
    }

    /// Write until the smallest write fails, which is returned, or the cap is reached.
    fn grow(&self, ops: &mut dyn Ops, file: Handle, seed: Seed) -> ops::Result<Option<Failure>> {
        let content = Content::new(self.pattern, seed);
        let mut buffer = vec![0; self.chunk];
        let (mut chunk, mut size) = (self.chunk, 0_u64);
        while size < self.cap {
            let length = usize::try_from(self.cap - size).unwrap_or(usize::MAX).min(chunk);
            if ops.wants_bytes() && !content.is_uniform() {
                content.fill(0, size, &mut buffer[..length]);
            }
            let written = match ops.write(file, &buffer[..length]) {
                Ok(written) => written,
                Err(failure) if !is_limit(&failure) => return Err(failure),
                Err(failure) if chunk <= self.block => return Ok(Some(failure)),
                Err(_) => 0,
            };
            size += written as u64;
            if written < length {
                chunk = (chunk / 2).max(self.block);
            }
        }
        Ok(None)
    }

    /// Wait until as much as `wanted` is free and a file can be made again, which it cannot be
    /// at first on btrfs with single metadata although the space counts as free.
    fn make_again(
        &self,
        ops: &mut dyn Ops,
        wanted: u64,
        free: &mut dyn FnMut() -> Result<Bytes>,
    ) -> Result<Handle> {
        let begun = Instant::now();
        loop {
            // Fails when the run is stopped, too.
            ops.stat(&self.step).cannot(|| "wait for the space of a deleted file".into())?;
            let now = free()?.0;
            if now >= wanted {
                match ops.create(&self.path()) {
                    Err(failure) if is_limit(&failure) => {}
                    result => return result.cannot(|| "make the file again".into()),
                }
            }
            if begun.elapsed() > PATIENCE {
                return Err(not_given_back(now, wanted));
            }
            std::thread::sleep(PAUSE);
        }
    }
}

fn not_given_back(free: u64, wanted: u64) -> Error {
    let after = PATIENCE.as_secs();
    Error::damage(format!(
        "get the space of a deleted file back: after {after} s {free} bytes are free, {wanted} were expected, \
         or no file can be made"
    ))
    .next("set `recover = false` in this step to do without this check")
}

fn smaller(first: u64, second: u64) -> Error {
    Error::damage(format!(
        "fill the file system again: after the first file of {first} bytes was deleted, one of {second} bytes \
         fits, more than 2 % less"
    ))
    .next("set `recover = false` in this step to do without this check")
}

/// `ENOSPC` ends the work as it should, and `EFBIG` is the largest file that can be.
fn is_limit(failure: &Failure) -> bool {
    matches!(failure.errno, Errno::ENOSPC | Errno::EFBIG)
}

fn limit(failure: Failure) -> ops::Result<Ended> {
    if !is_limit(&failure) {
        return Err(failure);
    }
    Ok(Ended::Full(failure))
}

impl Workload for FillUntilEnospc {
    fn run(&self, ops: &mut dyn Ops, seed: Seed) -> ops::Result<Ended> {
        match ops.mkdir(&self.step) {
            Ok(()) => self.fill(ops, seed),
            Err(failure) => limit(failure),
        }
    }

    fn fills(&self) -> bool {
        true
    }

    fn fill_sizes(&self, image: Bytes) -> Vec<Bytes> {
        vec![Bytes(self.cap.min(image.0)); if self.recover { 2 } else { 1 }]
    }

    fn is_dense(&self) -> bool {
        !self.compressing
    }

    fn recover(
        &self,
        ops: &mut dyn Ops,
        seed: Seed,
        free: &mut dyn FnMut() -> Result<Bytes>,
    ) -> Result<Option<Recovered>> {
        if !self.recover {
            return Ok(None);
        }
        let path = self.path();
        let first = ops.stat(&path).cannot(|| "tell the size of the file".into())?;
        let begun = Instant::now();
        ops.unlink(&path).cannot(|| "delete the file that filled the file system".into())?;
        // What compression saved does not come back.
        let wanted = if self.compressing { 0 } else { first / 100 * 98 };
        let file = self.make_again(ops, wanted, free)?;
        let freed_s = begun.elapsed().as_secs_f64();
        self.fill_file(ops, file, seed).cannot(|| "fill the file system again".into())?;
        let second_size = ops.stat(&path).map(Bytes).cannot(|| "tell the size of the second file".into())?;
        if second_size.0 < wanted {
            return Err(smaller(first, second_size.0));
        }
        Ok(Some(Recovered { freed_s, second_size }))
    }
}
