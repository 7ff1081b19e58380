//! Kernels that cannot be used as they lie there: Debian packages, packed modules, modules without an
//! index. A usable copy is kept in the cache, under the hash of what it was made from.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use xxhash_rust::xxh3::Xxh3;

use super::{cache, depmod};
use crate::command::{self, Invocation};
use crate::error::{Cannot, Error, Result};

/// Part of each key: rises when what is kept changes.
const LAYOUT: &str = "1";

/// How a Debian package begins: an archive of `ar` with this member first. Source: deb(5).
const DEB: &[u8] = b"!<arch>\ndebian-binary";

/// Modules that file systems and virtual devices can need. All of a distribution's are half a gigabyte.
const KEPT: [&str; 12] = [
    "extra/",
    "kernel/arch/",
    "kernel/block/",
    "kernel/crypto/",
    "kernel/drivers/block/",
    "kernel/drivers/char/",
    "kernel/drivers/dax/",
    "kernel/drivers/md/",
    "kernel/drivers/virtio/",
    "kernel/fs/",
    "kernel/lib/",
    "updates/",
];

/// Programs that unpack a file in place, by the end of its name.
const PACKED: [(&str, &str, &[&str]); 3] =
    [("xz", "xz", &["-dq"]), ("zst", "zstd", &["-dq", "--rm"]), ("gz", "gzip", &["-dq"])];

/// Of so many files at once. A command line holds far more.
const AT_ONCE: usize = 500;

/// Whether a file is a Debian package, or is called like one.
pub(super) fn is_package(path: &Path) -> Result<bool> {
    let mut start = vec![];
    let doing = || format!("read {}", path.display());
    let file = File::open(path).map_err(|error| super::image::unreadable(path, error))?;
    file.take(DEB.len() as u64).read_to_end(&mut start).cannot(doing)?;
    match (start == DEB, path.extension().is_some_and(|end| end == "deb")) {
        (false, true) => Err(Error::usage(format!("unpack {}: it is no Debian package", path.display()))
            .next("fetch it anew; a package begins with `!<arch>`")),
        (is_one, _) => Ok(is_one),
    }
}

/// The kernel and the modules of a Debian package.
pub(super) fn package(path: &Path) -> Result<(PathBuf, PathBuf)> {
    let key = key_of_package(path).cannot(|| format!("read {}", path.display()))?;
    let kept = cache::keep("kernels", &key, |folder| {
        let all = folder.join("all");
        dpkg(path, &all)?;
        let (image, modules) = parts(path, &all)?;
        fs::rename(&image, folder.join("vmlinuz")).cannot(|| format!("keep {}", image.display()))?;
        adopt(&modules, &folder.join("modules"), |from, to| fs::rename(from, to))?;
        fs::remove_dir_all(&all).cannot(|| format!("remove {}", all.display()))
    })?;
    Ok((kept.join("vmlinuz"), kept.join("modules")))
}

fn key_of_package(path: &Path) -> io::Result<String> {
    let mut hash = Xxh3::new();
    hash.update(LAYOUT.as_bytes());
    let mut file = File::open(path)?;
    let mut chunk = vec![0; 1 << 20];
    loop {
        match file.read(&mut chunk)? {
            0 => return Ok(format!("{:032x}", hash.digest128())),
            length => hash.update(&chunk[..length]),
        }
    }
}

fn dpkg(package: &Path, folder: &Path) -> Result<()> {
    let words = [Path::new("--extract"), package, folder];
    let said = command::run(&Invocation::new("dpkg-deb", words))?;
    if said.status == 0 {
        return Ok(());
    }
    let doing = format!("unpack {}", package.display());
    Err(match is_full(&said.text) {
        true => Error::unavailable(doing).because(Errno::ENOSPC),
        false => Error::unavailable(format!("{doing}: {}", first_line(&said.text)))
            .next("fetch it anew: it is truncated or damaged"),
    })
}

/// What a program complains of first; the rest follows from it, for thousands of files perhaps.
fn first_line(text: &str) -> &str {
    text.trim().lines().next().unwrap_or("it tells nothing")
}

/// Whether a program failed for want of room, in the words of the C library.
fn is_full(text: &str) -> bool {
    text.contains("No space left on device") || text.contains("Disk quota exceeded")
}

/// The kernel and the folder of modules in a package that was unpacked.
fn parts(package: &Path, all: &Path) -> Result<(PathBuf, PathBuf)> {
    let is_kernel = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("vmlinuz")) && path.is_file()
    };
    let no = |what: &str, next: &str| {
        Error::usage(format!("boot {}: it {what}", package.display())).next(next.to_owned())
    };
    let boot = entries(&all.join("boot"));
    let image = boot.into_iter().find(is_kernel).ok_or_else(|| {
        no(
            "is no package of a kernel: it has no boot/vmlinuz-RELEASE",
            "name one such as linux-image-6.1.0-56-amd64 (linux-image-amd64 only depends on it)",
        )
    })?;
    let folders = ["lib/modules", "usr/lib/modules"].into_iter().flat_map(|name| entries(&all.join(name)));
    let modules = folders.into_iter().find(|path| path.is_dir()).ok_or_else(|| {
        no(
            "has a kernel, but no modules",
            "unpack it and the package of its modules (linux-modules-RELEASE) into one folder with `dpkg-deb -x`, \
             and name FOLDER/boot/vmlinuz-RELEASE",
        )
    })?;
    Ok((image, modules))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .map(|entry| entry.path())
        .collect()
}

/// `modules` itself where it has an index and nothing is packed, else a copy that has.
pub(super) fn usable(modules: &Path) -> Result<PathBuf> {
    let indexed = fs::read_to_string(modules.join("modules.dep")).ok();
    let plain = |text: &String| text.lines().all(|line| line.split(':').next().is_some_and(is_plain));
    if indexed.as_ref().is_some_and(plain) {
        return Ok(modules.to_owned());
    }
    let key = key_of_folder(modules)?;
    let kept = cache::keep("kernels", &key, |folder| {
        adopt(modules, &folder.join("modules"), |from, to| fs::copy(from, to).map(drop))
    })?;
    Ok(kept.join("modules"))
}

/// `kernel/fs/ext4/ext4.ko`, not `.ko.xz`.
fn is_plain(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|end| end == "ko")
}

/// A copy is good as long as no file has another name, size or time.
fn key_of_folder(modules: &Path) -> Result<String> {
    let mut hash = Xxh3::new();
    hash.update(LAYOUT.as_bytes());
    for path in depmod::files(modules)? {
        let found = path.metadata().cannot(|| format!("read {}", path.display()))?;
        let text = format!("{}\n{} {}.{}\n", path.display(), found.len(), found.mtime(), found.mtime_nsec());
        hash.update(text.as_bytes());
    }
    Ok(format!("{:032x}", hash.digest128()))
}

/// Bring what is needed of `modules` to `to`, unpack it, and make its index.
fn adopt(modules: &Path, to: &Path, bring: fn(&Path, &Path) -> io::Result<()>) -> Result<()> {
    let mut packed: Vec<PathBuf> = vec![];
    for from in depmod::files(modules)? {
        let below = from.strip_prefix(modules).unwrap_or(&from);
        if !is_kept(below) {
            continue;
        }
        let path = to.join(below);
        let doing = || format!("copy {} to {}", from.display(), path.display());
        path.parent().map_or(Ok(()), fs::create_dir_all).cannot(doing)?;
        bring(&from, &path).cannot(doing)?;
        packed.push(path);
    }
    packed.retain(|path| !is_plain(&path.to_string_lossy()));
    in_place(&packed)?;
    depmod::index(to)
}

/// The lists of what is built in, and the modules of [`KEPT`].
fn is_kept(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.starts_with("modules.builtin") && !text.ends_with(".bin")
        || KEPT.iter().any(|start| text.starts_with(start)) && text.contains(".ko")
}

pub(super) fn in_place(files: &[PathBuf]) -> Result<()> {
    for (end, program, options) in PACKED {
        let of_it: Vec<_> =
            files.iter().filter(|path| path.extension().is_some_and(|is| is == end)).collect();
        for some in of_it.chunks(AT_ONCE) {
            let options = options.iter().chain(&["--"]).map(|word| (*word).into());
            let words = options.chain(some.iter().map(|path| path.as_os_str().to_owned()));
            let said = command::run(&Invocation::new(program, words))?;
            let error = || Error::unavailable(format!("unpack with {program}: {}", first_line(&said.text)));
            match (said.status, is_full(&said.text)) {
                (0, _) => {}
                (_, true) => return Err(error().because(Errno::ENOSPC)),
                _ => return Err(error().next("install the kernel's package anew: a file of it is damaged")),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_called_deb_that_is_none_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("linux.deb");
        fs::write(&path, "<html>404</html>").unwrap();
        let error = is_package(&path).unwrap_err();
        assert!(error.to_string().ends_with("it is no Debian package"), "{error}");
        fs::write(&path, "!<arch>\ndebian-binary   1410122664").unwrap();
        assert!(is_package(&path).unwrap());
    }

    #[test]
    fn a_package_without_a_kernel_and_one_without_modules_differ() {
        let folder = tempfile::tempdir().unwrap();
        let tell = || parts(Path::new("x.deb"), folder.path()).unwrap_err().to_string();
        assert!(tell().contains("no package of a kernel"), "{}", tell());
        fs::create_dir(folder.path().join("boot")).unwrap();
        fs::write(folder.path().join("boot/vmlinuz-6.1"), "").unwrap();
        assert!(tell().contains("no modules"), "{}", tell());
        fs::create_dir_all(folder.path().join("usr/lib/modules/6.1")).unwrap();
        parts(Path::new("x.deb"), folder.path()).unwrap();
    }

    #[test]
    fn modules_of_network_cards_are_left_out() {
        for kept in ["kernel/fs/ext4/ext4.ko", "kernel/lib/crc16.ko.xz", "modules.builtin.modinfo"] {
            assert!(is_kept(Path::new(kept)), "{kept}");
        }
        for left in ["kernel/drivers/net/e1000.ko", "modules.builtin.bin", "modules.dep", "kernel/fs/README"]
        {
            assert!(!is_kept(Path::new(left)), "{left}");
        }
    }

    #[test]
    fn a_folder_with_an_index_and_plain_modules_is_used_itself() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("modules.dep"), "kernel/fs/a.ko: kernel/lib/b.ko\n").unwrap();
        assert_eq!(usable(folder.path()).unwrap(), folder.path());
        fs::write(folder.path().join("modules.dep"), "").unwrap();
        assert_eq!(usable(folder.path()).unwrap(), folder.path(), "all is built in");
    }

    #[test]
    fn every_way_of_packing_is_undone() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (program, end) in [("gzip", "gz"), ("xz", "xz"), ("zstd", "zst")] {
            if command::find(program).is_none() {
                continue;
            }
            let plain = path(&format!("{program}.ko"));
            fs::write(&plain, "a module").unwrap();
            let done = command::run(&Invocation::new(program, [plain.as_os_str()])).unwrap();
            assert_eq!(done.status, 0, "{}", done.text);
            let _ = fs::remove_file(&plain);
            in_place(&[path(&format!("{program}.ko.{end}"))]).unwrap();
            assert_eq!(fs::read_to_string(&plain).unwrap(), "a module");
        }
    }

    #[test]
    fn a_damaged_module_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.ko.gz");
        fs::write(&file, "no gzip").unwrap();
        let error = in_place(&[file]).unwrap_err();
        assert!(error.to_string().contains("a.ko.gz"), "{error}");
    }
}
