//! A byte that changes between unmount and mount is seen, by whichever check can see it.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicBool;

use fsduel_harness::fs::{Filesystem, MkfsOptions};
use fsduel_harness::manifest;
use fsduel_harness::ops::Real;
use fsduel_harness::result::Checked;
use fsduel_harness::scratch::{Scratch, ScratchSpec, Tag};
use fsduel_harness::sys::namespace::enter_private_mounts;
use fsduel_harness::units::{Bytes, Seed};
use fsduel_harness::verify::{ReadBack, read_back};
use fsduel_harness::workload::{StepSpec, Workload, sequence};
use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::lab::Lab;
use crate::of;

pub fn trials(filesystem: &'static dyn Filesystem) -> Vec<Trial> {
    vec![
        of(filesystem, "one_changed_byte_of_a_file_is_seen", small_files),
        of(filesystem, "one_changed_byte_of_a_file_of_postmark_is_seen", postmark),
    ]
}

/// 64 KiB each, so that no file system keeps them inside its metadata.
fn small_files(filesystem: &'static dyn Filesystem) {
    changed_byte(filesystem, "many-small-files", json!({ "count": 20, "file-size": "64KiB" }));
}

/// Every file has its own content, so that the byte is of one of them alone.
fn postmark(filesystem: &'static dyn Filesystem) {
    let sizes = "65536..100000";
    let plan =
        json!({ "number": 20, "transactions": 10, "size": sizes, "content": "unique", "delete": false });
    changed_byte(filesystem, "postmark", plan);
}

const SEED: Seed = Seed(7);
const SIZE: Bytes = Bytes::mib(320);
static GO_ON: AtomicBool = AtomicBool::new(false);

fn changed_byte(filesystem: &'static dyn Filesystem, workload: &str, parameters: Value) {
    let lab = Lab::new();
    // Every mount of this test is seen by this thread alone.
    enter_private_mounts().unwrap();
    let run_id = manifest::run_id();
    let mut scratch = Scratch::attach(&ScratchSpec {
        disk: None,
        store: Some(lab.store().to_owned()),
        size: SIZE,
        preallocate: false,
        logical_block_size: Bytes(4096),
        direct_io: None,
        tag: Tag::of_this_process(&run_id).unwrap().to_string(),
    })
    .unwrap();
    let options = MkfsOptions { block_size: Bytes(4096), uuid: run_id, seed: SEED, extra: vec![] };
    scratch.mkfs(&filesystem.mkfs(scratch.device().path(), &options)).unwrap();
    scratch.mount(filesystem, filesystem.default_mount_options()).unwrap();
    let step = StepSpec { name: "files".into(), workload: workload.into(), parameters, allow_limit: false };
    let workload = sequence(&[step], Bytes(4096), SIZE, false).unwrap().remove(0);
    write(&scratch, &*workload);
    assert_eq!(read(&scratch, &*workload).checked, Checked::Clean);
    let (name, content) = last_file(&scratch);
    scratch.unmount().unwrap();
    scratch.go_cold().unwrap();
    flip(&scratch, &content[8192..8192 + 64]);
    scratch.mount(filesystem, filesystem.default_mount_options()).unwrap();
    let back = read(&scratch, &*workload);
    assert_eq!(back.checked, Checked::Damaged);
    assert!(back.details.iter().any(|detail| detail.contains(&name)), "{:?}", back.details);
    scratch.close().unwrap();
    lab.assert_nothing_is_left();
}

/// The file whose name is the last one, and what is in it.
fn last_file(scratch: &Scratch) -> (String, Vec<u8>) {
    let folder = scratch.mounted().unwrap().path().join("files");
    let path = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).max().unwrap();
    (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap())
}

fn write(scratch: &Scratch, workload: &dyn Workload) {
    let root = scratch.mounted().unwrap().root().unwrap();
    let mut real = Real::new(root, &GO_ON);
    workload.run(&mut real, SEED).unwrap();
}

fn read(scratch: &Scratch, workload: &dyn Workload) -> ReadBack {
    let root = scratch.mounted().unwrap().root().unwrap();
    read_back(root.as_fd(), workload, "files", SEED, None, &GO_ON).unwrap()
}

/// Find `needle` in the image, and change its first byte.
fn flip(scratch: &Scratch, needle: &[u8]) {
    let image = File::from(scratch.image().unwrap().as_fd().try_clone_to_owned().unwrap());
    let mut block = vec![0; 4096];
    let blocks = SIZE.0 / 4096;
    let found = (0..blocks).map(|number| number * 4096).find(|offset| {
        image.read_exact_at(&mut block, *offset).unwrap();
        block.starts_with(needle)
    });
    let offset = found.expect("the content is in the image");
    image.write_all_at(&[needle[0] ^ 1], offset).unwrap();
}
