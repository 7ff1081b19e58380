//! `fsduel exec`: any command as a suite of one step. What keeps it from starting is said before any
//! file system is made.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fsduel_harness::{Error, Result};
use serde_json::json;

use crate::cli::ExecArguments;
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
    let copy = arguments.around.copy.as_deref().map(folder).transpose()?;
    match find(program, copy.as_deref()) {
        Ok(path) => *program = path,
        Err(Missing { code, error }) => {
            crate::tell(&error);
            return Ok(code);
        }
    }
    let plan = parts::plan_command(
        &called(arguments),
        &step(arguments, &words, copy.as_deref())?,
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

/// A folder that is there, by its full path: the command starts elsewhere.
pub fn folder(path: &Path) -> Result<PathBuf> {
    let wrong = |why: String| {
        Error::usage(format!("copy {}: {why}", path.display())).next("name a directory with --copy")
    };
    let full = path.canonicalize().map_err(|error| wrong(error.to_string()))?;
    if full.is_dir() { Ok(full) } else { Err(wrong("it is no directory".into())) }
}

/// Why a command cannot start.
struct Missing {
    code: u8,
    error: Error,
}

/// Where the program is: on PATH, or by its path from here. One that is copied into the file system
/// stays as it was written.
fn find(program: &str, copied: Option<&Path>) -> std::result::Result<String, Missing> {
    let missing = |code, why: &str, next: &str| Missing {
        code,
        error: Error::usage(format!("run {program}: {why}")).next(next),
    };
    if !program.contains('/') {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found: Vec<PathBuf> = std::env::split_paths(&path)
            .map(|folder| folder.join(program))
            .filter(|file| file.is_file())
            .collect();
        if found.iter().any(|file| is_executable(file)) {
            return Ok(program.to_owned());
        }
        return Err(match found.is_empty() {
            true => missing(exit::NOT_FOUND, "it is not on PATH", "install it, or give its path"),
            false => {
                missing(exit::NOT_EXECUTABLE, "it is not executable", "chmod +x, or name its interpreter")
            }
        });
    }
    let here = Path::new(program);
    if here.is_relative() && copied.is_some_and(|folder| is_executable(&folder.join(here))) {
        return Ok(program.to_owned());
    }
    if !here.exists() {
        return Err(missing(exit::NOT_FOUND, "there is no such file", "give its path from here"));
    }
    if !is_executable(here) {
        return Err(missing(
            exit::NOT_EXECUTABLE,
            "it is not executable",
            "chmod +x, or name its interpreter",
        ));
    }
    match std::path::absolute(here) {
        Ok(full) => Ok(full.to_string_lossy().into_owned()),
        Err(error) => Err(missing(exit::NOT_FOUND, &error.to_string(), "give its full path")),
    }
}

fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

fn step(arguments: &ExecArguments, words: &[String], copy: Option<&Path>) -> Result<StepSpec> {
    let around = &arguments.around;
    let copy = copy.map(|folder| text(folder.as_os_str())).transpose()?;
    let parameters = json!({
        "command": words,
        "prepare": around.prepare.clone().unwrap_or_default(),
        "check": around.check.clone().unwrap_or_default(),
        "copy": copy.unwrap_or_default(),
        "as-root": around.as_root,
    });
    Ok(StepSpec { name: NAME.into(), workload: NAME.into(), parameters, allow_limit: false })
}

/// What asks for it, after `fsduel`, before the command.
fn called(arguments: &ExecArguments) -> Vec<String> {
    let around = &arguments.around;
    let copy = around.copy.as_ref().map(|folder| folder.display().to_string());
    let mut words = vec![NAME.to_owned()];
    for (option, value) in [("--prepare", &around.prepare), ("--check", &around.check), ("--copy", &copy)] {
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

    #[test]
    fn a_program_is_found_as_a_shell_finds_it_and_by_its_path_from_here() {
        assert_eq!(find("sh", None).ok().unwrap(), "sh");
        assert_eq!(find("/bin/sh", None).ok().unwrap(), "/bin/sh");
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tool"), "").unwrap();
        let path = folder.path().join("tool");
        let path = path.to_str().unwrap();
        let code = |program: &str| find(program, None).err().map(|missing| missing.code);
        assert_eq!(code(path), Some(exit::NOT_EXECUTABLE));
        assert_eq!(code(folder.path().to_str().unwrap()), Some(exit::NOT_EXECUTABLE), "a directory");
        assert_eq!(code("/no/such/tool"), Some(exit::NOT_FOUND));
        assert_eq!(code("no-such-tool-anywhere"), Some(exit::NOT_FOUND));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find("./tool", Some(folder.path())).ok().unwrap(), "./tool");
    }
}
