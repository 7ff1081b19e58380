//! A byte that changes between unmount and mount is seen, by whichever check can see it.

use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicBool;

use fsduel_harness::fs::{Filesystem, MkfsOptions};
use fsduel_harness::ops::Real;
use fsduel_harness::result::Checked;
use fsduel_harness::scratch::{Scratch, ScratchSpec, tag::Tag};
use fsduel_harness::sys::namespace::enter_private_mounts;
use fsduel_harness::units::{Bytes, Seed};
use fsduel_harness::verify::read_back::read_back;
use fsduel_harness::workload::{Build, build};
use libtest_mimic::Trial;
use serde_json::json;

use crate::lab::Lab;
use crate::of;

pub fn trials(filesystem: &'static dyn Filesystem) -> Vec<Trial> {
    vec![of(filesystem, "one_changed_byte_of_a_file_is_seen", changed_byte)]
}
