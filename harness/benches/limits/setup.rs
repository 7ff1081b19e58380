//! Set-up and teardown of a scratch file system of 1 GiB, without the time of `mkfs`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use fsduel_harness::error::Result;
use fsduel_harness::fs::{self, Filesystem, MkfsOptions};
use fsduel_harness::manifest::run_id;
use fsduel_harness::scratch::{Scratch, ScratchSpec, Tag};
use fsduel_harness::units::{Bytes, Seed};

use crate::table::{Row, median};

/// Measured so often on each file system.
const TIMES: usize = 20;
const LIMIT_MS: f64 = 50.0;

/// A row for each file system.
pub fn rows() -> Result<Vec<Row>> {
    fs::ALL.iter().map(|filesystem| row(*filesystem)).collect()
}

fn row(filesystem: &'static dyn Filesystem) -> Result<Row> {
    let times: Result<Vec<f64>> = (0..TIMES).map(|_| cycle(filesystem)).collect();
    Ok(Row {
        what: format!("set-up and teardown of 1 GiB of {} without mkfs", filesystem.name()),
        value: Ok(median(&mut times?)),
        limit: Some(LIMIT_MS),
        unit: "ms",
        n: TIMES,
    })
}

/// Milliseconds of everything but `mkfs`.
fn cycle(filesystem: &'static dyn Filesystem) -> Result<f64> {
    let begun = Instant::now();
    let (mut scratch, mkfs) = mounted(filesystem, Bytes::gib(1))?;
    scratch.unmount()?;
    scratch.go_cold()?;
    scratch.close()?;
    Ok((begun.elapsed() - mkfs).as_secs_f64() * 1e3)
}

/// A new file system on the disk, mounted with its default options, and how long `mkfs` took.
pub fn mounted(filesystem: &'static dyn Filesystem, size: Bytes) -> Result<(Scratch, Duration)> {
    mounted_in(Some(PathBuf::from("/var/tmp")), filesystem, size)
}

/// The same, in a folder or, where there is none, in memory.
pub fn mounted_in(
    store: Option<PathBuf>,
    filesystem: &'static dyn Filesystem,
    size: Bytes,
) -> Result<(Scratch, Duration)> {
    let block_size = Bytes::kib(4);
    let run_id = run_id();
    let mut scratch = Scratch::attach(&ScratchSpec {
        disk: None,
        store,
        size,
        preallocate: false,
        logical_block_size: block_size,
        direct_io: None,
        tag: Tag::of_this_process(&run_id)?.to_string(),
    })?;
    let options = MkfsOptions { block_size, uuid: run_id, seed: Seed(1), extra: vec![] };
    let begun = Instant::now();
    scratch.mkfs(&filesystem.mkfs(scratch.device().path(), &options))?;
    let took = begun.elapsed();
    scratch.mount(filesystem, filesystem.default_mount_options())?;
    Ok((scratch, took))
}
