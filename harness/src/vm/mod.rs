//! Virtual machines for cases: a kernel of the user's choice, an initramfs that holds this very
//! program with the tools it needs, and QEMU, without root and without an image to download.

mod initramfs;
mod kernel;

pub use initramfs::{Initramfs, MODULES, PROGRAM, build};
pub use kernel::Kernel;
