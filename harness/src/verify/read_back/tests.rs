//! Each kind of damage is found and named, on a folder in place of a mount.

use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};

use super::*;
use crate::ops::{Ops, Real};
use crate::units::Bytes;
use crate::workload::{Build, build};

const SEED: Seed = Seed(11);

struct Tree {
    directory: tempfile::TempDir,
    step: &'static str,
    workload: Arc<dyn Workload>,
}

fn workload(step: &str, name: &str, parameters: &Value, earlier: &[Earlier]) -> Arc<dyn Workload> {
    let (block_size, image_size) = (Bytes::kib(4), Bytes::mib(64));
    build(&Build { step, parameters, earlier, block_size, image_size, compressing: false }, name).unwrap()
}

impl Tree {
    fn made(step: &'static str, name: &str, parameters: Value) -> Self {
        // Not /tmp: a memory file system may have no holes to look for.
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let tree = Self { directory, step, workload: workload(step, name, &parameters, &[]) };
        tree.run(&*tree.workload);
        tree
    }

    fn files() -> Self {
        Self::made("files", "many-small-files", json!({"count": 500, "file-size": "1..9000"}))
    }

    fn directories() -> Self {
        Self::made("dirs", "many-directories", json!({"count": 50}))
    }

    fn run(&self, workload: &dyn Workload) {
        let root = fs::File::open(self.directory.path()).unwrap();
        let mut real = Real::new(root, &GO_ON);
        workload.run(&mut real, SEED).unwrap();
        assert!(real.counts().total() > 0);
    }

    fn path(&self, below: &str) -> PathBuf {
        self.directory.path().join(below)
    }

    fn read_back(&self, reach: impl Into<Reach>) -> ReadBack {
        self.read_back_of(&*self.workload, reach)
    }

    fn read_back_of(&self, workload: &dyn Workload, reach: impl Into<Reach>) -> ReadBack {
        let root = fs::File::open(self.directory.path()).unwrap();
        read_back(root.as_fd(), workload, self.step, SEED, reach, &GO_ON).unwrap()
    }

    fn earlier(&self) -> [Earlier; 1] {
        [Earlier { step: self.step.into(), workload: Arc::clone(&self.workload) }]
    }
}

static GO_ON: AtomicBool = AtomicBool::new(false);

fn damaged(found: &ReadBack, details: &[&str]) {
    assert_eq!(found.details, details);
    assert_eq!(found.checked, Checked::Damaged);
}

#[test]
fn what_was_written_is_clean_and_hashes_as_planned() {
    for tree in [Tree::files(), Tree::directories()] {
        let found = tree.read_back(None);
        assert_eq!((found.checked, &found.details[..]), (Checked::Clean, &[][..]));
        let mut tell = |_| {};
        let mut plan = Plan::new(&mut tell);
        tree.workload.run(&mut plan, SEED).unwrap();
        assert_eq!(found.tree_hash, plan.finish().tree_hash());
        assert_eq!(found.tree_hash.len(), 32);
    }
}

#[test]
fn a_missing_file_is_named() {
    let tree = Tree::files();
    fs::remove_file(tree.path("files/000123")).unwrap();
    damaged(&tree.read_back(None), &["files/000123: missing"]);
}

#[test]
fn an_extra_file_is_named_also_where_another_is_missing() {
    let tree = Tree::directories();
    fs::write(tree.path("dirs/000007/other"), "x").unwrap();
    damaged(&tree.read_back(None), &["dirs/000007/other: was not made by this step"]);
    fs::remove_file(tree.path("dirs/000009/1")).unwrap();
    damaged(
        &tree.read_back(None),
        &["dirs/000009/1: missing", "dirs/000007/other: was not made by this step"],
    );
}

#[test]
fn a_changed_byte_is_named_with_its_offset() {
    let tree = Tree::made("files", "many-small-files", json!({"count": 3, "file-size": 300_000}));
    let before = fs::read(tree.path("files/000001")).unwrap();
    let file = fs::OpenOptions::new().write(true).open(tree.path("files/000001")).unwrap();
    file.write_all_at(&[!before[262_145]], 262_145).unwrap();
    let detail =
        format!("files/000001: byte 262145 is {:#04x} instead of {:#04x}", !before[262_145], before[262_145]);
    let found = tree.read_back(None);
    damaged(&found, &[&detail]);
    file.write_all_at(&before[262_145..=262_145], 262_145).unwrap();
    assert_ne!(found.tree_hash, tree.read_back(None).tree_hash, "the hash is that of what was read");
}

#[test]
fn a_short_and_a_long_file_are_told_apart() {
    let tree = Tree::made("files", "many-small-files", json!({"count": 20, "file-size": 100}));
    for (name, size) in [("files/000003", 0), ("files/000005", 101)] {
        let file = fs::OpenOptions::new().write(true).open(tree.path(name)).unwrap();
        file.set_len(size).unwrap();
    }
    damaged(
        &tree.read_back(None),
        &["files/000003: has 0 bytes instead of 100", "files/000005: has 101 bytes instead of 100"],
    );
}

#[test]
fn another_kind_is_named_and_a_fifo_is_not_waited_for() {
    let tree = Tree::directories();
    let fifo = tree.path("dirs/000000/0");
    fs::remove_file(&fifo).unwrap();
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    fs::remove_file(tree.path("dirs/000001/0")).unwrap();
    std::os::unix::fs::symlink("1", tree.path("dirs/000001/0")).unwrap();
    fs::remove_file(tree.path("dirs/000002/0")).unwrap();
    fs::create_dir(tree.path("dirs/000002/0")).unwrap();
    let wrong = ["dirs/000000/0: is no file", "dirs/000001/0: is no file", "dirs/000002/0: is no file"];
    damaged(&tree.read_back(None), &wrong);
}

#[test]
fn a_file_in_place_of_a_directory_is_named_with_what_is_missing_in_it() {
    let tree = Tree::directories();
    fs::remove_dir_all(tree.path("dirs/000004")).unwrap();
    fs::write(tree.path("dirs/000004"), "").unwrap();
    let found = tree.read_back(None);
    assert_eq!(found.details[0], "dirs/000004: is no directory");
    assert!(found.details[1..].iter().all(|detail| detail.ends_with(": missing")), "{:?}", found.details);
}

#[test]
fn only_the_first_ten_differences_are_named_in_the_order_of_creation() {
    let tree = Tree::files();
    fs::remove_dir_all(tree.path("files")).unwrap();
    let details = tree.read_back(None).details;
    assert_eq!(details.len(), 11);
    assert_eq!(details[0], "files: missing");
    assert_eq!(details[1], "files/000000: missing");
    assert_eq!(details[9], "files/000008: missing");
    assert_eq!(details[10], "and 491 more differences");
}

#[test]
fn a_fill_is_checked_to_the_size_it_reached_and_for_holes() {
    let tree = Tree::made("fill", "fill-until-enospc", json!({"cap": "3MiB"}));
    assert_eq!(tree.read_back(Some(Bytes::mib(3))).checked, Checked::Clean);
    let file = fs::OpenOptions::new().write(true).open(tree.path("fill/file")).unwrap();
    file.set_len(1 << 20).unwrap();
    damaged(&tree.read_back(Some(Bytes::mib(3))), &["fill/file: has 1048576 bytes instead of 3145728"]);
    file.set_len(3 << 20).unwrap();
    damaged(
        &tree.read_back(Some(Bytes::mib(3))),
        &["fill/file: has a hole at byte 1048576, where zeros were written"],
    );
}

#[test]
fn a_full_file_system_needs_the_size_that_was_reached() {
    let tree = Tree::made("fill", "fill-until-enospc", json!({"cap": "1MiB"}));
    let root = fs::File::open(tree.directory.path()).unwrap();
    let error = read_back(root.as_fd(), &*tree.workload, "fill", SEED, None, &GO_ON).unwrap_err();
    assert!(error.to_string().contains("size of its file"), "{error}");
}

#[test]
fn work_that_met_a_limit_is_checked_as_far_as_it_came() {
    let tree = Tree::made("files", "many-small-files", json!({"count": 20, "file-size": 100}));
    fs::remove_file(tree.path("files/000019")).unwrap();
    let reach = Reach { operations: Some(1 + 19 * 3), written: Some(Bytes(1900)), ..Reach::default() };
    assert_eq!(tree.read_back(reach).checked, Checked::Clean);
    assert_eq!(tree.read_back(None).checked, Checked::Damaged);
}

#[test]
fn a_step_that_reads_has_the_trees_it_read_checked() {
    let tree = Tree::directories();
    let stat = workload("stat", "stat", &Value::Null, &tree.earlier());
    let clean = tree.read_back_of(&*stat, None);
    assert_eq!((clean.checked, clean.tree_hash), (Checked::Clean, tree.read_back(None).tree_hash));
    fs::remove_file(tree.path("dirs/000003/2")).unwrap();
    damaged(&tree.read_back_of(&*stat, None), &["dirs/000003/2: missing"]);
}

#[test]
fn what_was_removed_must_be_gone() {
    let tree = Tree::directories();
    let remove = workload("remove", "remove", &Value::Null, &tree.earlier());
    damaged(&tree.read_back_of(&*remove, None), &["dirs: was removed and is still there"]);
    tree.run(&*remove);
    let found = tree.read_back_of(&*remove, None);
    assert_eq!((found.checked, found.tree_hash), (Checked::Clean, "0".repeat(32)));
}

#[test]
fn a_stopped_read_back_is_an_error_and_not_clean() {
    let tree = Tree::files();
    let root = fs::File::open(tree.directory.path()).unwrap();
    let stop = AtomicBool::new(true);
    let error = read_back(root.as_fd(), &*tree.workload, "files", SEED, None, &stop).unwrap_err();
    assert_eq!(error.kind(), crate::error::Kind::Stopped);
}
