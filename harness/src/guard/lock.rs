//! One run at a time, or a warning: a lock that each run holds while it measures.
//!
//! The lock is `flock` on a file that has the number of the process, so the kernel frees it
//! whatever ends the run. The file may stay after a kill; the next run takes it over. No trouble
//! with it ever keeps a run from starting, since a container may have a read-only `/run`.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};

use super::warning;
use crate::result::Warning;

const PATH: &str = "/run/fsduel.lock";

/// Who only looks has the lock for an instant.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(10);

/// The lock of this machine.
#[derive(Debug)]
pub struct Lock;

/// The lock while a run measures; free again when it is dropped.
#[derive(Debug)]
#[must_use = "the lock is free again when this is dropped"]
pub struct Held {
    path: PathBuf,
    state: State,
}

#[derive(Debug)]
enum State {
    Ours(File),
    /// Held by this process, if its number could be read.
    Theirs(Option<u32>),
    /// It cannot be used on this machine.
    Unknown,
}

impl Lock {
    /// Take the lock, or learn who has it.
    pub fn hold() -> Held {
        Held::at(Path::new(PATH))
    }

    /// A warning if another run has the lock now. Makes nothing.
    #[must_use]
    pub fn other() -> Option<Warning> {
        other_at(Path::new(PATH))
    }
}

impl Held {
    fn at(path: &Path) -> Self {
        let state = take(path).unwrap_or_else(|error| {
            log::debug!("no lock at {}: {error}", path.display());
            State::Unknown
        });
        Self { path: path.to_owned(), state }
    }

    /// Add the warning that another run has the lock, unless it is there already.
    pub fn warn(&self, warnings: &mut Vec<Warning>) {
        let State::Theirs(process) = self.state else { return };
        let found = other_run(process);
        if !warnings.iter().any(|known| known.code == found.code) {
            warnings.push(found);
        }
    }
}

impl Drop for Held {
    /// Removed before it is free, so that nobody can have taken it meanwhile.
    fn drop(&mut self) {
        let State::Ours(file) = &self.state else { return };
        if is_at(file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn other_run(process: Option<u32>) -> Warning {
    let who = process.map_or(String::new(), |process| format!(" (process {process})"));
    warning("other_run", format!("another run of fsduel{who} measures on this machine at the same time"))
}

fn other_at(path: &Path) -> Option<Warning> {
    let file = open(OpenOptions::new().read(true), path).ok()?;
    match flock(&file, FlockOperation::NonBlockingLockShared) {
        Err(rustix::io::Errno::WOULDBLOCK) => Some(other_run(process_in(&file))),
        // Closing the file gives the lock back at once.
        _ => None,
    }
}

fn take(path: &Path) -> io::Result<State> {
    let mut process = None;
    for _ in 0..TRIES {
        let file = open(OpenOptions::new().read(true).write(true).create(true).mode(0o600), path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) if is_at(&file, path) => return sign(file),
            // Its holder has removed it meanwhile.
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                process = process_in(&file);
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(State::Theirs(process))
}

/// Only a plain file, and never through a link. It is closed when a worker is started.
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file")),
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

fn sign(mut file: File) -> io::Result<State> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())?;
    Ok(State::Ours(file))
}

fn process_in(mut file: &File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Place(tempfile::TempDir);

    impl Place {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn lock(&self) -> PathBuf {
            self.0.path().join("fsduel.lock")
        }
    }

    fn warnings(held: &Held) -> Vec<String> {
        let mut warnings = vec![];
        held.warn(&mut warnings);
        held.warn(&mut warnings);
        warnings.into_iter().map(|warning| warning.text).collect()
    }

    #[test]
    fn a_second_run_is_told_who_measures_and_goes_on() {
        let place = Place::new();
        let first = Held::at(&place.lock());
        assert_eq!(warnings(&first), [""; 0]);
        let told = format!(
            "another run of fsduel (process {}) measures on this machine at the same time",
            std::process::id()
        );
        let second = Held::at(&place.lock());
        assert_eq!(warnings(&second), std::slice::from_ref(&told));
        assert_eq!(other_at(&place.lock()).unwrap().text, told);
        drop(second);
        assert!(place.lock().exists(), "it is the first one's");
        drop(first);
        assert!(!place.lock().exists());
        assert_eq!(other_at(&place.lock()), None);
        assert!(!place.lock().exists(), "a look makes nothing");
    }

    #[test]
    fn a_file_that_a_killed_run_left_is_taken_over() {
        let place = Place::new();
        fs::write(place.lock(), "4194304444 and more").unwrap();
        assert_eq!(other_at(&place.lock()), None);
        let held = Held::at(&place.lock());
        assert!(matches!(held.state, State::Ours(_)));
        assert_eq!(fs::read_to_string(place.lock()).unwrap(), format!("{}\n", std::process::id()));
    }

    #[test]
    fn a_link_is_not_followed_and_a_missing_folder_stops_nobody() {
        let place = Place::new();
        let target = place.0.path().join("precious");
        fs::write(&target, "precious").unwrap();
        std::os::unix::fs::symlink(&target, place.lock()).unwrap();
        drop(Held::at(&place.lock()));
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
        assert!(place.lock().is_symlink());
        assert_eq!(warnings(&Held::at(Path::new("/no/such/folder/lock"))), [""; 0]);
    }

    #[test]
    fn what_cannot_be_read_as_a_process_is_left_out() {
        let place = Place::new();
        let held = Held::at(&place.lock());
        fs::write(place.lock(), "?").unwrap();
        let text = other_at(&place.lock()).unwrap().text;
        assert_eq!(text, "another run of fsduel measures on this machine at the same time");
        drop(held);
    }

    #[test]
    fn only_the_owner_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let place = Place::new();
        let _held = Held::at(&place.lock());
        assert_eq!(fs::metadata(place.lock()).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
