//! Programs and files of this machine at their own paths: what a command names, and what that needs.
//!
//! Every word of a command that is the name of a program on `PATH`, or the full path of a file, may be
//! meant as one; taking one too many does no harm. Programs bring their libraries, scripts their
//! interpreter, and scripts of a shell the programs that their own words name. The links on the way to
//! a file are taken along as they are, so that it is found there as it is here.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::libraries::Libraries;
use super::pack::{Entry, Pack, unreadable};
use crate::command::is_executable;
use crate::error::{Cannot, Error, Result};

/// Where loaders look libraries up, beside the folders that they know. Source: ld.so(8).
const CACHE: &str = "/etc/ld.so.cache";

/// They are mounted over.
const OTHERS: [&str; 3] = ["/dev", "/proc", "/sys"];

/// As many links as the kernel follows. Source: path_resolution(7).
const LINKS: u32 = 40;

/// Longer scripts name anything.
const SCRIPT: u64 = 1 << 20;

/// Shells, whose scripts are made of programs.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "ash", "ksh", "zsh"];

/// Files of this machine, as they come into a guest.
pub(super) struct Mirror {
    folder: PathBuf,
    path: Vec<PathBuf>,
    libraries: Libraries,
    seen: BTreeSet<PathBuf>,
}

impl Mirror {
    /// Below `folder` of the guest, with the programs of the caller's `PATH`.
    pub fn new(folder: &str) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::split_paths(&path).filter(|folder| folder.is_absolute()).collect();
        Self { folder: folder.into(), path, libraries: Libraries::of_caller(), seen: BTreeSet::new() }
    }

    /// Take all that the words of `text` name. A path that does not begin at the root is one below
    /// `copied`, from where only what it needs is taken.
    ///
    /// # Errors
    ///
    /// Something cannot be read.
    pub fn named(&mut self, text: &str, copied: Option<&Path>, pack: &mut Pack) -> Result<()> {
        for word in words(text) {
            let path = Path::new(word);
            if path.is_absolute() {
                let is_theirs = OTHERS.iter().any(|other| path.starts_with(other));
                if !is_theirs && path.is_file() {
                    self.file(path, pack)?;
                }
                continue;
            }
            if let Some(file) = copied.map(|folder| folder.join(word)).filter(|file| file.is_file()) {
                self.needs(&file, pack)?;
            }
            let found = self.path.iter().map(|folder| folder.join(word)).find(|file| is_executable(file));
            if let Some(program) = found.filter(|_| !word.contains('/')) {
                self.file(&program, pack)?;
            }
        }
        Ok(())
    }

    /// Take a file, and what it needs.
    fn file(&mut self, path: &Path, pack: &mut Pack) -> Result<()> {
        let real = self.place(path, pack)?;
        self.needs(&real, pack)
    }

    /// Put a file into the pack, with the folders and links that lead to it; where it really is.
    fn place(&self, path: &Path, pack: &mut Pack) -> Result<PathBuf> {
        let doing = || format!("take {} along", path.display());
        let (mut real, mut left, mut links) = (PathBuf::from("/"), parts(path), 0);
        while let Some(part) = left.pop() {
            if part == ".." {
                real.pop();
                continue;
            }
            let next = real.join(&part);
            let found = next.symlink_metadata().cannot(doing)?;
            let place = self.folder.join(next.strip_prefix("/").unwrap_or(&next));
            if found.is_symlink() {
                links += 1;
                let target = next.read_link().cannot(doing)?;
                left.extend(parts(&target));
                real = if target.is_absolute() { PathBuf::from("/") } else { real };
            } else {
                real = next.clone();
            }
            if links > LINKS {
                return Err(Error::usage(format!("{}: links lead in a circle", doing())));
            }
            if let Some(entry) = Entry::of(&next, &found)? {
                pack.add_new(&place, entry)?;
            }
        }
        Ok(real)
    }

    /// Take what the file at `path` needs to run, if it is something that runs.
    fn needs(&mut self, path: &Path, pack: &mut Pack) -> Result<()> {
        if !self.seen.insert(path.to_owned()) {
            return Ok(());
        }
        let doing = || format!("take {} along", path.display());
        let mut file = File::open(path).cannot(doing).map_err(unreadable)?;
        let mut start = vec![];
        (&mut file).take(4).read_to_end(&mut start).cannot(doing)?;
        match start.as_slice() {
            b"\x7fELF" => self.libraries_of(path, pack),
            [b'#', b'!', ..] => {
                file.take(SCRIPT).read_to_end(&mut start).cannot(doing)?;
                self.script(&String::from_utf8_lossy(&start), pack)
            }
            _ => Ok(()),
        }
    }

    /// A library that is missing is told by the loader there, as it is here.
    fn libraries_of(&mut self, path: &Path, pack: &mut Pack) -> Result<()> {
        let bytes = fs::read(path).cannot(|| format!("read {}", path.display()))?;
        let needed = match self.libraries.of(path, &bytes) {
            Ok(needed) => needed,
            Err(error) => {
                log::debug!("{error}");
                return Ok(());
            }
        };
        for file in needed.interpreter.iter().chain(needed.libraries.values()) {
            self.place(file, pack)?;
        }
        match Path::new(CACHE).is_file() {
            true => self.place(Path::new(CACHE), pack).map(drop),
            false => Ok(()),
        }
    }

    /// The interpreter of a script, by its path or through `env`; of a shell's, its words, too.
    fn script(&mut self, text: &str, pack: &mut Pack) -> Result<()> {
        let first = text.trim_start_matches("#!").lines().next().unwrap_or_default();
        self.named(first, None, pack)?;
        let names = first.split_ascii_whitespace().filter_map(|word| word.rsplit('/').next());
        match names.into_iter().any(|name| SHELLS.contains(&name)) {
            true => self.named(text, None, pack),
            false => Ok(()),
        }
    }
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    parts.rev().map(|part| part.as_os_str().to_owned()).collect()
}

/// What a shell may take for words: parted by blanks and by its own signs; also what is behind a `=`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(|sign: char| sign.is_whitespace() || ";|&()<>`\"'{}$".contains(sign));
    let both = parts.flat_map(|word| [Some(word), word.rsplit_once('=').map(|(_, value)| value)]);
    both.flatten().filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn program(path: &Path, text: &str) {
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn has(pack: &Pack, path: &Path) -> bool {
        pack.has(&Path::new("there").join(path.strip_prefix("/").unwrap()))
    }

    #[test]
    fn words_are_parted_as_a_shell_does() {
        let found: Vec<_> = words("a=/b/c; if d|e $(f `g`) >h; then 'i j'; fi").collect();
        for word in ["/b/c", "a=/b/c", "d", "e", "f", "g", "h", "i", "j"] {
            assert!(found.contains(&word), "{word} of {found:?}");
        }
    }

    #[test]
    fn a_script_brings_its_interpreter_and_a_shells_the_programs_that_it_names() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        program(&path("tool"), "#!/bin/sh\nother --all\n");
        program(&path("other"), "#!/usr/bin/env no-shell\nthird\n");
        program(&path("third"), "");
        symlink("tool", path("alias")).unwrap();
        let (mut mirror, mut pack) = (Mirror::new("there"), Pack::default());
        mirror.path = vec![folder.path().to_owned()];
        mirror.named("alias --fast", None, &mut pack).unwrap();
        for (name, taken) in [("alias", true), ("tool", true), ("other", true), ("third", false)] {
            assert_eq!(has(&pack, &path(name)), taken, "{name}");
        }
        let shell = Path::new("/bin/sh").canonicalize().unwrap();
        assert!(has(&pack, Path::new("/bin")) && has(&pack, &shell) && has(&pack, Path::new(CACHE)));
        assert!(has(&pack, Path::new("/usr/bin/env")));
    }

    #[test]
    fn what_is_copied_is_not_taken_twice_but_what_it_needs_is() {
        let folder = tempfile::tempdir().unwrap();
        program(&folder.path().join("run"), "#!/bin/sh\n");
        let (mut mirror, mut pack) = (Mirror::new("there"), Pack::default());
        mirror.path = vec![];
        mirror.named("./run", Some(folder.path()), &mut pack).unwrap();
        assert!(has(&pack, &Path::new("/bin/sh").canonicalize().unwrap()));
        assert!(!has(&pack, folder.path()));
    }

    #[test]
    fn a_file_by_its_full_path_is_taken_and_no_folder_and_nothing_of_the_kernels() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("data.tar");
        fs::write(&file, "x").unwrap();
        let (mut mirror, mut pack) = (Mirror::new("there"), Pack::default());
        mirror.path = vec![];
        let line = format!("of={} /proc/mounts /etc /no/such/file", file.display());
        mirror.named(&line, None, &mut pack).unwrap();
        assert!(has(&pack, &file));
        assert!(!has(&pack, Path::new("/etc")) && !has(&pack, Path::new("/proc")));
    }
}
