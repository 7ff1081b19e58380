//! Whether anything is still going on below: counters that stand still while a disk rests, and
//! kernel threads that exist only while work is left.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::error::{Cannot, Result};

/// Where the counters of a disk are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counters {
    /// All counters of one block device: reads, writes, discards, flushes, requests in flight.
    /// Source: Linux `Documentation/block/stat.rst`.
    Device(PathBuf),
    /// What the whole machine reads and writes, where a file system has no single block device
    /// (overlay, btrfs, a network). Source: Linux `mm/vmstat.c`, `pgpgin` and `pgpgout`.
    Machine,
}

impl Counters {
    /// Of a device by name, such as `loop0`.
    #[must_use]
    pub fn of_device(name: &str) -> Self {
        Self::Device(Path::new("/sys/block").join(name).join("stat"))
    }

    /// Of the device below a folder.
    ///
    /// # Errors
    ///
    /// The folder cannot be looked at.
    pub fn below(folder: &Path) -> Result<Self> {
        let device = fs::metadata(folder).cannot(|| format!("look at {}", folder.display()))?.dev();
        let (major, minor) = (nix::sys::stat::major(device), nix::sys::stat::minor(device));
        let stat = PathBuf::from(format!("/sys/dev/block/{major}:{minor}/stat"));
        Ok(if stat.exists() { Self::Device(stat) } else { Self::Machine })
    }

    /// The counters now. Two equal texts: nothing happened between them.
    ///
    /// # Errors
    ///
    /// The kernel shows none.
    pub fn read(&self) -> Result<String> {
        let path = match self {
            Self::Device(path) => path.as_path(),
            Self::Machine => Path::new("/proc/vmstat"),
        };
        let text = fs::read_to_string(path).cannot(|| format!("read {}", path.display()))?;
        Ok(match self {
            Self::Device(_) => text,
            Self::Machine => text.lines().filter(|line| line.starts_with("pgpg")).collect(),
        })
    }
}

/// Those of `names` that a process or kernel thread is called now. A name in `/proc` has at most 15
/// bytes.
#[must_use]
pub fn running<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let found: Vec<String> =
        entries.filter_map(|entry| fs::read_to_string(entry.path().join("comm")).ok()).collect();
    names.iter().copied().filter(|name| found.iter().any(|comm| comm.trim_end() == *name)).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn what_is_written_moves_the_counters_below_a_folder() {
        let mut file = tempfile::NamedTempFile::new_in("/var/tmp").unwrap();
        let counters = Counters::below(Path::new("/var/tmp")).unwrap();
        let before = counters.read().unwrap();
        file.write_all(&[1; 1 << 20]).unwrap();
        file.as_file().sync_all().unwrap();
        assert_ne!(counters.read().unwrap(), before);
    }

    #[test]
    fn a_folder_without_a_block_device_is_watched_by_the_machines_counters() {
        assert_eq!(Counters::below(Path::new("/proc")).unwrap(), Counters::Machine);
        assert!(Counters::Machine.read().unwrap().contains("pgpgout"));
    }

    #[test]
    fn a_process_is_found_by_its_name() {
        let own = fs::read_to_string("/proc/self/comm").unwrap();
        let own = own.trim_end();
        assert_eq!(running(&[own, "no-such-thread"]), [own]);
    }
}
