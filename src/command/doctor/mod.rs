//! `fsduel doctor`: what this machine has, what it lacks, and the command that gets it.
//!
//! Everything is checked before anything is told, so that a person reads one list and not one
//! error at a time. A machine is not faulty because its kernel lacks a rare file system, or because
//! it cannot boot another: unless a suite needs it, that is told and changes nothing.

mod install;
mod store;

use fsduel_harness::Result;
use fsduel_harness::error::Cannot;
use fsduel_harness::require::{Missing, Requirement};
use std::collections::BTreeSet;
use std::io::Write;

use crate::cli::DoctorArguments;
use crate::destination::to_stdout;
use crate::parts::{FilesystemRow, Wanted};
use crate::{exit, parts};

/// One line of the checklist.
pub struct Check {
    /// What was checked.
    pub name: String,
    /// What was found.
    pub found: String,
    /// Whether a run can do without more. With a next step, it is something that not every machine
    /// needs to have.
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
    let (qemu, kernel) = (parts::qemu(), parts::host_kernel());
    let can_boot = qemu.is_ok() && kernel.is_ok();
    let machine: Vec<_> = machine.map(|check| or_in_a_guest(check, can_boot)).collect();
    // Where a suite says what is needed, an image has a size.
    let of_a_suite = wanted.image.is_some();
    let filesystems = wanted.filesystems.iter().flat_map(|row| match row.common || of_a_suite {
        true => each_requirement(row),
        false => vec![optional(row)],
    });
    let store = store::checks(&wanted.store, wanted.image);
    let machines = [("virtual machine: QEMU", qemu), ("--kernel host", kernel)];
    let machines = machines.into_iter().map(|(name, found)| information(name, found));
    machine.into_iter().chain(filesystems).chain(store).chain(machines).collect()
}

/// What only this machine needs: a run does without where it can boot a kernel in its place.
fn or_in_a_guest(check: Check, can_boot: bool) -> Check {
    let way = if can_boot { "a virtual machine is used" } else { "run --kernel PATH, in a virtual machine" };
    let next = check.next.map(|next| format!("{next}; without it, {way}"));
    Check { good: check.good || can_boot, next, ..check }
}

fn each_requirement(row: &FilesystemRow) -> Vec<Check> {
    let own = row.requirements.iter().filter(|requirement| is_own(requirement));
    let one = |requirement| {
        check(format!("{}: {}", row.name, word(requirement)), std::slice::from_ref(requirement))
    };
    own.map(one).collect()
}

/// A file system that not every machine can have, in one line.
fn optional(row: &FilesystemRow) -> Check {
    let texts: Vec<&str> = row.missing.iter().map(|missing| missing.text.as_str()).collect();
    let found = if texts.is_empty() { "yes".into() } else { texts.join("; ") };
    let next = row.missing.first().map(|missing| missing.next.clone());
    Check { name: row.name.into(), found, good: true, next }
}

fn information(name: &str, found: Result<String>) -> Check {
    let (found, next) = match found {
        Ok(found) => (found, None),
        Err(error) => (error.to_string(), Some(error.next_step().unwrap_or("see --help").to_owned())),
    };
    Check { name: name.into(), found, good: true, next }
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
        let mark = match (good, next) {
            (false, _) => '✗',
            (true, Some(_)) => '–',
            (true, None) => '✓',
        };
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
    use fsduel_harness::Error;
    use fsduel_harness::require::{LinuxVersions, lacking};

    use super::*;

    #[test]
    fn a_kernel_without_a_rare_file_system_is_no_fault_of_the_machine() {
        let linux = LinuxVersions::since(2, 4).gone_in(6, 13);
        let missing = vec![lacking("oldfs", linux, "6.18.44", "no module")];
        let requirements = vec![missing[0].requirement.clone()];
        let check = optional(&FilesystemRow { name: "oldfs", common: false, requirements, missing });
        assert!(check.good && check.next.is_some_and(|next| next.contains("--backend vm")));
        assert_eq!(check.found, "oldfs left Linux in 6.13; kernel 6.18.44 has none");
    }

    #[test]
    fn without_root_a_machine_that_can_boot_a_kernel_is_not_faulty() {
        let root = |good: bool| Check {
            name: "root".into(),
            found: "uid 7".into(),
            good,
            next: (!good).then(|| "sudo".to_owned()),
        };
        let told = |good, can_boot| {
            let check = or_in_a_guest(root(good), can_boot);
            (check.good, check.next)
        };
        assert_eq!(told(false, true), (true, Some("sudo; without it, a virtual machine is used".into())));
        let (good, next) = told(false, false);
        assert!(!good && next.is_some_and(|next| next.contains("--kernel PATH")));
        assert_eq!(told(true, false), (true, None));
    }

    #[test]
    fn what_is_missing_is_told_with_the_command_that_gets_it() {
        let good = Check { name: "root".into(), found: "yes".into(), good: true, next: None };
        let bad = Check {
            name: "loop devices".into(),
            found: "no /dev/loop-control".into(),
            good: false,
            next: Some("modprobe loop".into()),
        };
        let rare = information("rare", Err(Error::unavailable("use it").next("boot another kernel")));
        assert!(rare.good, "it changes nothing");
        let mut out = Vec::new();
        print(&mut out, &[good, bad, rare], &BTreeSet::new()).unwrap();
        let wanted = "\
✓ root          yes
✗ loop devices  no /dev/loop-control
                next: modprobe loop
– rare          cannot use it
                next: boot another kernel
";
        assert_eq!(String::from_utf8(out).unwrap(), wanted);
    }
}
