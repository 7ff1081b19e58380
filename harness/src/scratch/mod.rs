//! Image, loop device and mount: made for one case, then gone.
//!
//! Nothing here relies on cleaning up. The image never has a name, the device clears itself with
//! its last descriptor, and the mount is in a mount namespace of our own: when this process dies,
//! however it dies, the kernel takes all three back. `close` proves that they went; dropping does
//! the same, and logs what it could not do.
//!
//! The caller is in a mount namespace of its own already: a worker, or a thread after
//! [`enter_private_mounts`](crate::sys::namespace::enter_private_mounts).

mod device;
pub mod disk;
pub mod holders;
mod image;
mod kept;
mod loop_device;
mod mount;
mod mount_options;
mod mount_warnings;
pub mod pins;
mod place;
mod store;
mod tag;

use std::path::PathBuf;

use nix::errno::Errno;
use rustix::fs::{FlockOperation, flock};

use crate::command::{self, Invocation, Output};
use crate::error::{Cannot, Error, Result};
use crate::fs::Filesystem;
use crate::sys::errno;
use crate::sys::retry::{PATIENCE, retry};
use crate::units::Bytes;

pub use device::Device;
pub use disk::Disk;
pub use image::Image;
pub(crate) use kept::is_kept;
pub use kept::{IMAGE, Kept, create_kept, find_kept, remove_kept};
pub use loop_device::{LoopDevice, LoopOptions};
pub use mount::Mount;
pub use place::Place;
pub use store::{StoreKind, StoreState, store_info};
pub use tag::{Found, Tag, find_ours, free};

/// What a scratch device is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchSpec {
    /// A whole disk in place of an image; then nothing of the image is looked at.
    pub disk: Option<PathBuf>,
    /// The folder for the image; none for memory.
    pub store: Option<PathBuf>,
    /// Size of the image, a multiple of the logical block size.
    pub size: Bytes,
    /// Allocate the whole image first.
    pub preallocate: bool,
    /// Logical block size of the device.
    pub logical_block_size: Bytes,
    /// `Some(true)`: direct I/O or nothing. None: where the store is known to bear it.
    pub direct_io: Option<bool>,
    /// What the device is called; see [`Tag`].
    pub tag: String,
}

/// A device of ours, and what is mounted from it.
///
/// The order of the fields is the order in which they are dropped.
#[derive(Debug)]
pub struct Scratch {
    mount: Option<Mount>,
    device: Device,
    image: Option<Image>,
    place: Place,
}

impl Scratch {
    /// Make an image and attach it; or take a whole disk.
    ///
    /// # Errors
    ///
    /// See [`Image::create`], [`LoopDevice::attach`], [`Disk::open`] and [`Place::new`]; or direct I/O
    /// was demanded and the kernel did not grant it.
    pub fn attach(spec: &ScratchSpec) -> Result<Self> {
        Self::attach_in(spec, Place::new(spec.store.as_deref())?)
    }

    /// The same in a place that is there.
    ///
    /// # Errors
    ///
    /// As [`attach`](Self::attach).
    pub fn attach_in(spec: &ScratchSpec, place: Place) -> Result<Self> {
        if let Some(disk) = &spec.disk {
            return Ok(Self { mount: None, device: Device::Disk(Disk::open(disk)?), image: None, place });
        }
        let image = Image::create(spec.store.as_deref(), spec.size, spec.preallocate)?;
        let options = LoopOptions {
            logical_block_size: spec.logical_block_size,
            direct_io: wants_direct_io(spec)?,
            tag: spec.tag.clone(),
            node_folder: &place.node_folder()?,
        };
        let device = LoopDevice::attach(&image, &options)?;
        if spec.direct_io == Some(true) && !device.info().direct_io {
            let doing = "use direct I/O on the loop device: the store does not allow it with this block size";
            return Err(
                Error::environment(doing).next("use --direct-io auto, --block-size 4KiB or another --store")
            );
        }
        Ok(Self { mount: None, device: Device::Loop(device), image: Some(image), place })
    }

    /// Make a file system, and give back what the tool printed.
    ///
    /// udev leaves a device alone while its node is locked. Source: systemd, "Locking Block Device
    /// Access".
    ///
    /// # Errors
    ///
    /// The tool is missing, or fails: its last lines are in the message.
    pub fn mkfs(&self, invocation: &Invocation) -> Result<String> {
        let _locked = self.lock()?;
        if let Device::Disk(disk) = &self.device {
            // Whoever claimed it for this case lets it go now.
            self.device.assert_unmounted()?;
            disk.forget()?;
        }
        let run = || match command::run(invocation) {
            Ok(output) if output.status == 0 => Ok(output.text),
            Ok(output) => Err(MkfsFailure::Tool(output)),
            Err(error) => Err(MkfsFailure::Run(error)),
        };
        retry(PATIENCE, MkfsFailure::is_in_use, run).map_err(|failure| failure.explain(invocation))
    }

    /// Lock the node until the descriptor is dropped.
    fn lock(&self) -> Result<std::fs::File> {
        let path = self.device.path();
        let node = std::fs::File::open(path).cannot(|| format!("open {}", path.display()))?;
        let lock = || flock(&node, FlockOperation::NonBlockingLockExclusive).map_err(errno);
        retry(PATIENCE, |errno| *errno == Errno::EAGAIN, lock)
            .cannot(|| format!("lock {}", path.display()))
            .map_err(|error| error.next("find what holds the lock: lslocks"))?;
        Ok(node)
    }

    /// Mount it.
    ///
    /// # Errors
    ///
    /// It is mounted already; or see [`Mount::new`].
    pub fn mount(&mut self, filesystem: &'static dyn Filesystem, options: &str) -> Result<()> {
        if self.mount.is_some() {
            return Err(Error::new(format!("mount {}: it is mounted", self.device.name())));
        }
        let at = self.place.mount_point("scratch")?;
        self.mount = Some(Mount::new(self.device.path(), filesystem.name(), options, &at)?);
        Ok(())
    }

    /// The mount, if it is mounted.
    #[must_use]
    pub fn mounted(&self) -> Option<&Mount> {
        self.mount.as_ref()
    }

    /// Unmount. Nothing happens if it is not mounted.
    ///
    /// # Errors
    ///
    /// Something still uses it, which is named.
    pub fn unmount(&mut self) -> Result<()> {
        self.mount.take().map_or(Ok(()), Mount::close)
    }

    /// Unmount it if nothing uses it; else it stays as it is.
    ///
    /// # Errors
    ///
    /// Something uses it, which is named.
    pub fn unmount_if_free(&mut self) -> Result<()> {
        self.mount.as_mut().map_or(Ok(()), Mount::close_if_free)?;
        self.mount = None;
        Ok(())
    }

    /// Prove that no superblock is left, and drop what the host has cached of the device and the
    /// image, so that the next mount is cold.
    ///
    /// # Errors
    ///
    /// Something still uses the device, which is named.
    pub fn go_cold(&self) -> Result<()> {
        self.device.assert_unmounted()?;
        self.device.drop_cache()?;
        self.image.as_ref().map_or(Ok(()), Image::drop_cache)
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The image; a disk has none.
    #[must_use]
    pub fn image(&self) -> Option<&Image> {
        self.image.as_ref()
    }

    /// An empty folder beside the mount, seen from nowhere else; what is mounted on it must be gone before
    /// [`close`](Self::close).
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn folder(&self, name: &str) -> Result<PathBuf> {
        self.place.mount_point(name)
    }

    /// Take down mount, device, image and place, all of them whatever happens.
    ///
    /// # Errors
    ///
    /// The first that failed.
    pub fn close(self) -> Result<()> {
        let Self { mount, device, image, place } = self;
        let unmounted = mount.map_or(Ok(()), Mount::close);
        let detached = device.close();
        drop(image);
        unmounted.and(detached).and(place.close())
    }
}

/// Of the device below file systems of this block size: 4096 where that allows it, else 512.
#[must_use]
pub fn logical_block_size(block_size: Bytes) -> Bytes {
    if block_size.0 >= 4096 { Bytes(4096) } else { Bytes(512) }
}

/// Where nothing was said: wherever it is not known to cause trouble (loop devices with direct I/O
/// over network file systems and FUSE hang or fail on some kernels).
fn wants_direct_io(spec: &ScratchSpec) -> Result<bool> {
    match (spec.direct_io, &spec.store) {
        (Some(wanted), _) => Ok(wanted),
        (None, None) => Ok(true),
        (None, Some(folder)) => Ok(store_info(folder)?.kind != StoreKind::Network),
    }
}

enum MkfsFailure {
    Tool(Output),
    Run(Error),
}

impl MkfsFailure {
    /// What the tools say while somebody, such as udev, has the device open exclusively.
    fn is_in_use(&self) -> bool {
        let words = ["n use by the system", "Device or resource busy", "is mounted", "contains a mounted"];
        matches!(self, Self::Tool(output) if words.iter().any(|word| output.text.contains(word)))
    }

    fn explain(self, invocation: &Invocation) -> Error {
        match self {
            Self::Run(error) => error,
            Self::Tool(output) => {
                let lines: Vec<&str> = output.text.lines().filter(|line| !line.trim().is_empty()).collect();
                let last = lines[lines.len().saturating_sub(4)..].join(" / ");
                let (words, status) = (invocation.words().join(" "), output.status);
                Error::new(format!("make a file system: `{words}` ended with {status}: {last}"))
                    .next("run the command on a file of this size; the mkfs options may not fit it")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_mkfs_quotes_the_tool() {
        let text = "mke2fs 1.47.0\n\n/dev/loop4 is apparently in use by the system; will not make a filesystem here!\n";
        let failure = MkfsFailure::Tool(Output { status: 1, text: text.into() });
        assert!(failure.is_in_use());
        let error = failure.explain(&Invocation::new("mkfs.ext4", ["/dev/loop4"]));
        assert!(
            error
                .to_string()
                .starts_with("cannot make a file system: `mkfs.ext4 /dev/loop4` ended with 1: mke2fs")
        );
    }

    #[test]
    fn other_failures_of_mkfs_are_not_tried_again() {
        let output = Output { status: 1, text: "unknown option -- Q".into() };
        assert!(!MkfsFailure::Tool(output).is_in_use());
    }
}
