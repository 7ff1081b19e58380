//! Guests that end before their case does, and runs that are ended.

use std::fs;
use std::path::PathBuf;
use std::process::Output;
use std::time::{Duration, Instant};

use fsduel_harness::result::{RunReport, Status};
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::boots::{cache, in_guest};
use crate::lab::{Lab, assert_exits, told};
use crate::{kernel, trial};

pub fn trials() -> Vec<Trial> {
    vec![
        trial("a_kernel_that_panics_is_told_with_its_words", panic),
        trial("a_guest_without_enough_memory_is_told_as_that", out_of_memory),
        trial("a_guest_that_shows_no_life_ends_at_the_time_limit", hang),
        trial("a_task_that_the_guests_kernel_keeps_for_ever_ends_the_case_and_is_named", hung_task),
        trial("a_killed_run_leaves_no_machine_and_no_file", killed),
        trial("an_interrupted_run_ends_in_order_and_keeps_what_had_finished", interrupted),
        trial("a_machine_that_was_stopped_for_a_while_gives_no_numbers", machine_stopped),
        trial("a_machine_that_is_killed_is_told_with_what_it_did", machine_killed),
    ]
}

/// The reason of the only case.
fn reason(output: &Output) -> (Status, String, String) {
    let run: RunReport =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", told(output)));
    let reason = run.cases[0].reason.clone().unwrap_or_else(|| panic!("{}", told(output)));
    (run.cases[0].status, reason.code, reason.text)
}

fn panic() {
    let lab = Lab::new();
    let more = ["--fs", "ext4", "--json", "-", "--kernel-options", "rdinit=/nothing init=/nothing"];
    let output = in_guest(&lab, "6.12", &more).output().unwrap();
    assert_exits(&output, 1);
    let (status, code, text) = reason(&output);
    assert_eq!((status, code.as_str()), (Status::Error, "guest_panic"), "{text}");
    assert!(text.contains("Kernel panic - not syncing"), "{text}");
    lab.assert_nothing_is_left();
}

/// What a guest cannot hold is told before it boots; a little more than that and it boots to no end.
fn out_of_memory() {
    let lab = Lab::new();
    let with = |memory: &str, code| {
        let output =
            in_guest(&lab, "6.12", &["--fs", "ext4", "--json", "-", "--memory", memory]).output().unwrap();
        assert_exits(&output, code);
        reason(&output)
    };
    let (_, code, text) = with("64M", 2);
    assert_eq!(code, "usage", "{text}");
    let takes: Vec<f64> =
        text.split(" MiB").filter_map(|part| part.rsplit(' ').next()?.parse().ok()).collect();
    let [64.0, kernel, initramfs] = takes[..] else { panic!("{text}") };
    let (_, code, text) = with(&format!("{}M", (kernel + initramfs + 7.0).ceil()), 7);
    assert_eq!(code, "out_of_memory", "{text}");
    lab.assert_nothing_is_left();
}

/// The header of a kernel whose first instructions are `cli` and a jump to themselves. Offsets: Linux
/// `Documentation/arch/x86/boot.rst`.
fn hanging_kernel(lab: &Lab) -> PathBuf {
    let release = b"6.1.0-hang\0";
    let mut image = vec![0_u8; 5 * 512 + 512];
    image[0x1f1] = 4;
    image[0x1fe..0x200].copy_from_slice(&[0x55, 0xaa]);
    // The entry is at 0x200; the signature that follows is jumped over.
    image[0x200..0x202].copy_from_slice(&[0xeb, 0x66]);
    image[0x202..0x206].copy_from_slice(b"HdrS");
    image[0x206..0x208].copy_from_slice(&0x020f_u16.to_le_bytes());
    image[0x20e..0x210].copy_from_slice(&0x100_u16.to_le_bytes());
    image[0x211] = 1;
    image[0x22c..0x230].copy_from_slice(&0x7fff_ffff_u32.to_le_bytes());
    image[0x236..0x238].copy_from_slice(&1_u16.to_le_bytes());
    image[0x238..0x23c].copy_from_slice(&2047_u32.to_le_bytes());
    image[0x268..0x26b].copy_from_slice(&[0xfa, 0xeb, 0xfe]);
    image[0x300..0x300 + release.len()].copy_from_slice(release);
    let boot = lab.path("boot");
    let modules = lab.path("lib/modules/6.1.0-hang");
    fs::create_dir_all(&boot).unwrap();
    fs::create_dir_all(&modules).unwrap();
    let built_in = [
        "fs/ext4/ext4",
        "drivers/block/virtio_blk",
        "drivers/virtio/virtio_pci",
        "drivers/char/virtio_console",
    ];
    let lines: String = built_in.iter().map(|name| format!("kernel/{name}.ko\n")).collect();
    fs::write(modules.join("modules.builtin"), lines).unwrap();
    fs::write(modules.join("modules.dep"), "").unwrap();
    fs::write(boot.join("vmlinuz-6.1.0-hang"), image).unwrap();
    boot.join("vmlinuz-6.1.0-hang")
}

fn hang() {
    let lab = Lab::new();
    let image = hanging_kernel(&lab);
    let mut command =
        lab.fsduel(["run", "smoke", "--fs", "ext4", "--json", "-", "--timeout", "5s", "--kernel"]);
    let begun = Instant::now();
    let output = command.arg(image).env("XDG_CACHE_HOME", cache()).output().unwrap();
    assert_exits(&output, 124);
    let (status, code, text) = reason(&output);
    assert_eq!((status, code.as_str()), (Status::Stopped, "timeout"), "{text}");
    assert!(text.contains("boot did not end within 5 s"), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    lab.assert_nothing_is_left();
}

/// Whoever writes to a file system that is frozen waits in the kernel, and no signal ends that.
fn hung_task() {
    let lab = Lab::new();
    let mut command = lab.fsduel(["exec", "--fs", "ext4", "--size", "256MiB", "--as-root", "--json", "-"]);
    command.args(["--kernel-options", "sysctl.kernel.hung_task_timeout_secs=10", "--kernel"]);
    command.arg(kernel("6.12")).env("XDG_CACHE_HOME", cache());
    let output = command.args(["--", "sh", "-c", "fsfreeze -f . && echo > made"]).output().unwrap();
    assert_exits(&output, 5);
    let (status, code, text) = reason(&output);
    assert_eq!((status, code.as_str()), (Status::Failed, "guest_panic"), "{text}");
    assert!(text.contains("at step exec") && text.contains("INFO: task sh:"), "{text}");
    lab.assert_nothing_is_left();
}

/// Start a run and wait for a line of its standard error with `word`.
fn started(lab: &Lab, word: &str, more: &[&str]) -> (std::process::Child, std::thread::JoinHandle<String>) {
    use std::io::{BufRead, BufReader};
    let mut command = in_guest(lab, "6.12", &["--fs", "ext4"]);
    command.args(more).arg("--json").arg(lab.path("run.json")).env("FSDUEL_LOG", "debug");
    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut said = String::new();
    while !said.contains(word) {
        let line = lines.next().unwrap_or_else(|| panic!("ended without `{word}`: {said}")).unwrap();
        said.push_str(&line);
        said.push('\n');
    }
    let rest = std::thread::spawn(move || lines.map_while(Result::ok).collect::<Vec<_>>().join("\n"));
    (child, rest)
}

fn signal(child: &std::process::Child, signal: Signal) {
    kill(Pid::from_raw(child.id().try_into().unwrap()), signal).unwrap();
}

fn killed() {
    for word in ["the guest is up", "phase: step directories"] {
        let lab = Lab::new();
        let (mut child, rest) = started(&lab, word, &[]);
        signal(&child, Signal::SIGKILL);
        child.wait().unwrap();
        rest.join().unwrap();
        lab.assert_nothing_is_left();
    }
}

fn interrupted() {
    let lab = Lab::new();
    let (mut child, rest) = started(&lab, "phase: step directories", &[]);
    let begun = Instant::now();
    signal(&child, Signal::SIGINT);
    let status = child.wait().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    let said = rest.join().unwrap();
    assert_eq!(status.code(), Some(130), "{said}");
    let run: RunReport = serde_json::from_str(&fs::read_to_string(lab.path("run.json")).unwrap()).unwrap();
    assert_eq!(run.cases[0].status, Status::Stopped);
    assert_eq!(run.cases[0].steps[0].name, "small-files", "{said}");
    lab.assert_nothing_is_left();
}

/// QEMU is the only child of the run.
fn machine(run: &std::process::Child) -> Pid {
    let children = format!("/proc/{0}/task/{0}/children", run.id());
    Pid::from_raw(fs::read_to_string(children).unwrap().trim().parse().unwrap())
}

fn machine_stopped() {
    let lab = Lab::new();
    let (mut child, rest) = started(&lab, "phase: step directories", &[]);
    let machine = machine(&child);
    kill(machine, Signal::SIGSTOP).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    kill(machine, Signal::SIGCONT).unwrap();
    let status = child.wait().unwrap();
    let said = rest.join().unwrap();
    assert_eq!(status.code(), Some(7), "{said}");
    let run: RunReport = serde_json::from_str(&fs::read_to_string(lab.path("run.json")).unwrap()).unwrap();
    assert_eq!((run.cases[0].status, run.cases[0].steps.len()), (Status::Invalid, 0), "{said}");
    assert!(run.cases[0].reason.as_ref().unwrap().text.contains("stopped by a signal"), "{said}");
    lab.assert_nothing_is_left();
}

fn machine_killed() {
    let lab = Lab::new();
    let (mut child, rest) =
        started(&lab, "phase: step directories", &["--set", "step.directories.count=2000"]);
    // What the guest says on its console can be here before what it tells through its port.
    std::thread::sleep(Duration::from_secs(1));
    kill(machine(&child), Signal::SIGKILL).unwrap();
    let status = child.wait().unwrap();
    let said = rest.join().unwrap();
    assert_eq!(status.code(), Some(1), "{said}");
    let run: RunReport = serde_json::from_str(&fs::read_to_string(lab.path("run.json")).unwrap()).unwrap();
    let reason = run.cases[0].reason.as_ref().unwrap();
    assert_eq!((run.cases[0].status, reason.code.as_str()), (Status::Error, "guest_ended"));
    assert!(
        reason.text.contains("at step directories") && reason.text.contains("SIGKILL"),
        "{}",
        reason.text
    );
    assert_eq!(run.cases[0].steps.len(), 1, "what had finished is kept");
    lab.assert_nothing_is_left();
}
