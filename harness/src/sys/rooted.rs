//! A file as a process sees it that has another root directory.

use std::path::Path;

use nix::errno::Errno;
use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, open, openat2};

use super::errno;

/// Kind and rights of `path`, where `root` is the root directory: links lead nowhere else.
///
/// # Errors
///
/// There is no such file, or it may not be looked at; or the kernel is older than 5.6.
pub fn mode_in(root: &Path, path: &Path) -> Result<u32, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let look = || {
        let root = open(root, flags | OFlags::DIRECTORY, Mode::empty())?;
        let file = openat2(&root, path, flags, Mode::empty(), ResolveFlags::IN_ROOT)?;
        fstat(&file)
    };
    look().map(|found| found.st_mode).map_err(errno)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_stay_below_the_root() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(path("usr/bin")).unwrap();
        std::fs::write(path("usr/bin/tool"), "").unwrap();
        symlink("usr/bin", path("bin")).unwrap();
        symlink("/bin/tool", path("usr/bin/alias")).unwrap();
        symlink("/etc/passwd", path("out")).unwrap();
        let mode = |name: &str| mode_in(folder.path(), Path::new(name)).map(|mode| mode & 0o170_000);
        assert_eq!(mode("/bin/alias"), Ok(0o100_000));
        assert_eq!(mode("/../../bin"), Ok(0o040_000));
        assert_eq!(mode("/out"), Err(Errno::ENOENT));
    }
}
