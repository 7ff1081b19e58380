//! What a machine must have, as data; all that is missing is told at once, with what gets it.

/// Something a machine must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// A program, and the package that has it (`apt`).
    Tool {
        /// Its name.
        program: &'static str,
        /// Debian's package.
        package: &'static str,
    },
    /// A file system in the kernel.
    Kernel {
        /// As in `/proc/filesystems`.
        filesystem: &'static str,
    },
    /// `CAP_SYS_ADMIN` outside a user namespace.
    Root,
    /// Loop devices.
    Loop,
}

/// A requirement that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What is not there.
    pub requirement: Requirement,
    /// In a sentence.
    pub text: String,
    /// What gets it.
    pub next: String,
}
