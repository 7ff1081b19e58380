//! The folder of this user for what is slow to make again: `$XDG_CACHE_HOME/fsduel`.
//!
//! What lies there is booted and run as root of a guest, so another user must not be able to put
//! anything into it, nor to swap a folder above it. Under sudo `HOME` may be that of the caller: then
//! root's own is taken.

use std::fs::{self, DirBuilder, File};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;
use nix::unistd::geteuid;
use rustix::fs::{FlockOperation, flock};

use super::depmod;
use crate::error::{Cannot, Error, Result};

const ELSEWHERE: &str =
    "set XDG_CACHE_HOME to a folder of your own with room for it (1 GB while a package is unpacked)";

/// How the folder of something unfinished begins.
const UNFINISHED: &str = ".unfinished-";

/// What a kept folder holds, by size and path: one from which something was lost is made anew.
const LIST: &str = ".whole";

/// A folder `name/key`, made by `fill` if it is not there.
///
/// It is there whole or not at all: `fill` gets another, which is renamed at the end. One run fills
/// while others wait; what a killed one left unfinished is removed, and so is what is damaged.
///
/// # Errors
///
/// There is no safe place for it, it cannot be written, `fill` fails, or this process is to stop.
pub(super) fn keep(name: &str, key: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let folder = own_folder(&base()?, name)?;
    keep_in(&folder, key, fill)
}

fn keep_in(folder: &Path, key: &str, fill: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let kept = folder.join(key);
    if is_whole(&kept) {
        return Ok(kept);
    }
    let _lock = lock(folder)?;
    if is_whole(&kept) {
        return Ok(kept);
    }
    sweep(folder);
    discard(&kept)?;
    let doing = || format!("write to the cache {}", folder.display());
    let made =
        tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(folder).cannot(doing).map_err(advise)?;
    fill(made.path()).map_err(advise)?;
    let list = list(made.path())?;
    fs::write(made.path().join(LIST), list).cannot(doing).map_err(advise)?;
    let whole = File::open(made.path()).cannot(doing)?;
    // What is renamed must not turn out empty after a power cut.
    rustix::fs::syncfs(&whole).map_err(crate::sys::errno).cannot(doing).map_err(advise)?;
    fs::rename(made.path(), &kept).cannot(doing)?;
    Ok(kept)
}

fn is_whole(kept: &Path) -> bool {
    let (is, should) = (list(kept), fs::read_to_string(kept.join(LIST)));
    should.is_ok_and(|should| is.is_ok_and(|is| is == should))
}

/// The size and the path of each file, in order.
fn list(folder: &Path) -> Result<String> {
    let line = |path: PathBuf| {
        let found = path.metadata().cannot(|| format!("read {}", path.display()))?;
        let below = path.strip_prefix(folder).unwrap_or(&path);
        Ok((below != Path::new(LIST)).then(|| format!("{} {}\n", found.len(), below.display())))
    };
    depmod::files(folder)?.into_iter().map(line).filter_map(Result::transpose).collect()
}

/// Remove what is there and not whole.
fn discard(kept: &Path) -> Result<()> {
    let removed = match kept.symlink_metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Ok(found) if found.is_dir() => fs::remove_dir_all(kept),
        _ => fs::remove_file(kept),
    };
    removed.cannot(|| format!("remove what is damaged in the cache: {}", kept.display())).map_err(advise)
}

/// Say where else, where the disk is full or not ours to write.
fn advise(error: Error) -> Error {
    use Errno::{EACCES, EDQUOT, ENOENT, ENOSPC, ENOTDIR, EPERM, EROFS};
    let full = [ENOSPC, EDQUOT, EROFS, EACCES, EPERM, ENOENT, ENOTDIR];
    match error.errno() {
        Some(errno) if full.contains(&errno) => {
            error.of_kind(crate::error::Kind::Unavailable).next(ELSEWHERE)
        }
        _ => error,
    }
}

/// Wait for the lock, which the kernel frees whatever ends its holder.
fn lock(folder: &Path) -> Result<File> {
    let path = folder.join(".lock");
    let doing = || format!("lock {}", path.display());
    let file = File::options().write(true).create(true).truncate(false).open(&path);
    let file = file.cannot(doing).map_err(advise)?;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(file),
            Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
            Err(error) => return Err(crate::sys::errno(error)).cannot(doing),
        }
        if crate::command::stop_requested() {
            return Err(Error::stopped(doing()));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Remove what killed runs left. Whoever calls has the lock, so nobody is at work on it.
fn sweep(folder: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in
        entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(UNFINISHED.as_bytes()))
    {
        if let Err(error) = fs::remove_dir_all(entry.path()) {
            log::warn!("cannot remove {}: {error}", entry.path().display());
        }
    }
}

/// `base/fsduel/name`, ours alone.
fn own_folder(base: &Path, name: &str) -> Result<PathBuf> {
    let folder = base.join("fsduel").join(name);
    let doing = || format!("make the cache {}", folder.display());
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).cannot(doing).map_err(advise)?;
    let folder = folder.canonicalize().cannot(doing)?;
    match is_safe(&folder) {
        true => Ok(folder),
        false => Err(Error::unavailable(format!(
            "use the cache {}: another user can write to it",
            folder.display()
        ))
        .next(ELSEWHERE)),
    }
}

/// Where caches of this user lie.
fn base() -> Result<PathBuf> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    choose(home, geteuid().as_raw()).ok_or_else(|| {
        Error::unavailable("find a folder for the cache: neither XDG_CACHE_HOME nor HOME is set")
            .next(ELSEWHERE)
    })
}

/// The folder that was named, unless we are root and it is another's.
fn choose(named: Option<PathBuf>, user: u32) -> Option<PathBuf> {
    match user {
        0 => named.filter(|path| is_safe(path)).or_else(|| Some("/root/.cache".into())),
        _ => named,
    }
}

/// Whether nobody but this user and root can change what lies at `path`, as far as it exists.
fn is_safe(path: &Path) -> bool {
    let exists = path.ancestors().find_map(|above| above.canonicalize().ok());
    let user = geteuid().as_raw();
    exists.is_some_and(|path| {
        path.ancestors().all(|above| {
            above.metadata().is_ok_and(|found| is_ours(user, found.uid(), found.gid(), found.mode()))
        })
    })
}

/// A folder with the sticky bit lets nobody remove or rename what belongs to others. A group that may
/// write is the user's own on many systems, but root has no such group other than its own.
fn is_ours(user: u32, owner: u32, group: u32, mode: u32) -> bool {
    let others = mode & 0o002 != 0 || (user == 0 && group != 0 && mode & 0o020 != 0);
    (owner == 0 || owner == user) && (!others || mode & 0o1000 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_is_kept_is_made_once_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let fill = |path: &Path| fs::write(path.join("file"), "text").cannot(|| "write".into());
        let kept = keep_in(folder.path(), "key", fill).unwrap();
        assert_eq!(fs::read_to_string(kept.join("file")).unwrap(), "text");
        keep_in(folder.path(), "key", |_| Err(Error::new("make it twice"))).unwrap();
    }

    #[test]
    fn what_lost_something_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let fill = |path: &Path| {
            fs::create_dir(path.join("modules")).cannot(|| "make".into())?;
            fs::write(path.join("modules/a.ko"), "a module").cannot(|| "write".into())
        };
        let kept = keep_in(folder.path(), "key", fill).unwrap();
        let module = kept.join("modules/a.ko");
        let damage: [&dyn Fn(); 5] = [
            &|| fs::write(&module, "a mod").unwrap(),
            &|| fs::remove_file(&module).unwrap(),
            &|| fs::remove_dir_all(kept.join("modules")).unwrap(),
            &|| fs::remove_file(kept.join(LIST)).unwrap(),
            &|| fs::remove_dir_all(&kept).and_then(|()| fs::write(&kept, "")).unwrap(),
        ];
        for (number, damage) in damage.iter().enumerate() {
            damage();
            keep_in(folder.path(), "key", fill).unwrap();
            assert_eq!(fs::read_to_string(&module).unwrap(), "a module", "{number}");
        }
    }

    #[test]
    fn what_failed_or_was_killed_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".unfinished-killed")).unwrap();
        assert!(keep_in(folder.path(), "key", |_| Err(Error::new("fill it"))).is_err());
        let left: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, [".lock"]);
    }

    #[test]
    fn two_at_once_make_it_once() {
        let folder = tempfile::tempdir().unwrap();
        let made = std::sync::atomic::AtomicU32::new(0);
        let make = || {
            keep_in(folder.path(), "key", |_| {
                made.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(100));
                Ok(())
            })
            .unwrap();
        };
        std::thread::scope(|scope| {
            scope.spawn(make);
            scope.spawn(make);
        });
        assert_eq!(made.into_inner(), 1);
    }

    #[test]
    fn a_full_disk_says_where_else() {
        let folder = tempfile::tempdir().unwrap();
        let full = |_: &Path| Err(Errno::ENOSPC).cannot(|| "unpack it".into());
        let error = keep_in(folder.path(), "key", full).unwrap_err();
        assert!(error.next_step().unwrap().contains("XDG_CACHE_HOME"));
    }

    #[test]
    fn a_folder_that_others_can_write_is_not_ours() {
        for (user, owner, group, mode, ours) in [
            (0, 0, 0, 0o755, true),
            (0, 1000, 1000, 0o755, false),
            (1000, 0, 0, 0o755, true),
            (1000, 1000, 1000, 0o775, true),
            (1000, 1001, 1000, 0o755, false),
            (1000, 0, 0, 0o1777, true),
            (1000, 1000, 1000, 0o777, false),
            (0, 0, 50, 0o2775, false),
        ] {
            assert_eq!(is_ours(user, owner, group, mode), ours, "{user} {owner} {group} {mode:o}");
        }
    }

    #[test]
    fn the_cache_of_another_is_refused_and_root_takes_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let open = folder.path().join("fsduel");
        fs::create_dir(&open).unwrap();
        fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(own_folder(folder.path(), "kernels").is_err());
        assert_eq!(choose(Some(open.clone()), 0), Some("/root/.cache".into()));
        assert_eq!(choose(Some(open.clone()), 1000), Some(open), "told when it is used");
        assert_eq!(choose(None, 1000), None);
    }
}
