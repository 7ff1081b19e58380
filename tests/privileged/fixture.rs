//! A file system as a value, as tests of other crates use it.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use fsduel_harness::for_each_filesystem;
use fsduel_harness::result::Checked;
use fsduel_harness::testing::Scratch;
use libtest_mimic::Trial;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::general;
use crate::lab::Lab;

pub fn trials() -> Vec<Trial> {
    vec![
        general("a_fixture_leaves_exactly_so_much_room", room),
        general("a_fixture_without_inodes_takes_no_more_files", inodes),
        general("a_fixture_is_mounted_again_with_other_options", remounts),
        general("a_thread_that_existed_before_is_brought_in_and_goes_back", threads),
        general("a_fixture_that_is_restored_is_what_it_was", snapshots),
        general("what_is_in_a_snapshot_is_all_that_was_there_before_it", snapshots_at_once),
        general("a_fixture_belongs_to_whom_it_is_given", owner),
        general("several_fixtures_of_one_thread_do_not_hide_each_other", several),
        general("a_fixture_leaves_nothing_after_a_panic_an_abort_and_a_kill", leaves_nothing),
        general("what_no_machine_can_do_is_an_error_and_no_skip", nonsense),
        general("a_body_that_fails_on_one_file_system_names_it", fails_on_one),
    ]
}

/// How many bytes of data fit in, by somebody else's hands.
fn fits(fs: &Scratch) -> u64 {
    let path = fs.path().join("fits");
    let mut dd = Command::new("dd");
    dd.args(["if=/dev/zero", "bs=4096", "conv=fsync", "status=none"]);
    assert!(!dd.arg(format!("of={}", path.display())).stderr(Stdio::null()).status().unwrap().success());
    let length = path.metadata().map_or(0, |stat| stat.len());
    let _ = fs::remove_file(path);
    fs.space().unwrap();
    length
}

fn room() {
    for_each_filesystem!([ext4, xfs, btrfs], |fs: Scratch| {
        for wanted in [32 << 20, 1 << 20, 0] {
            fs.fill_to(wanted).unwrap();
            let (fits, name) = (fits(&fs), fs.filesystem());
            assert!(fits.abs_diff(wanted) <= 64 << 10, "{fits} of {wanted} on {name}");
        }
        let error = fs.fill_to(1 << 40).unwrap_err();
        assert_eq!(error.kind(), fsduel_harness::error::Kind::Usage);
        assert_eq!(
            fs::read_dir(fs.path())
                .unwrap()
                .filter(|entry| { entry.as_ref().unwrap().file_name().to_str().unwrap().contains("room") })
                .count(),
            0
        );
    });
}

fn inodes() {
    let Some(fs) = Scratch::ext4().size("64MiB").inodes(1024).for_test() else { return };
    let free = fs.space().unwrap().inodes_free;
    // One of them is that of the directory.
    assert_eq!(fs.exhaust_inodes().unwrap(), free - 1);
    assert_eq!(File::create(fs.path().join("more")).unwrap_err().kind(), ErrorKind::StorageFull);
    assert!(fs.space().unwrap().free.0 > 16 << 20);
    let Some(fs) = Scratch::btrfs().for_test() else { return };
    assert!(fs.exhaust_inodes().unwrap_err().to_string().contains("as they are needed"));
}

fn remounts() {
    for_each_filesystem!([ext4, xfs, btrfs], |mut fs: Scratch| {
        let options = |fs: &Scratch| {
            let table = fs::read_to_string("/proc/thread-self/mountinfo").unwrap();
            let path = fs.path().to_str().unwrap();
            table.lines().find(|line| line.contains(path)).unwrap().to_owned()
        };
        assert!(options(&fs).contains("noatime"));
        fs.remount("strictatime,sync").unwrap();
        assert!(!options(&fs).contains("noatime") && options(&fs).contains("sync"), "{}", options(&fs));
        let error = fs.remount("no-such-option").unwrap_err();
        assert!(error.to_string().contains("no-such-option"), "{error}");
        fs::write(fs.path().join("file"), "content").unwrap();
        let open = File::open(fs.path().join("file")).unwrap();
        let error = fs.drop_caches().unwrap_err();
        assert!(error.to_string().contains("unmount"), "{error}");
        drop(open);
        fs.drop_caches().unwrap();
        fs.remount_read_only().unwrap();
        assert_eq!(File::create(fs.path().join("x")).unwrap_err().kind(), ErrorKind::ReadOnlyFilesystem);
        assert_eq!(fs.fsck().unwrap().checked, Checked::Clean);
        assert_eq!(fs::read_to_string(fs.path().join("file")).unwrap(), "content");
    });
}

fn threads() {
    // One that has made no other: what it starts sees all that it makes.
    std::thread::spawn(pool).join().unwrap();
}

fn pool() {
    let (ask, asked) = mpsc::channel::<Option<PathBuf>>();
    let (answer, answered) = mpsc::channel();
    // Of a pool: it was there before.
    let before = std::thread::spawn(move || {
        while let Ok(Some(path)) = asked.recv() {
            answer.send(fs::write(path.join("file"), "content").map_err(|error| error.kind())).unwrap();
        }
    });
    let Some(fs) = Scratch::ext4().size("64MiB").for_test() else { return };
    ask.send(Some(fs.path().to_owned())).unwrap();
    assert_eq!(answered.recv().unwrap(), Err(ErrorKind::NotFound), "nothing is written to this machine");
    ask.send(None).unwrap();
    before.join().unwrap();
    let outside = std::env::current_dir().unwrap();
    std::thread::scope(|scope| {
        let fs = &fs;
        let inside = move || {
            assert!(fs.enter(|| fs.path().join("lost+found").exists()));
            std::env::current_dir().unwrap()
        };
        assert_eq!(scope.spawn(inside).join().unwrap(), outside);
        // A thread that is started later is there already.
        scope.spawn(move || fs::write(fs.path().join("later"), "").unwrap());
    });
    assert!(fs.path().join("later").exists());
}

fn snapshots() {
    for_each_filesystem!([ext4, xfs, btrfs], |mut fs: Scratch| {
        fs::write(fs.path().join("kept"), vec![1; 5 << 20]).unwrap();
        let snapshot = fs.snapshot().unwrap();
        fs::write(fs.path().join("kept"), "changed").unwrap();
        fs::write(fs.path().join("new"), vec![2; 20 << 20]).unwrap();
        for _ in 0..2 {
            fs.restore(&snapshot).unwrap();
            assert_eq!(fs::read(fs.path().join("kept")).unwrap(), vec![1; 5 << 20]);
            assert!(!fs.path().join("new").exists());
            fs::remove_file(fs.path().join("kept")).unwrap();
        }
        fs.restore(&snapshot).unwrap();
        assert_eq!(fs.fsck().unwrap().checked, Checked::Clean);
    });
}

/// btrfs lives on for a moment after it was unmounted, where it had just been mounted.
fn snapshots_at_once() {
    let one = || {
        for _ in 0..40 {
            let Some(mut fs) = Scratch::btrfs().for_test() else { return };
            fs::write(fs.path().join("kept"), "content").unwrap();
            let snapshot = fs.snapshot().unwrap();
            fs::write(fs.path().join("new"), "content").unwrap();
            File::open(fs.path().join("new")).unwrap().sync_all().unwrap();
            fs.restore(&snapshot).unwrap();
            assert_eq!(fs::read_to_string(fs.path().join("kept")).unwrap(), "content");
        }
    };
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(one))));
}

fn owner() {
    let Some(fs) = Scratch::xfs().owner(65534, 65533).for_test() else { return };
    let stat = fs.path().metadata().unwrap();
    assert_eq!((stat.uid(), stat.gid()), (65534, 65533));
}

fn several() {
    let make = || Scratch::ext4().size("16MiB").in_memory().for_test();
    let all: Vec<Scratch> = (0..8).filter_map(|_| make()).collect();
    for (number, fs) in all.iter().enumerate() {
        fs::write(fs.path().join("number"), number.to_string()).unwrap();
    }
    for (number, fs) in all.iter().enumerate() {
        assert_eq!(fs::read_to_string(fs.path().join("number")).unwrap(), number.to_string());
    }
}

/// What the process that this test starts does.
const CHILD: &str = "FSDUEL_TEST_FIXTURE";

/// Be that process, if we are.
pub fn run_if_child() {
    let Ok(way) = std::env::var(CHILD) else { return };
    let store = std::env::var("FSDUEL_STORE").unwrap();
    let all: Vec<Scratch> = ["ext4", "xfs", "btrfs"]
        .iter()
        .map(|name| Scratch::of(name).store(Path::new(&store)).create().unwrap())
        .collect();
    all.iter().for_each(|fs| fs::write(fs.path().join("file"), vec![7; 1 << 20]).unwrap());
    println!("ready");
    match way.as_str() {
        "panic" => panic!("on purpose"),
        "abort" => std::process::abort(),
        "exit" => std::process::exit(0),
        _ => std::thread::sleep(std::time::Duration::from_secs(600)),
    }
}

fn child(lab: &Lab, way: &str) -> Child {
    let program = std::env::current_exe().unwrap();
    let mut command = lab.command(program.to_str().unwrap());
    let mut child = command.env(CHILD, way).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "{way}");
    child
}

fn leaves_nothing() {
    let lab = Lab::new();
    for way in ["panic", "abort", "exit", "sleep"] {
        let mut child = child(&lab, way);
        if way == "sleep" {
            assert_eq!(lab.devices().len(), 3);
            kill(Pid::from_raw(i32::try_from(child.id()).unwrap()), Signal::SIGKILL).unwrap();
        }
        child.wait().unwrap();
        lab.assert_nothing_is_left();
    }
}

fn nonsense() {
    use fsduel_harness::error::Kind::Usage;
    let kind = |builder: fsduel_harness::testing::Builder| builder.create().unwrap_err().kind();
    assert_eq!(kind(Scratch::of("no-such-file-system")), Usage);
    assert_eq!(kind(Scratch::ext4().size("many")), Usage);
    assert_eq!(kind(Scratch::xfs().size("1MiB")), Usage);
    assert_eq!(kind(Scratch::btrfs().inodes(100)), Usage);
    assert_eq!(kind(Scratch::ext4().store("/no/such/folder")), Usage);
    let error = Scratch::ext4().mount_options("no-such-option").create().unwrap_err();
    assert!(error.to_string().contains("no-such-option"), "{error}");
    assert!(Scratch::ext4().mkfs_options("--no-such-option").create().is_err());
}

fn fails_on_one() {
    let run = || {
        for_each_filesystem!([ext4, xfs], |fs: Scratch| assert_ne!(fs.filesystem(), "xfs"));
    };
    let panic = std::panic::catch_unwind(run).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), "failed on xfs");
}
