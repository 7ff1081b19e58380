//! What tests file systems: `fsx` and `pjdfstest`, two programs of crates.io that `cargo xtask test`
//! installs below `target/tools`.

use std::fs;
use std::path::PathBuf;

use fsduel_harness::result::RunReport;
use libtest_mimic::Trial;

use super::{ON_ALL, assert_passed, exec, sources, word};
use crate::lab::{Lab, told};
use crate::{Lack, everywhere, lack, trial_unless};

pub fn trials() -> Vec<Trial> {
    vec![
        with_tool("fsx_does_twenty_thousand_operations_on_one_file", "fsx", fsx),
        with_tool("fsx_also_punches_and_shares_and_preallocates", "fsx", fsx_everything),
        with_tool("pjdfstest_finds_the_calls_of_posix", "pjdfstest", pjdfstest),
    ]
}

fn with_tool(name: &str, program: &'static str, test: fn()) -> Trial {
    let lack = move || lack(&everywhere()).or_else(|| lack_of_tool(program));
    trial_unless(format!("clients::{name}"), lack, test)
}

fn lack_of_tool(program: &str) -> Option<Lack> {
    let path = tool(program);
    (!path.is_file()).then(|| Lack {
        text: format!("{} is not there", path.display()),
        next: "cargo xtask test installs it".into(),
        is_excused: false,
    })
}

/// Where `cargo xtask test` installs a program.
fn tool(program: &str) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| sources().join("target"), PathBuf::from);
    std::path::absolute(target).unwrap().join("tools/bin").join(program)
}

/// Its own defaults: it reads, writes, maps and truncates, and compares what it reads.
fn fsx() {
    let lab = Lab::new();
    let program = tool("fsx");
    let words = [program.to_str().unwrap(), "-N", "20000", "-S", "7", "file"];
    assert_passed(&lab, &exec(&lab, &ON_ALL, &words));
}

/// All that it can do. Not on ext4: under just this, that of Linux 6.18 warns of extents that were
/// converted in another length than they were written, and a warning of the kernel fails a case.
fn fsx_everything() {
    let lab = Lab::new();
    let (program, config) = (tool("fsx"), lab.path("fsx.toml"));
    fs::write(&config, include_str!("fsx.toml")).unwrap();
    let words = [program.to_str().unwrap(), "-f", config.to_str().unwrap(), "-N", "20000", "-S", "7", "file"];
    assert_passed(&lab, &exec(&lab, &["--fs", "btrfs,xfs", "--size", "512MiB"], &words));
}

/// Twice: those that mount the file system read-only get a process of their own, since earlier ones
/// leave files open in theirs, and no file system with such files becomes read-only.
fn pjdfstest() {
    let lab = Lab::new();
    let other = lab.path("other");
    fs::create_dir(&other).unwrap();
    for filesystem in ["ext4", "btrfs", "xfs"] {
        let (all, remounting) = (lab.path("all.toml"), lab.path("remounting.toml"));
        fs::write(&all, configuration(filesystem, false)).unwrap();
        fs::write(&remounting, configuration(filesystem, true)).unwrap();
        let program = word(&tool("pjdfstest"));
        let line = format!(
            "{program} -c {} -s {other} && {program} -c {} -s {other} erofs",
            word(&all),
            word(&remounting),
            other = word(&other)
        );
        let options = ["--as-root", "--fs", filesystem, "--size", "512MiB"];
        let ran = exec(&lab, &options, &["sh", "-c", &line]);
        assert_passed(&lab, &ran);
        assert!(passed_count(&ran.1) > 380, "{}", told(&ran.0));
    }
}

fn configuration(filesystem: &str, may_remount: bool) -> String {
    let expected = match filesystem {
        // Each directory of btrfs has one link, however many directories are in it.
        "btrfs" => r#""rename::updates_link_parent""#,
        _ => "",
    };
    include_str!("pjdfstest.toml")
        .replace("allow_remount = false", &format!("allow_remount = {may_remount}"))
        .replace("expected_failures = []", &format!("expected_failures = [{expected}]"))
}

/// `Summary: 0 failed, 15 skipped, 383 passed, ...`, of all summaries.
fn passed_count(report: &RunReport) -> u64 {
    let printed = &report.cases[0].steps[0].command.as_ref().unwrap().stdout;
    let parts = printed.lines().filter(|line| line.contains("Summary")).flat_map(|line| line.split(", "));
    parts.filter_map(|part| part.strip_suffix(" passed")?.parse::<u64>().ok()).sum()
}
