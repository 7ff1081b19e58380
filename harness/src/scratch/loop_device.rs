//! An image as a block device, from one `LOOP_CONFIGURE` to the last descriptor.
//!
//! The device is auto-clearing from its first moment, and one plain descriptor of ours keeps it
//! over mkfs, mounts and checks. So it goes when we close that descriptor, or die.

use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::device::{held, keep_open};
use super::image::Image;
use crate::error::{Cannot, Error, Kind, Result};
use crate::result::LoopInfo;
use crate::sys::retry::{PATIENCE, retry};
use crate::sys::{errno, loop_ctl};
use crate::units::Bytes;

#[cfg(feature = "loopdev")]
use loopdev::{LoopControl as Control, LoopDevice as Handle};
#[cfg(not(feature = "loopdev"))]
use std::fs::File as Control;
#[cfg(not(feature = "loopdev"))]
use std::fs::File as Handle;

#[cfg(feature = "loopdev")]
fn open_control() -> std::io::Result<Control> {
    Control::open()
}

#[cfg(not(feature = "loopdev"))]
fn open_control() -> std::io::Result<Control> {
    open_device(Path::new("/dev/loop-control"))
}

#[cfg(feature = "loopdev")]
fn open_device(path: &Path) -> std::io::Result<Handle> {
    Handle::open(path)
}

#[cfg(not(feature = "loopdev"))]
fn open_device(path: &Path) -> std::io::Result<Handle> {
    File::options().read(true).write(true).open(path)
}

/// How an image is attached.
#[derive(Clone, Debug)]
pub struct LoopOptions<'a> {
    /// Logical block size of the device.
    pub logical_block_size: Bytes,
    /// Ask for it; whether the kernel gave it is in [`LoopDevice::info`].
    pub direct_io: bool,
    /// What `lo_file_name` says.
    pub tag: String,
    /// Where a node is made if `/dev` has none: a folder of ours, on a mount that allows devices.
    pub node_folder: &'a Path,
}

/// An attached loop device of ours.
#[derive(Debug)]
pub struct LoopDevice {
    keeper: Option<File>,
    path: PathBuf,
    name: String,
    tag: String,
    inode: u64,
    info: LoopInfo,
}

impl LoopDevice {
    /// Attach `image` to a free device.
    ///
    /// # Errors
    ///
    /// Loop devices may not be used here, the image does not fit the block size, or Linux is older
    /// than 5.8.
    pub fn attach(image: &Image, options: &LoopOptions) -> Result<Self> {
        let block_size = check_block_size(image.size(), options.logical_block_size)?;
        let control = open_control().cannot(|| "open /dev/loop-control".into()).map_err(|error| {
            error.of_kind(Kind::Unavailable).next("fsduel doctor tells what loop devices need")
        })?;
        let attempt = || attach_once(&control, image, options, block_size);
        let device = retry(PATIENCE, is_race, attempt).map_err(explain)?;
        Self::read_back(device, image, options)
    }

    /// Exchange the descriptor for the keeper, and read what the kernel made of our wishes.
    fn read_back(device: Configured, image: &Image, options: &LoopOptions) -> Result<Self> {
        let Configured { path, name, handle } = device;
        let keeper = keep_open(&path)?;
        drop(handle);
        let status = loop_ctl::status(&keeper).cannot(|| format!("read what {name} is"))?;
        if status.name != options.tag || status.flags & loop_ctl::AUTOCLEAR == 0 {
            return Err(Error::new(format!("attach an image: {name} is `{}`, not ours", status.name)));
        }
        let size = attribute(&name, "queue/logical_block_size")?;
        let info = LoopInfo {
            direct_io: status.flags & loop_ctl::DIRECT_IO != 0 && attribute(&name, "loop/dio")? == "1",
            logical_block_size_bytes: size.parse().cannot(|| format!("understand block size `{size}`"))?,
        };
        let (tag, inode) = (options.tag.clone(), image.inode());
        Ok(Self { keeper: Some(keeper), path, name, tag, inode, info })
    }

    /// Its node: `/dev/loop4`, or one in the node folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Its name in `/sys/block` and in the kernel log: `loop4`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is called, to be found again.
    #[must_use]
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// As the kernel set it up.
    #[must_use]
    pub fn info(&self) -> LoopInfo {
        self.info.clone()
    }

    /// Let the device go, and prove that it went.
    ///
    /// # Errors
    ///
    /// Something still holds it, and is named.
    pub fn close(mut self) -> Result<()> {
        self.detach()
    }

    fn detach(&mut self) -> Result<()> {
        let Some(keeper) = self.keeper.take() else { return Ok(()) };
        drop(keeper);
        wait_until_detached(&self.path, self.inode, &self.tag)
    }
}

impl AsFd for LoopDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.keeper
            .as_ref()
            .expect("only `close` and `drop` take the keeper, and they end the device")
            .as_fd()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        if let Err(error) = self.detach() {
            log::warn!("{error}");
        }
    }
}

/// A device that was configured, with the descriptor that did it.
struct Configured {
    path: PathBuf,
    name: String,
    handle: Handle,
}

fn check_block_size(image: Bytes, block_size: Bytes) -> Result<u32> {
    let next = "sizes are multiples of the logical block size, which is a power of two from 512 to 65536";
    let fits = block_size.0.is_power_of_two() && (512..=65536).contains(&block_size.0);
    if !fits || !image.0.is_multiple_of(block_size.0) {
        let doing = format!("attach an image of {} bytes with blocks of {}", image.0, block_size.0);
        return Err(Error::usage(doing).next(next));
    }
    u32::try_from(block_size.0).cannot(|| "use so large a block".into())
}

/// Another process was quicker, or the node or the device is just being made or removed.
fn is_race(error: &Error) -> bool {
    let transient = [Errno::EBUSY, Errno::EAGAIN, Errno::ENXIO, Errno::ENOENT, Errno::ENODEV];
    error.errno().is_some_and(|errno| transient.contains(&errno))
}

fn explain(error: Error) -> Error {
    match error.errno() {
        Some(Errno::ENOTTY | Errno::EINVAL) => {
            error.of_kind(Kind::Unavailable).next("Linux 5.8 or later is needed (LOOP_CONFIGURE)")
        }
        Some(Errno::EPERM | Errno::EACCES) if error.next_step().is_none() => error
            .of_kind(Kind::Unavailable)
            .next("allow the devices (b 7:* rwm, c 10:237 rwm), or start the container with --privileged"),
        _ => error,
    }
}

/// One attempt, with a number of its own: the last one may be taken by now.
fn attach_once(control: &Control, image: &Image, options: &LoopOptions, size: u32) -> Result<Configured> {
    let number = loop_ctl::get_free(control).cannot(|| "get a free loop device".into())?;
    let name = format!("loop{number}");
    let path = node(&name, options.node_folder)?;
    let handle = open_device(&path).cannot(|| format!("open {}", path.display()))?;
    let direct_io = if options.direct_io { loop_ctl::DIRECT_IO } else { 0 };
    let flags = loop_ctl::AUTOCLEAR | direct_io;
    loop_ctl::configure(&handle, &image.as_fd(), size, flags, &options.tag)
        .cannot(|| format!("attach an image to {}", path.display()))?;
    Ok(Configured { path, name, handle })
}

/// The node of a device: the one in `/dev`, or one that is made in `folder`.
fn node(name: &str, folder: &Path) -> Result<PathBuf> {
    let usual = Path::new("/dev").join(name);
    if usual.exists() {
        return Ok(usual);
    }
    let path = folder.join(name);
    let number = device_number(&attribute(name, "dev")?)
        .ok_or_else(|| Error::new(format!("understand /sys/block/{name}/dev")))?;
    match mknodat(CWD, &path, FileType::BlockDevice, Mode::RUSR | Mode::WUSR, number).map_err(errno) {
        Ok(()) | Err(Errno::EEXIST) => Ok(path),
        Err(Errno::EPERM) => Err(Error::unavailable(format!(
            "use {name}: the kernel gave it, /dev/{name} is missing, and mknod was refused (CAP_MKNOD?)"
        ))
        .because(Errno::EPERM)
        .next("start the container with -v /dev:/dev")),
        Err(errno) => Err(errno).cannot(|| format!("make {}", path.display())),
    }
}

/// `7:48`. The minor number is not the number of the device where the module has `max_part` set.
fn device_number(text: &str) -> Option<u64> {
    let (major, minor) = text.split_once(':')?;
    Some(rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?))
}

/// What `/sys/block/NAME/WHAT` says.
fn attribute(name: &str, what: &str) -> Result<String> {
    let path = Path::new("/sys/block").join(name).join(what);
    let text = fs::read_to_string(&path).cannot(|| format!("read {}", path.display()))?;
    Ok(text.trim_end().to_owned())
}

/// After our descriptor was closed: wait until the device is free, or belongs to somebody else.
///
/// It is never opened exclusively here: by now it may be another's, who would see it busy.
pub(super) fn wait_until_detached(path: &Path, inode: u64, tag: &str) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let check = || if is_ours(path, &name, inode, tag) { Err(()) } else { Ok(()) };
    retry(PATIENCE, |()| true, check).map_err(|()| {
        Error::new(format!("detach {name}: it is still attached, {}", held(path)))
            .next("end what holds it; then `fsduel gc` shows whether anything is left")
    })
}

fn is_ours(path: &Path, name: &str, inode: u64, tag: &str) -> bool {
    // No such file: nothing is attached. This asks the driver nothing, and so delays nobody.
    if attribute(name, "loop/backing_file").is_err() {
        return false;
    }
    let status = File::open(path).map_err(|_| Errno::ENXIO).and_then(|device| loop_ctl::status(&device));
    status.is_ok_and(|status| status.name == tag && status.inode == inode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_node_comes_from_sysfs() {
        assert_eq!(device_number("7:48"), Some(rustix::fs::makedev(7, 48)));
        assert_eq!(device_number("7"), None);
    }

    #[test]
    fn only_whole_blocks_are_attached() {
        assert_eq!(check_block_size(Bytes::mib(1), Bytes(4096)).unwrap(), 4096);
        for (image, block) in [(Bytes(1 << 20 | 512), 4096), (Bytes::mib(1), 1000), (Bytes::mib(1), 131_072)]
        {
            assert_eq!(check_block_size(image, Bytes(block)).unwrap_err().kind(), Kind::Usage);
        }
    }

    #[test]
    fn a_lost_race_is_tried_again_and_a_refusal_is_not() {
        let failed = |errno: Errno| Err::<(), _>(errno).cannot(|| "attach".into()).unwrap_err();
        assert!(is_race(&failed(Errno::EBUSY)) && is_race(&failed(Errno::ENXIO)));
        assert!(!is_race(&failed(Errno::EPERM)) && !is_race(&failed(Errno::EINVAL)));
    }

    #[test]
    fn an_old_kernel_is_named() {
        let error = explain(Err::<(), _>(Errno::EINVAL).cannot(|| "attach".into()).unwrap_err());
        assert_eq!(error.kind(), Kind::Unavailable);
        assert!(error.next_step().unwrap().contains("5.8"));
    }
}
