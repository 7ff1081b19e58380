//! What in the kernel itself keeps a file system alive although no process does: loop devices on its
//! files, swap on them, and a freeze. A command of the user's can leave them, and they outlive it.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{Cannot, Result};
use crate::sys::{freeze, loop_ctl, swap};

use super::loop_device::wait_until_detached;

/// A loop device whose file is on the file system.
#[derive(Debug)]
struct Nested {
    node: PathBuf,
    /// Number of the device, which is that of a file system on it.
    number: u64,
    /// Of the file system that its file is on.
    on: u64,
}

/// End all that keeps the file system alive that is mounted at `mount`; in words, what that was. No
/// process uses it any more.
///
/// # Errors
///
/// Something stays.
pub fn release(mount: &Path) -> Result<Vec<String>> {
    let root = File::open(mount).cannot(|| format!("open {}", mount.display()))?;
    let mut found = vec![];
    if freeze::thaw(&root).is_ok() {
        found.push("the file system frozen".into());
    }
    let number = root.metadata().cannot(|| format!("look at {}", mount.display()))?.dev();
    let nested = nested_on(number);
    for path in swap::used() {
        if let Some(file) = swapped(&path, mount, number, &nested) {
            swap::off(&file).cannot(|| format!("end the swapping to {}", path.display()))?;
            found.push(format!("swap on {}", path.display()));
        }
    }
    found.extend(detach_all(&nested)?.map(|node| format!("the loop device {}", node.display())));
    Ok(found)
}

/// Detach loop devices on a file system that is on `device` alone, and that nobody has mounted any more.
///
/// # Errors
///
/// Something stays.
pub(super) fn detach_on(device: &File) -> Result<()> {
    let number = device.metadata().cannot(|| "look at a device".into())?.rdev();
    detach_all(&nested_on(number)).map(drop)
}

/// Those on top first: they keep the ones below alive.
fn detach_all(nested: &[Nested]) -> Result<impl Iterator<Item = &Path>> {
    nested.iter().rev().try_for_each(detach)?;
    Ok(nested.iter().map(|device| device.node.as_path()))
}

/// The swap as we see it, if it is on the file system or on a loop device on it. A path in the kernel's
/// list is that of a mount which may be gone.
fn swapped(path: &Path, mount: &Path, number: u64, nested: &[Nested]) -> Option<PathBuf> {
    if nested.iter().any(|device| device.node == path) {
        return Some(path.to_owned());
    }
    let below = path.strip_prefix(mount).or_else(|_| path.strip_prefix("/")).ok()?;
    let file = mount.join(below);
    let stat = file.symlink_metadata().ok()?;
    (stat.is_file() && stat.dev() == number).then_some(file)
}

/// Loop devices on the file system `number`, those on file systems on them, and so on.
fn nested_on(number: u64) -> Vec<Nested> {
    let mut others: Vec<Nested> = all();
    let mut numbers = vec![number];
    let mut found = vec![];
    loop {
        let (next, rest): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|device| numbers.contains(&device.on));
        if next.is_empty() {
            return found;
        }
        numbers.extend(next.iter().map(|device| device.number));
        found.extend(next);
        others = rest;
    }
}

fn all() -> Vec<Nested> {
    let entries = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let attached = entries.filter(|entry| entry.path().join("loop").is_dir());
    attached.filter_map(|entry| look(&Path::new("/dev").join(entry.file_name()))).collect()
}

fn look(node: &Path) -> Option<Nested> {
    // Without O_EXCL: an exclusive open would make the device busy for its user.
    let file = File::open(node).ok()?;
    let on = loop_ctl::status(&file).ok()?.device;
    Some(Nested { node: node.to_owned(), number: file.metadata().ok()?.rdev(), on })
}

fn detach(device: &Nested) -> Result<()> {
    let shown = device.node.display();
    let file = File::open(&device.node).cannot(|| format!("open {shown}"))?;
    let Ok(status) = loop_ctl::status(&file) else { return Ok(()) };
    loop_ctl::clear(&file).cannot(|| format!("detach {shown}, which a command left"))?;
    drop(file);
    wait_until_detached(&device.node, status.inode, &status.name)
}
