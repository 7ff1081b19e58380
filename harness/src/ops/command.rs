//! A command as the work of a step, in place of calls: what a user's own program does is not ours to
//! plan, so nothing is known of what it leaves but that all of it must be readable.

use std::path::PathBuf;

/// A program of the user's, and what belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments. It starts in the root of the file system.
    pub words: Vec<String>,
    /// A line for the shell, before the clock.
    pub prepare: Option<String>,
    /// A line for the shell, after the clock, with cold caches; its failure is that of the case.
    pub check: Option<String>,
    /// A directory whose content is put into the file system first.
    pub copy: Option<PathBuf>,
    /// Its root directory, which is packed into a virtual machine for it.
    pub root: Option<PathBuf>,
    /// It runs as root, although somebody else called us.
    pub as_root: bool,
}
