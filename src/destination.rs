//! Where results go, and how they get there whole.
//!
//! A file is written to a temporary name in its own folder and renamed, so that a reader never
//! sees half of it; the place is tried before the start, so that an hour of work is not lost to a
//! typing error. A file made under sudo belongs to the caller.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fsduel_harness::error::Cannot;
pub use fsduel_harness::sys::caller::give_to_caller;
use fsduel_harness::{Error, Result};

use crate::parts;

/// A format, and where it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportTo {
    /// Name of the format, which is in the table.
    pub format: String,
    /// The file; standard output if there is none.
    pub path: Option<PathBuf>,
}

/// Understand `FORMAT[=PATH]`; `-` as PATH is standard output.
///
/// # Errors
///
/// No such format: the known ones are named.
pub fn parse_report(text: &str) -> Result<ReportTo, String> {
    let (format, path) = text.split_once('=').map_or((text, None), |(name, path)| (name, Some(path)));
    let known: Vec<_> = parts::formats().into_iter().map(|row| row.name).collect();
    if !known.contains(&format) {
        return Err(format!("no format is named `{format}`; there are: {}", known.join(", ")));
    }
    if path == Some("") {
        return Err(format!("no path follows `{format}=`; `{format}` alone is standard output"));
    }
    let path = path.filter(|path| *path != "-").map(PathBuf::from);
    Ok(ReportTo { format: format.into(), path })
}

/// `path` with `{suite}` replaced; one that is no text is taken as it is. The name may come from a
/// stored run, so it never leads out of the folder.
#[must_use]
pub fn for_suite(path: &Path, suite: &str) -> PathBuf {
    let word = suite.replace(|sign: char| sign == '/' || sign.is_control(), "-");
    let word = word.strip_prefix('.').map_or_else(|| word.clone(), |rest| format!("-{rest}"));
    path.to_str().map_or_else(|| path.to_owned(), |text| text.replace("{suite}", &word).into())
}

/// `PATH.partial.jsonl`, where finished cases are while a run for `json` goes on.
#[must_use]
pub fn partial_of(json: &Path) -> PathBuf {
    let mut name = json.as_os_str().to_owned();
    name.push(".partial.jsonl");
    name.into()
}

/// The folder of `path`.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// What stands at `path` and is no plain file, links followed: a device or a pipe is written to,
/// never replaced. As root, a rename onto `/dev/null` would take it away from the whole machine.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|entry| !entry.is_file() && !entry.is_dir())
}

/// The file that `path` means: a link stays, and what it points to is replaced.
fn target(path: &Path) -> PathBuf {
    let missing = || fs::read_link(path).map_or_else(|_| path.to_owned(), |to| folder(path).join(to));
    fs::canonicalize(path).unwrap_or_else(|_| missing())
}

/// Whether `path` is, or will be, a plain file: only beside one is there a place for others.
#[must_use]
pub fn is_plain(path: &Path) -> bool {
    !is_special(path)
}

/// Make sure that each path can be written, and that none would replace another one or `source`.
///
/// # Errors
///
/// One cannot be written, or two are the same file.
pub fn test_all(paths: &[PathBuf], source: Option<&Path>) -> Result<()> {
    let mut taken: Vec<PathBuf> = source.map(place).into_iter().collect();
    for path in paths {
        test(path)?;
        let place = place(path);
        if is_plain(path) && taken.contains(&place) {
            return Err(Error::usage(format!("write {}: it holds another result", path.display()))
                .next("give each result a file of its own"));
        }
        taken.push(place);
    }
    Ok(())
}

/// Where a file is, whichever way a path leads to it.
fn place(path: &Path) -> PathBuf {
    let file = target(path);
    let real = fs::canonicalize(folder(&file));
    match (real, file.file_name()) {
        (Ok(real), Some(name)) => real.join(name),
        _ => file,
    }
}

/// Make sure that `path` can be written, without changing it.
///
/// # Errors
///
/// It is a folder, its name cannot be one of a file, or its folder is missing or refuses a new file.
pub fn test(path: &Path) -> Result<()> {
    if path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(Error::usage(format!("write {}: it is a folder", path.display()))
            .next("give the name of a file in it"));
    }
    if is_special(path) {
        return Ok(());
    }
    let named = match fs::symlink_metadata(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(cause),
        _ => Ok(()),
    };
    named.and_then(|()| tempfile::tempfile_in(folder(&target(path))).map(drop)).map_err(|cause| {
        Error::usage(format!("write {}", path.display()))
            .because(cause)
            .next("give a folder that exists and can be written")
    })
}

/// Write a file whole: to a temporary name beside it, then renamed. A device or a pipe gets the
/// same bytes, and stays.
///
/// # Errors
///
/// The disk is full, or the folder has gone.
pub fn write(path: &Path, fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let doing = || format!("write {}", path.display());
    if is_special(path) {
        let mut file = File::options().write(true).open(path).cannot(doing)?;
        return fill(&mut file);
    }
    let path = &target(path);
    let mut file = tempfile::Builder::new().prefix(".fsduel-").tempfile_in(folder(path)).cannot(doing)?;
    fill(&mut file)?;
    file.as_file().sync_all().cannot(doing)?;
    make_readable(file.as_file()).cannot(doing)?;
    let kept = file.persist(path).map(drop).map_err(|error| error.error);
    kept.cannot(doing)?;
    give_to_caller(path).cannot(doing)
}

/// Add text to the end of a file, which is made where it is missing.
///
/// # Errors
///
/// The place refuses it.
pub fn append(path: &Path, text: &str) -> Result<()> {
    let doing = || format!("add to {}", path.display());
    let is_new = !path.exists();
    let mut file = File::options().append(true).create(true).open(path).cannot(doing)?;
    file.write_all(text.as_bytes()).cannot(doing)?;
    if is_new { give_to_caller(path).cannot(doing) } else { Ok(()) }
}

/// Temporary files are private; a result is not.
fn make_readable(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

/// Write to standard output. A reader that has gone away (`fsduel list | head -1`) is no error.
///
/// # Errors
///
/// Any other failure, such as a full disk behind a redirection.
pub fn to_stdout(fill: impl FnOnce(&mut dyn Write) -> Result<()>) -> Result<()> {
    let mut text = Vec::new();
    fill(&mut text)?;
    let mut out = io::stdout().lock();
    match out.write_all(&text).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.cannot(|| "write to standard output".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        fs::write(&path, "a longer text that was there before").unwrap();
        write(&path, |out| out.write_all(b"new").cannot(|| "test".into())).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failure_keeps_the_old_file_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        fs::write(&path, "old").unwrap();
        write(&path, |_| Err(Error::new("test"))).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_place_that_cannot_be_written_is_noticed_before_the_start() {
        let folder = tempfile::tempdir().unwrap();
        assert!(test(folder.path()).is_err(), "a folder");
        assert!(test(&folder.path().join("missing/run.json")).is_err(), "no such folder");
        assert!(test(&folder.path().join("run.json/")).is_err(), "a folder that is not there");
        assert!(test(&folder.path().join("x".repeat(300))).is_err(), "no file can have that name");
        test(&folder.path().join("run.json")).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the test itself leaves nothing");
    }

    #[test]
    fn no_result_replaces_another_one_or_what_it_was_made_of() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::os::unix::fs::symlink(at("run.json"), at("link.json")).unwrap();
        let mut same = vec![at("run.json"), at("./run.json"), at("link.json")];
        same.push(at("..").join(folder.path().file_name().unwrap()).join("run.json"));
        for other in &same {
            let paths = [at("run.json"), other.clone()];
            assert!(test_all(&paths, None).unwrap_err().next_step().is_some(), "{}", other.display());
            assert!(test_all(&paths[1..], Some(&paths[0])).is_err(), "{}", other.display());
        }
        test_all(&[at("a"), at("b")], Some(&at("c"))).unwrap();
        test_all(&["/dev/null".into(), "/dev/null".into()], None).unwrap();
    }

    #[test]
    fn a_link_stays_and_what_it_points_to_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("run.json"), folder.path().join("link.json"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        test(&link).unwrap();
        write(&link, |out| out.write_all(b"new").cannot(|| "test".into())).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        fs::remove_file(&file).unwrap();
        write(&link, |out| out.write_all(b"again").cannot(|| "test".into())).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink(), "even if that is missing");
        assert_eq!(fs::read_to_string(&file).unwrap(), "again");
    }

    #[test]
    fn what_is_no_plain_file_is_written_to_and_never_replaced() {
        // A socket cannot be opened as a file, so that nothing can be written anywhere by mistake.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        test(&path).unwrap();
        write(&path, |out| out.write_all(b"new").cannot(|| "test".into())).unwrap_err();
        assert!(is_special(&path));
        let (device, link) = (Path::new("/dev/full"), folder.path().join("full.json"));
        std::os::unix::fs::symlink(device, &link).unwrap();
        write(&link, |out| out.write_all(b"new").cannot(|| "test".into())).unwrap_err();
        assert!(is_special(device) && is_special(&link));
    }

    #[test]
    fn a_path_that_is_no_text_is_taken_as_it_is() {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"\xff.json"));
        assert_eq!(for_suite(path, "quick"), path);
    }

    #[test]
    fn the_name_of_the_suite_can_stand_in_a_path() {
        assert_eq!(for_suite(Path::new("out/{suite}.json"), "quick"), Path::new("out/quick.json"));
        for name in ["..", "../..", "/etc", "a/../../b", ".", "a\0b", "a\nb"] {
            let path = for_suite(Path::new("out/{suite}/x"), name);
            let parts: Vec<_> = path.components().collect();
            let plain = parts.iter().all(|part| matches!(part, std::path::Component::Normal(_)));
            assert!(plain && parts.len() == 3, "{name:?}: {path:?}");
        }
    }
}
