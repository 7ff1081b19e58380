//! The first root of a virtual machine, as one file in memory.

use std::fs::File;

use super::Kernel;
use crate::error::{Error, Result};
use crate::fs::Filesystem;

/// Where this program lies in it.
pub const PROGRAM: &str = "/init";

/// Where the modules are listed that are to be loaded, one path a line, in order.
pub const MODULES: &str = "/modules";

/// An initramfs that can be booted.
#[derive(Debug)]
pub struct Initramfs {
    /// A file without a name, or one of the cache, open for reading.
    pub file: File,
}

/// Build one, or take it from the cache: this program, the tools of these file systems, the modules
/// that `kernel` needs for them and for its virtual devices.
///
/// # Errors
///
/// A tool or a module is missing, or cannot be read.
pub fn build(_kernel: &Kernel, _filesystems: &[&dyn Filesystem]) -> Result<Initramfs> {
    Err(Error::new("build an initramfs"))
}
