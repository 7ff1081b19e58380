//! A real file system as a value, for `cargo test`.
//!
//! ```no_run
//! use fsduel_harness::testing::Scratch;
//!
//! # fn main() {
//! let Some(fs) = Scratch::btrfs().size("256MiB").mount_options("compress=zstd").for_test() else { return };
//! std::fs::write(fs.path().join("file"), "content").unwrap();
//! # }
//! ```
//!
//! Needs root, loop devices and the tools of the file system; where they are missing, [`for_test`]
//! prints why, and the test is skipped. `FSDUEL_REQUIRE_ALL=1` makes that a failure. This crate needs
//! `libclang` to build (Debian: `libclang-dev`), unless its default features are switched off:
//! `fsduel-harness = { version = "0.1", default-features = false }`; nothing here works differently then.
//!
//! **The mount is seen by the thread that made it, and by threads and processes that it starts later.**
//! A thread that existed before, as one of a pool, gets `ENOENT`, and so writes nothing to this
//! machine by mistake; [`Scratch::enter`] brings it in. A [`Scratch`] stays in its thread. The thread
//! that calls gets a mount namespace of its own, for all its life.
//!
//! Nothing is left behind: not by a panic, which drops the value, and not by an abort or a `SIGKILL`,
//! after which the kernel takes mount, device and image back. A child process that is still alive then
//! keeps them until it ends.
//!
//! [`for_test`]: Builder::for_test

mod builder;
mod each;
mod fill;
mod home;
mod scratch;
mod snapshot;

pub use builder::Builder;
pub use each::run_on_each;
pub use scratch::{Checkup, Scratch};
pub use snapshot::Snapshot;
