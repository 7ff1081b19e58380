//! Most memory of a worker, with few files and with many: it must not grow with them.

use std::fs;

use fsduel_harness::error::{Cannot, Result};

use crate::program::{metric, steps};
use crate::table::Row;

const FEW: u64 = 10_000;
const MANY: u64 = 300_000;
const MIB: f64 = 1_048_576.0;
const LIMIT_MIB: f64 = 64.0;
/// How often pages are counted, and what the allocator keeps, differs between equal runs.
const GROWTH_MIB: f64 = 2.0;

/// Few, many, and what is between them.
pub fn rows() -> Result<Vec<Row>> {
    let (few, many) = (peak(FEW)?, peak(MANY)?);
    let row = |what, mib, limit| Row { what, value: Ok(mib), limit: Some(limit), unit: "MiB", n: 1 };
    Ok(vec![
        row(format!("memory of a worker, {FEW} files in each step"), few, LIMIT_MIB),
        row(format!("memory of a worker, {MANY} files in each step"), many, LIMIT_MIB),
        row("growth of memory between the two".into(), many - few, GROWTH_MIB),
    ])
}

/// The most of any step. btrfs, which has no fixed number of inodes, holds so many in 2 GiB.
fn peak(files: u64) -> Result<f64> {
    let folder = tempfile::tempdir_in("/var/tmp").cannot(|| "make a folder in /var/tmp".into())?;
    let path = folder.path().join("suite.toml");
    fs::write(&path, suite(files)).cannot(|| format!("write {}", path.display()))?;
    let mut peak: f64 = 0.0;
    for step in steps(&[&path.display().to_string(), "--size", "2GiB", "--fs", "btrfs"])? {
        peak = peak.max(metric(&step, "peak_memory_bytes")? / MIB);
    }
    Ok(peak)
}

fn suite(files: u64) -> String {
    let directories = files / 4;
    format!(
        r#"
[suite]
name = "memory"
title = "Memory of a worker"

[[filesystem]]
name = "btrfs"

[[step]]
name = "small-files"
workload = "many-small-files"
count = {files}

[[step]]
name = "directories"
workload = "many-directories"
count = {directories}

[[step]]
name = "list"
workload = "list"

[[step]]
name = "stat"
workload = "stat"

[[step]]
name = "read"
workload = "read"

[[step]]
name = "remove"
workload = "remove"

[[step]]
name = "fill"
workload = "fill-until-enospc"
cap = "64MiB"
"#
    )
}
