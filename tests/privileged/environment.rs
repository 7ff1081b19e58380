//! What is wrong with the machine, not with the file system: said so, with the next step.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use fsduel_harness::result::{CaseResult, RunReport, Status};
use libtest_mimic::Trial;

use crate::general;
use crate::lab::{Lab, assert_exits, stderr, told};

pub fn trials() -> Vec<Trial> {
    vec![
        general("a_store_that_is_too_small_is_refused_with_the_numbers", small_store),
        general("a_store_that_fills_up_makes_the_case_invalid_and_shows_no_number", full_store),
        general("a_store_on_mnt_is_not_hidden_by_our_own_mounts", store_on_mnt),
        general("a_device_or_a_link_at_the_place_of_a_result_stays", special_destinations),
        general("a_loop_node_that_the_container_lacks_is_made", bare_dev),
        general("tools_are_found_in_sbin_folders_that_are_not_on_path", no_sbin),
        general("without_root_the_message_says_so", not_root),
        general("root_in_a_user_namespace_is_told_from_root", user_namespace),
        general("root_without_cap_sys_admin_is_told_from_root", no_capability),
        general("a_read_only_store_is_named", read_only_store),
        general("a_store_on_tmpfs_works_with_a_warning", tmpfs_store),
        general("images_in_memory_work", memory_store),
        general("an_image_below_the_minimum_is_not_run_with_the_size_that_would_do", small_image),
        general("a_block_size_that_a_file_system_cannot_have_is_not_run_with_those_it_can", block_size),
        general("more_files_than_inodes_is_refused_with_the_size_that_would_do", inodes),
        general("a_missing_mkfs_is_named_with_its_package_and_the_others_run", missing_mkfs),
        general("host_settings_of_mke2fs_change_nothing", host_settings),
        general("mkfs_options_that_the_tool_refuses_are_usage_with_its_words", refused_options),
        general("foreign_loop_devices_are_left_alone", foreign),
        general("a_billion_files_are_refused_at_once", billion),
        general("a_reader_of_stderr_that_has_stalled_does_not_stall_the_run", stalled_reader),
    ]
}

/// Run a shell script in a mount namespace of its own; `$FSDUEL` is the program, `$LAB` a folder.
fn in_namespace(lab: &Lab, unshare: &[&str], script: &str) -> Output {
    Command::new("unshare")
        .args(unshare)
        .args(["bash", "-c", script])
        .env("FSDUEL", env!("CARGO_BIN_EXE_fsduel"))
        .env("LAB", lab.path("").as_os_str())
        .env_remove("FSDUEL_REQUIRE_ALL")
        .output()
        .unwrap()
}

const MOUNTS: [&str; 3] = ["-m", "--propagation", "slave"];

/// A tmpfs of 120 MiB as the store of a 400 MiB image.
fn on_small_store(lab: &Lab, arguments: &str) -> Output {
    let script = format!(
        "mkdir $LAB/small && mount -t tmpfs -o size=120M none $LAB/small && cd / &&
         exec $FSDUEL run --workload fill-until-enospc --set pattern=random --size 400MiB --store $LAB/small {arguments}"
    );
    in_namespace(lab, &MOUNTS, &script)
}

fn small_store() {
    let lab = Lab::new();
    let output = on_small_store(&lab, "--fs ext4");
    assert_exits(&output, 69);
    let told_so = stderr(&output);
    // The image, and a twentieth to spare.
    assert!(told_so.contains("420 MiB") && told_so.contains("120 MiB"), "{told_so}");
    assert!(told_so.contains("--store") && told_so.contains("--overcommit"), "{told_so}");
}

/// Somebody else, who fills the store once the work has begun, and goes when the run has ended.
const OTHER: &str = "until grep -q 'phase: step' $LAB/log; do sleep 0.02; done
    dd if=/dev/zero of=$LAB/small/other bs=1M 2>/dev/null";

/// The same, but gone again while the work still goes on: what was lost meanwhile stays lost.
const FOR_A_MOMENT: &str = "until grep -q 'phase: step' $LAB/log; do sleep 0.02; done
    dd if=/dev/zero of=$LAB/small/other bs=1M 2>/dev/null; sleep 1.5; rm $LAB/small/other";

/// Sizes of a store on which the work, or mkfs already, runs out of space; and one that has room, but
/// not while somebody else fills it.
fn full_store() {
    let small_files = "many-small-files --set count=60000 --set file-size=4KiB";
    let synced_files = "many-small-files --set count=60000 --set file-size=4KiB --set fsync=file";
    let directories = "many-directories --set count=12000 --set files=1..1 --set file-size=12KiB";
    for filesystem in ["btrfs", "ext4", "xfs"] {
        for (size, workload, meanwhile) in [
            ("120M", "fill-until-enospc --set pattern=random", "true"),
            ("120M", small_files, "true"),
            ("120M", directories, "true"),
            ("1100K", small_files, "true"),
            ("500M", small_files, OTHER),
            ("500M", synced_files, FOR_A_MOMENT),
        ] {
            runs_out_of_space(filesystem, size, workload, meanwhile);
        }
    }
}

/// An empty disk on /mnt is where a mount point would be looked for first.
fn store_on_mnt() {
    let lab = Lab::new();
    let script = "mount -t tmpfs -o size=600M none /mnt && mkdir $LAB/out &&
        exec $FSDUEL run smoke --fs ext4 --store /mnt --json $LAB/out/report.json";
    assert_exits(&in_namespace(&lab, &MOUNTS, script), 0);
}

/// Whatever stands at the place of a result stays what it is.
fn special_destinations() {
    let lab = Lab::new();
    let script = "mount -t tmpfs none $LAB && cd $LAB && mknod null c 1 3 && mknod full c 1 7 && ln -s file link
        run() { $FSDUEL run --workload many-small-files --size 64MiB --fs ext4 --store memory --json $1; }
        run null && [ -c null ] && ! run full && [ -c full ] && touch file && run link && [ -L link ] && [ -s file ]";
    assert_exits(&in_namespace(&lab, &MOUNTS, script), 0);
}

fn runs_out_of_space(filesystem: &str, size: &str, workload: &str, meanwhile: &str) {
    let lab = Lab::new();
    let script = format!(
        "mkdir $LAB/small && mount -t tmpfs -o size={size} none $LAB/small && cd / && touch $LAB/log || exit
         ({meanwhile}) & other=$!
         FSDUEL_LOG=debug $FSDUEL run --workload {workload} --size 400MiB --store $LAB/small --overcommit \
         --fs {filesystem} --json $LAB/report.json 2>$LAB/log
         code=$?; kill $other 2>/dev/null; wait $other; cat $LAB/log >&2; exit $code"
    );
    let output = in_namespace(&lab, &MOUNTS, &script);
    assert_exits(&output, 7);
    let report: RunReport =
        serde_json::from_str(&fs::read_to_string(lab.path("report.json")).unwrap()).unwrap();
    let case = &report.cases[0];
    assert_eq!(case.status, Status::Invalid);
    assert!(case.steps.is_empty() && case.metrics.0.is_empty(), "no number is stored");
    assert!(case.reason.as_ref().unwrap().text.contains("ran out of space"), "{}", told(&output));
}

fn bare_dev() {
    let lab = Lab::new();
    let script = "mount -t tmpfs none /dev && mknod /dev/null c 1 3 && mknod /dev/loop-control c 10 237 &&
        mknod /dev/urandom c 1 9 && exec $FSDUEL run smoke --fs btrfs,ext4,xfs --store $LAB";
    assert_exits(&in_namespace(&lab, &MOUNTS, script), 0);
}

fn no_sbin() {
    let lab = Lab::new();
    let output =
        lab.fsduel(["run", "smoke", "--fs", "btrfs,ext4,xfs"]).env("PATH", "/usr/bin:/bin").output().unwrap();
    assert_exits(&output, 0);
}

/// A copy of the program that an ordinary user may run.
fn readable_copy(lab: &Lab) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let copy = lab.path("fsduel");
    fs::copy(env!("CARGO_BIN_EXE_fsduel"), &copy).unwrap();
    fs::set_permissions(copy.parent().unwrap(), fs::Permissions::from_mode(0o755)).unwrap();
    copy
}

fn not_root() {
    let lab = Lab::new();
    let mut command = Command::new(readable_copy(&lab));
    let output = command.args(["run", "smoke"]).current_dir("/").uid(65534).gid(65534).output().unwrap();
    assert_exits(&output, 69);
    assert!(stderr(&output).contains("uid=65534") && stderr(&output).contains("sudo"), "{}", told(&output));
}

fn user_namespace() {
    let lab = Lab::new();
    let output = in_namespace(&lab, &["-Ur"], "exec $FSDUEL run smoke --store $LAB");
    assert_exits(&output, 69);
    assert!(stderr(&output).contains("user namespace"), "{}", told(&output));
}

fn no_capability() {
    let output = Command::new("setpriv")
        .args(["--bounding-set=-sys_admin", env!("CARGO_BIN_EXE_fsduel"), "run", "smoke"])
        .output()
        .unwrap();
    assert_exits(&output, 69);
    assert!(stderr(&output).contains("CAP_SYS_ADMIN"), "{}", told(&output));
}

fn read_only_store() {
    let lab = Lab::new();
    let script =
        "mkdir $LAB/ro && mount -t tmpfs -o ro none $LAB/ro && exec $FSDUEL run smoke --store $LAB/ro";
    let output = in_namespace(&lab, &MOUNTS, script);
    assert_exits(&output, 69);
    assert!(stderr(&output).contains("read-only"), "{}", told(&output));
}

fn tmpfs_store() {
    let lab = Lab::new();
    let script = "mkdir $LAB/ram && mount -t tmpfs none $LAB/ram && \
        exec $FSDUEL run smoke --fs ext4 --store $LAB/ram --json $LAB/report.json";
    let output = in_namespace(&lab, &MOUNTS, script);
    assert_exits(&output, 0);
    let report: RunReport =
        serde_json::from_str(&fs::read_to_string(lab.path("report.json")).unwrap()).unwrap();
    assert!(
        report
            .manifest
            .warnings
            .iter()
            .any(|warning| warning.code.contains("memory") || warning.text.contains("tmpfs"))
    );
}

fn memory_store() {
    let lab = Lab::new();
    let output = lab.fsduel(["run", "smoke", "--fs", "ext4", "--store", "memory"]).output().unwrap();
    assert_exits(&output, 0);
    lab.assert_nothing_is_left();
}

fn small_image() {
    let lab = Lab::new();
    let (output, report) = lab.report(["run", "smoke", "--fs", "ext4,xfs", "--size", "256MiB"]);
    assert_exits(&output, 69);
    let (ext4, xfs) = (case_of(&report, "ext4"), case_of(&report, "xfs"));
    assert_eq!((ext4.status, xfs.status), (Status::Passed, Status::NotRun));
    assert!(xfs.reason.as_ref().unwrap().text.contains("300 MiB"));
}

fn case_of<'a>(report: &'a RunReport, id: &str) -> &'a CaseResult {
    report.cases.iter().find(|case| case.configuration.id == id).unwrap()
}

fn block_size() {
    let lab = Lab::new();
    let (output, report) = lab.report(["run", "smoke", "--fs", "btrfs,ext4", "--block-size", "1KiB"]);
    assert_exits(&output, 69);
    assert_eq!(
        report.cases.iter().map(|case| case.status).collect::<Vec<_>>(),
        [Status::NotRun, Status::Passed]
    );
    assert!(report.cases[0].reason.as_ref().unwrap().text.contains("4 KiB"));
    assert_eq!(report.cases[1].loop_device.as_ref().unwrap().logical_block_size_bytes, 512);
}

fn inodes() {
    let lab = Lab::new();
    let output = lab
        .fsduel([
            "run",
            "--workload",
            "many-small-files",
            "--set",
            "count=99999",
            "--size",
            "512MiB",
            "--fs",
            "ext4",
        ])
        .output()
        .unwrap();
    assert_exits(&output, 2);
    // 512 MiB of ext4 have 32,768 inodes: 11 are reserved.
    assert!(stderr(&output).contains("32757") && stderr(&output).contains("--size"), "{}", told(&output));
}

/// A device over mkfs.xfs, in every folder where it is looked for, is no program.
fn missing_mkfs() {
    let lab = Lab::new();
    let script = "for d in /usr/local/sbin /usr/sbin /sbin; do [ -e $d/mkfs.xfs ] && mount --bind /dev/null $d/mkfs.xfs; done
        exec $FSDUEL run smoke --fs ext4,xfs --store $LAB";
    let output = in_namespace(&lab, &MOUNTS, script);
    assert_exits(&output, 69);
    assert!(stderr(&output).contains("xfsprogs"), "{}", told(&output));
}

fn host_settings() {
    let lab = Lab::new();
    let conf = lab.path("mke2fs.conf");
    fs::write(&conf, "[defaults]\n base_features = sparse_super\n inode_size = 128\n").unwrap();
    let arguments = ["run", "smoke", "--fs", "ext4"];
    let (_, plain) = lab.report(arguments);
    let json = lab.path("second.json");
    let mut command = lab.fsduel(arguments);
    let output = command.env("MKE2FS_CONFIG", &conf).arg("--json").arg(&json).output().unwrap();
    assert_exits(&output, 0);
    let second: RunReport = serde_json::from_str(&fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(plain.cases[0].features, second.cases[0].features);
    assert!(plain.cases[0].features.iter().any(|feature| feature == "has_journal"));
}

fn foreign() {
    let lab = Lab::new();
    let image = lab.path("foreign");
    fs::File::create(&image).unwrap().set_len(8 << 20).unwrap();
    let attached = Command::new("losetup").args(["--find", "--show"]).arg(&image).output().unwrap();
    assert!(attached.status.success(), "{}", told(&attached));
    let device = String::from_utf8(attached.stdout).unwrap().trim().to_owned();
    let run = lab.fsduel(["run", "smoke", "--fs", "ext4"]).output().unwrap();
    let gc = lab.fsduel(["gc", "--force"]).output().unwrap();
    let name = Path::new(&device).file_name().unwrap().to_owned();
    let backing = fs::read_to_string(Path::new("/sys/block").join(name).join("loop/backing_file"));
    let detached = Command::new("losetup").arg("-d").arg(&device).status().unwrap();
    assert_exits(&run, 0);
    assert_exits(&gc, 0);
    assert!(detached.success());
    assert_eq!(backing.unwrap().trim(), image.to_str().unwrap());
}

fn billion() {
    let lab = Lab::new();
    // To count them in the larger image takes minutes.
    for (workload, size) in [("many-small-files", "1GiB"), ("many-directories", "32GiB")] {
        let begun = Instant::now();
        let work = ["run", "--workload", workload, "--set", "count=1000000000", "--size", size];
        let output = lab.fsduel(work).output().unwrap();
        assert_exits(&output, 2);
        assert!(stderr(&output).contains("--size"), "{}", told(&output));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

fn stalled_reader() {
    let lab = Lab::new();
    let (_reader, writer) = nix::unistd::pipe().unwrap();
    let full = |flags| nix::fcntl::fcntl(&writer, nix::fcntl::FcntlArg::F_SETFL(flags)).unwrap();
    full(nix::fcntl::OFlag::O_NONBLOCK);
    while nix::unistd::write(&writer, &[b'x'; 4096]).is_ok() {}
    full(nix::fcntl::OFlag::empty());
    let status = lab.fsduel(["run", "smoke", "--fs", "ext4"]).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(0));
    lab.assert_nothing_is_left();
}

fn refused_options() {
    for (options, words) in [("xfs=-b size=4096", "-b"), ("btrfs=--no-such-option", "no-such-option")] {
        let lab = Lab::new();
        let name = options.split('=').next().unwrap();
        let output = lab.fsduel(["run", "smoke", "--fs", name, "--mkfs-options", options]).output().unwrap();
        assert_exits(&output, 2);
        assert!(stderr(&output).contains(words), "{}", told(&output));
        lab.assert_nothing_is_left();
    }
}
