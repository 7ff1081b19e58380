//! How much of a file the page cache holds: the proof that a step starts cold.
//!
//! `cachestat` (Linux 6.5) asks the file itself. Before, `mincore` on a mapping says the same at
//! the cost of a byte for each page, so it goes through the file in windows.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use nix::errno::Errno;

use crate::error::{Cannot, Result};
use crate::sys::page_size;

/// The number is the same on every architecture.
/// Source: Linux `include/uapi/asm-generic/unistd.h`, `__NR_cachestat`.
const SYS_CACHESTAT: libc::c_long = 451;

/// Bytes that one `mincore` asks about.
const WINDOW: u64 = 1 << 30;

/// `struct cachestat_range` of `include/uapi/linux/mman.h`; a length of 0 reaches to the end.
#[repr(C)]
struct Range {
    offset: u64,
    length: u64,
}

/// `struct cachestat` of `include/uapi/linux/mman.h`.
#[repr(C)]
#[derive(Default)]
struct CacheStat {
    cached: u64,
    dirty: u64,
    writeback: u64,
    evicted: u64,
    recently_evicted: u64,
}

/// Pages of a file, a block device or an image that are in the page cache.
///
/// `None` where this kernel allows neither way of asking.
///
/// # Errors
///
/// The descriptor cannot be asked for its size, or the call fails for another reason.
pub fn resident_pages(file: impl AsFd) -> Result<Option<u64>> {
    let file = file.as_fd();
    match cachestat(file) {
        Ok(pages) => Ok(Some(pages)),
        // EPERM: a seccomp filter that does not know the call. EOPNOTSUPP: hugetlbfs.
        Err(Errno::ENOSYS | Errno::EPERM | Errno::EOPNOTSUPP) => by_mincore(file),
        Err(errno) => Err(errno).cannot(|| "count cached pages (cachestat)".into()),
    }
}

#[expect(unsafe_code, reason = "no crate offers cachestat")]
fn cachestat(file: BorrowedFd) -> Result<u64, Errno> {
    let range = Range { offset: 0, length: 0 };
    let mut stat = CacheStat::default();
    // SAFETY: both structures are laid out as the kernel's and outlive the call; the kernel
    // writes only to the second.
    let done =
        unsafe { libc::syscall(SYS_CACHESTAT, file.as_raw_fd(), &raw const range, &raw mut stat, 0_u32) };
    Errno::result(done).map(|_| stat.cached)
}

fn by_mincore(file: BorrowedFd) -> Result<Option<u64>> {
    let size = size(file)?;
    let mut pages = 0;
    for offset in (0..size).step_by(usize::try_from(WINDOW).unwrap_or(usize::MAX)) {
        match mincore(file, offset, WINDOW.min(size - offset)) {
            Ok(count) => pages += count,
            Err(Errno::ENOSYS | Errno::EPERM | Errno::ENODEV | Errno::EACCES) => return Ok(None),
            Err(errno) => return Err(errno).cannot(|| "count cached pages (mincore)".into()),
        }
    }
    Ok(Some(pages))
}

/// Size of a file or a block device; `stat` says 0 for the latter.
fn size(file: BorrowedFd) -> Result<u64> {
    let stat = rustix::fs::fstat(file).cannot(|| "ask for the size of a file".into())?;
    if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::BlockDevice {
        return Ok(u64::try_from(stat.st_size).unwrap_or(0));
    }
    // The offset of a device's descriptor means nothing to us: nobody reads it in order.
    rustix::fs::seek(file, rustix::fs::SeekFrom::End(0)).cannot(|| "ask for the size of a device".into())
}

#[expect(unsafe_code, reason = "rustix and nix offer no mincore")]
fn mincore(file: BorrowedFd, offset: u64, length: u64) -> Result<u64, Errno> {
    let length = usize::try_from(length).map_err(|_| Errno::EFBIG)?;
    let offset = libc::off_t::try_from(offset).map_err(|_| Errno::EFBIG)?;
    let page = usize::try_from(page_size()).map_err(|_| Errno::EFBIG)?;
    let mut resident = vec![0_u8; length.div_ceil(page)];
    // SAFETY: a new shared read-only mapping at an address of the kernel's choice touches no
    // other memory, and nothing reads through it.
    let map = unsafe {
        libc::mmap(std::ptr::null_mut(), length, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), offset)
    };
    if map == libc::MAP_FAILED {
        return Err(Errno::last());
    }
    // SAFETY: `map` is `length` bytes of our own mapping, and `resident` has a byte for each page.
    let done = unsafe { libc::mincore(map, length, resident.as_mut_ptr()) };
    let result = Errno::result(done);
    // SAFETY: the mapping is ours and nothing points into it.
    let unmapped = unsafe { libc::munmap(map, length) };
    debug_assert_eq!(unmapped, 0, "{}", io::Error::last_os_error());
    result.map(|_| resident.iter().map(|page| u64::from(page & 1)).sum())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn file_of(pages: usize) -> std::fs::File {
        let mut file = tempfile::tempfile_in("/var/tmp").unwrap();
        file.write_all(&vec![7; pages * usize::try_from(page_size()).unwrap()]).unwrap();
        file
    }

    #[test]
    fn what_was_just_written_is_resident_and_both_ways_agree() {
        let file = file_of(5);
        assert_eq!(resident_pages(&file).unwrap(), Some(5));
        assert_eq!(by_mincore(file.as_fd()).unwrap(), Some(5));
    }

    #[test]
    fn nothing_of_a_hole_is_resident() {
        let file = tempfile::tempfile_in("/var/tmp").unwrap();
        file.set_len((1 << 30) + 4097).unwrap();
        assert_eq!(resident_pages(&file).unwrap(), Some(0));
        assert_eq!(by_mincore(file.as_fd()).unwrap(), Some(0));
    }

    #[test]
    fn an_empty_file_has_no_page() {
        let file = file_of(0);
        assert_eq!(resident_pages(&file).unwrap(), Some(0));
        assert_eq!(by_mincore(file.as_fd()).unwrap(), Some(0));
    }
}
