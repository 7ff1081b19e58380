//! Any command on fresh file systems, through the front door.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use fsduel_harness::result::{Checked, RunReport, Status};
use libtest_mimic::Trial;

use crate::general;
use crate::lab::{Lab, assert_exits, stderr, told};

pub fn trials() -> Vec<Trial> {
    vec![
        general("a_command_on_several_file_systems_is_compared", compared),
        general("the_status_of_a_command_is_passed_on_and_said_to_be_its_own", statuses),
        general("what_a_command_leaves_running_is_named_and_ended", left_running),
        general("what_a_command_leaves_in_the_kernel_is_named_and_taken_down", left_in_kernel),
        general("what_keeps_the_file_system_of_a_killed_run_is_freed_by_gc", left_by_killed),
        general("why_a_program_does_not_start_is_said", not_allowed),
        general("a_command_can_be_another_run", nested),
        general("a_command_that_cannot_start_is_told_before_anything_is_made", cannot_start),
        general("a_command_that_fills_the_file_system_fails_as_itself", fills),
        general("a_command_runs_as_the_user_who_called_through_sudo", as_caller),
        general("what_is_copied_in_and_prepared_is_there_and_a_check_decides", around),
        general("a_command_can_harm_nothing_of_the_worker", harm),
        general("the_first_command_that_fails_ends_the_run_unless_it_keeps_going", keeps_going),
        general("a_time_limit_ends_a_command_and_all_that_it_started", time_limit),
        general("one_case_gets_standard_input_and_several_get_none", input),
        general("the_memory_of_a_command_is_that_of_all_its_processes", memory),
    ]
}

/// On ext4, which every kernel has.
fn exec(lab: &Lab, line: &str) -> Output {
    lab.fsduel(["exec", "--fs", "ext4", "--size", "256MiB", "--", "sh", "-c", line]).output().unwrap()
}

fn reported(lab: &Lab, options: &[&str], line: &str) -> (Output, RunReport) {
    let json = lab.path("report.json");
    let mut command = lab.fsduel(["exec", "--size", "512MiB", "--json"]);
    let output = command.arg(&json).args(options).args(["--", "sh", "-c", line]).output().unwrap();
    let text = fs::read_to_string(&json).unwrap_or_else(|error| panic!("{error}: {}", told(&output)));
    (output, serde_json::from_str(&text).unwrap())
}

fn compared() {
    let lab = Lab::new();
    let tar = lab.path("files.tar");
    let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    assert!(Command::new("tar").arg("cf").arg(&tar).args(["-C", sources, "."]).status().unwrap().success());
    let line = format!("tar xf {} && sync", tar.display());
    let options = ["--fs", "ext4", "--fs", "btrfs", "--fs", "xfs", "--repeat", "2"];
    let (output, report) = reported(&lab, &options, &line);
    assert_exits(&output, 0);
    assert_eq!(report.cases.len(), 6, "{}", told(&output));
    let hashes: std::collections::BTreeSet<_> =
        report.cases.iter().map(|case| case.steps[0].facts.tree_hash.clone().unwrap()).collect();
    assert_eq!(hashes.len(), 1, "the same files on each");
    for case in &report.cases {
        let step = &case.steps[0];
        assert_eq!((case.status, step.read_back), (Status::Passed, Checked::Clean));
        for key in ["returned_s", "synced_s", "unmounted_s", "space_used_bytes", "peak_memory_bytes"] {
            assert!(step.metrics.get(key).is_some_and(|value| value > 0.0), "{key} of {}", case.id);
        }
        assert_eq!(step.command.as_ref().unwrap().exit_status, Some(0));
    }
    assert!(String::from_utf8_lossy(&output.stdout).contains("btrfs"), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn statuses() {
    let lab = Lab::new();
    for (line, code, words) in [
        ("exit 7", 7, "ended with exit status 7"),
        ("exit 255", 255, "ended with exit status 255"),
        ("kill -SEGV $$", 139, "was killed by SIGSEGV"),
        ("echo the-output; echo the-errors >&2; exit 3", 3, "ended with exit status 3"),
    ] {
        let output = exec(&lab, line);
        assert_exits(&output, code);
        let said = stderr(&output);
        let last = said.lines().last().unwrap();
        assert!(last.contains(&format!("exit status {code} is the command's")), "{}", told(&output));
        assert!(said.contains(words), "{}", told(&output));
    }
    let said = stderr(&exec(&lab, "echo the-output; echo the-errors >&2; exit 3"));
    assert!(said.contains("the-output") && said.contains("the-errors"), "{said}");
    lab.assert_nothing_is_left();
}

/// What outlives every process, and keeps the file system: the kernel has it.
fn left_in_kernel() {
    let lab = Lab::new();
    let image = "dd if=/dev/zero of=img bs=1M count=20 status=none; chmod 600 img; ";
    let nested = "L=$(losetup -f --show img); ";
    for (line, named) in [
        (format!("{image}{nested}"), "loop device /dev/loop"),
        (format!("{image}{nested}mkfs.ext4 -q $L; mkdir m; mount $L m; touch m/x"), "loop device /dev/loop"),
        (
            format!(
                "{image}{nested}mkfs.ext4 -q $L; mkdir m; mount $L m; truncate -s 4M m/i; losetup -f m/i"
            ),
            "loop device /dev/loop",
        ),
        (format!("{image}mkswap -q img; swapon img"), "swap on "),
        ("echo content >file; fsfreeze -f \"$FSDUEL_MOUNT\"".into(), "the file system frozen"),
    ] {
        for filesystem in ["ext4", "xfs"] {
            let mut command = lab.fsduel(["exec", "--fs", filesystem, "--size", "512MiB", "--"]);
            let output = command.args(["sh", "-c", &line]).output().unwrap();
            assert_exits(&output, 1);
            assert!(stderr(&output).contains(named), "{line}: {}", told(&output));
            lab.assert_nothing_is_left();
        }
    }
    let mut command = lab.fsduel(["shell", "--fs", "btrfs", "--size", "512MiB"]);
    let mut shell =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    shell.stdin.take().unwrap().write_all(format!("{image}{nested}\nexit 5\n").as_bytes()).unwrap();
    let output = shell.wait_with_output().unwrap();
    assert_exits(&output, 5);
    assert!(stderr(&output).contains("loop device /dev/loop"), "{}", told(&output));
    lab.assert_nothing_is_left();
}

/// Nobody is there any more who could take it down; `gc` can.
fn left_by_killed() {
    let lab = Lab::new();
    let line = "truncate -s 20M img; losetup -f --show img; exec sleep 1000";
    let mut command = lab.fsduel(["exec", "--fs", "ext4", "--size", "256MiB", "--", "sh", "-c", line]);
    let mut run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    // The name of its device comes once it has one.
    let told = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(told.into_iter().any(|line| line.contains("/dev/loop")));
    run.kill().unwrap();
    run.wait().unwrap();
    while !lab.processes().is_empty() {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_exits(&lab.fsduel(["gc", "--force"]).output().unwrap(), 0);
    lab.assert_nothing_is_left();
}

/// Why a program does not start for this user is said, although nothing was printed.
fn not_allowed() {
    let lab = Lab::new();
    let folder = lab.path("closed");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("program");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o700)).unwrap();
    let mut command = lab.fsduel(["exec", "--fs", "ext4", "--size", "256MiB", "--"]);
    command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").env("SUDO_USER", "nobody");
    let output = command.arg(&program).output().unwrap();
    assert_exits(&output, 126);
    assert!(stderr(&output).contains("it may not be executed by nobody"), "{}", told(&output));
    let mut command = lab.fsduel(["exec", "--fs", "ext4", "--", "true"]);
    assert_exits(&command.env("SUDO_UID", "65534").output().unwrap(), 2);
    lab.assert_nothing_is_left();
}

/// Its own variables are no options of another run in it.
fn nested() {
    let lab = Lab::new();
    let program = env!("CARGO_BIN_EXE_fsduel");
    let line = format!("{program} exec --fs ext4 --size 64MiB --store \"$PWD\" -- touch made");
    assert_exits(&exec(&lab, &line), 0);
    lab.assert_nothing_is_left();
}

fn left_running() {
    let lab = Lab::new();
    for line in ["sleep 1000 & exit 0", "setsid sh -c 'sleep 1000 & sleep 1000' >/dev/null 2>&1 & exit 0"] {
        let output = exec(&lab, line);
        assert_exits(&output, 1);
        assert!(stderr(&output).contains("sleep 1000"), "{}", told(&output));
        lab.assert_nothing_is_left();
    }
    // What ends by itself soon is a part of the command.
    assert_exits(&exec(&lab, "sleep 0.5 & exit 0"), 0);
    lab.assert_nothing_is_left();
}

fn cannot_start() {
    let lab = Lab::new();
    let plain = lab.path("plain");
    fs::write(&plain, "#!/bin/sh\n").unwrap();
    let of = |program: &str| {
        lab.fsduel(["exec", "--fs", "ext4", "--", program]).env("PATH", "/usr/bin:/bin").output().unwrap()
    };
    let script = lab.path("script");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for (program, code) in [
        ("no-such-program", 127),
        ("", 127),
        ("/no/such/program", 127),
        (script.to_str().unwrap(), 127),
        (plain.to_str().unwrap(), 126),
        ("/", 126),
    ] {
        let output = of(program);
        assert_exits(&output, code);
        assert!(output.stdout.is_empty() && stderr(&output).contains(program), "{}", told(&output));
        assert!(!stderr(&output).contains("ext4/1"), "nothing was made: {}", told(&output));
    }
    assert_exits(&lab.fsduel(["exec", "--fs", "ext4"]).output().unwrap(), 2);
    assert_exits(&lab.fsduel(["exec", "--fs", "ext4", "--"]).output().unwrap(), 2);
    lab.assert_nothing_is_left();
}

fn fills() {
    let lab = Lab::new();
    let (output, report) = reported(&lab, &["--fs", "ext4"], "exec dd if=/dev/zero of=big bs=1M");
    assert_exits(&output, 1);
    let command = report.cases[0].steps[0].command.as_ref().unwrap();
    assert!(command.stderr.contains("No space left"), "{}", command.stderr);
    assert_eq!(report.cases[0].status, Status::Failed);
    assert_eq!(report.cases[0].steps[0].read_back, Checked::Clean, "the file system is whole");
    assert_eq!(report.cases[0].verify.fsck, Checked::Clean);
    lab.assert_nothing_is_left();
}

fn as_caller() {
    let lab = Lab::new();
    let script =
        "id -u; id -g; touch made && stat -c %u . made; echo $HOME $USER; cat $SCRATCH_DEV | head -c 1";
    let of = |more: &[&str]| {
        let mut command = lab.fsduel(["exec", "--fs", "ext4", "--size", "256MiB"]);
        command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").env("SUDO_USER", "nobody");
        command.args(more).args(["--", "sh", "-c", script]).output().unwrap()
    };
    let said = stderr(&of(&[]));
    assert!(said.contains("65534\n65534\n65534\n65534\n"), "{said}");
    assert!(said.contains("nonexistent nobody") && said.contains("Permission denied"), "{said}");
    let said = stderr(&of(&["--as-root"]));
    assert!(said.contains("0\n0\n0\n0\n") && !said.contains("Permission denied"), "{said}");
    lab.assert_nothing_is_left();
}

fn around() {
    let lab = Lab::new();
    let tree = lab.path("tree");
    fs::create_dir_all(tree.join("below")).unwrap();
    fs::write(tree.join("below/file"), "content").unwrap();
    let of = |prepare: &str, check: &str, line: &str| {
        let mut command = lab.fsduel(["exec", "--fs", "ext4", "--fs", "xfs", "--size", "512MiB"]);
        command.args(["--copy", "tree", "--prepare", prepare, "--check", check]);
        command.current_dir(tree.parent().unwrap()).args(["--", "sh", "-c", line]).output().unwrap()
    };
    let output = of("cp below/file ready", "grep -q content made", "cat below/file ready > made");
    assert_exits(&output, 0);
    assert!(stderr(&output).contains("; takes up to 512 MiB in /"), "{}", told(&output));
    let shown = String::from_utf8_lossy(&output.stdout).replace("\\\n    ", "");
    assert!(shown.starts_with("exec: sh -c 'cat below"), "{shown}");
    assert!(
        shown.contains(&format!("--copy {}", tree.display())),
        "it can be run again from anywhere: {shown}"
    );
    let output = of("true", "echo not-good >&2; false", "touch made");
    assert_exits(&output, 5);
    assert!(stderr(&output).contains("not-good") && stderr(&output).contains("checks"), "{}", told(&output));
    let output = of("exit 9", "true", "touch made");
    assert_exits(&output, 1);
    assert!(stderr(&output).contains("what prepares it ended with exit status 9"), "{}", told(&output));
    // Not even a device can be read warm: the check sees what is on it.
    assert_exits(&of("true", "test \"$(cat made)\" = content", "cat below/file > made"), 0);
    lab.assert_nothing_is_left();
}

fn harm() {
    let lab = Lab::new();
    for (line, code) in [
        // From process 1 of its namespace the kernel keeps such signals away.
        ("kill -9 1; kill -9 -1; exit 0", 0),
        ("umount \"$FSDUEL_MOUNT\" || umount -l \"$FSDUEL_MOUNT\"; exit 0", 0),
        ("mount -o remount,discard \"$FSDUEL_MOUNT\"; exit 0", 7),
        ("chroot . /nothing; exit 5", 5),
        ("ls /proc/1/exe >/dev/null && test \"$(ls -d /proc/[0-9]* | wc -l)\" -lt 9", 0),
        ("yes | head -c 300000000", 0),
        ("mkdir -p $(yes d | head -1000 | tr '\\n' /)", 0),
        ("ln -s gone dangling; mkfifo pipe; mknod null c 1 3; truncate -s 1T holes", 0),
    ] {
        let output = exec(&lab, line);
        assert_eq!(output.status.code(), Some(code), "{line}: {}", told(&output));
        lab.assert_nothing_is_left();
    }
    let output = exec(&lab, "mount -o remount,ro \"$FSDUEL_MOUNT\"; exit 0");
    assert_exits(&output, 7);
    let signs = ["(`ro` in its mount options)", "a command has remounted it"];
    assert!(signs.iter().all(|sign| stderr(&output).contains(sign)), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn keeps_going() {
    let lab = Lab::new();
    let line = "test \"$FSTYP\" != ext4";
    let options = ["--fs", "ext4", "--fs", "xfs", "--repeat", "2", "--seed", "2"];
    let (output, report) = reported(&lab, &options, line);
    assert_exits(&output, 1);
    let failed = report.cases.iter().filter(|case| case.status == Status::Failed).count();
    assert_eq!(failed, 1);
    let reached = report.cases.iter().take_while(|case| case.status != Status::Failed).count() + 1;
    let rest = &report.cases[reached..];
    assert!(rest.iter().all(|case| case.status == Status::NotRun), "it ended the run");
    assert!(reached == report.cases.len() || stderr(&output).contains("--keep-going"), "{}", told(&output));
    assert!(report.cases.len().is_multiple_of(2), "each of the block is told: {}", report.cases.len());
    let all: Vec<&str> = options.into_iter().chain(["--keep-going"]).collect();
    let (output, report) = reported(&lab, &all, line);
    assert_exits(&output, 1);
    let statuses: Vec<_> = report.cases.iter().map(|case| case.status).collect();
    let of = |wanted| statuses.iter().filter(|status| **status == wanted).count();
    assert_eq!((of(Status::Failed), of(Status::Passed)), (2, 2), "{statuses:?}");
    lab.assert_nothing_is_left();
}

fn time_limit() {
    let lab = Lab::new();
    let mut command = lab.fsduel(["exec", "--fs", "ext4", "--size", "256MiB", "--timeout", "2s", "--"]);
    let line = "trap '' TERM; setsid sleep 1000 & while :; do sleep 1; done";
    let output = command.args(["sh", "-c", line]).output().unwrap();
    assert_exits(&output, 124);
    lab.assert_nothing_is_left();
}

fn input() {
    let lab = Lab::new();
    let of = |options: &[&str]| {
        let mut command = lab.fsduel(["exec", "--size", "512MiB"]);
        let file = fs::File::open("/etc/passwd").unwrap();
        let line = "if grep -q root; then echo it-reads; else echo it-reads-nothing; exit 4; fi";
        command.args(options).args(["--", "sh", "-c", line]).stdin(file).output().unwrap()
    };
    let output = of(&["--fs", "ext4"]);
    assert_exits(&output, 0);
    assert!(stderr(&output).contains("it-reads\n"), "{}", told(&output));
    let output = of(&["--fs", "ext4", "--fs", "xfs"]);
    assert_exits(&output, 4);
    assert!(stderr(&output).contains("it-reads-nothing"), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn memory() {
    let lab = Lab::new();
    // Each holds as many bytes for a while: of dd, its block.
    let line = "for n in 1 2 3; do (dd if=/dev/zero bs=64M count=1; sleep 1) | (dd of=/dev/null bs=64M iflag=fullblock; sleep 1) & done; wait";
    let (output, report) = reported(&lab, &["--fs", "ext4"], line);
    assert_exits(&output, 0);
    let peak = report.cases[0].steps[0].metrics.get("peak_memory_bytes").unwrap();
    assert!((1.5..1000.0).contains(&(peak / 1_048_576.0)), "{peak}");
    let (_, report) = reported(
        &lab,
        &["--fs", "ext4"],
        "for n in 1 2 3; do head -c 50000000 /dev/zero | tail -c 50000000 | (sleep 2; cat >/dev/null) & done; wait",
    );
    let all = report.cases[0].steps[0].metrics.get("peak_memory_bytes").unwrap();
    assert!(all > 3.0 * 45e6, "tail holds what it is given, three times: {all}");
    lab.assert_nothing_is_left();
}
