//! Completions and the manual page are made from the command line: they have all of it, and the
//! programs that read them understand them. None of it needs root.
#![expect(clippy::unwrap_used, reason = "a test that cannot get its input has to fail")]

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Output, Stdio};

const COMMANDS: [&str; 10] =
    ["run", "exec", "shell", "postmark", "compare", "report", "verify", "list", "doctor", "gc"];

fn fsduel(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsduel"));
    let output = command.args(arguments).env_clear().env("PATH", "/usr/bin:/bin").output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Every long option of a command, from its help.
fn options(command: &str) -> BTreeSet<String> {
    let help = fsduel(&[command, "--help"]);
    let definitions = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let words = definitions.flat_map(|line| line.split([' ', ',', '=', '[']));
    words.filter(|word| word.starts_with("--")).map(str::to_owned).collect()
}

/// Give `text` to a program, or nothing where it is not there.
fn read_by(program: &str, arguments: &[&str], text: &str) -> Option<Output> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.env("LC_ALL", "C").env("MANROFFOPT", "").spawn() else {
        eprintln!("not checked: there is no {program}");
        return None;
    };
    // A program that does not read all of it has said why.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    Some(child.wait_with_output().unwrap())
}

#[test]
fn each_shell_has_every_command_and_every_long_option() {
    for shell in ["bash", "zsh", "fish"] {
        let script = fsduel(&["completions", shell]);
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: {command}");
            let options = options(command);
            assert!(options.contains("--help"), "{command}: {options:?}");
            for option in options {
                // fish writes an option without its dashes: `-l report`.
                let name = option.trim_start_matches('-');
                let found = script.contains(&option) || script.contains(&format!("-l {name} "));
                assert!(found, "{shell}: {command} {option}");
            }
        }
    }
}

#[test]
fn each_shell_understands_its_script() {
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        if let Some(output) = read_by(shell, &[check], &fsduel(&["completions", shell])) {
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && told.is_empty(), "{shell}: {told}");
        }
    }
}

/// What bash offers for the last of `words`.
fn offered(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    let (last, before) = (words[words.len() - 1], words[words.len() - 2]);
    let call = format!(
        "COMP_WORDS=({}); COMP_CWORD={}; _fsduel fsduel '{last}' '{before}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        quoted.join(" "),
        words.len() - 1
    );
    let script = format!("{}\n{call}\n", fsduel(&["completions", "bash"]));
    let output = read_by("bash", &["--norc"], &script).expect("bash is everywhere");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bash_offers_the_formats_the_file_systems_and_the_values_of_switches() {
    let lines = |words: &[&str]| offered(words).lines().map(str::to_owned).collect::<BTreeSet<_>>();
    let formats = fsduel(&["list", "formats"]);
    let formats: Vec<&str> = formats
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split(' ').next())
        .collect();
    for command in ["run", "report"] {
        let offered = lines(&["fsduel", command, "--report", ""]);
        assert!(offered.contains("table") && offered.contains("json"), "{offered:?}");
        assert!(offered.iter().all(|name| formats.contains(&name.as_str())), "{offered:?} of {formats:?}");
    }
    assert_eq!(lines(&["fsduel", "run", "--fs", "x"]), BTreeSet::from(["xfs".to_owned()]));
    assert_eq!(
        lines(&["fsduel", "run", "--direct-io", "o"]),
        BTreeSet::from(["off".to_owned(), "on".to_owned()])
    );
    assert!(lines(&["fsduel", "run", "--workload", "f"]).contains("fill-until-enospc"));
    assert!(lines(&["fsduel", ""]).is_superset(&COMMANDS.map(str::to_owned).into()));
}

#[test]
fn the_manual_has_a_page_for_each_command_with_every_long_option() {
    let manual = fsduel(&["man"]).replace("\\-", "-");
    let pages: Vec<&str> = manual.split(".TH ").skip(1).collect();
    assert_eq!(pages.len(), 1 + COMMANDS.len(), "the program, and each command");
    for command in COMMANDS {
        let page = pages.iter().find(|page| page.lines().next().unwrap().contains(command));
        let page = page.unwrap_or_else(|| panic!("no page of {command}"));
        for option in options(command) {
            assert!(page.contains(&option), "{command} {option}");
        }
    }
}

#[test]
fn programs_that_show_manuals_understand_it() {
    let manual = fsduel(&["man"]);
    if let Some(output) = read_by("mandoc", &["-T", "lint", "-W", "error"], &manual) {
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    if let Some(output) = read_by("man", &["--warnings", "-l", "-"], &manual) {
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && told.is_empty(), "{told}");
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains("COMMAND") || shown.contains("NAME"), "{shown}");
    }
}
