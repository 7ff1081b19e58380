//! The shared libraries that a program needs, found as its loader would find them.
//!
//! The loader itself (`ldd`) would run the program's code, and may not be there. In the guest all
//! libraries lie in one folder that every distribution's loader searches without a cache or a setting.
//! One that was found through a path in a program is linked from that place too, which is how programs
//! of Nix find theirs. Sources: ld.so(8), ELF gABI "Dynamic Section".

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use goblin::elf::Elf;

use crate::error::{Cannot, Error, Result};

/// Where all libraries lie in the guest; `/lib`, `/lib64` and `/usr/lib64` are links to it.
pub(super) const LIBRARIES: &str = "usr/lib";

/// Loaded at the end of a thread, where a program has threads, without being named in it.
/// Source: glibc `misc/unwind-link.c`.
const UNWIND: &str = "libgcc_s.so.1";

/// What programs need, by their path in the guest without a slash before it.
#[derive(Debug, Default)]
pub(super) struct Closure {
    /// Files of this machine.
    pub files: BTreeMap<String, PathBuf>,
    /// Links, and what they lead to.
    pub links: BTreeMap<String, String>,
    configured: Vec<PathBuf>,
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

impl Closure {
    /// An empty one, for programs of this machine.
    pub fn new() -> Self {
        Self { configured: configured(Path::new("/etc/ld.so.conf"), 0), ..Self::default() }
    }

    /// Add what the program `path`, with these contents, needs. Nothing, where it is static.
    ///
    /// # Errors
    ///
    /// It is no ELF program, or a library is not found.
    pub fn add(&mut self, path: &Path, bytes: &[u8]) -> Result<()> {
        if bytes.starts_with(b"#!") {
            return Err(Error::unavailable(format!("take {} along: it is a script", path.display()))
                .next("install the program itself: a virtual machine has no shell for a wrapper"));
        }
        let needs = needs(path, bytes)?;
        if let Some(interpreter) = &needs.interpreter {
            let file =
                interpreter.canonicalize().cannot(|| format!("find the loader of {}", path.display()))?;
            self.files.insert(in_guest(interpreter), file);
        }
        self.follow(path, &needs, &needs.paths)?;
        if self.files.contains_key(&format!("{LIBRARIES}/libc.so.6")) {
            // Best effort: without it only a thread that is cancelled ends in an abort.
            let found = self.search(UNWIND, &needs, &needs.paths);
            found.map_or(Ok(()), |found| self.take(path, UNWIND, &found, &needs.paths))?;
        }
        Ok(())
    }

    fn follow(&mut self, path: &Path, needs: &Needs, inherited: &[PathBuf]) -> Result<()> {
        for name in &needs.libraries {
            let found = self.search(name, needs, inherited).ok_or_else(|| missing(path, name))?;
            self.take(path, name, &found, inherited)?;
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
    fn take(&mut self, program: &Path, name: &str, found: &Path, inherited: &[PathBuf]) -> Result<()> {
        let doing = || format!("take {} along for {}", found.display(), program.display());
        let short = name.rsplit('/').next().unwrap_or(name);
        let place = format!("{LIBRARIES}/{short}");
        let own = in_guest(found);
        let is_elsewhere =
            !defaults().chain(self.configured.iter().cloned()).any(|folder| found.starts_with(folder));
        if own != place && is_elsewhere {
            self.links.insert(own, format!("/{place}"));
        }
        let file = found.canonicalize().cannot(doing)?;
        if self.files.insert(place, file).is_some() {
            return Ok(());
        }
        let needs = needs(found, &fs::read(found).cannot(doing)?)?;
        self.follow(found, &needs, inherited)
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

/// A path of this machine as it is in the guest, where the folders of libraries are one, without the
/// slash before it and without `.` and `..`.
fn in_guest(path: &Path) -> String {
    let mut parts: Vec<String> = vec![];
    for part in path.components() {
        match part {
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            Component::ParentDir => drop(parts.pop()),
            _ => {}
        }
    }
    let text = parts.join("/");
    let is_one = |folder: &&str| text.strip_prefix(*folder).is_some_and(|rest| rest.starts_with('/'));
    let folder = ["usr/lib64", "usr/lib", "lib64", "lib"].into_iter().find(|folder| is_one(folder));
    folder.map_or_else(|| text.clone(), |folder| format!("{LIBRARIES}{}", &text[folder.len()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `ldd` says that this very test needs, which is another's word.
    fn ldd(path: &Path) -> Vec<String> {
        use crate::command::{Invocation, run};
        let said = run(&Invocation::new("ldd", [path])).unwrap().text;
        let words = said.lines().filter_map(|line| line.split_ascii_whitespace().next());
        let names = words.filter(|word| !word.starts_with("linux-vdso"));
        names.map(|word| word.rsplit('/').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn the_closure_is_that_of_ldd() {
        let own = std::env::current_exe().unwrap();
        let mut closure = Closure::new();
        closure.add(&own, &fs::read(&own).unwrap()).unwrap();
        let names = closure.files.keys().map(|path| path.rsplit('/').next().unwrap().to_owned());
        let names: Vec<_> = names.collect();
        for name in ldd(&own) {
            assert!(names.contains(&name), "{name} of {names:?}");
        }
        assert!(closure.files.values().all(|path| path.is_absolute() && path.is_file()), "{closure:?}");
        assert!(closure.files.keys().all(|path| path.starts_with("usr/lib/")), "{closure:?}");
    }

    #[test]
    fn a_script_and_a_text_are_no_programs() {
        let path = Path::new("/usr/sbin/mkfs.x");
        let text = Closure::new().add(path, b"#!/bin/sh\n").unwrap_err().to_string();
        assert_eq!(text, "cannot take /usr/sbin/mkfs.x along: it is a script");
        let text = Closure::new().add(path, b"text").unwrap_err().to_string();
        assert!(text.starts_with("cannot take /usr/sbin/mkfs.x along: it is no ELF program"), "{text}");
    }

    #[test]
    fn a_library_that_is_missing_is_named_with_its_program() {
        let needs = Needs {
            machine: (62, true),
            interpreter: None,
            libraries: vec!["libno.so.7".into()],
            paths: vec![],
        };
        let error = Closure::new().follow(Path::new("/usr/sbin/mkfs.x"), &needs, &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot take /usr/sbin/mkfs.x along: its library libno.so.7 is not found"
        );
    }

    #[test]
    fn folders_of_libraries_are_one_in_the_guest() {
        for (here, there) in [
            ("/lib64/ld-linux-x86-64.so.2", "usr/lib/ld-linux-x86-64.so.2"),
            ("/usr/lib/x86_64-linux-gnu/libc.so.6", "usr/lib/x86_64-linux-gnu/libc.so.6"),
            ("/lib/ld-musl-x86_64.so.1", "usr/lib/ld-musl-x86_64.so.1"),
            ("/nix/store/x/lib/../lib/libc.so.6", "nix/store/x/lib/libc.so.6"),
            ("/library/a.so", "library/a.so"),
        ] {
            assert_eq!(in_guest(Path::new(here)), there);
        }
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
