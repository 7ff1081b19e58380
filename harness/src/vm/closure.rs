//! What the tools of a guest need, beside themselves.
//!
//! In the guest all libraries lie in one folder that every distribution's loader searches without a
//! cache or a setting. One that was found through a path in a program is linked from that place too,
//! which is how programs of Nix find theirs.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use super::libraries::Libraries;
use crate::error::{Cannot, Error, Result};

/// Where all libraries lie in the guest; `/lib`, `/lib64` and `/usr/lib64` are links to it.
pub(super) const LIBRARIES: &str = "usr/lib";

/// What programs need, by their path in the guest without a slash before it.
#[derive(Debug, Default)]
pub(super) struct Closure {
    /// Files of this machine.
    pub files: BTreeMap<String, PathBuf>,
    /// Links, and what they lead to.
    pub links: BTreeMap<String, String>,
    libraries: Libraries,
}

impl Closure {
    /// An empty one, for programs of this machine.
    pub fn new() -> Self {
        Self { libraries: Libraries::new(), ..Self::default() }
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
        let needed = self.libraries.of(path, bytes)?;
        if let Some(interpreter) = &needed.interpreter {
            let file =
                interpreter.canonicalize().cannot(|| format!("find the loader of {}", path.display()))?;
            self.files.insert(in_guest(interpreter), file);
        }
        needed.libraries.iter().try_for_each(|(name, found)| self.take(path, name, found))
    }

    /// Take a library.
    fn take(&mut self, program: &Path, name: &str, found: &Path) -> Result<()> {
        let short = name.rsplit('/').next().unwrap_or(name);
        let place = format!("{LIBRARIES}/{short}");
        let own = in_guest(found);
        if own != place && !self.libraries.finds(found) {
            self.links.insert(own, format!("/{place}"));
        }
        let file = found
            .canonicalize()
            .cannot(|| format!("take {} along for {}", found.display(), program.display()))?;
        self.files.insert(place, file);
        Ok(())
    }
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
    use std::fs;

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
}
