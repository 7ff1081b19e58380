//! Whole disks that are given away, on loop devices of the test's own: refused whenever they are
//! somebody's, and let go however the run ends.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use fsduel_harness::result::Status;
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::general;
use crate::lab::{Lab, assert_exits, stderr, told};
use crate::leaks::{wait_for, worker};

/// `O_EXCL` of open(2), which on a block device means "nobody else".
const EXCLUSIVE: i32 = 0o200;

pub fn trials() -> Vec<Trial> {
    vec![
        general("disk::a_suite_runs_on_a_whole_disk_and_leaves_it_to_nobody", runs),
        general("disk::a_mounted_disk_is_refused_in_any_namespace", mounted),
        general("disk::a_disk_with_partitions_or_a_table_of_them_is_refused", partitioned),
        general("disk::a_partition_is_refused_with_its_disk", partition),
        general("disk::a_file_system_is_only_overwritten_with_wipe", signature),
        general("disk::a_disk_that_another_has_open_for_itself_names_it", held),
        general("disk::a_read_only_disk_is_refused", read_only),
        general("disk::a_disk_is_named_twice_alike_or_nothing_is_touched", named_twice),
        general("disk::a_link_to_a_disk_is_that_disk", link),
        general("disk::sigkill_in_the_middle_leaves_nothing_mounted_and_the_disk_free", killed),
    ]
}

/// A loop device as somebody's disk. It goes with the test.
struct Disk {
    path: String,
}

impl Disk {
    fn new(lab: &Lab, more: &[&str]) -> Self {
        let image = lab.path("disk");
        File::create(&image).unwrap().set_len(520 << 20).unwrap();
        let attached =
            Command::new("losetup").args(["--find", "--show"]).args(more).arg(&image).output().unwrap();
        assert!(attached.status.success(), "{}", told(&attached));
        Self { path: String::from_utf8(attached.stdout).unwrap().trim().to_owned() }
    }

    fn run(&self, lab: &Lab, more: &[&str]) -> Output {
        let arguments =
            ["run", "smoke", "--fs", "ext4", "--device", &self.path, "--destroy-data", &self.path];
        // A store of its own would contradict the disk.
        lab.fsduel(arguments).args(more).env_remove("FSDUEL_STORE").output().unwrap()
    }

    fn refused(&self, lab: &Lab, code: i32, words: &[&str]) {
        let before = fs::read(lab.path("disk")).unwrap();
        let output = self.run(lab, &[]);
        assert_exits(&output, code);
        for word in words {
            assert!(stderr(&output).contains(word), "{word}: {}", told(&output));
        }
        assert!(stderr(&output).contains("next: "), "{}", told(&output));
        assert!(fs::read(lab.path("disk")).unwrap() == before, "nothing was written");
    }

    fn is_free(&self) -> bool {
        OpenOptions::new().read(true).custom_flags(EXCLUSIVE).open(&self.path).is_ok()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("losetup").arg("--detach").arg(&self.path).status();
    }
}

fn tool(program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{program}: {}", told(&output));
}

fn runs() {
    let lab = Lab::new();
    let disk = Disk::new(&lab, &[]);
    let json = lab.path("report.json");
    let arguments = ["--fs", "btrfs,ext4,xfs", "--json", json.to_str().unwrap()];
    let output = disk.run(&lab, &arguments);
    assert_exits(&output, 0);
    let report: fsduel_harness::result::RunReport =
        serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(report.manifest.store.path, disk.path);
    assert!(report.cases.len() >= 3 && report.cases.iter().all(|case| case.status == Status::Passed));
    for case in &report.cases {
        assert_eq!(case.image_bytes, 520 << 20, "as large as the disk");
        assert!(case.loop_device.is_none() && case.mkfs_command.contains(&disk.path));
        assert!(case.steps.iter().all(|step| !step.metrics.0.contains_key("image_allocated_bytes")));
    }
    assert!(disk.is_free());
    lab.assert_nothing_is_left();
}

fn mounted() {
    let lab = Lab::new();
    let disk = Disk::new(&lab, &[]);
    tool("mkfs.ext4", &["-q", &disk.path]);
    // In another mount namespace only, which our own table of mounts does not show.
    let script = format!("mount {} /mnt && echo mounted && exec sleep 60", disk.path);
    let mut other = Command::new("unshare")
        .args(["-m", "--propagation", "slave", "sh", "-c", &script])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut word = [0; 8];
    std::io::Read::read_exact(other.stdout.as_mut().unwrap(), &mut word).unwrap();
    let output = disk.run(&lab, &["--wipe"]);
    other.kill().unwrap();
    other.wait().unwrap();
    assert_exits(&output, 69);
    assert!(stderr(&output).contains("it is in use (held by pid"), "{}", told(&output));
}

fn partitioned() {
    let lab = Lab::new();
    let disk = Disk::new(&lab, &[]);
    table(&disk);
    disk.refused(&lab, 2, &["partition table (dos)", "wipefs"]);
    drop(disk);
    // Without a table on the disk: it is the kernel that has the partitions.
    let disk = Disk::new(&lab, &["--partscan"]);
    tool("addpart", &[&disk.path, "1", "2048", "65536"]);
    disk.refused(&lab, 2, &["has partitions"]);
}

/// One partition of Linux from sector 2048 on, by a table in the first sector. Source: the layout of the
/// master boot record, as in Linux `include/linux/msdos_partition.h`.
fn table(disk: &Disk) {
    let mut sector = [0; 512];
    let (start, count) = (2048_u32.to_le_bytes(), 65536_u32.to_le_bytes());
    sector[446 + 4] = 0x83;
    sector[446 + 8..446 + 12].copy_from_slice(&start);
    sector[446 + 12..446 + 16].copy_from_slice(&count);
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    let node = OpenOptions::new().write(true).open(&disk.path).unwrap();
    node.write_all_at(&sector, 0).unwrap();
    node.sync_all().unwrap();
}

fn partition() {
    let lab = Lab::new();
    let disk = Disk::new(&lab, &["--partscan"]);
    tool("addpart", &[&disk.path, "1", "2048", "65536"]);
    let name = Path::new(&disk.path).file_name().unwrap().to_str().unwrap().to_owned();
    let number = fs::read_to_string(format!("/sys/block/{name}/{name}p1/dev")).unwrap();
    let (major, minor) = number.trim().split_once(':').unwrap();
    let node = lab.path("partition");
    tool("mknod", &[node.to_str().unwrap(), "b", major, minor]);
    let node = node.to_str().unwrap();
    let arguments = ["run", "smoke", "--fs", "ext4", "--device", node, "--destroy-data", node];
    let output = lab.fsduel(arguments).env_remove("FSDUEL_STORE").output().unwrap();
    assert_exits(&output, 2);
    assert!(stderr(&output).contains(&format!("a partition of {name}")), "{}", told(&output));
}

fn signature() {
    let lab = Lab::new();
    let disk = Disk::new(&lab, &[]);
    tool("mkfs.ext4", &["-q", "-L", "mail", &disk.path]);
    disk.refused(&lab, 2, &["ext4 named `mail` is on it", "--wipe"]);
    assert_exits(&disk.run(&lab, &["--wipe"]), 0);
}

fn held() {
    let lab = Lab::new();
    let disk = Disk::new(&lab, &[]);
    let _held = OpenOptions::new().read(true).custom_flags(EXCLUSIVE).open(&disk.path).unwrap();
    disk.refused(&lab, 69, &["in use", &format!("pid {}", std::process::id())]);
}

fn read_only() {
    let lab = Lab::new();
    let disk = Disk::new(&lab, &["--read-only"]);
    disk.refused(&lab, 69, &["read-only"]);
}

fn named_twice() {
    let lab = Lab::new();
    let disk = Disk::new(&lab, &[]);
    let run = |more: &[&str]| {
        let output = lab
            .fsduel(["run", "smoke", "--device", &disk.path])
            .args(more)
            .env_remove("FSDUEL_STORE")
            .output();
        output.unwrap()
    };
    let output = run(&["--destroy-data", "/dev/loop-of-another"]);
    assert_exits(&output, 2);
    assert!(stderr(&output).contains("/dev/loop-of-another"), "{}", told(&output));
    assert_exits(&run(&[]), 2);
}

fn link() {
    let lab = Lab::new();
    let disk = Disk::new(&lab, &[]);
    let link = lab.path("link");
    std::os::unix::fs::symlink(&disk.path, &link).unwrap();
    let link = link.to_str().unwrap();
    let arguments = ["run", "smoke", "--fs", "ext4", "--device", link, "--destroy-data", link];
    let output = lab.fsduel(arguments).env_remove("FSDUEL_STORE").output().unwrap();
    assert_exits(&output, 0);
}

fn killed() {
    for whom in ["runner", "worker"] {
        let lab = Lab::new();
        let disk = Disk::new(&lab, &[]);
        let arguments =
            ["run", "smoke", "--fs", "ext4", "--device", &disk.path, "--destroy-data", &disk.path];
        let mut command = lab.fsduel(arguments);
        command.env_remove("FSDUEL_STORE").env("FSDUEL_LOG", "debug");
        let mut runner = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        wait_for(&mut runner, "step small-files");
        let pid = match whom {
            "runner" => Pid::from_raw(i32::try_from(runner.id()).unwrap()),
            _ => worker(&lab),
        };
        kill(pid, Signal::SIGKILL).unwrap();
        runner.wait().unwrap();
        lab.assert_nothing_is_left();
        // Unmounted once the kernel has written back.
        let free = || {
            (0..600).any(|_| {
                disk.is_free() || {
                    std::thread::sleep(Duration::from_millis(50));
                    false
                }
            })
        };
        assert!(free(), "after the death of the {whom}");
    }
}
