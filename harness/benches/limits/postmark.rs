//! The mail-server work beside the program that it comes from: `postmark`, where it is installed.
//!
//! Both are measured as programs, from their start to their end, and so is the processor time that
//! the kernel counts for each once it has ended. So whatever ours does beyond the work (its
//! start-up, its look at the place before and after, the report) counts against it; taking only
//! the work out of our process would compare a part with a whole. The runs of a pair follow one
//! another on new file systems, and the next pair begins with the other program, so that a drift
//! of the machine, and what a run leaves in its caches, meets both. The images are in memory: a
//! disk would be most of the time, and nearly all of the noise.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use fsduel_harness::command;
use fsduel_harness::error::{Cannot, Error, Result};
use fsduel_harness::fs::{Filesystem, by_name};
use fsduel_harness::manifest::memory_available;
use fsduel_harness::ops::Plan;
use fsduel_harness::sys::cpu_time::cpu_time;
use fsduel_harness::sys::proc::{peak_memory, reset_peak_memory};
use fsduel_harness::units::{Bytes, Seed};
use fsduel_harness::workload::postmark::{Location, Options, Settings, in_place};

use crate::program;
use crate::setup::mounted_in;
use crate::table::{Row, median};

/// Pairs.
const TIMES: usize = 6;
const FILESYSTEMS: [&str; 2] = ["ext4", "btrfs"];
/// Of the image, which is sparse: most of the data has gone before it is written.
const SIZE: Bytes = Bytes::gib(8);
/// The sizes are those of the comparison of 2014.
const WORK: &str = "set size 3072 102400\nset number 20000\nset transactions 50000\nset location place\n\
                    run\nquit\n";
const LIMIT_MIB: f64 = 200.0;
const MIB: f64 = 1_048_576.0;

/// Time and processor time on each file system, then memory.
pub fn rows() -> Result<Vec<Row>> {
    let mut rows = vec![];
    for name in FILESYSTEMS {
        rows.extend(beside(name)?);
    }
    rows.push(memory_of_a_plan()?);
    rows.push(memory_of_a_run()?);
    Ok(rows)
}

/// What a program took, in seconds.
#[derive(Clone, Copy)]
struct Took {
    wall: f64,
    user: f64,
}

/// Ours and theirs.
type Pair = (Took, Took);

fn beside(name: &str) -> Result<[Row; 2]> {
    let filesystem = by_name(name).ok_or_else(|| Error::new(format!("find {name}")))?;
    let pairs = match lack()? {
        Some(lack) => Err(lack),
        None => Ok(pairs(filesystem)?),
    };
    let row = |what: &str, of| row(format!("PostMark's work on {name}: {what}"), &pairs, of);
    Ok([row("wall time", |took| took.wall), row("user CPU", |took| took.user)])
}

/// The median of the ratios; in words, the median of each program.
fn row(what: String, pairs: &Result<Vec<Pair>, String>, of: fn(&Took) -> f64) -> Row {
    let limit = Some(1.0);
    let pairs = match pairs {
        Ok(pairs) => pairs,
        Err(lack) => return Row { what, value: Err(lack.clone()), limit, unit: "", n: 0 },
    };
    let of_all = |value: &dyn Fn(&Pair) -> f64| median(&mut pairs.iter().map(value).collect::<Vec<_>>());
    let (ours, theirs) = (of_all(&|(ours, _)| of(ours)), of_all(&|(_, theirs)| of(theirs)));
    let ratio = of_all(&|(ours, theirs)| of(ours) / of(theirs));
    let what = format!("{what} {ours:.2} s, as a multiple of postmark's {theirs:.2} s");
    Row { what, value: Ok(ratio), limit, unit: "", n: pairs.len() }
}

/// Why there is nothing to compare.
fn lack() -> Result<Option<String>> {
    if command::find("postmark").is_none() {
        return Ok(Some("postmark is not installed (apt install postmark)".into()));
    }
    let free = memory_available();
    Ok((free < SIZE).then(|| format!("less than {} bytes of memory are free", SIZE.0)))
}

fn pairs(filesystem: &'static dyn Filesystem) -> Result<Vec<Pair>> {
    let fsduel = program::path()?;
    let ours = || on(filesystem, Command::new(&fsduel).args(["postmark", "c", "--no-verify", "--quiet"]));
    let theirs = || on(filesystem, Command::new("postmark").arg("c"));
    let pair = |number: usize| match number % 2 {
        0 => Ok((ours()?, theirs()?)),
        _ => theirs().and_then(|theirs| Ok((ours()?, theirs))),
    };
    (0..TIMES).map(pair).collect()
}

/// What `program` takes on a new file system, of which the work has all.
fn on(filesystem: &'static dyn Filesystem, program: &mut Command) -> Result<Took> {
    let (scratch, _) = mounted_in(None, filesystem, SIZE)?;
    let mount = scratch.mounted().ok_or_else(|| Error::new("find the mount"))?.path().to_owned();
    fs::create_dir(mount.join("place")).cannot(|| "make a folder".into())?;
    fs::write(mount.join("c"), WORK).cannot(|| "write the configuration".into())?;
    sync(&mount)?;
    let took = took(program.current_dir(&mount))?;
    scratch.close()?;
    Ok(took)
}

/// Nothing of the set-up is left to be written while the clock runs.
fn sync(mount: &Path) -> Result<()> {
    let root = File::open(mount).cannot(|| "open the mount".into())?;
    root.sync_all().cannot(|| "sync the mount".into())
}

/// A child's processor time is known once it has been waited for.
fn took(program: &mut Command) -> Result<Took> {
    let name = program.get_program().display().to_string();
    let (before, begun) = (cpu_time(), Instant::now());
    let done = program
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .cannot(|| format!("start {name}"))?;
    let wall = begun.elapsed().as_secs_f64();
    let user = cpu_time().since(before).user.as_secs_f64();
    if done.success() { Ok(Took { wall, user }) } else { Err(Error::new(format!("run {name}: {done}"))) }
}

/// As many files as the limit is about, and as many transactions for each as were published; no
/// I/O, since as much data would take an hour. The table, the text and the writes of each file are
/// those of a run.
fn memory_of_a_plan() -> Result<Row> {
    let settings = Settings {
        size_low: 3072,
        size_high: 102_400,
        number: 1_000_000,
        transactions: 2_500_000,
        subdirectories: 1000,
        locations: vec![Location { path: "/srv/vmail/postmark".into(), weight: 1 }],
        ..Settings::default()
    };
    reset_peak_memory()?;
    let workload = in_place(&settings, &Options::default())?;
    workload.run(&mut Plan::counting(), Seed(1)).cannot(|| "plan the run".into())?;
    let what = "memory of 1 000 000 files of up to 102 400 bytes, planned".into();
    Ok(Row { what, value: Ok(mib(peak_memory()?)), limit: Some(LIMIT_MIB), unit: "MiB", n: 1 })
}

/// As many files again, really made and read and listed; small ones, so 0.1 MiB of text is missing.
fn memory_of_a_run() -> Result<Row> {
    let folder = tempfile::tempdir_in("/var/tmp").cannot(|| "make a folder in /var/tmp".into())?;
    let config: PathBuf = folder.path().join("c");
    let work = "set size 1 100\nset number 1000000\nset transactions 250000\nset subdirectories 1000\nrun\n";
    fs::write(&config, work).cannot(|| format!("write {}", config.display()))?;
    let words = ["postmark", &config.display().to_string(), "--fs", "btrfs", "--size", "8GiB"];
    let steps = program::steps_of(&words)?;
    let step = steps.first().ok_or_else(|| Error::new("find a step in the result"))?;
    let peak = program::metric(step, "peak_memory_bytes")? / MIB;
    let what = "memory of 1 000 000 files of up to 100 bytes, made and verified".into();
    Ok(Row { what, value: Ok(peak), limit: Some(LIMIT_MIB), unit: "MiB", n: 1 })
}

fn mib(bytes: Bytes) -> f64 {
    let kib = u32::try_from(bytes.0 / 1024).unwrap_or(u32::MAX);
    f64::from(kib) / 1024.0
}
