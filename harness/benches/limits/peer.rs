//! The same files made by `fs_mark`, where it is installed: what our recording and verifying add
//! to the time that is reported.

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use fsduel_harness::command;
use fsduel_harness::error::{Cannot, Error, Result};
use fsduel_harness::fs::{self, Filesystem};
use fsduel_harness::ops::Real;
use fsduel_harness::scratch::Scratch;
use fsduel_harness::units::{Bytes, Seed};
use fsduel_harness::workload::{Build, Workload, build};
use serde_json::json;

use crate::setup::mounted;
use crate::table::{Row, median};

/// Pairs.
const TIMES: usize = 5;
const FILES: &str = "99999";
const FILE_SIZE: &str = "5";

/// One row.
pub fn row() -> Result<Row> {
    let value = match command::find("fs_mark") {
        Some(_) => Ok(ratio()?),
        None => Err("fs_mark is not installed (apt install fsmark)".to_owned()),
    };
    let n = if value.is_ok() { TIMES } else { 0 };
    let what = "time for 99 999 files of 5 bytes on ext4, as a multiple of fs_mark's".into();
    Ok(Row { what, value, limit: None, unit: "", n })
}

/// The median of the ratios of pairs, taken in turn so that a drift of the machine meets both.
fn ratio() -> Result<f64> {
    let ext4 = fs::by_name("ext4").ok_or_else(|| Error::new("find ext4"))?;
    let workload = workload()?;
    let mut ratios = Vec::new();
    for _ in 0..TIMES {
        let ours = on(ext4, |scratch| ours(scratch, &*workload))?;
        let theirs = on(ext4, theirs)?;
        ratios.push(ours / theirs);
    }
    Ok(median(&mut ratios))
}

/// Seconds of `work` on a new file system.
fn on(filesystem: &'static dyn Filesystem, work: impl FnOnce(&Scratch) -> Result<()>) -> Result<f64> {
    let (scratch, _) = mounted(filesystem, Bytes::gib(2))?;
    let begun = Instant::now();
    work(&scratch)?;
    let took = begun.elapsed().as_secs_f64();
    scratch.close()?;
    Ok(took)
}

fn workload() -> Result<Arc<dyn Workload>> {
    let count: u64 = FILES.parse().cannot(|| "read a number".into())?;
    let parameters = json!({"count": count, "file-size": FILE_SIZE});
    let step = Build {
        step: "files",
        parameters: &parameters,
        earlier: &[],
        block_size: Bytes::kib(4),
        image_size: Bytes::gib(2),
        compressing: false,
    };
    build(&step, "many-small-files")
}

fn ours(scratch: &Scratch, workload: &dyn Workload) -> Result<()> {
    let stop = AtomicBool::new(false);
    let mount = scratch.mounted().ok_or_else(|| Error::new("find the mount"))?;
    let mut real = Real::new(mount.root()?, &stop);
    workload.run(&mut real, Seed(1)).cannot(|| "make the files".into()).map(drop)
}

/// One thread, one directory, files kept, nothing synced; its log goes where it makes no files.
fn theirs(scratch: &Scratch) -> Result<()> {
    let mount = scratch.mounted().ok_or_else(|| Error::new("find the mount"))?;
    let folder = mount.path().join("files");
    let done = Command::new("fs_mark")
        .args(["-n", FILES, "-s", FILE_SIZE, "-S", "0", "-k", "-t", "1", "-L", "1", "-l", "/dev/null", "-d"])
        .arg(folder)
        .stdout(Stdio::null())
        .status()
        .cannot(|| "start fs_mark".into())?;
    if done.success() { Ok(()) } else { Err(Error::new(format!("make files with fs_mark: {done}"))) }
}
