//! How far a step has come, in memory that a worker and the runner share.
//!
//! The worker stores two numbers after each call, which costs it a nanosecond and no system call;
//! the runner reads them when it looks at signals and time limits, as it does anyway. A line
//! through a pipe would be work of the worker within the time that is measured. And the numbers
//! outlive the worker, so a step that was killed can still be told from one that had not begun.
//!
//! The memory is a memfd that nobody can cut short, so no access to it can fail. Its descriptor is
//! closed as soon as it is mapped: no command of the worker's gets it, and the memory goes with
//! the processes, however they end.

use std::fs::File;
use std::ops::Deref;
use std::os::fd::{AsFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::error::{Cannot, Error, Result};

/// How far a step has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Operations that succeeded.
    pub operations: u64,
    /// Bytes written and read.
    pub bytes: u64,
}

/// Counters of the step that runs: one thread writes, any other may read. Nothing is ordered by
/// them, so every access is relaxed.
#[repr(C)]
#[derive(Debug, Default)]
pub struct Counters {
    operations: AtomicU64,
    bytes: AtomicU64,
}

impl Counters {
    /// A step begins: nothing is done yet.
    pub fn begin(&self) {
        self.operations.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// One more operation is done; `bytes` of all so far. Only the thread that writes calls it, so
    /// it needs no locked instruction.
    pub fn add(&self, bytes: u64) {
        self.operations.store(self.operations.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// How far the step is now.
    #[must_use]
    pub fn read(&self) -> Done {
        Done {
            operations: self.operations.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }
}

/// Counters that another process sees, too.
#[derive(Debug)]
pub struct Shared {
    at: NonNull<Counters>,
}

const LENGTH: usize = size_of::<Counters>();
/// Its length can never change again.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

impl Shared {
    /// New counters, and the descriptor with which a process that inherits it shares them.
    ///
    /// # Errors
    ///
    /// The kernel refuses the memory.
    pub fn new() -> Result<(Self, OwnedFd)> {
        let doing = || "make memory to share with a worker".into();
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = File::from(memfd_create("fsduel-counters", flags).cannot(doing)?);
        memory.set_len(LENGTH as u64).cannot(doing)?;
        fcntl_add_seals(&memory, SEALS).cannot(doing)?;
        let memory = OwnedFd::from(memory);
        Ok((Self::map(&memory)?, memory))
    }

    /// The counters behind a descriptor that this process has inherited, which is closed.
    ///
    /// # Errors
    ///
    /// There is no such descriptor, or something else is behind it.
    pub fn inherited(number: RawFd) -> Result<Self> {
        Self::map(&super::inherited::take(number)?)
    }

    #[expect(unsafe_code, reason = "memory that two processes share")]
    fn map(memory: &OwnedFd) -> Result<Self> {
        let doing = || "share memory with the runner".into();
        let length = fstat(memory).cannot(doing)?.st_size;
        if !fcntl_get_seals(memory).cannot(doing)?.contains(SEALS) || length != LENGTH as i64 {
            return Err(Error::new("share memory with the runner: it has another size"));
        }
        let (none, flags) = (std::ptr::null_mut(), ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: the kernel chooses a free address, so no other memory of this process changes.
        let at = unsafe { mmap(none, LENGTH, flags, MapFlags::SHARED, memory.as_fd(), 0) }.cannot(doing)?;
        let at = NonNull::new(at.cast()).ok_or_else(|| Error::new("share memory at address 0"))?;
        Ok(Self { at })
    }
}

impl Deref for Shared {
    type Target = Counters;

    #[expect(unsafe_code, reason = "memory that two processes share")]
    fn deref(&self) -> &Counters {
        // SAFETY: a page is mapped there as long as `self` lives, aligned to its size; every bit
        // pattern is a valid `Counters`; both sides use atomic accesses only; and the seals keep
        // the file from being cut short below the mapping.
        unsafe { self.at.as_ref() }
    }
}

impl Drop for Shared {
    #[expect(unsafe_code, reason = "memory that two processes share")]
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this length, and nobody can have borrowed it any longer.
        if let Err(error) = unsafe { munmap(self.at.as_ptr().cast(), LENGTH) } {
            log::warn!("cannot give shared memory back: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::IntoRawFd;

    use super::*;

    #[test]
    fn what_one_side_counts_the_other_reads() {
        let (reader, memory) = Shared::new().unwrap();
        let writer = Shared::inherited(memory.into_raw_fd()).unwrap();
        writer.add(100);
        writer.add(250);
        assert_eq!(reader.read(), Done { operations: 2, bytes: 250 });
        drop(writer);
        assert_eq!(reader.read().operations, 2, "it outlives the writer");
        reader.begin();
        assert_eq!(reader.read(), Done::default());
    }

    #[test]
    fn a_descriptor_is_closed_once_it_is_mapped() {
        let (_reader, memory) = Shared::new().unwrap();
        // A number that no other test gets meanwhile, so that a free number stays free.
        let number = rustix::io::fcntl_dupfd_cloexec(&memory, 700).unwrap().into_raw_fd();
        let _writer = Shared::inherited(number).unwrap();
        assert!(Shared::inherited(number).unwrap_err().to_string().contains("was not handed over"));
    }

    #[test]
    fn anything_else_is_refused() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(LENGTH as u64).unwrap();
        assert!(Shared::inherited(file.into_raw_fd()).is_err());
        for number in [-1, 0, 1, 2, 100_000] {
            assert!(Shared::inherited(number).is_err(), "{number}");
        }
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = memfd_create("short", flags).unwrap();
        fcntl_add_seals(&memory, SEALS).unwrap();
        assert!(Shared::inherited(memory.into_raw_fd()).unwrap_err().to_string().contains("another size"));
    }
}
