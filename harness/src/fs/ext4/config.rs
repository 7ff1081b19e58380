//! What `mke2fs` is told besides its command line: our own `mke2fs.conf`, whatever the machine's
//! says; and what depends on its version.
//!
//! The file is a sealed memfd that this process keeps open. Its path goes through the inherited
//! `/proc`, with our process id as seen there, because a child inherits no descriptor of ours and
//! `getpid` tells another number within a PID namespace. It is gone with this process.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, SealFlags};

use crate::command::{self, Invocation};
use crate::error::{Cannot, Result};
use crate::units::Bytes;

/// Where no memfd can be made: a path that no tool can open, so that `mke2fs` fails, rather than
/// taking the machine's own configuration in silence.
const NOWHERE: &str = "/dev/null/mke2fs.conf";

/// Absolute path of our `mke2fs.conf`, readable by any child for as long as this process lives.
pub(super) fn path() -> PathBuf {
    static FILE: OnceLock<std::result::Result<OwnedFd, String>> = OnceLock::new();
    let made = FILE.get_or_init(|| sealed(include_bytes!("../mke2fs.conf")).map_err(|e| e.to_string()));
    let path = made.as_ref().map_err(Clone::clone).and_then(|fd| by_proc(fd).map_err(|e| e.to_string()));
    path.unwrap_or_else(|error| {
        log::warn!("{error}");
        NOWHERE.into()
    })
}

/// A file in memory that nobody can change any more.
fn sealed(text: &[u8]) -> Result<OwnedFd> {
    let doing = || "keep mke2fs.conf in memory".into();
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let mut file = File::from(rustix::fs::memfd_create("mke2fs.conf", flags).cannot(doing)?);
    file.write_all(text).cannot(doing)?;
    let seals = SealFlags::SEAL | SealFlags::SHRINK | SealFlags::GROW | SealFlags::WRITE;
    rustix::fs::fcntl_add_seals(&file, seals).cannot(doing)?;
    Ok(file.into())
}

/// An empty file in memory of the size of an image. It takes no memory until it is written.
pub(super) fn sparse_image(size: Bytes) -> Result<OwnedFd> {
    let doing = || format!("imagine an image of {} bytes", size.0);
    let file = rustix::fs::memfd_create("image", MemfdFlags::CLOEXEC).cannot(doing)?;
    rustix::fs::ftruncate(&file, size.0).cannot(doing)?;
    Ok(file)
}

/// The path of an open file that every child can open.
pub(super) fn by_proc(file: &OwnedFd) -> Result<PathBuf> {
    let process = std::fs::read_link("/proc/self")
        .cannot(|| "find this process in /proc".into())
        .map_err(|error| error.next("mount -t proc proc /proc"))?;
    Ok(PathBuf::from("/proc").join(process).join("fd").join(file.as_raw_fd().to_string()))
}

/// Deferred initialisation off, and discard off, in the words of this machine's `mke2fs`.
///
/// An image is zero by construction, so `assume_storage_prezeroed` writes a hundredth of what
/// `lazy_*_init=0` does. It exists since 1.47.0 (release notes of e2fsprogs).
pub(super) fn initialisation() -> &'static str {
    static KNOWS_PREZEROED: OnceLock<bool> = OnceLock::new();
    let knows = *KNOWS_PREZEROED.get_or_init(|| {
        let told = command::run(&Invocation::new("mke2fs", ["-V"])).ok();
        told.and_then(|told| parse_version(&told.text)).is_some_and(|version| version >= (1, 47))
    });
    if knows {
        "assume_storage_prezeroed=1,nodiscard"
    } else {
        "lazy_itable_init=0,lazy_journal_init=0,nodiscard"
    }
}

/// Major and minor version in what `mke2fs -V` prints.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let version = text.lines().find_map(|line| line.strip_prefix("mke2fs "))?;
    let mut numbers = version.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_what_mke2fs_prints() {
        let text = "mke2fs 1.47.0 (5-Feb-2023)\n\tUsing EXT2FS Library version 1.47.0\n";
        assert_eq!(parse_version(text), Some((1, 47)));
        assert_eq!(parse_version("mke2fs 1.46-WIP (20-Mar-2020)\n"), Some((1, 46)));
        assert_eq!(parse_version("mke2fs: not found"), None);
    }

    #[test]
    fn the_configuration_can_be_read_by_its_path_and_not_be_changed() {
        let path = path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("has_journal,extent"), "never an empty one: no journal, no extents");
        let changed = std::fs::OpenOptions::new().write(true).open(&path).and_then(|mut f| f.write(b"x"));
        assert_eq!(changed.unwrap_err().raw_os_error(), Some(libc::EPERM));
    }
}
