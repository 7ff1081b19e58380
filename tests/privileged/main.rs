//! Every file system on real loop devices, through the front door.
//!
//! Needs root, loop devices and the tools. What is missing makes a test "ignored" with the
//! reason, or a failure where `FSDUEL_REQUIRE_ALL=1`: a test that did not run is not a test that
//! passed. Two things are no failure even then: a rare file system that this kernel lacks (tools can
//! be installed, a kernel cannot, and it is tried in virtual machines), and Go, which is large and is
//! needed by one example only.
#![expect(clippy::unwrap_used, clippy::cast_precision_loss, reason = "a test may panic, and sizes are small")]

mod by_hand;
mod clients;
mod damage;
mod disks;
mod environment;
mod exec;
mod fixture;
mod golden;
mod guard;
mod kept;
mod lab;
mod leaks;
mod live;
mod memory;
#[path = "../shared/patience.rs"]
mod patience;
mod postmark;
mod repeat;
mod runs;
mod shell;
mod stops;

use fsduel_harness::fs::{self, Filesystem};
use fsduel_harness::require::{self, Missing, Requirement};
use libtest_mimic::{Arguments, Completion, Failed, Trial};

fn main() {
    fixture::run_if_child();
    let mut arguments = Arguments::from_args();
    // Most tests wait for a device or a process; twice the processors keep them all at work.
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    arguments.test_threads.get_or_insert(2 * processors);
    let mut trials = vec![];
    for filesystem in fs::ALL {
        trials.extend(runs::trials(*filesystem));
        trials.extend(by_hand::trials(*filesystem));
        trials.extend(damage::trials(*filesystem));
        trials.extend(kept::trials(*filesystem));
    }
    trials.extend(leaks::trials());
    trials.extend(stops::trials());
    trials.extend(live::trials());
    trials.extend(memory::trials());
    trials.extend(disks::trials());
    trials.extend(environment::trials());
    trials.extend(exec::trials());
    trials.extend(clients::trials());
    trials.extend(fixture::trials());
    trials.extend(guard::trials());
    trials.extend(kept::general_trials());
    trials.extend(repeat::trials());
    trials.extend(shell::trials());
    trials.extend(postmark::trials());
    trials.extend(golden::trials());
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

/// A test of one file system, named `ext4::what_it_proves`.
fn of(filesystem: &'static dyn Filesystem, name: &str, test: fn(&'static dyn Filesystem)) -> Trial {
    let requirements = [filesystem.requirements(), vec![Requirement::Root, Requirement::Loop]].concat();
    trial(format!("{}::{name}", filesystem.name()), requirements, move || test(filesystem))
}

/// A test that needs every common file system.
fn general(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    trial(name.into(), everywhere(), test)
}

/// Root, loop devices and every common file system.
fn everywhere() -> Vec<Requirement> {
    let mut requirements: Vec<_> =
        fs::common().iter().flat_map(|filesystem| filesystem.requirements()).collect();
    requirements.extend([Requirement::Root, Requirement::Loop]);
    requirements
}

fn trial(name: String, requirements: Vec<Requirement>, test: impl FnOnce() + Send + 'static) -> Trial {
    trial_unless(name, move || lack(&requirements), test)
}

/// Why a test cannot run here.
struct Lack {
    text: String,
    next: String,
    /// Whether it may be missing even where all tests must run.
    is_excused: bool,
}

fn lack(requirements: &[Requirement]) -> Option<Lack> {
    let missing = require::check(requirements);
    let first = missing.iter().find(|missing| is_rare(missing)).or(missing.first())?;
    Some(Lack { text: first.text.clone(), next: first.next.clone(), is_excused: is_rare(first) })
}

/// Whether it is a kernel that lacks a file system which few have.
fn is_rare(missing: &Missing) -> bool {
    let common = |name: &str| fs::common().iter().any(|filesystem| filesystem.name() == name);
    matches!(missing.requirement, Requirement::Kernel { filesystem, .. } if !common(filesystem))
}

fn trial_unless(
    name: String,
    lack: impl FnOnce() -> Option<Lack> + Send + 'static,
    test: impl FnOnce() + Send + 'static,
) -> Trial {
    let told = name.clone();
    Trial::ignorable_test(name, move || match lack() {
        None => {
            patience::within_limit(&told, test);
            Ok(Completion::Completed)
        }
        Some(lack) if require_all() && !lack.is_excused => {
            Err(Failed::from(format!("{}: {}", lack.text, lack.next)))
        }
        Some(lack) => Ok(Completion::ignored_with(&lack.text)),
    })
}
