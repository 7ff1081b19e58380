//! The shared libraries that a program needs, found as its loader would find them.
//!
//! The loader itself (`ldd`) would run the program's code, and may not be there. Sources: ld.so(8), ELF
//! gABI "Dynamic Section".

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use goblin::elf::Elf;

use crate::error::{Cannot, Error, Result};

/// Loaded at the end of a thread, where a program has threads, without being named in it.
/// Source: glibc `misc/unwind-link.c`.
const UNWIND: &str = "libgcc_s.so.1";

/// Where libraries are searched on this machine.
#[derive(Debug, Default)]
pub(super) struct Libraries {
    configured: Vec<PathBuf>,
}

/// What a program needs beside itself.
#[derive(Debug, Default)]
pub(super) struct Needed {
    /// Its loader; none where it is static.
    pub interpreter: Option<PathBuf>,
    /// By the name that it is asked for: where it was found.
    pub libraries: BTreeMap<String, PathBuf>,
}

/// What the dynamic section of a file says.
#[derive(Debug)]
struct Needs {
    machine: (u16, bool),
    interpreter: Option<PathBuf>,
    libraries: Vec<String>,
    /// RPATH and RUNPATH, resolved.
    paths: Vec<PathBuf>,
}

impl Libraries {
    /// The folders of `/etc/ld.so.conf`, and those of every system.
    pub fn new() -> Self {
        Self { configured: configured(Path::new("/etc/ld.so.conf"), 0) }
    }

    /// First those that the caller names in `LD_LIBRARY_PATH`.
    pub fn of_caller() -> Self {
        let named = std::env::var_os("LD_LIBRARY_PATH").unwrap_or_default();
        let named = std::env::split_paths(&named).filter(|folder| folder.is_absolute());
        Self { configured: named.chain(Self::new().configured).collect() }
    }

    /// All that the program `path`, with these contents, needs. Nothing, where it is static.
    ///
    /// # Errors
    ///
    /// It is no ELF program, or a library is not found.
    pub fn of(&self, path: &Path, bytes: &[u8]) -> Result<Needed> {
        let needs = needs(path, bytes)?;
        let mut found = Needed { interpreter: needs.interpreter.clone(), ..Needed::default() };
        self.follow(path, &needs, &needs.paths, &mut found.libraries)?;
        if found.libraries.contains_key("libc.so.6")
            && let Some(unwind) = self.search(UNWIND, &needs, &needs.paths)
        {
            // Best effort: without it only a thread that is cancelled ends in an abort.
            self.take(UNWIND, unwind, &needs.paths, &mut found.libraries)?;
        }
        Ok(found)
    }

    /// Whether a loader finds a library there without being told.
    pub fn finds(&self, library: &Path) -> bool {
        defaults().chain(self.configured.iter().cloned()).any(|folder| library.starts_with(folder))
    }

    fn follow(
        &self,
        path: &Path,
        needs: &Needs,
        inherited: &[PathBuf],
        all: &mut BTreeMap<String, PathBuf>,
    ) -> Result<()> {
        for name in &needs.libraries {
            let found = self.search(name, needs, inherited).ok_or_else(|| missing(path, name))?;
            self.take(name, found, inherited, all)?;
        }
        Ok(())
    }

    /// Where the library is that a file names.
    fn search(&self, name: &str, needs: &Needs, inherited: &[PathBuf]) -> Option<PathBuf> {
        let fits = |path: &PathBuf| machine(path).is_some_and(|found| found == needs.machine);
        if name.contains('/') {
            return Some(PathBuf::from(name)).filter(fits);
        }
        let folders = needs.paths.iter().chain(inherited).chain(&self.configured).cloned().chain(defaults());
        folders.map(|folder| folder.join(name)).find(fits)
    }

    /// Take a library, and what it needs itself.
    fn take(
        &self,
        name: &str,
        found: PathBuf,
        inherited: &[PathBuf],
        all: &mut BTreeMap<String, PathBuf>,
    ) -> Result<()> {
        if all.insert(name.to_owned(), found.clone()).is_some() {
            return Ok(());
        }
        let bytes = fs::read(&found).cannot(|| format!("read the library {}", found.display()))?;
        self.follow(&found, &needs(&found, &bytes)?, inherited, all)
    }
}

fn missing(path: &Path, name: &str) -> Error {
    Error::unavailable(format!("take {} along: its library {name} is not found", path.display()))
        .next(format!("ldd {}; install what it misses", path.display()))
}

fn needs(path: &Path, bytes: &[u8]) -> Result<Needs> {
    let elf = Elf::parse(bytes).map_err(|error| {
        Error::unavailable(format!("take {} along: it is no ELF program", path.display())).because(error)
    })?;
    let origin = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let origin = origin.parent().unwrap_or(Path::new("/")).to_string_lossy().into_owned();
    // A RUNPATH makes the RPATH void.
    let paths = if elf.runpaths.is_empty() { &elf.rpaths } else { &elf.runpaths };
    let paths = paths.iter().flat_map(|list| list.split(':')).filter(|text| !text.is_empty());
    Ok(Needs {
        machine: (elf.header.e_machine, elf.is_64),
        interpreter: elf.interpreter.map(PathBuf::from),
        libraries: elf.libraries.iter().map(|name| (*name).to_owned()).collect(),
        paths: paths
            .map(|text| PathBuf::from(text.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin)))
            .collect(),
    })
}

/// For which machine a file is, and whether of 64 bits, if it is a library at all.
fn machine(path: &Path) -> Option<(u16, bool)> {
    use std::io::Read as _;
    let mut head = [0; 20];
    fs::File::open(path).ok()?.read_exact(&mut head).ok()?;
    let number = [head[18], head[19]];
    let number = if head[5] == 1 { u16::from_le_bytes(number) } else { u16::from_be_bytes(number) };
    head.starts_with(b"\x7fELF").then_some((number, head[4] == 2))
}

/// The folders that loaders search after all others: those of Debian, of Fedora, of Arch.
fn defaults() -> impl Iterator<Item = PathBuf> {
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    let debian = ["/lib", "/usr/lib"].map(|folder| Path::new(folder).join(&triple));
    debian.into_iter().chain(["/lib64", "/usr/lib64", "/lib", "/usr/lib"].map(PathBuf::from))
}

/// The folders of `/etc/ld.so.conf` and of the files it includes.
fn configured(file: &Path, depth: u32) -> Vec<PathBuf> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let folder = file.parent().unwrap_or(Path::new("/"));
    let mut found = vec![];
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("hwcap ")) {
        match line.strip_prefix("include ").map(str::trim) {
            // They may not include each other for ever.
            Some(pattern) if depth < 4 => {
                let files = matching(&folder.join(pattern));
                found.extend(files.iter().flat_map(|file| configured(file, depth + 1)));
            }
            Some(_) => {}
            None => found.push(PathBuf::from(line)),
        }
    }
    found
}

/// The files that a pattern with one `*` in its last part means, sorted.
fn matching(pattern: &Path) -> Vec<PathBuf> {
    let name = pattern.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let Some((start, end)) = name.split_once('*') else { return vec![pattern.to_owned()] };
    let entries = fs::read_dir(pattern.parent().unwrap_or(Path::new("/"))).into_iter().flatten().flatten();
    let fits = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
    };
    let mut found: Vec<_> = entries.map(|entry| entry.path()).filter(fits).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_missing_is_named_with_its_program() {
        let needs = Needs {
            machine: (62, true),
            interpreter: None,
            libraries: vec!["libno.so.7".into()],
            paths: vec![],
        };
        let path = Path::new("/usr/sbin/mkfs.x");
        let error = Libraries::new().follow(path, &needs, &[], &mut BTreeMap::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot take /usr/sbin/mkfs.x along: its library libno.so.7 is not found"
        );
    }

    #[test]
    fn folders_of_included_files_are_searched_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("d")).unwrap();
        fs::write(path("ld.so.conf"), "/first # it\ninclude d/*.conf\n\n/last\n").unwrap();
        fs::write(path("d/b.conf"), "/two\n").unwrap();
        fs::write(path("d/a.conf"), "# nothing\n/one\n").unwrap();
        fs::write(path("d/a.old"), "/old\n").unwrap();
        let found = configured(&path("ld.so.conf"), 0);
        assert_eq!(found, ["/first", "/one", "/two", "/last"].map(PathBuf::from));
    }
}
