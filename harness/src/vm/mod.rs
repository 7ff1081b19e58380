//! Virtual machines for cases: a kernel of the user's choice, an initramfs that holds this very
//! program with the tools it needs, and QEMU, without root and without an image to download.

pub mod accelerator;
mod along;
mod archive;
mod cache;
mod closure;
mod death;
mod depmod;
mod image;
mod initramfs;
mod kernel;
mod libraries;
mod mirror;
mod modules;
mod newc;
mod pack;
mod plain;
pub mod qemu;
mod unpack;

pub use accelerator::Accelerator;
pub use along::{Along, Places};
pub use death::{Death, last_lines};
pub use initramfs::{Initramfs, MODULES, OPTIONAL, PROGRAM};
pub use kernel::Kernel;
pub use plain::plain;
pub use qemu::{Disk, Machine, Qemu};

/// The name of the port through which events and requests go, as the guest sees it.
pub const PORT: &str = "org.fsduel.case";

/// First argument of this program where it is process 1 of a guest.
pub const GUEST_ARGUMENT: &str = "__guest";

/// The disk of a case, as the guest sees it.
pub const DISK: &str = "/dev/vda";
