//! A mounted file system, and what a test does with it from outside.

use std::fmt;
use std::fs::File;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::MutexGuard;

use nix::mount::MsFlags;

use super::builder::Builder;
use super::fill;
use super::snapshot::Snapshot;
use crate::error::{Cannot, Error, Kind, Result};
use crate::fs::Filesystem;
use crate::result::Checked;
use crate::scratch::Scratch as Device;
use crate::sys::namespace::{self, Inside};
use crate::sys::statfs::{StatFs, statfs};
use crate::units::Bytes;
use crate::verify::fsck::fsck;

/// A mounted file system of a test's own. Dropping it unmounts it, and gives all that it took back.
///
/// It stays in the thread that made it. Other threads can use it through a reference, inside of
/// [`enter`](Self::enter).
pub struct Scratch {
    made: Device,
    filesystem: &'static dyn Filesystem,
    options: String,
    namespace: OwnedFd,
    /// A guard may not be sent to another thread, but shared with one.
    stays: PhantomData<MutexGuard<'static, ()>>,
}

/// What a file system's own checker said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkup {
    /// In a word. `NotChecked` where the file system has no checker, or it is not installed.
    pub checked: Checked,
    /// The checker's own words, where it found something.
    pub text: String,
}

impl Scratch {
    /// A btrfs.
    pub fn btrfs() -> Builder {
        Builder::of("btrfs")
    }

    /// An ext4.
    pub fn ext4() -> Builder {
        Builder::of("ext4")
    }

    /// An xfs.
    pub fn xfs() -> Builder {
        Builder::of("xfs")
    }

    /// A file system by its name, as `mount -t` knows it.
    pub fn of(name: &str) -> Builder {
        Builder::of(name)
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, device) = (self.filesystem(), self.device());
        f.debug_struct("Scratch").field("filesystem", &name).field("device", &device).finish_non_exhaustive()
    }
}

impl Scratch {
    pub(super) fn new(
        made: Device,
        filesystem: &'static dyn Filesystem,
        options: String,
        owner: Option<(u32, u32)>,
    ) -> Result<Self> {
        let namespace = namespace::mounts_of_this_thread()?;
        let scratch = Self { made, filesystem, options, namespace, stays: PhantomData };
        if let Some((user, group)) = owner {
            let path = scratch.path();
            std::os::unix::fs::chown(path, Some(user), Some(group))
                .cannot(|| format!("give {} to {user}:{group}", path.display()))?;
        }
        Ok(scratch)
    }

    /// Its root. Only this thread sees it, and what it starts from now on; see [`enter`](Self::enter).
    ///
    /// # Panics
    ///
    /// A method that mounts it again has failed before.
    #[must_use]
    #[expect(clippy::expect_used, reason = "said above")]
    pub fn path(&self) -> &Path {
        self.made.mounted().expect("it is mounted").path()
    }

    /// Its name, as `mount -t` knows it.
    #[must_use]
    pub fn filesystem(&self) -> &'static str {
        self.filesystem.name()
    }

    /// Its device, as `/dev/loop4`.
    #[must_use]
    pub fn device(&self) -> &Path {
        self.made.device().path()
    }

    /// Do something on a thread that existed before: inside, [`path`](Self::path) is there. The thread
    /// has a working folder of its own afterwards.
    ///
    /// # Panics
    ///
    /// The thread may not change its mounts.
    pub fn enter<T>(&self, work: impl FnOnce() -> T) -> T {
        let _inside = match Inside::of(&self.namespace) {
            Ok(inside) => inside,
            Err(error) => panic!("{error}"),
        };
        work()
    }

    fn root(&self) -> Result<File> {
        self.made.mounted().ok_or_else(|| Error::new("use a file system that is not mounted"))?.root()
    }

    /// What `statfs` tells of space and inodes, after all that was written is on the device.
    ///
    /// # Errors
    ///
    /// The data cannot be written.
    pub fn space(&self) -> Result<StatFs> {
        let root = self.root()?;
        rustix::fs::syncfs(&root).cannot(|| "write what is dirty (syncfs)".into())?;
        statfs(&root)
    }

    /// Leave room for `free` more bytes of data, as this user has it (root may use what is kept in
    /// reserve); what a file system takes for its metadata comes out of that. A file `.fsduel-filler-*`
    /// in the root has the rest; deleting it gives that back.
    ///
    /// # Errors
    ///
    /// There is less room already, or a call fails.
    pub fn fill_to(&self, free: u64) -> Result<()> {
        fill::to(self, Bytes(free))
    }

    /// Make empty files in the directory `.fsduel-inodes` until there is no inode left, and tell how
    /// many.
    ///
    /// # Errors
    ///
    /// The number of inodes is not fixed, or a call fails with something else.
    pub fn exhaust_inodes(&self) -> Result<u64> {
        fill::exhaust_inodes(self)
    }

    /// Unmount it, and mount it with these options in place of those before. No file may be open.
    ///
    /// # Errors
    ///
    /// Something holds it (named), or an option is wrong (then it is mounted as before).
    pub fn remount(&mut self, options: &str) -> Result<()> {
        self.unmount()?;
        let asked = self.filesystem.mount_options(options);
        let mounted = self.made.mount(self.filesystem, &asked);
        if let Err(error) = mounted {
            self.made.mount(self.filesystem, &self.options)?;
            return Err(error);
        }
        self.options = asked;
        Ok(())
    }

    /// Make it read-only as it is, as an administrator does, or the kernel after an error: files stay
    /// open, but none for writing.
    ///
    /// # Errors
    ///
    /// A file is open for writing.
    pub fn remount_read_only(&self) -> Result<()> {
        let (path, none) = (self.path(), None::<&str>);
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        nix::mount::mount(none, path, none, flags, none)
            .cannot(|| format!("make {} read-only", path.display()))
            .map_err(|error| error.next("close the files that are open for writing"))
    }

    /// Forget all that the kernel has cached of it, by mounting it again. No file may be open.
    ///
    /// # Errors
    ///
    /// Something holds it, and is named.
    pub fn drop_caches(&mut self) -> Result<()> {
        self.unmounted(|_, _| Ok(()))
    }

    /// Let its own checker look at it, unmounted and read-only; then it is mounted again. No file may
    /// be open.
    ///
    /// # Errors
    ///
    /// Something holds it, and is named.
    pub fn fsck(&mut self) -> Result<Checkup> {
        self.unmounted(|made, filesystem| {
            let verdict = fsck(filesystem, made.device().path())?.verdict;
            Ok(Checkup { checked: verdict.checked, text: verdict.text })
        })
    }

    /// Copy its image as it is now: shared with it where the store can do that, else without its holes.
    /// It is unmounted meanwhile, so no file may be open. A copy is never mounted: both have one UUID.
    ///
    /// # Errors
    ///
    /// Something holds it (named), or the store has no room.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        self.unmounted(|made, _| Snapshot::of(made))
    }

    /// Make it what it was when `snapshot` was taken. No file may be open.
    ///
    /// # Errors
    ///
    /// Something holds it (named), or the snapshot is of another size.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<()> {
        self.unmounted(|made, _| {
            snapshot.put_back(made)?;
            made.go_cold()
        })
    }

    /// Unmount it, with proof: btrfs lives on for a moment where it has just been mounted, and its last
    /// superblock is written after `umount` has returned.
    fn unmount(&mut self) -> Result<()> {
        self.made.unmount_if_free().map_err(|error| error.of_kind(Kind::Usage))?;
        self.made.go_cold()
    }

    /// Do something while it is unmounted, and mount it again whatever came of that.
    fn unmounted<T>(&mut self, work: impl FnOnce(&Device, &dyn Filesystem) -> Result<T>) -> Result<T> {
        self.unmount()?;
        let done = work(&self.made, self.filesystem);
        self.made.mount(self.filesystem, &self.options)?;
        done
    }
}
