//! What a command finds around itself: variables of the environment, and in a virtual machine a root
//! directory of its own.

use std::ffi::OsString;
use std::path::Path;

use crate::error::{Cannot, Result};
use crate::ops::Command;
use crate::sys::caller::User;
use crate::sys::confine::{Confined, Root};

use super::Bench;

/// What of the machine is shown in another root beside the file system.
const SHOWN: [&str; 2] = ["/dev", "/sys"];

impl Bench<'_> {
    /// As whom the command runs, where that is not our own user.
    pub(super) fn user(&self, command: &Command) -> Option<&User> {
        self.spec.user.as_ref().filter(|_| !command.as_root)
    }

    /// As whom it runs, and in which root.
    pub(super) fn confined(&self, command: &Command) -> Result<Confined> {
        let shown = || Ok([self.mount()?.path(), Path::new(SHOWN[0]), Path::new(SHOWN[1])]);
        let root = |root: &std::path::PathBuf| {
            Root::new(root, &shown()?).cannot(|| format!("make {} ready as a root", root.display()))
        };
        Ok(Confined {
            ids: self.user(command).map(|user| user.ids.clone()),
            root: command.root.as_ref().map(root).transpose()?,
        })
    }

    /// Where it is, in our names and in those of xfstests. Source: xfstests, `README.config-sections`.
    pub(super) fn environment(&self, command: &Command) -> Result<Vec<(OsString, OsString)>> {
        let mount: OsString = self.mount()?.path().into();
        let device: OsString = self.scratch.device().path().into();
        let filesystem: OsString = self.filesystem.name().into();
        let mut ours = vec![
            ("FSDUEL_MOUNT", mount.clone()),
            ("FSDUEL_DEVICE", device.clone()),
            ("FSDUEL_FILESYSTEM", filesystem.clone()),
            ("FSDUEL_CONFIGURATION", self.spec.configuration.id.clone().into()),
            ("FSDUEL_BLOCK", self.spec.block.to_string().into()),
            ("FSTYP", filesystem),
            ("SCRATCH_MNT", mount.clone()),
            ("SCRATCH_DEV", device),
            ("PWD", mount),
        ];
        if let Some(user) = self.user(command) {
            let name = || OsString::from(&user.name);
            ours.extend([("HOME", user.home.clone().into()), ("USER", name()), ("LOGNAME", name())]);
        }
        let callers = self.spec.environment.iter().map(|(name, value)| (name.into(), value.into()));
        Ok(callers.chain(ours.into_iter().map(|(name, value)| (name.into(), value))).collect())
    }
}
