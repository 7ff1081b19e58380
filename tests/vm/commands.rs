//! Commands of a user's in a guest.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use fsduel_harness::result::{Checked, RunReport, Status};
use libtest_mimic::Trial;
use nix::unistd::Uid;

use crate::boots::{NOBODY, cache, for_nobody};
use crate::lab::{Lab, assert_exits, stderr, told};
use crate::{kernel, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_command_runs_in_a_guest_with_its_libraries_and_its_status_is_passed_on", status),
        trial("a_script_brings_its_interpreter_and_the_programs_that_it_names_into_a_guest", script),
        trial("what_is_copied_and_prepared_is_there_in_a_guest_and_a_check_decides", around),
        trial("what_a_command_leaves_running_in_a_guest_is_named_and_ended", left_running),
        trial("a_command_has_a_directory_as_its_root_in_a_guest", root),
        trial("a_root_that_does_not_fit_into_memory_is_refused_with_what_would_do", memory),
        trial("a_command_in_a_guest_runs_as_the_user_who_called_without_root", as_caller),
        trial("a_time_limit_ends_a_command_in_a_guest", time_limit),
        trial("a_program_that_is_missing_is_told_before_anything_boots", missing),
        trial("steps_of_a_suite_run_commands_in_a_guest", suite),
    ]
}

/// `fsduel exec` on ext4 in a guest.
fn exec(lab: &Lab, options: &[&str]) -> Command {
    let mut command = lab.fsduel(["exec", "--fs", "ext4", "--size", "256MiB", "--backend", "vm", "--kernel"]);
    command.arg(kernel("6.1")).args(options).env("XDG_CACHE_HOME", cache());
    command
}

fn run(lab: &Lab, options: &[&str], line: &str) -> Output {
    exec(lab, options).args(["--", "sh", "-c", line]).output().unwrap()
}

fn report(lab: &Lab) -> RunReport {
    serde_json::from_str(&fs::read_to_string(lab.path("run.json")).unwrap()).unwrap()
}

/// A program at `path`.
fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A tree with a shell and its libraries and little else, as a container has it.
fn small_root(lab: &Lab) -> String {
    let root = lab.path("root");
    for folder in ["usr/bin", "etc", "proc"] {
        fs::create_dir_all(root.join(folder)).unwrap();
    }
    symlink("usr/bin", root.join("bin")).unwrap();
    let copy = |from: &Path| {
        let to = root.join(from.strip_prefix("/").unwrap());
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(from, to).unwrap();
    };
    for tool in ["/bin/sh", "/bin/cat"] {
        let real = fs::canonicalize(tool).unwrap();
        fs::copy(real, root.join("usr").join(&tool[1..])).unwrap();
        let libraries = Command::new("ldd").arg(tool).output().unwrap().stdout;
        let libraries = String::from_utf8(libraries).unwrap();
        libraries
            .split_ascii_whitespace()
            .filter(|word| word.starts_with('/'))
            .for_each(|path| copy(path.as_ref()));
    }
    fs::write(root.join("etc/only-here"), "from-the-root").unwrap();
    root.to_str().unwrap().to_owned()
}

fn status() {
    let lab = Lab::new();
    let json = lab.path("run.json");
    let line = "find / -xdev -name fsduel; stat -f -c %T .; echo to-$FSTYP | sed s/to/on/ | tee made; \
                printf unended; exit 7";
    let output = run(&lab, &["--json", json.to_str().unwrap()], line);
    assert_exits(&output, 7);
    let said = stderr(&output);
    let printed = ["ext2/ext3\n", "on-ext4\n", "unended"];
    assert!(printed.iter().all(|text| said.contains(text)), "what it prints is seen: {}", told(&output));
    assert!(said.lines().last().unwrap().contains("exit status 7 is the command's"), "{said}");
    let report = report(&lab);
    let step = &report.cases[0].steps[0];
    assert_eq!(report.environments[0].backend, "vm");
    assert_eq!((report.cases[0].status, step.read_back), (Status::Failed, Checked::Clean));
    assert_eq!(step.command.as_ref().unwrap().exit_status, Some(7));
    assert!(step.metrics.get("peak_memory_bytes").unwrap() > 0.0);
    assert_exits(&run(&lab, &[], "kill -SEGV $$"), 139);
    // What is not named is not there.
    let output = run(&lab, &[], "x=se; ${x}q 3");
    assert_exits(&output, 127);
    assert!(stderr(&output).contains("seq: not found"), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn script() {
    let lab = Lab::new();
    let (script, data) = (lab.path("script"), lab.path("data"));
    fs::write(&data, "b\na\n").unwrap();
    program(
        &script,
        "#!/usr/bin/env bash\nset -o pipefail\nsort \"$1\" | cat <(head -n 1) > made\ngrep -qx a made\n",
    );
    let output = exec(&lab, &[]).arg("--").arg(&script).arg(&data).output().unwrap();
    assert_exits(&output, 0);
    lab.assert_nothing_is_left();
}

fn around() {
    let lab = Lab::new();
    let tree = lab.path("tree");
    fs::create_dir_all(tree.join("below")).unwrap();
    fs::write(tree.join("below/file"), "content").unwrap();
    fs::hard_link(tree.join("below/file"), tree.join("again")).unwrap();
    symlink("below/file", tree.join("link")).unwrap();
    program(&tree.join("convert"), "#!/bin/sh\ncat below/file ready link again > made\n");
    let of = |prepare: &str, check: &str| {
        let options = ["--copy", tree.to_str().unwrap(), "--prepare", prepare, "--check", check];
        exec(&lab, &options).args(["--", "./convert"]).output().unwrap()
    };
    let all = "test \"$(cat made)\" = contentcontentcontentcontent && test again -ef below/file";
    assert_exits(&of("cp below/file ready", all), 0);
    let output = of("cp below/file ready", "echo not-good >&2; false");
    assert_exits(&output, 5);
    assert!(stderr(&output).contains("not-good"), "{}", told(&output));
    assert_exits(&of("exit 9", "true"), 1);
    lab.assert_nothing_is_left();
}

fn left_running() {
    let lab = Lab::new();
    for line in ["sleep 1000 & exit 0", "setsid sh -c 'sleep 1000 & sleep 1000' >/dev/null 2>&1 & exit 0"] {
        let output = run(&lab, &[], line);
        assert_exits(&output, 1);
        assert!(stderr(&output).contains("sleep 1000"), "{}", told(&output));
    }
    // Its signals reach nothing of the guest's.
    assert_exits(&run(&lab, &[], "kill -9 1; kill -9 -1; sleep 0.5 & exit 0"), 0);
    lab.assert_nothing_is_left();
}

fn root() {
    let lab = Lab::new();
    let root = small_root(&lab);
    let line = "cat /etc/only-here; cat < /etc/passwd; cat /proc/self/mounts > made && test -b $SCRATCH_DEV && exit 3";
    let output = run(&lab, &["--root", &root], line);
    assert_exits(&output, 3);
    let said = stderr(&output);
    assert!(said.contains("from-the-root") && said.contains("/etc/passwd"), "{}", told(&output));
    // `tee` is a program of this machine only.
    let output = exec(&lab, &["--root", &root]).args(["--", "tee", "made"]).output().unwrap();
    assert_exits(&output, 127);
    assert!(stderr(&output).contains("tee: it is not on PATH below --root"), "{}", told(&output));
    let output = lab
        .fsduel(["exec", "--fs", "ext4", "--backend", "host", "--root", &root, "--", "sh"])
        .output()
        .unwrap();
    assert_exits(&output, 2);
    assert!(stderr(&output).contains("in a virtual machine only"), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn memory() {
    let lab = Lab::new();
    let root = small_root(&lab);
    let data: Vec<u8> =
        (0..150_u32 << 18).flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes()).collect();
    fs::write(Path::new(&root).join("data"), data).unwrap();
    let with = |memory: &str| run(&lab, &["--root", &root, "--memory", memory], "cat /data > made");
    let output = with("256M");
    assert_exits(&output, 2);
    let said = stderr(&output);
    let more = said.split("more than --memory ").nth(1).unwrap_or_else(|| panic!("{}", told(&output)));
    let number: String = more.chars().take_while(char::is_ascii_digit).collect();
    let enough = format!("{}M", number.parse::<u64>().unwrap() + 1);
    assert!(more[number.len()..].starts_with("M"), "{said}");
    assert_exits(&with(&enough), 0);
    lab.assert_nothing_is_left();
}

/// Without root, or as whoever runs the tests; and as root of the guest.
fn as_caller() {
    let lab = Lab::new();
    let (program, image, user) = match Uid::effective() {
        root if root.is_root() => {
            let (nobody, image) = for_nobody(&lab);
            (nobody, image, NOBODY)
        }
        user => (exec(&lab, &[]), kernel("6.12"), user.as_raw()),
    };
    let of = |more: &[&str]| {
        let line =
            "touch made; echo ids $(id -u) $(id -g) $(stat -c %u . made); head -c 1 $SCRATCH_DEV; true";
        let mut command = lab.command(program.get_program().to_str().unwrap());
        let set = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
        command.env_remove("XDG_CACHE_HOME").envs(set);
        if user == NOBODY {
            command.args(program.get_args());
        }
        command.args(["exec", "--fs", "ext4", "--size", "256MiB", "--backend", "vm", "--kernel"]).arg(&image);
        command.args(more).args(["--", "sh", "-c", line]).output().unwrap()
    };
    let group = nix::unistd::Gid::effective().as_raw();
    let group = if user == NOBODY { NOBODY } else { group };
    let output = of(&[]);
    let said = stderr(&output);
    assert_exits(&output, 0);
    assert!(said.contains(&format!("ids {user} {group} {user} {user}\n")), "{}", told(&output));
    assert!(said.contains("Permission denied"), "of the device: {}", told(&output));
    let output = of(&["--as-root"]);
    let said = stderr(&output);
    assert!(said.contains("ids 0 0 0 0\n") && !said.contains("Permission denied"), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn time_limit() {
    let lab = Lab::new();
    let line = "trap '' TERM; setsid sleep 1000 & while :; do sleep 1; done";
    // Booting has this limit, too.
    let output = run(&lab, &["--timeout", "30s"], line);
    assert_exits(&output, 124);
    assert!(stderr(&output).contains("step exec"), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn missing() {
    let lab = Lab::new();
    for (program, code) in [("no-such-program", 127), ("/no/such/program", 127), ("/etc/passwd", 126)] {
        let output = exec(&lab, &[]).args(["--", program]).stdin(Stdio::null()).output().unwrap();
        assert_exits(&output, code);
        assert!(!stderr(&output).contains("ext4/1"), "nothing was made: {}", told(&output));
    }
    lab.assert_nothing_is_left();
}

fn suite() {
    let lab = Lab::new();
    let file = lab.path("suite.toml");
    let text = "[suite]\nname = \"commands\"\ntitle = \"Commands\"\n[defaults]\nsize = \"256MiB\"\n\
                [[step]]\nname = \"first\"\nworkload = \"exec\"\ncommand = \"seq 5 > made\"\n\
                [[step]]\nname = \"second\"\nworkload = \"exec\"\ncommand = [\"grep\", \"-q\", \"5\", \"made\"]\n";
    fs::write(&file, text).unwrap();
    let mut command = lab.fsduel(["run", file.to_str().unwrap(), "--fs", "ext4", "--kernel"]);
    let output = command.arg(kernel("6.1")).env("XDG_CACHE_HOME", cache()).output().unwrap();
    assert_exits(&output, 0);
    lab.assert_nothing_is_left();
}
