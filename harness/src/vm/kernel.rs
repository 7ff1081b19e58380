//! Kernels to boot: this machine's, one from a path, or one from a Debian package.
//!
//! The modules of a [`Kernel`] are always plain files with an index. Where a distribution packs them,
//! or a package has no index since its installation would make it, a copy of those that file systems
//! and virtual devices can need is kept in the cache.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use super::image::{self, is_release};
use super::modules::{Found, Index, Load, NotThere};
use super::unpack;
use crate::error::{Cannot, Error, Result};
use crate::fs::{self, Filesystem};
use crate::require::{KernelVersion, LinuxVersions, Missing, Requirement};

/// The devices of a virtual machine, which a kernel cannot do without.
const VIRTIO: [&str; 3] = ["virtio_pci", "virtio_blk", "virtio_console"];

/// A kernel, and its modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The bootable image.
    pub image: PathBuf,
    /// `uname -r` once it runs.
    pub release: String,
    /// `/lib/modules/RELEASE` of it, or a copy with what file systems need of it, not packed.
    pub modules: PathBuf,
}

impl Kernel {
    /// The kernel that `source` means: `host`, the path of a kernel, or that of a Debian package.
    ///
    /// # Errors
    ///
    /// There is none, it is one of another architecture, or its modules are not to be found.
    pub fn find(source: &str) -> Result<Self> {
        if source == "host" {
            return Self::host();
        }
        let path = Path::new(source);
        let path = path.canonicalize().map_err(|error| image::unreadable(path, error))?;
        // A folder is easily taken for what lies in it; a pipe would be waited for.
        if !path.is_file() {
            return Err(Error::usage(format!("boot {}: it is no file", path.display()))
                .next("name the kernel itself (FOLDER/boot/vmlinuz-RELEASE), or a .deb package with one"));
        }
        match unpack::is_package(&path)? {
            true => {
                let (image, modules) = unpack::package(&path)?;
                Self::of(&image, &[modules])
            }
            false => Self::of(&path, &modules_beside(&path)),
        }
    }

    /// The bootable image of this machine's own kernel, and its release.
    ///
    /// # Errors
    ///
    /// It is not where distributions put it.
    pub fn host_image() -> Result<(PathBuf, String)> {
        let name = nix::sys::utsname::uname().cannot(|| "ask for the release of this kernel".into())?;
        let release = name.release().to_string_lossy().into_owned();
        let modules = PathBuf::from("/lib/modules").join(&release);
        let images = [PathBuf::from(format!("/boot/vmlinuz-{release}")), modules.join("vmlinuz")];
        let found = images.iter().find(|path| path.exists()).cloned();
        let image = found.ok_or_else(|| {
            let [first, second] = &images;
            Error::unavailable(format!(
                "boot this machine's kernel {release}: neither {} nor {} is there",
                first.display(),
                second.display()
            ))
            .next("--kernel PATH, with a kernel or a .deb package of one (apt-get download linux-image-...)")
        })?;
        Ok((image, release))
    }

    fn host() -> Result<Self> {
        let (image, release) = Self::host_image()?;
        Self::of(&image, &[Path::new("/lib/modules").join(release)])
    }

    /// The kernel at `image`, with the first of these folders that has its modules.
    fn of(image: &Path, folders: &[PathBuf]) -> Result<Self> {
        let release = match image::read(image)?.release {
            Some(release) => release,
            None => release_beside(image)?,
        };
        let tried: Vec<_> = folders.iter().map(|folder| resolve(folder, &release)).collect();
        let modules = tried.iter().find(|folder| has_modules(folder)).ok_or_else(|| {
            let tried: Vec<_> = tried.iter().map(|path| path.display().to_string()).collect();
            Error::unavailable(format!("find the modules of kernel {release}: not in {}", tried.join(", ")))
                .next("put lib/modules/RELEASE beside it (make modules_install INSTALL_MOD_PATH=FOLDER)")
        })?;
        let modules = unpack::usable(modules)?;
        Ok(Self { image: image.to_owned(), release, modules })
    }

    /// Major and minor version, as (6, 12).
    #[must_use]
    pub fn version(&self) -> (u32, u32) {
        KernelVersion::of(&self.release).version
    }

    /// What is missing where it cannot mount `filesystem`, or has no driver for the devices of a virtual
    /// machine.
    #[must_use]
    pub fn lacks(&self, filesystem: &str) -> Option<Missing> {
        // The words of a requirement are ours; a name that is none of ours has no row.
        let row = fs::by_name(filesystem);
        let missing = |text: String, next: String| {
            let linux = row.map_or(LinuxVersions::since(0, 0), Filesystem::in_linux);
            let filesystem = row.map_or("", Filesystem::name);
            Missing { requirement: Requirement::Kernel { filesystem, linux }, text, next }
        };
        let index = match Index::read(&self.modules) {
            Ok(index) => index,
            Err(error) => {
                return Some(missing(error.to_string(), "name another kernel with --kernel".into()));
            }
        };
        if let Some(driver) = VIRTIO.iter().find(|driver| index.find(driver).is_none()) {
            let option = driver.to_uppercase();
            let next = format!("name a distribution's kernel, or build this one with CONFIG_{option}");
            return Some(missing(self.no_module(driver), next));
        }
        match (index.find_filesystem(filesystem), row) {
            (None, Some(row)) => Some(fs::lacking(row, &self.release, "no module, nor is it built in")),
            (_, None) => {
                let next = "`fsduel list filesystems` tells the names";
                Some(missing(self.no_module(filesystem), next.into()))
            }
            (Some(_), Some(row)) => self.load_order(&[row]).err().map(|error| {
                let next = error.next_step().unwrap_or("name another kernel with --kernel").to_owned();
                missing(error.to_string(), next)
            }),
        }
    }

    fn no_module(&self, name: &str) -> String {
        format!("kernel {} has no module for {name}, nor is it built in", self.release)
    }

    /// All modules to load, in order, for its virtual devices and these file systems.
    pub(super) fn load_order(&self, filesystems: &[&dyn Filesystem]) -> Result<Vec<Load>> {
        let index = Index::read(&self.modules)?;
        let drivers = VIRTIO.iter().map(|name| (*name, index.find(name)));
        let wanted =
            drivers.chain(filesystems.iter().map(|one| (one.name(), index.find_filesystem(one.name()))));
        let mut modules = vec![];
        for (name, found) in wanted {
            match found {
                Some(Found::BuiltIn) => {}
                Some(Found::Modules(found)) => modules.extend(found),
                None => {
                    return Err(Error::unavailable(format!(
                        "boot a virtual machine: {}",
                        self.no_module(name)
                    ))
                    .next("name another kernel with --kernel"));
                }
            }
        }
        let mut loads = index.order(&modules).map_err(|missing| self.no_need(&missing))?;
        loads.retain(|load| !load.optional || self.has(load));
        match loads.iter().find(|load| !self.has(load)) {
            None => Ok(loads),
            Some(load) => Err(self.no_file(load)),
        }
    }

    fn has(&self, load: &Load) -> bool {
        self.modules.join(&load.path).is_file()
    }

    /// An index can name what is not there any more.
    fn no_file(&self, load: &Load) -> Error {
        let folder = self.modules.display();
        Error::unavailable(format!(
            "boot a virtual machine: the index of {folder} names {}, and it is not there",
            load.path
        ))
        .next("install the kernel's package anew, or name another with --kernel")
    }

    fn no_need(&self, NotThere { module, needed_by }: &NotThere) -> Error {
        let of = needed_by.as_ref().map_or(String::new(), |other| format!(", which {other} needs"));
        Error::unavailable(format!("boot a virtual machine: {}{of}", self.no_module(module)))
            .next("install all of the kernel's packages (linux-modules-extra), or name another with --kernel")
    }
}

/// Where the modules of a kernel at `image` may be. `RELEASE` stands for its release.
fn modules_beside(image: &Path) -> Vec<PathBuf> {
    let folder = image.parent().unwrap_or(Path::new("/"));
    let above = folder.parent().filter(|_| folder.ends_with("boot"));
    let below =
        |prefix: &Path| ["lib/modules/RELEASE", "usr/lib/modules/RELEASE"].map(|path| prefix.join(path));
    let system = PathBuf::from("/lib/modules/RELEASE");
    let beside = above.into_iter().flat_map(below).chain([folder.to_owned()]).chain(below(folder));
    beside.chain([system]).collect()
}

fn resolve(folder: &Path, release: &str) -> PathBuf {
    match folder.ends_with("RELEASE") {
        true => folder.with_file_name(release),
        false => folder.to_owned(),
    }
}

fn has_modules(folder: &Path) -> bool {
    ["modules.dep", "modules.order", "modules.builtin"].iter().any(|name| folder.join(name).is_file())
}

/// The release of a kernel whose header has none: the end of its name, or else what it would print.
fn release_beside(image: &Path) -> Result<String> {
    let name = image.file_name().unwrap_or_default().to_string_lossy();
    let named = name.split_once('-').map(|(_, release)| release.to_owned());
    if let Some(release) = named.filter(|release| is_release(release)) {
        return Ok(release);
    }
    let mut bytes = vec![];
    let read =
        File::open(image).and_then(|mut file| file.rewind().and_then(|()| file.read_to_end(&mut bytes)));
    read.map_err(|error| image::unreadable(image, error))?;
    banner(&bytes).ok_or_else(|| {
        Error::unavailable(format!("learn the release of the kernel {}", image.display()))
            .next("name the file vmlinuz-RELEASE")
    })
}

/// The release in `Linux version 6.12.1 (...`, which every kernel has in its data.
fn banner(bytes: &[u8]) -> Option<String> {
    const BEFORE: &[u8] = b"Linux version ";
    let at = bytes.windows(BEFORE.len()).position(|window| window == BEFORE)?;
    let rest = &bytes[at + BEFORE.len()..];
    let text = rest.split(|byte| !byte.is_ascii_graphic()).next()?;
    Some(String::from_utf8_lossy(text).into_owned()).filter(|text| is_release(text))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::vm::image::tests::bzimage;

    /// A kernel in PREFIX/boot with these files of modules.
    fn prefix(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("boot/vmlinuz-x");
        let modules = folder.path().join("usr/lib/modules/6.1.0-56-amd64");
        fs::create_dir_all(&modules).unwrap();
        fs::create_dir_all(image.parent().unwrap()).unwrap();
        fs::write(&image, bzimage(1, "6.1.0-56-amd64 (x@y) #1 SMP")).unwrap();
        files.iter().for_each(|(name, text)| fs::write(modules.join(name), text).unwrap());
        (folder, image)
    }

    const VIRTIO_BUILT_IN: &str = "k/virtio_pci.ko\nk/virtio_blk.ko\nk/virtio_console.ko\n";

    #[test]
    fn a_kernel_in_a_boot_folder_has_its_modules_beside_it() {
        let (folder, image) = prefix(&[("modules.dep", ""), ("modules.builtin", VIRTIO_BUILT_IN)]);
        let kernel = Kernel::find(image.to_str().unwrap()).unwrap();
        assert_eq!(kernel.release, "6.1.0-56-amd64");
        assert_eq!(kernel.version(), (6, 1));
        assert_eq!(
            kernel.modules,
            folder.path().canonicalize().unwrap().join("usr/lib/modules/6.1.0-56-amd64")
        );
    }

    #[test]
    fn a_kernel_without_the_file_system_names_its_release() {
        let (_folder, image) =
            prefix(&[("modules.dep", "kernel/fs/jfs/jfs.ko:\n"), ("modules.builtin", VIRTIO_BUILT_IN)]);
        let kernel = Kernel::find(image.to_str().unwrap()).unwrap();
        add_module(&kernel, "kernel/fs/jfs/jfs.ko");
        assert_eq!(kernel.lacks("jfs"), None);
        let missing = kernel.lacks("reiserfs").unwrap();
        assert_eq!(missing.text, "kernel 6.1.0-56-amd64 has no reiserfs (no module, nor is it built in)");
    }

    fn add_module(kernel: &Kernel, path: &str) {
        let path = kernel.modules.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "a module").unwrap();
    }

    #[test]
    fn a_module_that_only_the_index_has_is_missing_and_one_that_may_fail_is_left_out() {
        let index = "kernel/fs/jfs/jfs.ko: kernel/lib/b.ko\nkernel/lib/b.ko:\nkernel/lib/fast.ko:\n";
        let (_folder, image) = prefix(&[
            ("modules.dep", index),
            ("modules.softdep", "softdep jfs pre: fast\n"),
            ("modules.builtin", VIRTIO_BUILT_IN),
        ]);
        let kernel = Kernel::find(image.to_str().unwrap()).unwrap();
        add_module(&kernel, "kernel/fs/jfs/jfs.ko");
        let text = kernel.lacks("jfs").unwrap().text;
        assert!(text.ends_with("names kernel/lib/b.ko, and it is not there"), "{text}");
        add_module(&kernel, "kernel/lib/b.ko");
        assert_eq!(kernel.lacks("jfs"), None);
        let jfs = crate::fs::by_name("jfs").unwrap();
        assert_eq!(kernel.load_order(&[jfs]).unwrap().len(), 2);
    }

    #[test]
    fn what_is_no_file_is_refused_without_being_read() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR).unwrap();
        for path in [folder.path(), &pipe, Path::new("/dev/zero")] {
            let error = Kernel::find(path.to_str().unwrap()).unwrap_err();
            assert_eq!(error.kind(), crate::error::Kind::Usage, "{error}");
            assert!(error.to_string().ends_with("it is no file"), "{error}");
        }
    }

    #[test]
    fn a_kernel_without_virtio_says_so() {
        let (_folder, image) = prefix(&[("modules.dep", "kernel/fs/jfs/jfs.ko:\n")]);
        let missing = Kernel::find(image.to_str().unwrap()).unwrap().lacks("jfs").unwrap();
        assert!(missing.text.contains("has no module for virtio_pci"), "{}", missing.text);
        assert!(missing.next.contains("CONFIG_VIRTIO_PCI"), "{}", missing.next);
    }

    #[test]
    fn a_kernel_without_modules_tells_where_they_were_looked_for() {
        let (folder, image) = prefix(&[("modules.dep", "")]);
        fs::remove_dir_all(folder.path().join("usr")).unwrap();
        let text = Kernel::find(image.to_str().unwrap()).unwrap_err().to_string();
        assert!(text.contains("usr/lib/modules/6.1.0-56-amd64"), "{text}");
    }

    #[test]
    fn a_kernel_that_is_not_there_and_one_that_is_none_differ() {
        let text = Kernel::find("/nowhere/vmlinuz").unwrap_err().to_string();
        assert!(text.contains("No such file"), "{text}");
        let text = Kernel::find("/proc/self/exe").unwrap_err().to_string();
        assert!(text.ends_with("it is no kernel"), "{text}");
    }

    #[test]
    fn the_release_of_a_kernel_without_one_is_in_its_banner() {
        assert_eq!(banner(b"\0\0Linux version 6.12.1-arm64 (x@y) #1").as_deref(), Some("6.12.1-arm64"));
        assert_eq!(banner(b"Linux version %s (%s)"), None);
    }
}
