//! The command line as a user meets it: help, messages and exit codes. None of it needs root.
#![expect(clippy::unwrap_used, reason = "a test that cannot get its input has to fail")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// The program, without any setting of ours in its environment.
fn fsduel(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsduel"));
    command.args(arguments).env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Everything that a call told, and its exit code.
fn told(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = fsduel(arguments).output().unwrap();
    let code = status.code().unwrap();
    format!("$ fsduel {}\nexit code {code}\n{}{}", arguments.join(" "), text(&stdout), text(&stderr))
}

const COMMANDS: [&str; 10] =
    ["run", "postmark", "compare", "report", "verify", "list", "doctor", "gc", "completions", "man"];

/// The short and the long help of everything, with a name for each.
fn helps() -> Vec<(String, String)> {
    let help = |command: &str, option: &str, kind: &str| {
        let arguments: Vec<_> = [command, option].into_iter().filter(|word| !word.is_empty()).collect();
        let output = fsduel(&arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        let command = if command.is_empty() { "fsduel" } else { command };
        (format!("help-{command}-{kind}"), text(&output.stdout))
    };
    let both = |command: &&str| [help(command, "-h", "short"), help(command, "--help", "long")];
    [""].iter().chain(&COMMANDS).flat_map(both).collect()
}

#[test]
fn every_help_text_is_as_it_was_reviewed() {
    for (name, help) in helps() {
        insta::assert_snapshot!(name, help);
    }
}

#[test]
fn no_line_of_help_is_wider_than_80_columns() {
    for (name, help) in helps() {
        for line in help.lines() {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
    }
}

#[test]
fn wrong_input_exits_with_2_and_says_what_to_do() {
    for (name, arguments) in [
        ("no-command", vec![]),
        ("unknown-command", vec!["fly"]),
        ("unknown-suite", vec!["run", "quik"]),
        ("no-such-suite-file", vec!["run", "missing.toml"]),
        ("unknown-filesystem", vec!["run", "quick", "--fs", "btrfz"]),
        ("unknown-workload", vec!["run", "--workload", "many-files"]),
        ("unknown-key", vec!["run", "quick", "--set", "step.small-files.cuont=5"]),
        ("parameter", vec!["run", "--workload", "many-small-files", "--set", "count=many"]),
        ("kept-memory", vec!["run", "--store", "memory", "--keep"]),
        ("doctor-suite", vec!["doctor", "quik"]),
        ("unknown-scale", vec!["run", "quick", "--scale", "enormous"]),
        ("unit", vec!["run", "quick", "--size", "5XB"]),
        ("duration", vec!["run", "quick", "--timeout", "soon"]),
        ("workload-and-suite", vec!["run", "quick", "--workload", "list"]),
        ("unknown-format", vec!["report", "run.json", "--report", "pdf"]),
        ("report-without-path", vec!["report", "run.json", "--report", "html="]),
        ("json-without-path", vec!["run", "quick", "--json", ""]),
        ("keep-without-sign", vec!["run", "quick", "--keep", "failed"]),
        ("no-such-report", vec!["report", "missing.json"]),
        ("several-suites-in-one-file", vec!["run", "quick", "smoke", "--json", "all.json"]),
        ("no-such-store", vec!["run", "--dry-run", "--store", "/no/such/folder"]),
        ("parameter-without-step", vec!["run", "--set", "file-size=4k"]),
        ("postmark-configuration", vec!["postmark", "missing.pmrc"]),
        ("postmark-size", vec!["postmark", "missing.pmrc", "--size", "1GiB"]),
        ("postmark-full", vec!["postmark", "missing.pmrc", "--verify", "full"]),
        ("no-such-folder", vec!["run", "quick", "--json", "missing/run.json"]),
        ("repeat", vec!["run", "quick", "--repeat", "0"]),
        ("gate-metric", vec!["run", "smoke", "--dry-run", "--gate", "sycned_s<=1"]),
        ("gate-step", vec!["run", "smoke", "--dry-run", "--gate", "flies.synced_s<=1"]),
        ("gate-alone", vec!["run", "smoke", "--dry-run", "--fs", "ext4", "--gate", "synced_s<=1"]),
        ("no-such-baseline", vec!["run", "smoke", "--dry-run", "--baseline", "missing.json"]),
    ] {
        let told = told(&arguments);
        assert!(told.contains("\nexit code 2\n"), "{told}");
        insta::assert_snapshot!(format!("wrong-{name}"), told);
    }
}

#[test]
fn a_suite_file_that_is_wrong_is_told_with_its_place() {
    let mut file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    write!(file, "[suite]\nname = \"mine\"\n\n[[filesystem]]\nname = \"ext4\"\ncolour = \"red\"\n").unwrap();
    let path = file.path().to_str().unwrap();
    let told = told(&["run", path]).replace(path, "mine.toml");
    assert!(told.contains("\nexit code 2\n"), "{told}");
    insta::assert_snapshot!("wrong-suite-file", told);
}

#[test]
fn a_file_that_is_no_run_is_refused() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(file, "{{\"schema_version\": 1, \"run_id\":").unwrap();
    let path = file.path().to_str().unwrap();
    let told = told(&["report", path]);
    assert!(told.contains("\nexit code 2\nerror: cannot use "), "{told}");
    assert!(told.contains("\n  next: "), "{told}");
}

#[test]
fn nothing_selected_exits_with_4() {
    let mut file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    write!(file, "[suite]\nname = \"empty\"\n\n[[filesystem]]\nname = \"ext4\"\n").unwrap();
    let told = told(&["run", "--dry-run", file.path().to_str().unwrap()]);
    assert!(told.contains("\nexit code 4\n"), "{told}");
}

#[test]
fn a_setting_in_the_environment_counts_and_the_command_line_wins() {
    let run = |arguments: &[&str], seed: &str| {
        let output = fsduel(arguments).env("FSDUEL_SEED", seed).output().unwrap();
        (output.status.code(), text(&output.stderr))
    };
    let (code, stderr) = run(&["run", "--dry-run"], "seven");
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("'seven' for '--seed <N>'"), "{stderr}");
    let (code, stderr) = run(&["run", "--dry-run", "--seed", "7"], "seven");
    assert_ne!(code, Some(2), "{stderr}");
}

#[test]
fn a_switch_in_the_environment_is_yes_or_no() {
    let run = |value: &str| {
        let output = fsduel(&["run", "--dry-run", "missing.toml"]).env("FSDUEL_REQUIRE_ALL", value).output();
        text(&output.unwrap().stderr)
    };
    for value in ["1", "0", "true", "no"] {
        assert!(
            !run(value).contains("FSDUEL_REQUIRE_ALL") && !run(value).contains("--require-all"),
            "{value}"
        );
    }
    assert!(run("maybe").contains("'maybe' for '--require-all'"), "{}", run("maybe"));
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let (read, write) = std::io::pipe().unwrap();
    drop(read);
    let output = fsduel(&["list"]).stdout(write).stderr(Stdio::piped()).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
}

#[test]
fn a_full_disk_behind_standard_output_is_a_failure() {
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let output = fsduel(&["list"]).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("cannot write to standard output"));
}

#[test]
fn completions_and_the_manual_are_made_from_the_command_line() {
    let completions = text(&fsduel(&["completions", "bash"]).output().unwrap().stdout);
    assert!(completions.contains("--block-size"));
    let manual = text(&fsduel(&["man"]).output().unwrap().stdout);
    assert!(manual.contains(".TH fsduel") && manual.contains("block\\-size"), "{manual}");
}

#[test]
fn doctor_looks_only_at_what_the_suite_needs() {
    let mut file = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    write!(
        file,
        "[suite]\nname = \"mine\"\n[defaults]\nsize = \"1000TiB\"\n[[filesystem]]\nname = \"ext4\"\n\
         [[step]]\nname = \"files\"\nworkload = \"many-small-files\"\n"
    )
    .unwrap();
    let told = told(&["doctor", file.path().to_str().unwrap()]);
    assert!(told.contains("ext4: mke2fs") && !told.contains("xfs: "), "{told}");
    assert!(told.contains("\nexit code 69\n") && told.contains("free, an image of 1000"), "{told}");
}

#[test]
fn the_list_names_every_topic() {
    let list = text(&fsduel(&["list"]).output().unwrap().stdout);
    for heading in ["Suites", "File systems", "Workloads", "Metrics", "Formats"] {
        assert!(list.lines().any(|line| line == heading), "{list}");
    }
    let formats = text(&fsduel(&["list", "formats"]).output().unwrap().stdout);
    assert!(formats.lines().any(|line| line.starts_with("json ")), "{formats}");
}
