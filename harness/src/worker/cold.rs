//! Every step starts cold, and that is proven.
//!
//! An unmount drops what the file system had cached. What may stay warm lies below it: pages of
//! the device, which our own descriptor keeps, and pages of the image, where the loop device goes
//! through the host's cache. Both are dropped before each mount and must then be gone. After it
//! the device may hold what the mount itself has read. Files are looked at on the mount that reads
//! back, not on the one that is measured: opening a file warms its inode.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use rustix::fs::{Mode, OFlags, openat};

use crate::case::{CaseSpec, Store};
use crate::error::{Error, Result};
use crate::ops::{self, Failure, Op, Ops, Plan, Reach, Replay, Visit};
use crate::scratch::{self, Scratch, StoreKind};
use crate::sys::cache::resident_pages;
use crate::sys::page_size;
use crate::units::{Bytes, Seed};
use crate::workload::Workload;

/// udev reads a few pages of a device after each change of it, and has done soon.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);
/// Files that are looked at after a step.
const SAMPLE: u64 = 16;

/// What must be cold in one case.
pub(super) struct Cold {
    /// The image is in the cache because it is nowhere else; the manifest warns of it.
    image_is_memory: bool,
    /// Pages of the device that a mount may read.
    read_by_mount: u64,
}

impl Cold {
    /// `log` is what a mount of this file system reads beyond what all of them read.
    pub(super) fn new(spec: &CaseSpec, log: Bytes) -> Result<Self> {
        let image_is_memory = match &spec.store {
            Store::Memory => true,
            Store::Disk(_) => false,
            Store::Directory(folder) => scratch::store_info(folder)?.kind == StoreKind::Memory,
        };
        Ok(Self { image_is_memory, read_by_mount: read_by_mount(spec.image_size, log) })
    }

    /// Drop the caches below the file system, which is not mounted, and prove that they are empty.
    ///
    /// # Errors
    ///
    /// Something is mounted, or somebody else keeps them warm: an error of the environment.
    pub(super) fn chill(&self, scratch: &Scratch) -> Result<()> {
        let begun = Instant::now();
        loop {
            scratch.go_cold()?;
            let (device, image) = (pages(scratch.device())?, self.image_pages(scratch)?);
            if device == 0 && image == 0 {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                let name = scratch.device().name();
                return Err(warm(&format!("{device} pages of {name} and {image} of its image")));
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Prove, after a mount, that the device holds no more than the mount has read.
    ///
    /// # Errors
    ///
    /// It holds more: an error of the environment.
    pub(super) fn check_mounted(&self, scratch: &Scratch) -> Result<()> {
        let (device, most) = (pages(scratch.device())?, self.read_by_mount);
        if device <= most {
            return Ok(());
        }
        let name = scratch.device().name();
        Err(warm(&format!("{device} pages of {name} after the mount, which reads at most {most}")))
    }

    fn image_pages(&self, scratch: &Scratch) -> Result<u64> {
        match scratch.image() {
            Some(image) if !self.image_is_memory => pages(image),
            _ => Ok(0),
        }
    }
}

/// Prove that nothing of the first files of the trees that `workload` made or reads is cached.
/// `root` is freshly mounted.
///
/// # Errors
///
/// A page of one is: an error of the environment.
pub(super) fn check_files(root: BorrowedFd, workload: &dyn Workload, seed: Seed) -> Result<()> {
    if workload.has_directory() {
        check_tree(root, workload, seed)?;
    }
    workload.reads().iter().try_for_each(|earlier| check_tree(root, &*earlier.workload, seed))
}

fn check_tree(root: BorrowedFd, workload: &dyn Workload, seed: Seed) -> Result<()> {
    let mut sample = Sample { root, files: 0, warm: Ok(()) };
    // The plan is left after the sample, so its failure means nothing.
    let mut plan = Plan::counting();
    let mut replay = Replay::new(&mut plan, &mut sample, workload.fills());
    let _ = workload.leave(&mut replay, seed, Reach::default());
    sample.warm
}

/// Where a kernel cannot tell, nothing is known to be warm.
fn pages(file: impl std::os::fd::AsFd) -> Result<u64> {
    resident_pages(file).map(Option::unwrap_or_default)
}

/// Pages that a mount may read: superblocks, group descriptors and bitmaps, which ext4 reads ahead (36
/// pages were seen of 1 GiB; with the smallest blocks there are two bitmaps for each 8 MiB). A probe
/// of udev may come in between and reads about 1 MiB: of all that, nothing is a step's. Nor is it of a
/// journal or a log.
///
/// `cachestat` counts each of them; `mincore` only those that were read as pages, and not as blocks.
fn read_by_mount(image: Bytes, log: Bytes) -> u64 {
    1024 + image.0 / Bytes::mib(4).0 + log.0.div_ceil(page_size())
}

fn warm(what: &str) -> Error {
    Error::environment(format!("start cold: {what} are cached")).next(
        "find what reads the device or the image meanwhile (a backup, an indexer, a desktop's automounter)",
    )
}

/// Looks at files until it has seen enough.
struct Sample<'a> {
    root: BorrowedFd<'a>,
    files: u64,
    warm: Result<()>,
}

impl Sample<'_> {
    fn look(&self, path: &str) -> Result<()> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        // Whether it is there at all is for the read-back to say.
        let Ok(file) = openat(self.root, path, flags, Mode::empty()) else { return Ok(()) };
        match pages(&file)? {
            0 => Ok(()),
            count => Err(warm(&format!("{count} pages of {path}"))),
        }
    }
}

impl Visit for Sample<'_> {
    fn directory(&mut self, _ops: &mut dyn Ops, _path: &str) -> ops::Result<()> {
        Ok(())
    }

    fn file(&mut self, _ops: &mut dyn Ops, path: &str, _size: Option<u64>) -> ops::Result<()> {
        self.warm = self.look(path);
        self.files += 1;
        if self.files < SAMPLE && self.warm.is_ok() {
            return Ok(());
        }
        Err(Failure { op: Op::Open, path: path.to_owned(), errno: Errno::ECANCELED })
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use serde_json::json;

    use super::*;
    use crate::error::Kind;
    use crate::ops::Real;
    use crate::workload::{StepSpec, sequence};

    #[test]
    fn a_file_that_was_just_written_is_warm_and_one_that_is_not_there_is_not() {
        static GO_ON: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let root = std::fs::File::open(folder.path()).unwrap();
        let step = StepSpec {
            name: "files".into(),
            workload: "many-small-files".into(),
            parameters: json!({ "count": 3, "file-size": "4KiB" }),
            allow_limit: false,
        };
        let workload = sequence(&[step], Bytes(4096), Bytes::mib(1), false).unwrap().remove(0);
        check_files(root.as_fd(), &*workload, Seed(1)).unwrap();
        let mut real = Real::new(root.try_clone().unwrap(), &GO_ON);
        workload.run(&mut real, Seed(1)).unwrap();
        let error = check_files(root.as_fd(), &*workload, Seed(1)).unwrap_err();
        assert_eq!(error.kind(), Kind::Environment);
        assert!(error.to_string().contains("1 pages of files/"), "{error}");
    }

    #[test]
    fn a_mount_may_read_what_was_seen_and_far_less_than_the_device() {
        let pages_of = |size: Bytes| size.0 / 4096;
        for size in [Bytes::mib(512), Bytes::gib(2), Bytes::gib(32)] {
            let most = read_by_mount(size, Bytes(0));
            assert!((300..pages_of(size) / 50).contains(&most), "{most} of {size}");
            let journal = Bytes::mib(32);
            assert_eq!(read_by_mount(size, journal) - most, journal.0.div_ceil(page_size()));
        }
    }
}
