use std::path::Path;

use nix::errno::Errno;

use super::*;
use crate::command::Invocation;
use crate::error::Kind;
use crate::fs::{Description, SpaceDetail, Verdict};
use crate::require::Requirement;
use crate::result::{Checked, Which};
use crate::sys::statfs::StatFs;
use crate::units::Seed;

/// Has a fixed number of inodes, and a block for each file and directory.
struct Fake;

impl Filesystem for Fake {
    fn name(&self) -> &'static str {
        "fake"
    }
    fn requirements(&self) -> Vec<Requirement> {
        vec![]
    }
    fn version(&self) -> Invocation {
        Invocation::new("true", [""; 0])
    }
    fn in_linux(&self) -> crate::fs::LinuxVersions {
        crate::fs::LinuxVersions::since(6, 0)
    }
    fn block_sizes(&self, _kernel: crate::fs::KernelVersion) -> Vec<Bytes> {
        vec![BLOCK]
    }
    fn min_size(&self) -> Bytes {
        Bytes(0)
    }
    fn inodes(&self, _image: Bytes, _options: &MkfsOptions) -> Result<Option<u64>> {
        Ok(Some(1000))
    }
    fn mkfs(&self, _device: &Path, _options: &MkfsOptions) -> Invocation {
        self.version()
    }
    fn describe(&self, _device: &Path, _mkfs_output: &str) -> Result<Description> {
        Ok(Description::default())
    }
    fn fsck(&self, _device: &Path) -> Option<Invocation> {
        None
    }
    fn verdict(&self, _status: i32, _output: &str) -> Verdict {
        Verdict { checked: Checked::NotChecked, text: String::new() }
    }
    fn limit(&self, _errno: Errno, _now: &StatFs, _space: Option<&SpaceDetail>) -> (Which, String) {
        (Which::Space, String::new())
    }
}

const BLOCK: Bytes = Bytes(4096);

fn fits_in(image: Bytes, work: Work, compressing: bool) -> Result<()> {
    let work = Work { least: work.least(&Fake, compressing, BLOCK), ..work };
    let options = MkfsOptions { block_size: BLOCK, uuid: String::new(), seed: Seed(1), extra: vec![] };
    fits(&Fake, &work, &options, image)
}

fn files(files: u64, payload: Bytes) -> Work {
    Work { files, with_data: files.min(payload.0), payload, ..Work::default() }
}

#[test]
fn a_payload_larger_than_the_image_is_refused_with_a_size_that_would_do() {
    let error = fits_in(Bytes::gib(1), files(10, Bytes::gib(2)), false).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.next_step().is_some_and(|next| next.contains("--size 2304MiB")), "{error:?}");
}

#[test]
fn a_payload_that_is_compressed_may_fit() {
    fits_in(Bytes::gib(1), files(10, Bytes::gib(2)), true).unwrap();
}

#[test]
fn only_files_with_data_take_blocks() {
    let image = Bytes(100 * BLOCK.0);
    fits_in(image, files(900, Bytes(0)), false).unwrap();
    fits_in(image, files(900, Bytes(100)), false).unwrap();
    fits_in(image, files(900, Bytes(101)), false).unwrap_err();
    let both = Work::sum([files(900, Bytes(0)), files(60, Bytes(9000))].iter());
    fits_in(image, both, false).unwrap();
}

#[test]
fn more_entries_than_inodes_are_refused() {
    let work = |directories| Work { directories, ..files(900, Bytes(0)) };
    fits_in(Bytes::gib(1), work(100), false).unwrap();
    let error = fits_in(Bytes::gib(1), work(101), false).unwrap_err();
    assert!(error.to_string().contains("1000 inodes"), "{error}");
    fits_in(Bytes(u64::MAX), work(u64::MAX), false).unwrap_err();
}
