//! `fsduel doctor`: what this machine has, what it lacks, and the command that gets it.
//!
//! Everything is checked before anything is told, so that a person reads one list and not one
//! error at a time.

mod install;
mod store;

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;

use fsduel_harness::Result;
use fsduel_harness::error::Cannot;
use fsduel_harness::require::{Missing, Requirement};

use crate::cli::DoctorArguments;
use crate::destination::to_stdout;
use crate::{exit, parts};

const DEFAULT_STORE: &str = "/var/tmp";

/// One line of the checklist.
pub struct Check {
    /// What was checked.
    pub name: String,
    /// What was found.
    pub found: String,
    /// Whether a run can do without more.
    pub good: bool,
    /// What gets it.
    pub next: Option<String>,
}

/// Print the checklist; install what is missing with `--install`.
pub fn doctor(arguments: &DoctorArguments) -> Result<u8> {
    if arguments.install {
        install::install(&packages(&lacking()))?;
    }
    let checks = checks(arguments.store.as_deref().unwrap_or(Path::new(DEFAULT_STORE)));
    let packages = packages(&lacking());
    to_stdout(|out| print(out, &checks, &packages).cannot(|| "write the list".into()))?;
    Ok(if checks.iter().all(|check| check.good) { exit::OK } else { exit::UNAVAILABLE })
}

/// Everything that is missing, of all file systems.
fn lacking() -> Vec<Missing> {
    parts::filesystems().into_iter().flat_map(|row| row.missing).collect()
}

/// The packages that have the missing tools, each once.
fn packages(missing: &[Missing]) -> BTreeSet<&'static str> {
    let package = |missing: &Missing| match missing.requirement {
        Requirement::Tool { package, .. } => Some(package),
        _ => None,
    };
    missing.iter().filter_map(package).collect()
}

fn checks(store: &Path) -> Vec<Check> {
    let machine = [("root", Requirement::Root), ("loop devices", Requirement::Loop)];
    let machine = machine.into_iter().map(|(name, requirement)| check(name.into(), &[requirement]));
    let machine: Vec<_> = machine.collect();
    let filesystems = parts::filesystems().into_iter().flat_map(|row| {
        let own = row.requirements.into_iter().filter(is_own);
        own.map(move |requirement| check(format!("{}: {}", row.name, word(&requirement)), &[requirement]))
            .collect::<Vec<_>>()
    });
    machine.into_iter().chain(filesystems).chain(store::checks(store)).collect()
}

/// Root and loop devices are told once, not for each file system.
fn is_own(requirement: &Requirement) -> bool {
    !matches!(requirement, Requirement::Root | Requirement::Loop)
}

fn word(requirement: &Requirement) -> &'static str {
    match requirement {
        Requirement::Tool { program, .. } => program,
        Requirement::Kernel { .. } => "kernel",
        Requirement::Root => "root",
        Requirement::Loop => "loop devices",
    }
}

fn check(name: String, requirements: &[Requirement]) -> Check {
    match parts::check(requirements).into_iter().next() {
        None => Check { name, found: "yes".into(), good: true, next: None },
        Some(missing) => Check { name, found: missing.text, good: false, next: Some(missing.next) },
    }
}

fn print(out: &mut dyn Write, checks: &[Check], packages: &BTreeSet<&str>) -> std::io::Result<()> {
    let width = checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for Check { name, found, good, next } in checks {
        let mark = if *good { '✓' } else { '✗' };
        writeln!(out, "{mark} {name:width$}  {found}")?;
        if let Some(next) = next {
            writeln!(out, "  {:width$}  next: {next}", "")?;
        }
    }
    if !packages.is_empty() {
        writeln!(out, "\nall missing tools at once: {}", install::command(packages))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_told_with_the_command_that_gets_it() {
        let good = Check { name: "root".into(), found: "yes".into(), good: true, next: None };
        let bad = Check {
            name: "loop devices".into(),
            found: "no /dev/loop-control".into(),
            good: false,
            next: Some("modprobe loop".into()),
        };
        let mut out = Vec::new();
        print(&mut out, &[good, bad], &BTreeSet::new()).unwrap();
        let wanted = "\
✓ root          yes
✗ loop devices  no /dev/loop-control
                next: modprobe loop
";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }
}
