//! The first root of a virtual machine, as one file in memory.
//!
//! It is not compressed, and it is not kept: what is slow to make, unpacked kernels, is in the cache,
//! and copying thirty megabytes of programs to memory takes less time than reading them to see
//! whether a kept archive still fits. So it always holds the tools that are installed now.
//!
//! Debugging information is left out of programs. Nothing of it is loaded, and a guest has little memory.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use goblin::elf::Elf;
use goblin::elf::program_header::PT_LOAD;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use super::Kernel;
use super::along::Along;
use super::archive::{Node, Tree};
use super::closure::{Closure, LIBRARIES};
use crate::command;
use crate::error::{Cannot, Error, Result};
use crate::fs::Filesystem;
use crate::require::Requirement;
use crate::units::Bytes;

/// Where this program lies in it.
pub const PROGRAM: &str = "/init";

/// Where the modules are listed that are to be loaded, one path a line, in order.
pub const MODULES: &str = "/modules";

/// Those of the same paths that may fail to load: one of several with the same purpose, of which some
/// are for other processors.
pub const OPTIONAL: &str = "/modules-optional";

/// Where the tools lie.
const TOOLS: &str = "usr/sbin";

const FOLDERS: [&str; 12] =
    ["dev", "etc", "mnt", "proc", "root", "run", "sys", "tmp", "usr/sbin", "usr/lib", "var/tmp", "var/lib"];

/// Names of folders that are one here, whatever a distribution makes of them.
const LINKS: [(&str, &str); 7] = [
    ("bin", TOOLS),
    ("etc/mtab", "/proc/self/mounts"),
    ("lib", LIBRARIES),
    ("lib64", LIBRARIES),
    ("sbin", TOOLS),
    ("usr/bin", "sbin"),
    ("usr/lib64", "lib"),
];

/// Character devices. Source: Linux `Documentation/admin-guide/devices.txt`.
const DEVICES: [(&str, u32, u32); 2] = [("dev/console", 5, 1), ("dev/null", 1, 3)];

/// What puts files into a file system.
const COPIES: &str = "cp";

/// What a guest boots with, before it is put together.
pub struct Initramfs<'a> {
    tree: Tree,
    along: Option<&'a Along>,
}

impl<'a> Initramfs<'a> {
    /// One of this program, the tools of these file systems, the modules that `kernel` needs for them
    /// and for its virtual devices, and what commands take along.
    ///
    /// # Errors
    ///
    /// A tool or a module is missing, or cannot be read.
    pub fn new(kernel: &Kernel, filesystems: &[&dyn Filesystem], along: Option<&'a Along>) -> Result<Self> {
        let mut tree = Tree::default();
        lay_out(&mut tree);
        add_programs(&mut tree, filesystems, along.is_some_and(Along::copies))?;
        add_modules(&mut tree, kernel, filesystems)?;
        Ok(Self { tree, along })
    }

    /// How large it is.
    #[must_use]
    pub fn size(&self) -> Bytes {
        Bytes(self.tree.bytes() + self.taken_along().0)
    }

    /// How much of it is what commands take along.
    #[must_use]
    pub fn taken_along(&self) -> Bytes {
        self.along.map(Along::size).unwrap_or_default()
    }

    /// A file without a name, open for reading, which nobody can change.
    ///
    /// # Errors
    ///
    /// There is no memory for it, or what is taken along cannot be read.
    pub fn file(&self) -> Result<File> {
        let doing = || "hold an initramfs in memory".to_owned();
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let memory = memfd_create("fsduel-initramfs", flags).map_err(crate::sys::errno).cannot(doing)?;
        let mut writer = BufWriter::new(File::from(memory));
        self.tree.write(&mut writer)?;
        // The kernel unpacks one archive after the other.
        self.along.map_or(Ok(()), |along| along.write(&mut writer))?;
        writer.flush().cannot(doing)?;
        let file = writer.into_inner().map_err(std::io::IntoInnerError::into_error).cannot(doing)?;
        let seals = SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL;
        fcntl_add_seals(&file, seals).map_err(crate::sys::errno).cannot(doing)?;
        Ok(file)
    }
}

fn lay_out(tree: &mut Tree) {
    FOLDERS.iter().for_each(|path| tree.add(path, Node::Folder));
    LINKS.iter().for_each(|(path, target)| tree.add(path, Node::Link((*target).to_owned())));
    DEVICES.iter().for_each(|(path, major, minor)| tree.add(path, Node::Device(*major, *minor)));
    tree.add("etc/passwd", Node::Text(b"root:x:0:0:root:/root:/sbin/nologin\n".to_vec()));
}

/// This program, and the tools, with their libraries.
fn add_programs(tree: &mut Tree, filesystems: &[&dyn Filesystem], copies: bool) -> Result<()> {
    let mut closure = Closure::new();
    let own = Path::new("/proc/self/exe");
    let path = fs::read_link(own).cannot(|| "find this program".into())?;
    let bytes = read(own)?;
    closure.add(&path, &bytes)?;
    tree.add(PROGRAM.trim_start_matches('/'), Node::Program(bytes));
    let copies = copies.then_some(Requirement::Tool { program: COPIES, package: "coreutils" });
    let required = filesystems.iter().flat_map(|filesystem| filesystem.requirements()).chain(copies);
    for requirement in required {
        let Requirement::Tool { program, package } = requirement else { continue };
        let path = command::find(program).ok_or_else(|| {
            Error::unavailable(format!("take {program} along: it is not on PATH, nor in /usr/sbin or /sbin"))
                .next(format!("apt install {package}"))
        })?;
        let bytes = read(&path)?;
        closure.add(&path, &bytes)?;
        tree.add(&format!("{TOOLS}/{program}"), Node::Program(bytes));
    }
    for (path, file) in &closure.files {
        tree.add(path, Node::Program(read(file)?));
    }
    closure.links.iter().for_each(|(path, target)| tree.add(path, Node::Link(target.clone())));
    Ok(())
}

fn add_modules(tree: &mut Tree, kernel: &Kernel, filesystems: &[&dyn Filesystem]) -> Result<()> {
    let (mut list, mut optional) = (String::new(), String::new());
    for load in kernel.load_order(filesystems)? {
        let path = format!("{LIBRARIES}/modules/{}/{}", kernel.release, load.path);
        let file = kernel.modules.join(&load.path);
        let bytes = fs::read(&file).cannot(|| format!("read the module {}", file.display()))?;
        let line = format!("/{path}\n");
        optional.push_str(if load.optional { &line } else { "" });
        list.push_str(&line);
        tree.add(&path, Node::Text(bytes));
    }
    for (path, text) in [(MODULES, list), (OPTIONAL, optional)] {
        tree.add(path.trim_start_matches('/'), Node::Text(text.into_bytes()));
    }
    Ok(())
}

/// A program or a library without what is not loaded of it.
fn read(path: &Path) -> Result<Vec<u8>> {
    let bytes = fs::read(path).cannot(|| format!("read {}", path.display()))?;
    Ok(loaded(bytes))
}

/// An ELF file cut behind its last segment, without section headers, which no loader reads. What is
/// something else, or has no segment, stays as it is.
fn loaded(mut bytes: Vec<u8>) -> Vec<u8> {
    /// Where `e_shoff` lies and where `e_shnum` and `e_shstrndx` do, with 64 bits. Source: ELF-64 Object
    /// File Format, "ELF Header".
    const SECTIONS: [std::ops::Range<usize>; 2] = [0x28..0x30, 0x3C..0x40];
    let Some(end) = end_of_segments(&bytes).filter(|end| (0x40..bytes.len()).contains(end)) else {
        return bytes;
    };
    bytes.truncate(end);
    SECTIONS.into_iter().for_each(|field| bytes[field].fill(0));
    bytes
}

fn end_of_segments(bytes: &[u8]) -> Option<usize> {
    let header = Elf::parse_header(bytes).ok().filter(|_| bytes.get(4) == Some(&2))?;
    let context = goblin::container::Ctx::new(header.container().ok()?, header.endianness().ok()?);
    let from = usize::try_from(header.e_phoff).ok()?;
    let segments = goblin::elf::ProgramHeader::parse(bytes, from, header.e_phnum.into(), context).ok()?;
    // Those that are not loaded, as notes, lie within those that are.
    let ends =
        segments.iter().filter(|one| one.p_type == PT_LOAD).map(|one| one.p_offset.checked_add(one.p_filesz));
    usize::try_from(ends.max()??).ok()
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::command::{Invocation, run};

    #[test]
    fn a_program_without_its_sections_still_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("program");
        let whole = fs::read("/proc/self/exe").unwrap();
        let cut = loaded(whole.clone());
        assert!(cut.len() * 2 < whole.len(), "{} of {}", cut.len(), whole.len());
        fs::write(&path, cut).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let script = format!("exec {} --list", path.display());
        let said = run(&Invocation::new("sh", ["-c", &script])).unwrap();
        assert!(said.status == 0 && said.text.contains(": test\n"), "{said:?}");
    }

    #[test]
    fn what_is_no_program_is_not_cut() {
        assert_eq!(loaded(b"text".to_vec()), b"text");
        assert_eq!(loaded(b"\x7fELF".to_vec()), b"\x7fELF");
    }

    #[test]
    fn links_lead_to_folders_that_are_there() {
        let mut tree = Tree::default();
        lay_out(&mut tree);
        for (path, target) in LINKS.iter().filter(|(_, target)| !target.starts_with('/')) {
            let above = path.rsplit_once('/').map_or(String::new(), |(above, _)| format!("{above}/"));
            assert!(FOLDERS.contains(&format!("{above}{target}").as_str()), "{path} to {target}");
        }
    }

    #[test]
    fn the_file_cannot_be_changed_and_is_read_from_its_start_by_whoever_opens_it() {
        let mut tree = Tree::default();
        lay_out(&mut tree);
        let file = Initramfs { tree, along: None }.file().unwrap();
        assert!((&file).write(b"x").is_err());
        use std::os::fd::AsRawFd as _;
        let mut start = [0; 6];
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        File::open(path).unwrap().read_exact(&mut start).unwrap();
        assert_eq!(&start, b"070701");
    }
}
