//! One body of a test on several file systems.

use std::thread;

use super::{Builder, Scratch};

/// Run a test on each of several file systems, with one result for each.
///
/// With a name, it makes a module of tests, one for each file system, as `copies::btrfs`:
///
/// ```no_run
/// fsduel_harness::for_each_filesystem!(copies, [ext4, btrfs, xfs], |fs| {
///     std::fs::write(fs.path().join("file"), "content").unwrap();
/// });
/// ```
///
/// Without, it stands inside of a test; each is on a thread of its own, and the test fails with the
/// names of all on which it failed. The names are those of [`Scratch::of`]. What is made may be said
/// behind the list:
///
/// ```no_run
/// use fsduel_harness::for_each_filesystem;
///
/// for_each_filesystem!([ext4, btrfs, xfs], |fs| {
///     assert_eq!(std::fs::read_dir(fs.path()).unwrap().filter(Result::is_err).count(), 0);
/// });
/// for_each_filesystem!([ext4, xfs], |make| make.size("1GiB"), |fs| assert!(fs.space().unwrap().free.0 > 0));
/// ```
#[macro_export]
macro_rules! for_each_filesystem {
    ([$($filesystem:ident),+ $(,)?], $body:expr $(,)?) => {
        $crate::for_each_filesystem!([$($filesystem),+], |make| make, $body)
    };
    ([$($filesystem:ident),+ $(,)?], $make:expr, $body:expr $(,)?) => {
        $crate::testing::run_on_each(&[$(stringify!($filesystem)),+], $make, $body)
    };
    ($name:ident, [$($filesystem:ident),+ $(,)?], $body:expr $(,)?) => {
        $crate::for_each_filesystem!($name, [$($filesystem),+], |make| make, $body);
    };
    ($name:ident, [$($filesystem:ident),+ $(,)?], $make:expr, $body:expr $(,)?) => {
        mod $name {
            use super::*;
            $(
                #[test]
                fn $filesystem() {
                    $crate::testing::run_on_each(&[stringify!($filesystem)], $make, $body);
                }
            )+
        }
    };
}

/// What [`for_each_filesystem`](macro@crate::for_each_filesystem) does inside of a test.
///
/// # Panics
///
/// The body did, on one of them or more.
#[expect(clippy::print_stderr, reason = "cargo test shows it with the output of the test")]
#[track_caller]
pub fn run_on_each(names: &[&str], make: impl Fn(Builder) -> Builder + Sync, body: impl Fn(Scratch) + Sync) {
    let on_one = |name: &str| {
        if let Some(scratch) = make(Builder::of(name)).for_test() {
            body(scratch);
        }
    };
    // A thread each, one after the other: a panic ends only its own.
    let fails = |name: &str| thread::scope(|scope| scope.spawn(|| on_one(name)).join().is_err());
    let failed: Vec<&str> = names.iter().filter(|name| fails(name)).copied().collect();
    for name in names {
        eprintln!("{name}: {}", if failed.contains(name) { "FAILED" } else { "ok" });
    }
    assert!(failed.is_empty(), "failed on {}", failed.join(", "));
}
