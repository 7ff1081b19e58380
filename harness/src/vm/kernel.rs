//! Kernels to boot: this machine's, one from a path, or one from a Debian package.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::require::Missing;

/// A kernel, and its modules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The bootable image.
    pub image: PathBuf,
    /// `uname -r` once it runs.
    pub release: String,
    /// `/lib/modules/RELEASE` of it.
    pub modules: PathBuf,
}

impl Kernel {
    /// The kernel that `source` means: `host`, the path of a kernel, or that of a Debian package.
    ///
    /// # Errors
    ///
    /// There is none, it is one of another architecture, or its modules are not to be found.
    pub fn find(source: &str) -> Result<Self> {
        Err(Error::unavailable(format!("find the kernel {source}")))
    }

    /// Major and minor version, as (6, 12).
    #[must_use]
    pub fn version(&self) -> (u32, u32) {
        (0, 0)
    }

    /// What is missing where it cannot mount `filesystem`, or has no driver for the devices of a virtual
    /// machine.
    #[must_use]
    pub fn lacks(&self, _filesystem: &str) -> Option<Missing> {
        None
    }
}
