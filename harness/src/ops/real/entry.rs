//! How an entry is opened, and what kind it is.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::ops::{How, Kind};

/// Those of the C library, but for a link, which is never followed. PostMark's files have the modes
/// that PostMark gives them; its directories, 0700 there, have those of all directories here.
pub(super) fn flags(how: How) -> (OFlags, Mode) {
    let (flags, mode) = match how {
        How::New => (OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, 0o644),
        How::Read => (OFlags::RDONLY, 0),
        How::Truncate => (OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC, 0o666),
        How::AppendOrCreate => (OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND, 0o666),
        How::ReadWriteCreate => (OFlags::RDWR | OFlags::CREATE, 0o644),
        How::ReadWriteAppend => (OFlags::RDWR | OFlags::APPEND, 0),
    };
    (flags | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::from_raw_mode(mode))
}

/// The kind, asked for where the directory does not say (`ftype=0` on XFS).
pub(super) fn kind(directory: &OwnedFd, name: &std::ffi::CStr, told: FileType) -> rustix::io::Result<Kind> {
    let kind = match told {
        FileType::Unknown => {
            let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
            FileType::from_raw_mode(stat.st_mode)
        }
        told => told,
    };
    Ok(match kind {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        _ => Kind::Other,
    })
}
