//! `fsduel exec`: any command as a suite of one step. What keeps it from starting is said before any
//! file system is made.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fsduel_harness::command::is_executable;
use fsduel_harness::{Error, Result};
use serde_json::json;

use crate::cli::{Around, ExecArguments};
use crate::command::run::all;
use crate::parts::{self, StepSpec};
use crate::{exit, progress};

/// What the step, and the suite of it, is called.
const NAME: &str = "exec";

/// Run the command on each file system.
pub fn exec(arguments: &ExecArguments) -> Result<u8> {
    let mut words = arguments.words.iter().map(|word| text(word)).collect::<Result<Vec<_>>>()?;
    let Some(program) = words.first_mut() else {
        return Err(Error::usage("run a command: there is none")
            .next("name it at the end: fsduel exec --fs ext4 -- make test"));
    };
    parts::caller::check()?;
    let folders = Folders::of(&arguments.around)?;
    match find(program, &folders) {
        Ok(path) => *program = path,
        Err(Missing { code, error }) => {
            crate::tell(&error);
            return Ok(code);
        }
    }
    let plan = parts::plan_command(
        &called(arguments, &folders),
        &step(arguments, &words, &folders)?,
        &words,
        arguments,
    )?;
    all(&arguments.shared.results, &[plan])
}

fn text(word: &OsStr) -> Result<String> {
    word.to_str().map(str::to_owned).ok_or_else(|| {
        Error::usage(format!("use the argument `{}`: it is no UTF-8", word.to_string_lossy()))
            .next("put it into a script, and run that")
    })
}

/// Folders that a command needs, by their full paths: it starts elsewhere.
#[derive(Default)]
struct Folders {
    /// What is put into the file system first.
    copy: Option<PathBuf>,
    /// What is its root directory.
    root: Option<PathBuf>,
}

impl Folders {
    fn of(around: &Around) -> Result<Self> {
        let [copy, root] = [(&around.copy, "copy", "--copy"), (&around.root, "use as a root", "--root")]
            .map(|(path, doing, option)| path.as_ref().map(|path| folder(path, doing, option)).transpose());
        Ok(Self { copy: copy?, root: root? })
    }

    /// Whether the command sees a file there that it can execute, or one that it cannot.
    fn look(&self, file: &Path) -> Option<bool> {
        let mode = match &self.root {
            Some(root) => parts::mode_in(root, file).ok()?,
            None => file.metadata().ok()?.permissions().mode(),
        };
        Some(mode & 0o170_000 == 0o100_000 && mode & 0o111 != 0)
    }
}

/// A folder that is there, by its full path.
pub fn folder(path: &Path, doing: &str, option: &str) -> Result<PathBuf> {
    let wrong = |why: String| {
        Error::usage(format!("{doing} {}: {why}", path.display()))
            .next(format!("name a directory with {option}"))
    };
    let full = path.canonicalize().map_err(|error| wrong(error.to_string()))?;
    if full.is_dir() { Ok(full) } else { Err(wrong("it is no directory".into())) }
}

/// Why a command cannot start.
struct Missing {
    code: u8,
    error: Error,
}

impl Missing {
    fn new(code: u8, program: &str, why: &str, next: &str) -> Self {
        Self { code, error: Error::usage(format!("run {program}: {why}")).next(next) }
    }

    fn not_executable(program: &str) -> Self {
        let next = "chmod +x, or name its interpreter";
        Self::new(exit::NOT_EXECUTABLE, program, "it is not executable", next)
    }
}

/// Where the program is: on PATH, or by its path from here. One that is copied into the file system
/// stays as it was written, and so does one of another root.
fn find(program: &str, folders: &Folders) -> std::result::Result<String, Missing> {
    let file = Path::new(program);
    if program.is_empty() {
        return Err(Missing::new(exit::NOT_FOUND, "``", "it has no name", "name a program behind `--`"));
    }
    if !program.contains('/') {
        return on_path(program, folders);
    }
    if file.is_relative() && folders.copy.as_ref().is_some_and(|folder| is_executable(&folder.join(file))) {
        return Ok(program.to_owned());
    }
    if file.is_relative() && folders.root.is_some() {
        let next = "give its full path below --root; what --copy has is found by its path there";
        return Err(Missing::new(exit::NOT_FOUND, program, "it is not in the file system", next));
    }
    match folders.look(file) {
        None => {
            let next =
                if folders.root.is_some() { "give its path below --root" } else { "give its path from here" };
            Err(Missing::new(exit::NOT_FOUND, program, "there is no such file", next))
        }
        Some(false) => Err(Missing::not_executable(program)),
        Some(true) if folders.root.is_none() && !has_interpreter(file) => {
            let next = "see its first line";
            Err(Missing::new(exit::NOT_FOUND, program, "its interpreter is not there", next))
        }
        Some(true) => match std::path::absolute(file) {
            Ok(full) => Ok(full.to_string_lossy().into_owned()),
            Err(error) => {
                Err(Missing::new(exit::NOT_FOUND, program, &error.to_string(), "give its full path"))
            }
        },
    }
}

/// A script names its interpreter; a program that is none needs none that we could look for.
fn has_interpreter(file: &Path) -> bool {
    let mut head = Vec::new();
    if File::open(file).and_then(|file| file.take(256).read_to_end(&mut head)).is_err() {
        return true;
    }
    let text = String::from_utf8_lossy(&head);
    let first = text.strip_prefix("#!").and_then(|rest| rest.lines().next()?.split_ascii_whitespace().next());
    first.is_none_or(|path| Path::new(path).exists())
}

fn on_path(program: &str, folders: &Folders) -> std::result::Result<String, Missing> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).filter_map(|folder| folders.look(&folder.join(program)));
    match found.max() {
        Some(true) => Ok(program.to_owned()),
        Some(false) => Err(Missing::not_executable(program)),
        None if folders.root.is_some() => {
            let next = "install it there; PATH is the same as here";
            Err(Missing::new(exit::NOT_FOUND, program, "it is not on PATH below --root", next))
        }
        None => {
            let next = "install it, or give its path";
            Err(Missing::new(exit::NOT_FOUND, program, "it is not on PATH", next))
        }
    }
}

fn step(arguments: &ExecArguments, words: &[String], folders: &Folders) -> Result<StepSpec> {
    let around = &arguments.around;
    let [copy, root] = [&folders.copy, &folders.root]
        .map(|folder| folder.as_ref().map(|folder| text(folder.as_os_str())).transpose());
    let given = [
        ("prepare", around.prepare.clone()),
        ("check", around.check.clone()),
        ("copy", copy?),
        ("root", root?),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
    let always = [("command".to_owned(), json!(words)), ("as-root".to_owned(), json!(around.as_root))];
    let parameters = always.into_iter().chain(given).collect();
    Ok(StepSpec { name: NAME.into(), workload: NAME.into(), parameters, allow_limit: false })
}

/// What asks for it, after `fsduel`, before the command.
fn called(arguments: &ExecArguments, folders: &Folders) -> Vec<String> {
    let around = &arguments.around;
    let [copy, root] = [&folders.copy, &folders.root]
        .map(|folder| folder.as_ref().map(|folder| folder.display().to_string()));
    let mut words = vec![NAME.to_owned()];
    let options =
        [("--prepare", &around.prepare), ("--check", &around.check), ("--copy", &copy), ("--root", &root)];
    for (option, value) in options {
        words.extend(value.iter().flat_map(|value| [option.to_owned(), value.clone()]));
    }
    let flags = [("--as-root", around.as_root), ("--keep-going", around.keep_going)];
    words.extend(flags.into_iter().filter(|(_, on)| *on).map(|(name, _)| name.to_owned()));
    words
}

/// What a command that failed printed, where nobody saw it.
pub fn show_output(case: &fsduel_harness::result::CaseResult) {
    let failed = case.steps.iter().filter_map(|step| step.command.as_ref());
    for command in failed.filter(|command| !command.succeeded()) {
        for (name, text, bytes) in [
            ("output", &command.stdout, command.stdout_bytes),
            ("errors", &command.stderr, command.stderr_bytes),
        ] {
            if text.is_empty() {
                continue;
            }
            let cut = if bytes > text.len() as u64 { ", the end of it" } else { "" };
            progress::line(&format!("--- {name} of {}{cut}", case.id));
            progress::above(|| {
                let _ = std::io::stderr().write_all(text.as_bytes());
                if !text.ends_with('\n') {
                    let _ = writeln!(std::io::stderr());
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(program: &str, folders: &Folders) -> Option<u8> {
        find(program, folders).err().map(|missing| missing.code)
    }

    #[test]
    fn a_program_is_found_as_a_shell_finds_it_and_by_its_path_from_here() {
        let none = Folders::default();
        assert_eq!(find("sh", &none).ok().unwrap(), "sh");
        assert_eq!(find("/bin/sh", &none).ok().unwrap(), "/bin/sh");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tool"), "").unwrap();
        let path = folder.path().join("tool");
        let path = path.to_str().unwrap();
        assert_eq!(code(path, &none), Some(exit::NOT_EXECUTABLE));
        assert_eq!(code(folder.path().to_str().unwrap(), &none), Some(exit::NOT_EXECUTABLE), "a directory");
        assert_eq!(code("/no/such/tool", &none), Some(exit::NOT_FOUND));
        assert_eq!(code("no-such-tool-anywhere", &none), Some(exit::NOT_FOUND));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let copied = Folders { copy: Some(folder.path().to_owned()), root: None };
        assert_eq!(find("./tool", &copied).ok().unwrap(), "./tool");
    }

    #[test]
    fn below_another_root_only_what_is_there_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("usr/bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::os::unix::fs::symlink("/usr/bin", folder.path().join("bin")).unwrap();
        std::fs::write(bin.join("env"), "").unwrap();
        let there = Folders { copy: None, root: Some(folder.path().to_owned()) };
        assert_eq!(code("/bin/env", &there), Some(exit::NOT_EXECUTABLE));
        std::fs::set_permissions(bin.join("env"), std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find("/bin/env", &there).ok().unwrap(), "/bin/env");
        assert_eq!(find("env", &there).ok().unwrap(), "env");
        for absent in ["sh", "/bin/sh", "./env", "usr/bin/env"] {
            assert_eq!(code(absent, &there), Some(exit::NOT_FOUND), "{absent}");
        }
    }
}
