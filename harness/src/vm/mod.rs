//! Virtual machines for cases: a kernel of the user's choice, an initramfs that holds this very
//! program with the tools it needs, and QEMU, without root and without an image to download.

mod archive;
mod cache;
mod closure;
mod depmod;
mod image;
mod initramfs;
mod kernel;
mod modules;
mod unpack;

pub use initramfs::{Initramfs, MODULES, OPTIONAL, PROGRAM, build};
pub use kernel::Kernel;
