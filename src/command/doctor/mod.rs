//! `fsduel doctor`: what this machine has, what it lacks, and the command that gets it.
//!
//! Everything is checked before anything is told, so that a person reads one list and not one
//! error at a time.

mod install;
mod store;

use fsduel_harness::Result;
use fsduel_harness::error::Cannot;
use fsduel_harness::require::{Missing, Requirement};
use std::collections::BTreeSet;
use std::io::Write;

use crate::cli::DoctorArguments;
use crate::destination::to_stdout;
use crate::parts::Wanted;
use crate::{exit, parts};

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
    let mut wanted = parts::wanted(arguments)?;
    if arguments.install {
        install::install(&packages(&wanted))?;
        wanted = parts::wanted(arguments)?;
    }
    let (checks, packages) = (checks(&wanted), packages(&wanted));
    to_stdout(|out| print(out, &checks, &packages).cannot(|| "write the list".into()))?;
    Ok(if checks.iter().all(|check| check.good) { exit::OK } else { exit::UNAVAILABLE })
}

/// The packages that have the missing tools, each once.
fn packages(wanted: &Wanted) -> BTreeSet<&'static str> {
    let package = |missing: &Missing| match missing.requirement {
        Requirement::Tool { package, .. } => Some(package),
        _ => None,
    };
    wanted.filesystems.iter().flat_map(|row| &row.missing).filter_map(package).collect()
}

fn checks(wanted: &Wanted) -> Vec<Check> {
    let machine = [("root", Requirement::Root), ("loop devices", Requirement::Loop)];
    let machine = machine.into_iter().map(|(name, requirement)| check(name.into(), &[requirement]));
    let machine: Vec<_> = machine.collect();
    let filesystems = wanted.filesystems.iter().flat_map(|row| {
        let own = row.requirements.iter().filter(|requirement| is_own(requirement));
        own.map(|requirement| {
            check(format!("{}: {}", row.name, word(requirement)), std::slice::from_ref(requirement))
        })
    });
    machine.into_iter().chain(filesystems).chain(store::checks(&wanted.store, wanted.image)).collect()
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
