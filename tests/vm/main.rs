//! Cases in virtual machines, through the front door: needs QEMU, the tools and the kernels that
//! `cargo xtask kernels` fetches; no root and no KVM.
//!
//! What is missing makes a test "ignored" with the reason, or a failure where `FSDUEL_REQUIRE_ALL=1`.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod boots;
mod commands;
mod faults;
#[path = "../privileged/lab.rs"]
#[expect(dead_code, reason = "shared with the tests on this machine's own kernel")]
mod lab;
#[path = "../shared/patience.rs"]
mod patience;
mod places;

use std::path::PathBuf;

use fsduel_harness::vm::Qemu;
use libtest_mimic::{Arguments, Completion, Failed, Trial};

fn main() {
    let mut arguments = Arguments::from_args();
    // Each guest has as many processors as this machine, and they are emulated.
    arguments.test_threads.get_or_insert(2);
    let trials = [boots::trials(), commands::trials(), faults::trials(), places::trials()];
    let trials = trials.into_iter().flatten().collect();
    let conclusion = libtest_mimic::run(&arguments, trials);
    if require_all() && !arguments.list && conclusion.num_passed == 0 {
        eprintln!("FSDUEL_REQUIRE_ALL is set, and no test ran");
        std::process::exit(1);
    }
    conclusion.exit();
}

fn require_all() -> bool {
    std::env::var("FSDUEL_REQUIRE_ALL").is_ok_and(|value| value == "1")
}

/// A kernel that `cargo xtask kernels` has fetched: `6.1` or `6.12`.
fn kernel(version: &str) -> PathBuf {
    let own = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(own, PathBuf::from);
    target.join("kernels").join(format!("linux-{version}.deb"))
}

/// Why nothing can be booted here.
fn missing() -> Option<String> {
    let qemu = Qemu::find().err().map(|error| error.to_string());
    let kernels = ["6.1", "6.12"].map(kernel);
    let absent = kernels.iter().find(|path| !path.exists());
    qemu.or(absent.map(|path| format!("{} is not there: cargo xtask kernels", path.display())))
}

/// A test that boots.
fn trial(name: &'static str, test: fn()) -> Trial {
    Trial::ignorable_test(name, move || match missing() {
        Some(missing) if require_all() => Err(Failed::from(missing)),
        Some(missing) => Ok(Completion::ignored_with(missing)),
        None => {
            patience::within_limit(name, test);
            Ok(Completion::Completed)
        }
    })
}
