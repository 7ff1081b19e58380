//! Time from the start of the program to the first word of a guest, and to the first call of its work.
//!
//! Both are read from what the program says of itself (`FSDUEL_LOG=debug`), by the clock of this
//! process. The kernel is unpacked before: that is done once for each kernel.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

use fsduel_harness::error::{Cannot, Error, Result};

use crate::program;
use crate::table::{Row, median};

/// Boots.
const TIMES: usize = 5;
/// Of the guest's first word, and of the first call.
const LIMITS_S: [f64; 2] = [7.0, 10.0];
/// What the program says then.
const WORDS: [&str; 2] = ["the guest is up", "phase: step"];
/// Where `cargo xtask bench` says that the kernel is.
const KERNEL: &str = "FSDUEL_BENCH_KERNEL";

/// A row for each of the two.
pub fn rows() -> Result<Vec<Row>> {
    let kernel = std::env::var(KERNEL).cannot(|| format!("find a kernel: {KERNEL} is not set"))?;
    once(&kernel)?;
    let mut times: [Vec<f64>; 2] = [vec![], vec![]];
    for _ in 0..TIMES {
        let [up, step] = once(&kernel)?;
        times[0].push(up);
        times[1].push(step);
    }
    let what = ["until the guest's first word", "until the first call of the work"];
    let rows = what.iter().zip(times).zip(LIMITS_S).map(|((what, mut times), limit)| Row {
        what: format!("a virtual machine: {what}"),
        value: Ok(median(&mut times)),
        limit: Some(limit),
        unit: "s",
        n: TIMES,
    });
    Ok(rows.collect())
}

/// Seconds from the start to each of the words.
fn once(kernel: &str) -> Result<[f64; 2]> {
    let words = ["--workload", "many-small-files", "--set", "count=50", "--fs", "ext4", "--size", "512MiB"];
    let begun = Instant::now();
    let mut child = Command::new(program::path()?)
        .arg("run")
        .args(words)
        .args(["--backend", "vm", "--kernel", kernel])
        .env("FSDUEL_LOG", "debug")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .cannot(|| "start the program to measure".into())?;
    let mut times = [None; 2];
    for line in BufReader::new(child.stderr.take().ok_or_else(|| Error::new("listen to it"))?).lines() {
        let line = line.cannot(|| "listen to the program".into())?;
        for (time, word) in times.iter_mut().zip(WORDS) {
            if time.is_none() && line.contains(word) {
                *time = Some(begun.elapsed().as_secs_f64());
            }
        }
    }
    let status = child.wait().cannot(|| "wait for the program".into())?;
    match times {
        [Some(up), Some(step)] if status.success() => Ok([up, step]),
        _ => Err(Error::new(format!("boot {kernel}: {status}"))),
    }
}
