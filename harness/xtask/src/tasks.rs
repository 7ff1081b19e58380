//! The tasks. Each begins with the set-up, so that it works on a fresh machine.

use std::env;
use std::fs;
use std::path::PathBuf;

use crate::install::{CLIENTS, LIBCLANG, MACHINES, POSTMARK, STRACE, TOOLS, VIEWERS, ensure};
use crate::kernels;
use crate::process::{Failure, Result, as_root, has_program, is_root, output, run};
use crate::programs;

/// Build fsduel and run a suite with it, as root.
pub fn demo(more: &[&str]) -> Result {
    let program = release()?;
    let suite: &[&str] = if more.first().is_none_or(|word| word.starts_with('-')) { &["quick"] } else { &[] };
    let words: Vec<_> = [&[program.as_str(), "run"], suite, more].concat();
    let ran = run(&as_root(&words), &[]);
    eprintln!("the program is {program}; its own help: {program} --help");
    ran
}

/// Run all tests. Where something is missing, they fail and do not pass for tested.
pub fn test(more: &[&str]) -> Result {
    let tools = TOOLS.iter().chain(&VIEWERS).chain(&MACHINES).chain(&CLIENTS);
    ensure(tools.chain([&LIBCLANG, &POSTMARK, &STRACE]))?;
    kernels()?;
    programs::install(&target().join("tools"))?;
    // A shell's background job has SIGINT ignored, and what is ignored here would be in the tests' runs.
    let heard = ["env", "--default-signal=HUP,INT,TERM"];
    let words = [&heard[..], &["cargo", "test", "--workspace", "--locked"], more].concat();
    run_as_root(&words, &[("FSDUEL_REQUIRE_ALL", "1")])
}

const BENCH: [&str; 8] =
    ["cargo", "bench", "--package", "fsduel-harness", "--bench", "limits", "--locked", "--"];

/// Measure what the harness itself costs; `part`: of that, what PostMark, a report or a virtual machine
/// costs, only.
pub fn bench(part: &[&str]) -> Result {
    let words = [&BENCH[..], part].concat();
    if part == ["report"] {
        ensure([&LIBCLANG])?;
        return run(&words, &[]);
    }
    ensure(MACHINES.iter().chain([&POSTMARK]))?;
    kernels()?;
    let (program, kernel) = (release()?, target().join("kernels/linux-6.1.deb").display().to_string());
    let settings = [("FSDUEL_PROGRAM", program.as_str()), ("FSDUEL_BENCH_KERNEL", kernel.as_str())];
    match part {
        ["vm"] => run(&words, &settings),
        _ => run_as_root(&words, &settings),
    }
}

/// Fetch kernels for virtual machines.
pub fn kernels() -> Result {
    kernels::fetch(&target().join("kernels"))
}

/// Format, clippy and documentation, all without warnings; and the Vagrantfile.
pub fn lint() -> Result {
    ensure([&LIBCLANG])?;
    run(&["cargo", "fmt", "--all", "--check"], &[])?;
    let clippy = ["cargo", "clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    run(&clippy, &[])?;
    // As a crate has it that only uses the fixture: without libclang.
    let as_user =
        ["cargo", "clippy", "--package", "keep-holes", "--all-targets", "--locked", "--", "-D", "warnings"];
    run(&as_user, &[])?;
    let doc = ["cargo", "doc", "--workspace", "--no-deps", "--locked", "--document-private-items"];
    run(&doc, &[("RUSTDOCFLAGS", "-D warnings")])?;
    vagrantfile()
}

/// The Vagrantfile's syntax and its settings, as far as this machine can tell; what Vagrant writes
/// itself goes below target. The settings of a provider are seen by tests/vagrant.sh.
fn vagrantfile() -> Result {
    let folder = target().join("vagrant");
    let (home, own) = (folder.join("home").display().to_string(), folder.join("own").display().to_string());
    let settings = [("VAGRANT_HOME", home.as_str()), ("VAGRANT_DOTFILE_PATH", own.as_str())];
    let checks: [&[&str]; 2] =
        [&["ruby", "-c", "Vagrantfile"], &["vagrant", "validate", "--ignore-provider"]];
    for check in checks {
        if has_program(check[0]) {
            run(check, &settings)?;
        } else {
            eprintln!("skipped: {} (no {} here)", check.join(" "), check[0]);
        }
    }
    Ok(())
}

/// Build fsduel; where it is then.
fn release() -> Result<String> {
    ensure(TOOLS.iter().chain([&LIBCLANG]))?;
    run(&["cargo", "build", "--release", "--locked"], &[])?;
    Ok(target().join("release/fsduel").display().to_string())
}

/// Where a static binary is built for: with `--target`, the flag does not reach build scripts and
/// procedural macros, which cannot be static.
const STATIC: &str = "x86_64-unknown-linux-gnu";

/// Build a binary that runs in any root file system, and see that it is one.
pub fn dist() -> Result {
    ensure([&LIBCLANG])?;
    let build = ["cargo", "build", "--release", "--locked", "--target", STATIC];
    run(&build, &[("RUSTFLAGS", "-C target-feature=+crt-static")])?;
    let built = target().join(STATIC).join("release/fsduel");
    let folder = target().join("dist");
    let program = folder.join("fsduel");
    let copied = fs::create_dir_all(&folder).and_then(|()| fs::copy(&built, &program));
    copied.map_err(|error| Failure::unavailable(format!("cannot copy {}: {error}", built.display())))?;
    let program = program.display().to_string();
    if output(&["readelf", "--program-headers", &program])?.contains("INTERP") {
        return Err(Failure::unavailable(format!("{program} is not static: it asks for an interpreter")));
    }
    run(&[&program, "--version"], &[])?;
    eprintln!("the program is {program}");
    Ok(())
}

/// Run cargo so that the build stays ours, and only the programs it starts run as root.
fn run_as_root(words: &[&str], settings: &[(&str, &str)]) -> Result {
    let runner = runner_variable()?;
    let mut environment = settings.to_vec();
    if !is_root() {
        environment.push((runner.as_str(), "sudo -E"));
    }
    run(words, &environment)
}

/// Where cargo builds.
fn target() -> PathBuf {
    let here = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let own = here.ancestors().nth(2).unwrap_or(&here).join("target");
    env::var_os("CARGO_TARGET_DIR").map_or(own, PathBuf::from)
}

/// The variable with which cargo starts test programs through another: that of the host's target.
fn runner_variable() -> Result<String> {
    let version = output(&["rustc", "-vV"])?;
    runner_of(&version).ok_or_else(|| Failure::unavailable("cannot find `host:` in `rustc -vV`"))
}

fn runner_of(version: &str) -> Option<String> {
    let host = version.lines().find_map(|line| line.strip_prefix("host: "))?;
    Some(format!("CARGO_TARGET_{}_RUNNER", host.trim().to_uppercase().replace(['-', '.'], "_")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runner_is_that_of_the_host() {
        let text = "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        assert_eq!(runner_of(text).as_deref(), Some("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER"));
        assert_eq!(runner_of("rustc 1.95.0\n"), None);
    }
}
