//! The file below a loop device.
//!
//! It is born without a name (`O_TMPFILE`, or a memfd), so that the death of this process, however
//! it comes, gives its space back. A name is given only on purpose, with [`Image::keep`].

use std::fs::{File, OpenOptions};
use std::io::copy;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::unistd::geteuid;
use rustix::fs::{
    AtFlags, CWD, FallocateFlags, IFlags, MemfdFlags, SeekFrom, fallocate, fstat, ftruncate, ioctl_ficlone,
    ioctl_getflags, ioctl_setflags, linkat, memfd_create, seek,
};

use super::store::{StoreKind, store_info};
use crate::error::{Cannot, Error, Result};
use crate::sys::errno;
use crate::sys::statfs::statfs;
use crate::units::Bytes;

/// With less than this free, a store counts as full: file systems keep a little for themselves.
const FULL: Bytes = Bytes::mib(1);

/// A file without a name.
#[derive(Debug)]
pub struct Image {
    file: File,
    size: Bytes,
    inode: u64,
    /// Where it is, unless in memory.
    folder: Option<PathBuf>,
    /// The store has given it all that it can need.
    preallocated: bool,
}

impl Image {
    /// Make an image in `folder`, or in memory where there is none. It is sparse unless `preallocate`.
    ///
    /// # Errors
    ///
    /// The folder is missing, is none, or is read-only; the store cannot hold a file of this size,
    /// or has no room for it.
    pub fn create(folder: Option<&Path>, size: Bytes, preallocate: bool) -> Result<Self> {
        if size.0 == 0 || !size.0.is_multiple_of(512) {
            let doing = format!("make an image of {} bytes: it must be a multiple of 512", size.0);
            return Err(Error::usage(doing).next("give a --size such as 2GiB"));
        }
        let file = match folder {
            Some(folder) => open_unnamed(folder)?,
            None => File::from(
                memfd_create("fsduel-image", MemfdFlags::CLOEXEC)
                    .map_err(errno)
                    .cannot(|| "make an image in memory".into())?,
            ),
        };
        // Before the first byte: the flag has no effect on a file that has data.
        if let Some(folder) = folder {
            switch_off_copy_on_write(folder, &file);
        }
        resize(&file, size, preallocate).map_err(|errno| size_error(folder, size, errno))?;
        let inode = file.metadata().cannot(|| "look at the image".into())?.ino();
        let folder = folder.map(Path::to_owned);
        Ok(Self { file, size, inode, folder, preallocated: preallocate })
    }

    /// Its size, which is that of the device.
    #[must_use]
    pub fn size(&self) -> Bytes {
        self.size
    }

    /// Its inode number.
    #[must_use]
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// Bytes that the store has given to it: `st_blocks`, which counts 512 bytes. Source: stat(2).
    ///
    /// # Errors
    ///
    /// The call fails.
    pub fn allocated(&self) -> Result<Bytes> {
        let stat = self.file.metadata().cannot(|| "look at the image".into())?;
        Ok(Bytes(stat.blocks() * 512))
    }

    /// Whether the store has no room for what it has not given to the image yet. Others fill a store,
    /// too, and free it again, so one look proves nothing.
    #[must_use]
    pub fn lacks_room(&self) -> bool {
        let sparse = self.folder.is_some() && !self.preallocated;
        // What file systems keep back is for root.
        let root = geteuid().is_root();
        sparse && statfs(self).is_ok_and(|store| if root { store.free } else { store.available } < FULL)
    }

    /// That the store was full, as `sign` tells: an error of the environment.
    #[must_use]
    pub fn out_of_space(&self, sign: &str) -> Error {
        let place = self.folder.as_ref().map_or("memory".into(), |folder| folder.display().to_string());
        let (size, got) = (self.size, self.allocated().unwrap_or_default());
        Error::environment(format!(
            "use what was measured: {place} ran out of space under the image ({sign}; the image of {size} got {got})"
        ))
        .next("free space there, choose another place with --store, or a smaller --size")
    }

    /// Whether `got` of the store is as much as was `written`: zeros that read back as zeros prove
    /// nothing where the store has dropped them.
    ///
    /// # Errors
    ///
    /// It is not: an error of the environment.
    pub fn holds(got: Bytes, written: Bytes) -> Result<()> {
        if got >= written {
            return Ok(());
        }
        let doing = format!("use what was measured: {written} were written, and the image has only {got}");
        Err(Error::environment(doing).next("a --store that does not compress, or --set pattern=random"))
    }

    /// Drop what the host has cached of the image, which matters without direct I/O: the whole
    /// image would stay warm over an unmount. An image in memory *is* the cache and stays.
    ///
    /// # Errors
    ///
    /// The image cannot be written back.
    pub fn drop_cache(&self) -> Result<()> {
        let doing = || "drop the image from the host's cache".to_owned();
        rustix::fs::fdatasync(&self.file).map_err(errno).cannot(doing)?;
        rustix::fs::fadvise(&self.file, 0, None, rustix::fs::Advice::DontNeed).map_err(errno).cannot(doing)
    }

    /// Prove that nobody has changed the size of the image below the device.
    ///
    /// # Errors
    ///
    /// Somebody has.
    pub fn check_unchanged(&self) -> Result<()> {
        let stat = fstat(&self.file).map_err(errno).cannot(|| "look at the image".into())?;
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        if size == self.size.0 && stat.st_ino == self.inode {
            return Ok(());
        }
        let doing =
            format!("trust the image: another process changed its size from {} to {size} bytes", self.size.0);
        Err(Error::environment(doing).next("find what writes to deleted files in the store, and stop it"))
    }

    /// Give it the name `path`: by a link within its store, else as a sparse copy.
    ///
    /// # Errors
    ///
    /// `path` exists already, or its folder does not take the file.
    pub fn keep(&self, path: &Path) -> Result<()> {
        let doing = || format!("keep the image as {}", path.display());
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        match linkat(CWD, own.as_str(), CWD, path, AtFlags::SYMLINK_FOLLOW).map_err(errno) {
            Ok(()) => Ok(()),
            Err(Errno::EEXIST) => Err(Errno::EEXIST)
                .cannot(doing)
                .map_err(|error| error.next("remove the file, or keep the image under another name")),
            // Another file system, memory, or a file that had a name once.
            Err(Errno::EXDEV | Errno::ENOENT | Errno::EPERM | Errno::EOPNOTSUPP) => {
                self.copy_to(path).cannot(doing)
            }
            Err(errno) => Err(errno).cannot(doing),
        }
    }

    /// Another image of this size in the same place, all of it a hole.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn beside(&self) -> Result<Self> {
        Self::create(self.folder.as_deref(), self.size, false)
    }

    /// Make an image of the same size, which has no data, the same as this one: shared with it where the
    /// store can do that, else without its holes.
    ///
    /// # Errors
    ///
    /// The store has no room.
    pub fn copy_data_to(&self, other: &Self) -> Result<()> {
        let doing = || "copy an image".to_owned();
        rustix::fs::fdatasync(&self.file).map_err(errno).cannot(doing)?;
        match ioctl_ficlone(&other.file, &self.file) {
            Ok(()) => Ok(()),
            // Not this store, or memory.
            Err(_) => copy_data(&self.file, &other.file).cannot(doing),
        }
    }

    fn copy_to(&self, path: &Path) -> std::io::Result<()> {
        let to = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        to.set_len(self.size.0)?;
        copy_data(&self.file, &to)
    }
}

/// Copy what is not a hole.
fn copy_data(from: &File, to: &File) -> std::io::Result<()> {
    let mut at = 0;
    loop {
        at = match seek(from, SeekFrom::Data(at)) {
            Ok(data) => data,
            Err(rustix::io::Errno::NXIO) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let end = seek(from, SeekFrom::Hole(at))?;
        seek(from, SeekFrom::Start(at))?;
        seek(to, SeekFrom::Start(at))?;
        copy(&mut std::io::Read::take(from, end - at), &mut &*to)?;
        at = end;
    }
}

impl AsFd for Image {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn open_unnamed(folder: &Path) -> Result<File> {
    let opened =
        OpenOptions::new().read(true).write(true).mode(0o600).custom_flags(libc::O_TMPFILE).open(folder);
    let error = match opened {
        Ok(file) => return Ok(file),
        Err(error) => error,
    };
    match error.raw_os_error().map_or(Errno::UnknownErrno, Errno::from_raw) {
        // The store has no O_TMPFILE: a file that loses its name at once is the next best.
        Errno::EOPNOTSUPP | Errno::EISDIR if folder.is_dir() => {
            tempfile::tempfile_in(folder).cannot(|| format!("make an image in {}", folder.display()))
        }
        errno => Err(folder_error(folder, errno)),
    }
}

fn folder_error(folder: &Path, errno: Errno) -> Error {
    let shown = folder.display();
    let (why, next) = match errno {
        Errno::ENOENT => {
            ("the folder does not exist", format!("mkdir -p {shown}, or choose another --store"))
        }
        Errno::ENOTDIR => ("it is not a folder", "choose a folder with --store".into()),
        Errno::EROFS => ("it is on a read-only file system", "choose another --store".into()),
        Errno::EACCES | Errno::EPERM => {
            ("it may not be written", "run as root, or choose another --store".into())
        }
        _ => ("the store refuses it", "choose another --store".into()),
    };
    Error::unavailable(format!("make an image in {shown}: {why}")).because(errno).next(next)
}

/// Where the store copies on write, ask it not to for this file (`FS_NOCOW_FL`). Not all of them can.
fn switch_off_copy_on_write(folder: &Path, file: &File) {
    if !store_info(folder).is_ok_and(|store| store.kind == StoreKind::CopyOnWrite) {
        return;
    }
    match ioctl_getflags(file).and_then(|flags| ioctl_setflags(file, flags | IFlags::NOCOW)) {
        Ok(()) => log::debug!("copy on write is switched off for the image"),
        Err(error) => log::debug!("the image is copied on write below the device: {error}"),
    }
}

fn resize(file: &File, size: Bytes, preallocate: bool) -> std::result::Result<(), Errno> {
    ftruncate(file, size.0).map_err(errno)?;
    if preallocate {
        fallocate(file, FallocateFlags::empty(), 0, size.0).map_err(errno)?;
    }
    Ok(())
}

fn size_error(folder: Option<&Path>, size: Bytes, errno: Errno) -> Error {
    let place = folder.map_or_else(|| "memory".to_owned(), |folder| folder.display().to_string());
    let filesystem = folder.and_then(|folder| store_info(folder).ok()).map(|store| store.filesystem);
    let mib = size.0 >> 20;
    match errno {
        Errno::EFBIG | Errno::EINVAL => {
            let name = filesystem.unwrap_or_else(|| "memory".into());
            Error::usage(format!("make an image in {place}: {name} cannot hold a file of {mib} MiB"))
                .because(errno)
                .next("choose a smaller --size, or a --store on xfs")
        }
        Errno::ENOSPC | Errno::EDQUOT | Errno::ENOMEM => {
            Error::environment(format!("allocate {mib} MiB in {place}"))
                .because(errno)
                .next("choose a smaller --size or another --store, or leave --preallocate out")
        }
        _ => Error::new(format!("make an image of {mib} MiB in {place}")).because(errno),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, Write};

    use super::*;
    use crate::error::Kind;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in("/var/tmp").unwrap()
    }

    #[test]
    fn an_image_has_no_name_and_is_sparse() {
        let folder = folder();
        let image = Image::create(Some(folder.path()), Bytes::gib(4), false).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        assert!(image.allocated().unwrap() < Bytes::mib(1));
        assert!(image.check_unchanged().is_ok());
    }

    #[test]
    fn a_preallocated_image_has_all_its_bytes() {
        let folder = folder();
        let image = Image::create(Some(folder.path()), Bytes::mib(4), true).unwrap();
        assert!(image.allocated().unwrap() >= Bytes::mib(4));
    }

    #[test]
    fn an_image_that_was_truncated_is_not_trusted() {
        let image = Image::create(None, Bytes::mib(4), false).unwrap();
        image.file.set_len(1 << 20).unwrap();
        assert_eq!(image.check_unchanged().unwrap_err().kind(), Kind::Environment);
    }

    #[test]
    fn keeping_gives_a_name_and_does_not_replace_a_file() {
        let folder = folder();
        let kept = folder.path().join("kept.img");
        let image = Image::create(Some(folder.path()), Bytes::mib(1), false).unwrap();
        image.keep(&kept).unwrap();
        assert_eq!(kept.metadata().unwrap().ino(), image.inode());
        assert_eq!(image.keep(&kept).unwrap_err().errno(), Some(Errno::EEXIST));
    }

    #[test]
    fn an_image_in_memory_is_kept_as_a_sparse_copy() {
        let folder = folder();
        let mut image = Image::create(None, Bytes::mib(64), false).unwrap();
        image.file.seek(std::io::SeekFrom::Start(40 << 20)).unwrap();
        image.file.write_all(b"in the middle").unwrap();
        let kept = folder.path().join("kept.img");
        image.keep(&kept).unwrap();
        let mut file = File::open(&kept).unwrap();
        let mut word = [0; 13];
        file.seek(std::io::SeekFrom::Start(40 << 20)).unwrap();
        file.read_exact(&mut word).unwrap();
        assert_eq!(&word, b"in the middle");
        let stat = file.metadata().unwrap();
        assert_eq!(stat.len(), 64 << 20);
        assert!(stat.blocks() * 512 < 8 << 20, "{} blocks", stat.blocks());
    }

    #[test]
    fn each_wrong_folder_has_its_own_message() {
        let text =
            |path: &str| Image::create(Some(Path::new(path)), Bytes::mib(1), false).unwrap_err().to_string();
        assert!(text("/no/such/folder").contains("does not exist"));
        assert!(text("/proc/self/status").contains("not a folder"), "{}", text("/proc/self/status"));
    }

    #[test]
    fn a_size_between_sectors_is_a_usage_error() {
        assert_eq!(Image::create(None, Bytes(1000), false).unwrap_err().kind(), Kind::Usage);
    }

    #[test]
    fn too_large_for_the_store_is_not_called_no_space() {
        let error = size_error(Some(Path::new("/")), Bytes::gib(17 << 10), Errno::EFBIG);
        assert!(error.to_string().contains("cannot hold a file of 17825792 MiB"), "{error}");
    }
}
