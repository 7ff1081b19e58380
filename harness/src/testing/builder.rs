//! What a file system for a test is made from.

use std::io::Write;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

use super::home;
use super::scratch::Scratch;
use crate::error::{Error, Kind, Result};
use crate::fs::{self, Filesystem, MkfsOptions};
use crate::manifest::run_id;
use crate::require::{self, Requirement};
use crate::scratch::{Scratch as Device, ScratchSpec, Tag, logical_block_size};
use crate::units::{Bytes, Seed};

/// Every file system of [`fs::common`] can be made with it.
const SIZE: Bytes = Bytes::mib(512);

/// How tests get their right to mount.
const AS_ROOT: &str =
    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER='sudo -E' cargo test runs only the tests as root";

/// A test that must not be skipped.
const REQUIRE_ALL: &str = "FSDUEL_REQUIRE_ALL";

/// A file system that is not made yet. What cannot be is told by [`for_test`](Self::for_test) and
/// [`create`](Self::create).
#[derive(Debug)]
#[must_use]
pub struct Builder {
    name: String,
    size: Result<Bytes>,
    block_size: Result<Bytes>,
    mkfs: Vec<String>,
    mount: String,
    store: Option<PathBuf>,
    inodes: Option<u64>,
    owner: Option<(u32, u32)>,
}

impl Builder {
    pub(super) fn of(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            size: Ok(SIZE),
            block_size: Ok(Bytes(4096)),
            mkfs: vec![],
            mount: String::new(),
            store: Some("/var/tmp".into()),
            inodes: None,
            owner: None,
        }
    }

    /// Size of the image, as `256MiB`. Without it: 512 MiB. It is sparse. ext4 needs little, btrfs 109 MiB,
    /// xfs 300 MiB.
    pub fn size(self, size: &str) -> Self {
        Self { size: size.parse(), ..self }
    }

    /// Block size of the file system, as `4KiB`, which it is without it.
    pub fn block_size(self, size: &str) -> Self {
        Self { block_size: size.parse(), ..self }
    }

    /// Options for `mkfs`, divided by blanks.
    pub fn mkfs_options(mut self, options: &str) -> Self {
        self.mkfs.extend(options.split_whitespace().map(str::to_owned));
        self
    }

    /// Options as after `mount -o`. Without it: `noatime`, and no discard.
    pub fn mount_options(self, options: &str) -> Self {
        Self { mount: options.to_owned(), ..self }
    }

    /// The folder of the image, in place of `/var/tmp`.
    pub fn store(self, folder: impl Into<PathBuf>) -> Self {
        Self { store: Some(folder.into()), ..self }
    }

    /// The image is in memory.
    pub fn in_memory(self) -> Self {
        Self { store: None, ..self }
    }

    /// How many inodes it has, where that is a fixed number.
    pub fn inodes(self, count: u64) -> Self {
        Self { inodes: Some(count), ..self }
    }

    /// Numbers of the user and the group to whom its root belongs, in place of root.
    pub fn owner(self, user: u32, group: u32) -> Self {
        Self { owner: Some((user, group)), ..self }
    }

    /// Make it; `None` where this machine cannot, with the reason on standard error.
    ///
    /// # Panics
    ///
    /// It is asked for what no machine can do, something fails that should not, or this machine cannot
    /// and `FSDUEL_REQUIRE_ALL=1`.
    #[must_use = "a test that goes on without its file system tests nothing"]
    #[track_caller]
    pub fn for_test(self) -> Option<Scratch> {
        let name = self.name.clone();
        let error = match self.create() {
            Ok(scratch) => return Some(scratch),
            Err(error) => error,
        };
        let next = error.next_step().map(|next| format!("\n  next: {next}")).unwrap_or_default();
        let required = std::env::var(REQUIRE_ALL).is_ok_and(|value| value == "1");
        assert!(error.kind() == Kind::Unavailable && !required, "{error}{next}");
        // Past the capture of libtest, which shows nothing of a test that passes.
        let _ = writeln!(std::io::stderr(), "skipped: no {name} here: {error}{next}");
        None
    }

    /// Make it.
    ///
    /// # Errors
    ///
    /// This machine cannot (of kind [`Kind::Unavailable`]), or what was asked for makes no sense (of
    /// kind [`Kind::Usage`]).
    pub fn create(self) -> Result<Scratch> {
        let filesystem = fs::by_name(&self.name).ok_or_else(|| {
            let known: Vec<&str> = fs::ALL.iter().map(|filesystem| filesystem.name()).collect();
            Error::usage(format!("make a file system named {}", self.name))
                .next(format!("one of {}", known.join(", ")))
        })?;
        let (size, block_size) = (self.size?, self.block_size?);
        let mut extra = self.mkfs;
        if let Some(count) = self.inodes {
            extra.extend(filesystem.inodes_option(count).ok_or_else(|| {
                Error::usage(format!("make {} with {count} inodes: their number is not fixed", self.name))
            })?);
        }
        check(filesystem, size, self.store.as_deref())?;
        let spec = ScratchSpec {
            disk: None,
            store: self.store,
            size,
            preallocate: false,
            logical_block_size: logical_block_size(block_size),
            direct_io: None,
            tag: Tag::of_this_process(&run_id())?.to_string(),
        };
        let mut made = Device::attach_in(&spec, home::place()?)?;
        let options = MkfsOptions { block_size, uuid: run_id(), seed: Seed(1), extra };
        // Its own defaults work, so it is what was asked for that does not.
        made.mkfs(&filesystem.mkfs(made.device().path(), &options))
            .map_err(|error| error.of_kind(Kind::Usage))?;
        let mount = filesystem.mount_options(&self.mount);
        made.mount(filesystem, &mount)?;
        Scratch::new(made, filesystem, mount, self.owner)
    }
}

/// What the file system needs of this machine, and of its image.
fn check(filesystem: &dyn Filesystem, size: Bytes, store: Option<&Path>) -> Result<()> {
    let least = filesystem.min_size();
    if size < least {
        return Err(Error::usage(format!("make {} on {size}: it needs {least}", filesystem.name())));
    }
    if let Some(folder) = store.filter(|folder| !folder.is_dir()) {
        return Err(Error::usage(format!("make an image in {}: it is no folder", folder.display())));
    }
    let requirements = [filesystem.requirements(), vec![Requirement::Root, Requirement::Loop]].concat();
    match require::check(&requirements).first() {
        None => Ok(()),
        Some(missing) => {
            let error = Error::unavailable(format!("make {}: {}", filesystem.name(), missing.text));
            Err(error.next(match geteuid().is_root() {
                true => missing.next.clone(),
                false => AS_ROOT.to_owned(),
            }))
        }
    }
}
