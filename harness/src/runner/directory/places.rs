//! The directories of a run: looked at before, and as they were afterwards.
//!
//! PostMark truncates whatever has the name of one of its files, and removes `s0`, `s1`, ... at its
//! end. Names are all that tells its files from others, so a place where one is taken is refused.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FlockOperation};
use rustix::io::Errno;

use crate::error::{Cannot, Error, Result};
use crate::workload::postmark::Settings;

/// The locations; the current directory where there is none.
pub(super) fn of(settings: &Settings) -> impl Iterator<Item = &Path> {
    let here = settings.locations.is_empty().then_some(Path::new("."));
    settings.locations.iter().map(|location| place(&location.path)).chain(here)
}

/// PostMark puts a `/` after a location: one without a name is the root directory.
fn place(path: &str) -> &Path {
    Path::new(if path.is_empty() { "/" } else { path })
}

/// Make sure that every place exists, can be written, and holds nothing that the run would
/// overwrite or delete.
///
/// # Errors
///
/// One does not, with what to do.
pub fn check(settings: &Settings) -> Result<()> {
    claim(settings).map(drop)
}

/// As [`check`]; no other claims the places as long as what is returned lives.
///
/// # Errors
///
/// As [`check`].
pub(super) fn claim(settings: &Settings) -> Result<Vec<File>> {
    of(settings).try_for_each(can_be_used)?;
    let claimed = lock(settings)?;
    of(settings).try_for_each(|place| match taken(settings, place)? {
        None => Ok(()),
        Some(name) => Err(refused(place, &name)),
    })?;
    Ok(claimed)
}

/// A lock takes a descriptor, of which a process has no more than 1024 as a rule.
const MOST_LOCKS: usize = 100;

/// Lock each place once, however often it is written. One that cannot be locked at all is not.
fn lock(settings: &Settings) -> Result<Vec<File>> {
    let (mut seen, mut locked) = (HashSet::new(), vec![]);
    for place in of(settings).take(MOST_LOCKS) {
        let doing = || format!("open {}", place.display());
        let folder = File::open(place).cannot(doing)?;
        let found = folder.metadata().cannot(doing)?;
        if !seen.insert((found.dev(), found.ino())) {
            continue;
        }
        match rustix::fs::flock(&folder, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Err(busy(place)),
            _ => locked.push(folder),
        }
    }
    Ok(locked)
}

fn busy(place: &Path) -> Error {
    Error::usage(format!("run PostMark in {}", place.display()))
        .because("another run is at work there")
        .next("wait for its end, or choose another location")
}

fn can_be_used(place: &Path) -> Result<()> {
    let doing = || format!("run PostMark in {}", place.display());
    let is_folder = match place.metadata() {
        Ok(found) => found.is_dir(),
        Err(cause) => {
            let error = Error::usage(doing());
            return Err(match cause.kind() {
                io::ErrorKind::NotFound => error.next(format!("mkdir -p {}", place.display())),
                _ => error.next("choose another location"),
            }
            .because(cause));
        }
    };
    if !is_folder {
        return Err(Error::usage(doing()).because("it is no directory").next("choose another location"));
    }
    rustix::fs::access(place, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).map_err(|errno| {
        let cause = io::Error::from(errno);
        Error::usage(doing()).because(cause).next("choose a location that this user can write to")
    })
}

fn refused(place: &Path, name: &str) -> Error {
    Error::usage(format!("run PostMark in {}", place.display()))
        .because(format!("it holds `{name}`, which the run would overwrite or delete"))
        .next("choose an empty directory, or remove what an earlier run left there")
}

/// The first name at a place that the run itself would use.
fn taken(settings: &Settings, place: &Path) -> Result<Option<String>> {
    let used = names(place)?.into_iter().filter(|name| top(settings, name));
    Ok(used.min_by_key(|name| (name.len(), name.clone())))
}

/// Whether the run makes `name` at a place: its files, or directories with its files in them.
fn top(settings: &Settings, name: &str) -> bool {
    match settings.subdirectories {
        0 | 1 => is_file(settings, name),
        count => name.strip_prefix('s').and_then(number).is_some_and(|at| at < u64::from(count)),
    }
}

/// Whether a file of the run can have this name: they are numbered from 1.
fn is_file(settings: &Settings, name: &str) -> bool {
    number(name).is_some_and(|number| (1..=settings.highest_number()).contains(&number))
}

/// A number as `%d` prints it.
fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// Names in a directory, as far as they are text: those of a run are.
fn names(folder: &Path) -> Result<Vec<String>> {
    let doing = || format!("list {}", folder.display());
    let entries = fs::read_dir(folder).cannot(doing)?;
    let names = entries.map(|entry| Ok(entry?.file_name().into_string().ok()));
    let names: io::Result<Vec<_>> = names.collect();
    Ok(names.cannot(doing)?.into_iter().flatten().collect())
}

/// Remove what the run left: its places held none of these names when it began.
///
/// # Errors
///
/// Something cannot be removed.
pub(super) fn clean(settings: &Settings) -> Result<()> {
    for place in of(settings) {
        let mine = names(place)?.into_iter().filter(|name| top(settings, name));
        for path in mine.map(|name| place.join(name)) {
            match settings.subdirectories {
                0 | 1 => remove_file(&path)?,
                _ => remove_folder(settings, &path)?,
            }
        }
    }
    Ok(())
}

/// A directory with the name of a file is not of the run.
fn remove_file(path: &Path) -> Result<()> {
    if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        log::warn!("{} stays: it is a directory of others", path.display());
        return Ok(());
    }
    remove(path, fs::remove_file(path))
}

/// A directory that holds something else, too, stays.
fn remove_folder(settings: &Settings, folder: &Path) -> Result<()> {
    let mine = names(folder)?.into_iter().filter(|name| is_file(settings, name));
    let paths: Vec<PathBuf> = mine.map(|name| folder.join(name)).collect();
    paths.iter().try_for_each(|path| remove_file(path))?;
    match fs::remove_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
            log::warn!("{} stays: it holds files of others", folder.display());
            Ok(())
        }
        other => remove(folder, other),
    }
}

/// What has gone already needs no removal.
fn remove(path: &Path, outcome: io::Result<()>) -> Result<()> {
    match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.cannot(|| format!("remove {}, which the run made", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;
    use crate::workload::postmark::Location;

    fn settings(place: &Path, subdirectories: u32) -> Settings {
        let location = Location { path: place.to_str().unwrap().into(), weight: 1 };
        Settings { locations: vec![location.clone(), location], subdirectories, ..Settings::default() }
    }

    fn left(place: &Path) -> Vec<String> {
        let mut names = names(place).unwrap();
        names.sort();
        names
    }

    #[test]
    fn only_the_names_of_its_own_files_are_in_the_way() {
        let settings = |subdirectories| Settings { subdirectories, ..Settings::default() };
        for (name, files, folders) in [
            ("1", true, false),
            ("1000", true, false),
            ("1001", false, false),
            ("0", false, false),
            ("01", false, false),
            ("+1", false, false),
            ("s0", false, true),
            ("s9", false, true),
            ("s10", false, false),
            ("s", false, false),
            ("mail", false, false),
        ] {
            assert_eq!((top(&settings(1), name), top(&settings(10), name)), (files, folders), "{name}");
        }
    }

    #[test]
    fn a_place_that_is_taken_is_refused_with_the_name_and_one_that_is_not_there_with_the_command() {
        let folder = tempfile::tempdir().unwrap();
        check(&settings(folder.path(), 0)).unwrap();
        fs::write(folder.path().join("7"), "mine").unwrap();
        let error = check(&settings(folder.path(), 0)).unwrap_err();
        assert!(error.to_string().contains("it holds `7`"), "{error}");
        check(&settings(folder.path(), 2)).unwrap();
        let missing = folder.path().join("missing");
        let error = check(&settings(&missing, 0)).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert_eq!(error.next_step(), Some(format!("mkdir -p {}", missing.display()).as_str()));
        let error = check(&settings(&folder.path().join("7"), 0)).unwrap_err();
        assert!(error.to_string().contains("no directory"), "{error}");
    }

    #[test]
    fn what_a_run_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path();
        for name in ["1", "1000", "1001", "mail"] {
            fs::write(place.join(name), "").unwrap();
        }
        fs::create_dir(place.join("2")).unwrap();
        clean(&settings(place, 0)).unwrap();
        fs::remove_dir(place.join("2")).unwrap();
        assert_eq!(left(place), ["1001", "mail"]);
        for name in ["s0", "s1", "s2", "s3"] {
            fs::create_dir(place.join(name)).unwrap();
            fs::write(place.join(name).join("17"), "").unwrap();
        }
        fs::write(place.join("s1/note"), "").unwrap();
        fs::create_dir(place.join("s2/18")).unwrap();
        clean(&settings(place, 3)).unwrap();
        assert_eq!(left(place), ["1001", "mail", "s1", "s2", "s3"]);
        assert_eq!(
            (left(&place.join("s1")), left(&place.join("s3"))),
            (vec!["note".into()], vec!["17".into()])
        );
    }
}
