//! What is told while a run goes on: to a log, to a terminal, and by the worker in the timed part.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use fsduel_harness::require::Requirement;
use fsduel_harness::result::RunReport;
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};

use crate::lab::{Lab, assert_exits, stderr, told};
use crate::leaks::{wait_for, worker};
use crate::{general, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        general("a_log_has_a_line_for_each_case_and_none_for_a_step", log),
        general("a_long_step_is_told_each_ten_seconds_and_its_time_limit_says_how_far_it_was", long_step),
        general("a_worker_that_is_killed_tells_how_far_its_step_was", killed),
        general("counters_are_shared_by_two_processes_and_no_descriptor_of_them_is_left", counters),
        general("json_on_standard_output_stands_there_alone", json_alone),
        general("a_quiet_run_tells_nothing", quiet),
        with_tool("a_terminal_has_one_moving_line_that_is_gone_at_the_end", "script", "bsdutils", terminal),
        with_tool("a_worker_writes_nothing_to_the_runner_while_its_clock_runs", "strace", "strace", silent),
    ]
}

pub fn with_tool(name: &str, program: &'static str, package: &'static str, test: fn()) -> Trial {
    let filesystem = fsduel_harness::fs::by_name("ext4").unwrap();
    let mut requirements = filesystem.requirements();
    requirements.extend([Requirement::Root, Requirement::Loop, Requirement::Tool { program, package }]);
    trial(name.into(), requirements, test)
}

fn log() {
    let lab = Lab::new();
    let output = lab.fsduel(["run", "smoke", "--fs", "ext4,xfs", "--repeat", "2"]).output().unwrap();
    assert_exits(&output, 0);
    let log = stderr(&output);
    let cases: Vec<&str> = log.lines().filter(|line| line.contains(" passed in ")).collect();
    assert_eq!(cases.len(), 4, "{log}");
    assert!(cases[0].starts_with("[1/4] ") && cases[0].contains("/1 passed in "), "{log}");
    assert!(cases.iter().all(|line| line.contains(": small-files ") && line.contains(", fill ")), "{log}");
    // The plan, and a warning for each thing that disturbs; nothing else.
    let others = log.lines().filter(|line| !line.contains(" passed in ") && !line.starts_with("warning: "));
    let others: Vec<_> = others.filter(|line| !line.starts_with('[')).collect();
    assert!(matches!(others[..], [plan] if plan.starts_with("smoke: 4 cases, about ")), "{log}");
    assert!(!log.contains(['\u{1b}', '\r']), "{log:?}");
    lab.assert_nothing_is_left();
}

fn long_step() {
    let lab = Lab::new();
    let arguments = ["run", "--workload", "many-small-files", "--fs", "btrfs", "--size", "4GiB"];
    let more = ["--timeout", "13s", "--set", "count=400000", "--set", "fsync=file"];
    let (output, report) = lab.report(arguments.into_iter().chain(more));
    assert_exits(&output, 124);
    let log = stderr(&output);
    let line =
        log.lines().find(|line| line.contains("many-small-files: ") && line.starts_with("[1/1] btrfs/1 "));
    let line = line.unwrap_or_else(|| panic!("{log}"));
    assert!(line.contains(" operations, ") && line.contains("/s, ") && line.contains(" left"), "{line}");
    assert!(line.contains("; run: "), "{line}");
    let reason = report.cases[0].reason.as_ref().unwrap();
    assert_eq!(reason.code, "timeout");
    assert!(
        reason.text.contains("many-small-files") && reason.text.contains(" operations and "),
        "{reason:?}"
    );
    assert!(log.contains(" stopped after "), "{log}");
    lab.assert_nothing_is_left();
}

/// A run whose first step syncs each of so many files, so that it lasts.
fn slow(files: u32) -> Vec<String> {
    let sets = [format!("step.small-files.count={files}"), "step.small-files.fsync=\"file\"".into()];
    let sets = sets.into_iter().flat_map(|set| ["--set".to_owned(), set]);
    ["run", "smoke", "--fs", "ext4"].map(str::to_owned).into_iter().chain(sets).collect()
}

fn killed() {
    let lab = Lab::new();
    let json = lab.path("report.json");
    let mut runner = lab.spawn(slow(20_000).into_iter().chain(["--json".into(), json.display().to_string()]));
    wait_for(&mut runner, "step small-files");
    std::thread::sleep(Duration::from_millis(500));
    kill(worker(&lab), Signal::SIGKILL).unwrap();
    assert_eq!(runner.wait().unwrap().code(), Some(1));
    let report: RunReport = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    let reason = report.cases[0].reason.as_ref().unwrap();
    assert_eq!(reason.code, "worker_died");
    assert!(reason.text.contains("at step small-files: "), "{}", reason.text);
    assert!(reason.text.contains(" operations and "), "{}", reason.text);
    lab.assert_nothing_is_left();
}

fn counters() {
    let lab = Lab::new();
    let mut runner = lab.spawn(slow(20_000));
    wait_for(&mut runner, "step small-files");
    let named = |text: &str| text.contains("memfd:fsduel-counters");
    let (mut mapped, mut open) = (0, 0);
    for pid in lab.processes() {
        let folder = Path::new("/proc").join(pid.to_string());
        mapped += usize::from(named(&fs::read_to_string(folder.join("maps")).unwrap_or_default()));
        let links = fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
        let links = links.filter_map(|entry| fs::read_link(entry.path()).ok());
        open += links.filter(|link| named(&link.to_string_lossy())).count();
    }
    assert_eq!((mapped, open), (2, 0));
    runner.kill().unwrap();
    runner.wait().unwrap();
    lab.assert_nothing_is_left();
}

fn json_alone() {
    let lab = Lab::new();
    let (html, junit) = (lab.path("r.html"), lab.path("j.xml"));
    let mut command = lab.fsduel(["run", "smoke", "--fs", "ext4", "--json", "-", "--report"]);
    command.arg(format!("html={}", html.display())).arg("--report").arg(format!("junit={}", junit.display()));
    let output = command.output().unwrap();
    assert_exits(&output, 0);
    let report: RunReport = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report.cases.len(), 1);
    for path in [html, junit] {
        assert!(fs::read_to_string(path).unwrap().contains("small-files"));
    }
    lab.assert_nothing_is_left();
}

fn quiet() {
    let lab = Lab::new();
    let output = lab.fsduel(["run", "smoke", "--fs", "ext4", "--quiet"]).output().unwrap();
    assert_exits(&output, 0);
    assert_eq!(stderr(&output), "", "{}", told(&output));
    lab.assert_nothing_is_left();
}

const COLUMNS: usize = 60;

fn terminal() {
    let lab = Lab::new();
    let fsduel = env!("CARGO_BIN_EXE_fsduel");
    // Long enough in a step that it is told there, too.
    let run = format!(
        "{fsduel} {} >/dev/null",
        slow(6000).iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ")
    );
    let script = format!("stty rows 24 cols {COLUMNS}; {run}");
    let typescript = lab.path("typescript");
    let mut command = lab.command("script");
    command.args(["-q", "-e", "-c", &script]).arg(&typescript).stdout(Stdio::null());
    let output =
        command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8").env("SHELL", "/bin/sh").output().unwrap();
    assert_exits(&output, 0);
    let typed = fs::read_to_string(typescript).unwrap();
    let shown: Vec<String> = typed.split(['\r', '\n']).map(visible).collect();
    // What stays may be longer than a line of the terminal; what moves may not.
    let moving: Vec<&str> =
        shown.iter().map(|line| line.trim_end()).filter(|line| line.starts_with("[1/1] ")).collect();
    let moving = &moving[..moving.iter().position(|line| line.contains(" passed in ")).unwrap()];
    assert!(
        moving.iter().any(|line| line.starts_with("[1/1] ext4/1 small-files ") && line.contains("/s")),
        "{moving:?}"
    );
    assert!(moving.iter().all(|line| line.chars().count() <= COLUMNS), "{moving:?}");
    let screen = screen(&typed);
    let lines: Vec<_> = screen.iter().filter(|line| line.starts_with("[1/1]")).collect();
    assert!(matches!(lines[..], [line] if line.contains(" passed in ")), "{screen:?}");
    lab.assert_nothing_is_left();
}

/// A piece of what goes to a terminal: a sign, or a command as `(2, K)`.
enum Piece {
    Sign(char),
    Command(usize, char),
}

fn pieces(typed: &str) -> Vec<Piece> {
    let (mut signs, mut pieces) = (typed.chars(), vec![]);
    while let Some(sign) = signs.next() {
        if sign != '\u{1b}' {
            pieces.push(Piece::Sign(sign));
            continue;
        }
        let mut argument = String::new();
        let letter = signs.by_ref().skip(1).find(|sign| {
            argument.push(*sign);
            sign.is_ascii_alphabetic()
        });
        let number = argument.trim_end_matches(char::is_alphabetic).parse().unwrap_or(1);
        pieces.extend(letter.map(|letter| Piece::Command(number, letter)));
    }
    pieces
}

/// The text without commands to the terminal.
fn visible(text: &str) -> String {
    let sign = |piece| match piece {
        Piece::Sign(sign) => Some(sign),
        Piece::Command(..) => None,
    };
    pieces(text).into_iter().filter_map(sign).collect()
}

/// What a terminal of endless size shows in the end: of its commands, those that a moving line needs.
fn screen(typed: &str) -> Vec<String> {
    let (mut lines, mut at, mut column) = (vec![vec![]], 0, 0);
    for piece in pieces(typed) {
        match piece {
            Piece::Sign('\n') => {
                at += 1;
                lines.resize(lines.len().max(at + 1), vec![]);
            }
            Piece::Sign('\r') => column = 0,
            Piece::Command(up, 'A') => at = at.saturating_sub(up),
            Piece::Command(_, 'K') => lines[at].clear(),
            Piece::Command(..) => {}
            Piece::Sign(sign) => {
                let length = lines[at].len().max(column + 1);
                lines[at].resize(length, ' ');
                lines[at][column] = sign;
                column += 1;
            }
        }
    }
    lines.into_iter().map(String::from_iter).collect()
}

/// The runner is traced with all that it starts; a line is `PID call(...)`.
fn silent() {
    let lab = Lab::new();
    let trace = lab.path("trace");
    let mut command = lab.command("strace");
    command.args(["-f", "-e", "trace=write,syncfs", "-s", "40", "-o"]).arg(&trace);
    command.arg(env!("CARGO_BIN_EXE_fsduel")).args(slow(5000));
    let output = command.output().unwrap();
    assert_exits(&output, 0);
    let trace = fs::read_to_string(trace).unwrap();
    let begun = trace.lines().position(|line| line.contains("step_begun")).expect("a step");
    let pid = trace.lines().nth(begun).unwrap().split(' ').next().unwrap();
    let own = trace.lines().skip(begun + 1).filter(|line| line.split(' ').next() == Some(pid));
    // One before the start of the clock, one that is its second stop.
    let mut syncs = 0;
    let timed = own.take_while(|line| {
        syncs += usize::from(line.contains("syncfs("));
        syncs < 2
    });
    let (told, work): (Vec<&str>, Vec<&str>) = timed.partition(|line| line.contains(" write(1, "));
    assert_eq!(told, Vec::<&str>::new());
    assert!(work.iter().filter(|line| line.contains(" write(")).count() >= 5000, "{}", work.len());
    lab.assert_nothing_is_left();
}
