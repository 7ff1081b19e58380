//! The processes of a command: all that are in the worker's PID namespace beside itself.
//!
//! They are seen through a `/proc` that is mounted for this, since the inherited one has the numbers
//! of another namespace, and every process of the machine.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sys_mount::{MountFlags, UnmountFlags};

use crate::error::{Cannot, Error, Result};
use crate::sys::page_size;
use crate::units::Bytes;
use crate::worker::orphans;

/// How many are named in a message.
const NAMED: usize = 4;

/// How long processes that were killed may take to go.
const GONE: Duration = Duration::from_secs(30);

/// Sees the processes of this PID namespace. Dropping it unmounts its `/proc`.
pub(super) struct Processes {
    proc: PathBuf,
}

impl Processes {
    /// `folder` is empty, and nobody else's.
    pub(super) fn seen_at(folder: PathBuf) -> Result<Self> {
        sys_mount::Mount::builder()
            .fstype("proc")
            .flags(MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC)
            .mount("proc", &folder)
            .cannot(|| format!("mount proc on {}", folder.display()))?;
        Ok(Self { proc: folder })
    }

    /// The folder of each beside ours.
    fn folders(&self) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(&self.proc).into_iter().flatten().flatten().map(|entry| entry.path());
        entries.filter(|path| {
            let number = path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
            number.is_some_and(|number| number > 1)
        })
    }

    /// What all of them have in memory now. A page that two of them share counts twice.
    pub(super) fn resident(&self) -> Bytes {
        let pages = |folder: PathBuf| -> Option<u64> {
            let text = fs::read_to_string(folder.join("statm")).ok()?;
            text.split_ascii_whitespace().nth(1)?.parse().ok()
        };
        Bytes(self.folders().filter_map(pages).sum::<u64>() * page_size())
    }

    /// Each that is left, as `sleep 1000 (process 7)`; of many the first, and how many more.
    fn named(&self) -> String {
        let mut names: Vec<String> = self.folders().map(|folder| name_of(&folder)).collect();
        names.sort();
        let more = names.len().saturating_sub(NAMED);
        names.truncate(NAMED);
        if more > 0 {
            names.push(format!("and {more} more"));
        }
        names.join(", ")
    }

    /// Wait until none is left. Where some stay longer than `grace`, they are ended, and named.
    pub(super) fn wait_for_all(&self, grace: Duration) -> Result<Option<String>> {
        let begun = Instant::now();
        while is_any_left()? {
            if begun.elapsed() < grace {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
            let named = self.named();
            end_all()?;
            return Ok(Some(named));
        }
        Ok(None)
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        if let Err(error) = sys_mount::unmount(&self.proc, UnmountFlags::empty()) {
            log::warn!("cannot unmount {}: {error}", self.proc.display());
        }
    }
}

/// Its command line, as far as it can be read; a program may have none.
fn name_of(folder: &std::path::Path) -> String {
    let number = folder.file_name().unwrap_or_default().to_string_lossy();
    let line = fs::read(folder.join("cmdline")).unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).collect();
    let line = words.iter().map(|word| String::from_utf8_lossy(word)).collect::<Vec<_>>().join(" ");
    let name =
        if line.is_empty() { fs::read_to_string(folder.join("comm")).unwrap_or_default() } else { line };
    let short: String = name.trim().chars().take(60).collect();
    format!("`{short}` (process {number})")
}

/// Whether there is a process beside us. Those that have ended are waited for.
fn is_any_left() -> Result<bool> {
    orphans::reap();
    // To -1: to every process of the namespace but process 1, which we are. Source: kill(2).
    match kill(Pid::from_raw(-1), None) {
        Ok(()) => Ok(true),
        Err(Errno::ESRCH) => Ok(false),
        Err(errno) => Err(errno).cannot(|| "see whether a process is left".into()),
    }
}

/// End every process but this one.
pub(super) fn end_all() -> Result<()> {
    let begun = Instant::now();
    while is_any_left()? {
        match kill(Pid::from_raw(-1), Signal::SIGKILL) {
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(errno) => return Err(errno).cannot(|| "end the processes of a command".into()),
        }
        if begun.elapsed() > GONE {
            return Err(Error::new("end the processes of a command: the kernel keeps one of them"));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}
