//! File systems that are nearly full.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;

use super::scratch::Scratch;
use crate::error::{Cannot, Error, Result};
use crate::units::Bytes;

/// No file system allocates less at once.
const LEAST: u64 = 512;

fn is_full(error: &io::Error) -> bool {
    error.kind() == ErrorKind::StorageFull
}

/// Where the inodes go.
const INODES: &str = ".fsduel-inodes";

/// Take all but `room`, which is taken first, so that it is known to be there, and then given back.
pub(super) fn to(scratch: &Scratch, room: Bytes) -> Result<()> {
    let number = fs::read_dir(scratch.path()).map_or(0, Iterator::count);
    let path = |name: &str| scratch.path().join(format!(".fsduel-{name}-{number}"));
    let (kept, filler) = (path("room"), path("filler"));
    let doing = || format!("fill all but {room} with {}", filler.display());
    let taken = take(&kept, room.0).cannot(doing);
    let filled = match &taken {
        Ok(length) if *length == room.0 => {
            take(&filler, scratch.space()?.free.0.next_multiple_of(LEAST)).cannot(doing)
        }
        _ => Ok(0),
    };
    if kept.exists() {
        fs::remove_file(&kept).cannot(|| format!("remove {}", kept.display()))?;
    }
    scratch.space()?;
    let (taken, _) = (taken?, filled?);
    if taken < room.0 {
        let most = Bytes(taken);
        return Err(Error::usage(format!("leave {room} free: there is room for {most} only")));
    }
    Ok(())
}

/// Allocate a new file of up to so many bytes, as many as there is room for; how many that were.
fn take(path: &Path, bytes: u64) -> io::Result<u64> {
    let mut file = match File::create_new(path) {
        Err(error) if is_full(&error) => return Ok(0),
        made => made?,
    };
    let (mut end, mut step) = (0, bytes);
    while end < bytes && step > 0 {
        step = step.min(bytes - end);
        match fallocate(&file, FallocateFlags::empty(), end, step) {
            Ok(()) => end += step,
            Err(Errno::NOSPC) if step > LEAST => step = (step / 2).next_multiple_of(LEAST),
            Err(Errno::NOSPC) => break,
            Err(Errno::OPNOTSUPP) => return write(&mut file, bytes),
            Err(other) => return Err(other.into()),
        }
    }
    Ok(end)
}

/// Where nothing can be allocated that is not written.
fn write(file: &mut File, bytes: u64) -> io::Result<u64> {
    let copied = io::copy(&mut io::repeat(0x5a).take(bytes), file);
    // What is written is not allocated before it is on the device.
    match copied.and_then(|_| file.sync_all()) {
        Err(error) if !is_full(&error) => Err(error),
        _ => file.metadata().map(|stat| stat.len()),
    }
}

/// Take every inode.
pub(super) fn exhaust_inodes(scratch: &Scratch) -> Result<u64> {
    if scratch.space()?.inodes == 0 {
        let name = scratch.filesystem();
        return Err(Error::usage(format!("use up the inodes of {name}: it makes them as they are needed")));
    }
    let folder = scratch.path().join(INODES);
    match fs::create_dir(&folder) {
        Err(error) if is_full(&error) => return Ok(0),
        made => made.cannot(|| format!("make {}", folder.display()))?,
    }
    let mut count = 0;
    loop {
        let path = folder.join(count.to_string());
        match File::create_new(&path) {
            Ok(_) => count += 1,
            Err(error) if is_full(&error) => return Ok(count),
            Err(error) => return Err(error).cannot(|| format!("make {}", path.display())),
        }
    }
}
