//! Starts other programs, and says which.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Why a task did not succeed, and the exit code of that.
#[derive(Debug)]
pub struct Failure {
    /// In a sentence.
    pub text: String,
    /// That of the program that failed, where one did.
    pub code: u8,
}

impl Failure {
    /// Something this machine lacks (`EX_UNAVAILABLE` of sysexits.h, as in fsduel itself).
    pub fn unavailable(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: 69 }
    }
}

/// Result of a task.
pub type Result<T = ()> = std::result::Result<T, Failure>;

/// Whether we are root. The owner of /proc/self is the effective user.
pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|entry| entry.uid() == 0)
}

/// `words`, through sudo when we are not root. `-E` keeps the settings of the caller (`FSDUEL_*`).
pub fn as_root<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let sudo: &[&str] = if is_root() { &[] } else { &["sudo", "-E"] };
    sudo.iter().chain(words).copied().collect()
}

/// Run a program to its end, on our terminal.
pub fn run(words: &[&str], environment: &[(&str, &str)]) -> Result {
    run_in(Path::new("."), words, environment)
}

/// The same in `folder`.
pub fn run_in(folder: &Path, words: &[&str], environment: &[(&str, &str)]) -> Result {
    let settings: String = environment.iter().map(|(name, value)| format!("{name}='{value}' ")).collect();
    eprintln!("+ {settings}{}", words.join(" "));
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).envs(environment.iter().copied()).current_dir(folder);
    let status = command
        .status()
        .map_err(|error| Failure::unavailable(format!("cannot start {}: {error}", words[0])))?;
    if status.success() {
        return Ok(());
    }
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    Err(Failure {
        text: format!("`{}` ended with {code}", words.join(" ")),
        code: u8::try_from(code).unwrap_or(1),
    })
}

/// What a program prints.
pub fn output(words: &[&str]) -> Result<String> {
    let done = Command::new(words[0]).args(&words[1..]).stderr(Stdio::inherit()).output();
    let done = done.map_err(|error| Failure::unavailable(format!("cannot start {}: {error}", words[0])))?;
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

/// Whether a program is on `PATH` or in a sbin folder, which an ordinary user's `PATH` lacks.
pub fn has_program(name: &str) -> bool {
    let path = std::env::var("PATH").unwrap_or_default();
    path.split(':').chain(["/usr/local/sbin", "/usr/sbin", "/sbin"]).any(|folder| {
        let file = Path::new(folder).join(name);
        !folder.is_empty() && file.is_file()
    })
}
