//! The same work done by hand, with mkfs, losetup, mount and dd: our figures must agree.
//!
//! Everything happens in one shell in a mount namespace of its own, so that it leaves nothing
//! either.

use std::process::Command;

use fsduel_harness::fs::Filesystem;
use libtest_mimic::Trial;

use crate::lab::{Lab, assert_exits, told};
use crate::of;

pub fn trials(filesystem: &'static dyn Filesystem) -> Vec<Trial> {
    vec![
        of(filesystem, "space_used_agrees_with_the_same_work_by_hand", space),
        of(filesystem, "a_fill_reaches_the_size_that_dd_reaches", fill),
    ]
}

/// Equal runs of btrfs differ by up to 5 % in their metadata.
fn tolerance(filesystem: &dyn Filesystem) -> f64 {
    if filesystem.name() == "btrfs" { 0.06 } else { 0.02 }
}

/// Make the file system of this run by hand and run `script` with `$M` as its mount.
fn by_hand(lab: &Lab, filesystem: &dyn Filesystem, mkfs: &[String], size: &str, script: &str) -> f64 {
    // With a UUID of its own: btrfs remembers the devices of one that it has seen.
    let ours = |word: &&str| word.starts_with("/dev/loop") || word.starts_with("uuid=") || word.len() == 36;
    let words = mkfs.iter().map(String::as_str).filter(|word| !ours(word) && !["-U", "-m"].contains(word));
    let mkfs: Vec<&str> = words.collect();
    let body = format!(
        "set -eu; M={mount}; mkdir -p $M; truncate -s {size} {image}
        L=$(losetup --show --find --direct-io=on {image}); trap 'umount $M || true; losetup -d $L; rm {image}' EXIT
        {mkfs} $L >/dev/null 2>&1; mount -t {name} -o {options} $L $M
        {script}",
        mount = lab.path("mnt").display(),
        image = lab.path("image").display(),
        mkfs = mkfs.join(" "),
        name = filesystem.name(),
        options = filesystem.default_mount_options(),
    );
    let output =
        Command::new("unshare").args(["-m", "--propagation", "slave", "bash", "-c", &body]).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or_else(|_| panic!("{}", told(&output)))
}

fn space(filesystem: &'static dyn Filesystem) {
    let lab = Lab::new();
    let arguments =
        ["run", "--workload", "many-small-files", "--set", "count=9999", "--set", "file-size=1..9"];
    let more = ["--size", "2GiB", "--fs", filesystem.name()];
    let (output, report) = lab.report(arguments.into_iter().chain(more));
    assert_exits(&output, 0);
    let case = &report.cases[0];
    let ours = case.steps[0].metrics.get("space_used_bytes").unwrap();
    let script = "used() { sync -f $M; stat -f -c '%S %b %f' $M | awk '{print $1 * ($2 - $3)}'; }
        mkdir $M/small-files; A=$(used)
        for i in $(seq 1 9999); do printf %.$((i % 9 + 1))s 123456789 > $M/small-files/f$i; done
        B=$(used); echo $((B - A))";
    let hand = by_hand(&lab, filesystem, &case.mkfs_command, "2G", script);
    let off = (ours / hand - 1.0).abs();
    assert!(off <= tolerance(filesystem), "{ours} by fsduel, {hand} by hand");
    lab.assert_nothing_is_left();
}

fn fill(filesystem: &'static dyn Filesystem) {
    let lab = Lab::new();
    let arguments = ["run", "--workload", "fill-until-enospc", "--size", "1GiB", "--fs", filesystem.name()];
    let (output, report) = lab.report(arguments);
    assert_exits(&output, 0);
    let case = &report.cases[0];
    let facts = &case.steps[0].facts;
    assert_eq!(facts.errno.as_deref(), Some("ENOSPC"));
    let ours = facts.file_size_bytes.unwrap() as f64;
    let script = "dd if=/dev/zero of=$M/fill bs=1M 2>/dev/null || true; stat -c %s $M/fill";
    let hand = by_hand(&lab, filesystem, &case.mkfs_command, "1G", script);
    assert!((ours / hand - 1.0).abs() <= 0.01, "{ours} by fsduel, {hand} by dd");
    let second = case.steps[0].metrics.get("second_file_size_bytes").unwrap();
    assert!(second >= 0.98 * ours, "{second} fitted again of {ours}");
    lab.assert_nothing_is_left();
}
