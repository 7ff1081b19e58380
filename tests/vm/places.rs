//! Where a run goes by itself, and what it says where it cannot.

use libtest_mimic::Trial;

use crate::boots::{cache, in_guest};
use crate::lab::{Lab, assert_exits, stderr, told};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial("without_root_and_qemu_both_ways_out_are_told", both_ways_out),
        trial("two_runs_at_the_same_time_have_machines_of_their_own", two_at_once),
        trial("a_package_that_is_no_kernel_is_told_before_anything_starts", no_kernel),
        trial("a_package_is_not_unpacked_where_the_cache_cannot_be_written", no_cache),
        trial("a_store_that_fills_up_is_told_unless_the_disk_has_all_of_it_already", full_store),
    ]
}

/// As `nobody`, or as whoever runs the tests.
fn both_ways_out() {
    let lab = Lab::new();
    let mut command = lab.fsduel(["run", "smoke", "--fs", "ext4"]);
    command.env("PATH", "/nowhere");
    if nix::unistd::Uid::effective().is_root() {
        // Without the capability, root is none.
        let program = env!("CARGO_BIN_EXE_fsduel");
        command = lab.command("/usr/bin/setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all", program, "run", "smoke", "--fs", "ext4"]);
        command.env("PATH", "/nowhere:/usr/bin-without-qemu");
    }
    let output = command.output().unwrap();
    assert_exits(&output, 69);
    let said = stderr(&output);
    assert!(said.contains("--backend vm") && said.contains("qemu-system-x86"), "{said}");
    assert!(said.contains("sudo") || said.contains("--privileged"), "{said}");
}

fn two_at_once() {
    let lab = Lab::new();
    let spawn =
        || in_guest(&lab, "6.12", &["--fs", "ext4", "--set", "step.small-files.count=50"]).spawn().unwrap();
    let runs = [spawn(), spawn()];
    for run in runs {
        let output = run.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
    }
    lab.assert_nothing_is_left();
}

fn no_kernel() {
    let lab = Lab::new();
    let wrong = lab.path("wrong.deb");
    std::fs::write(&wrong, "no package").unwrap();
    let mut command = lab.fsduel(["run", "smoke", "--fs", "ext4", "--kernel"]);
    let output = command.arg(&wrong).env("XDG_CACHE_HOME", cache()).output().unwrap();
    assert_exits(&output, 2);
    assert!(stderr(&output).contains("wrong.deb"), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn no_cache() {
    let lab = Lab::new();
    // Nothing can be made in it, not even by root.
    let mut command = in_guest(&lab, "6.12", &["--fs", "ext4"]);
    let output = command.env("XDG_CACHE_HOME", "/proc/sys").output().unwrap();
    assert_exits(&output, 69);
    assert!(stderr(&output).contains("XDG_CACHE_HOME"), "{}", told(&output));
    lab.assert_nothing_is_left();
}

/// Stores that are full: under an image that has all its space, and under one that needs more.
fn full_store() {
    if !nix::unistd::Uid::effective().is_root() {
        return;
    }
    let lab = Lab::new();
    let mount = "mkdir -p $0 && mount -t tmpfs -o size=$1 none $0 && shift && exec \"$@\"";
    let on_store_of = |size: &str, more: &[&str]| {
        let run = in_guest(&lab, "6.12", &["--fs", "ext4", "--size", "128MiB", "--overcommit"]);
        let mut command = lab.command("unshare");
        command.args(["-m", "--propagation", "slave", "sh", "-c", mount]).arg(lab.path("small")).arg(size);
        command.arg(run.get_program()).args(run.get_args()).args(more).arg("--store").arg(lab.path("small"));
        command.env("XDG_CACHE_HOME", cache()).output().unwrap()
    };
    assert_exits(&on_store_of("129M", &["--preallocate"]), 0);
    let output = on_store_of("8M", &[]);
    assert_exits(&output, 7);
    assert!(told(&output).contains("ran out of space under the image"), "{}", told(&output));
    lab.assert_nothing_is_left();
}
