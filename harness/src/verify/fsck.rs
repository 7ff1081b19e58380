//! A file system's own checker, read-only.
//!
//! A checker that is not there, or does not start, has checked nothing: that is never clean.

use std::path::Path;
use std::time::Instant;

use crate::command;
use crate::error::{Kind, Result};
use crate::fs::{Filesystem, Verdict};
use crate::result::Checked;

/// What a checker came to.
pub struct Checkup {
    /// What its words mean.
    pub verdict: Verdict,
    /// How long it took; none where it did not run.
    pub seconds: Option<f64>,
    /// All that it printed.
    pub output: String,
}

/// Run the checker of `filesystem` on the unmounted `device`.
///
/// # Errors
///
/// The run is being stopped.
pub fn fsck(filesystem: &dyn Filesystem, device: &Path) -> Result<Checkup> {
    let Some(check) = filesystem.fsck(device) else {
        return Ok(not_checked(format!("{} has no checker", filesystem.name())));
    };
    let start = Instant::now();
    match command::run(&check) {
        Ok(told) => {
            let verdict = filesystem.verdict(told.status, &told.text);
            Ok(Checkup { verdict, seconds: Some(start.elapsed().as_secs_f64()), output: told.text })
        }
        Err(error) if error.kind() == Kind::Stopped => Err(error),
        Err(error) => Ok(not_checked(error.to_string())),
    }
}

fn not_checked(text: String) -> Checkup {
    Checkup { verdict: Verdict { checked: Checked::NotChecked, text }, seconds: None, output: String::new() }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use nix::errno::Errno;

    use super::*;
    use crate::command::Invocation;
    use crate::fs::{Description, MkfsOptions, SpaceDetail};
    use crate::require::Requirement;
    use crate::result::Which;
    use crate::sys::statfs::StatFs;
    use crate::units::Bytes;

    /// A file system with this checker.
    struct Fake(Option<&'static str>);

    impl Filesystem for Fake {
        fn name(&self) -> &'static str {
            "fakefs"
        }
        fn requirements(&self) -> Vec<Requirement> {
            vec![]
        }
        fn version(&self) -> Invocation {
            Invocation::new("fakefs", ["-V"])
        }
        fn in_linux(&self) -> crate::fs::LinuxVersions {
            crate::fs::LinuxVersions::since(6, 0)
        }
        fn block_sizes(&self, _kernel: crate::fs::KernelVersion) -> Vec<Bytes> {
            vec![]
        }
        fn min_size(&self) -> Bytes {
            Bytes(0)
        }
        fn mkfs(&self, device: &Path, _options: &MkfsOptions) -> Invocation {
            Invocation::new("mkfs.fakefs", [device])
        }
        fn describe(&self, _device: &Path, _mkfs_output: &str) -> Result<Description> {
            Ok(Description::default())
        }
        fn fsck(&self, device: &Path) -> Option<Invocation> {
            self.0.map(|program| Invocation::new(program, [device]))
        }
        fn verdict(&self, _status: i32, _output: &str) -> Verdict {
            Verdict { checked: Checked::Clean, text: String::new() }
        }
        fn limit(&self, _: Errno, _: &StatFs, _: Option<&SpaceDetail>) -> (Which, String) {
            (Which::Space, String::new())
        }
    }

    #[test]
    fn no_checker_is_never_clean() {
        let Checkup { verdict, seconds, .. } = fsck(&Fake(None), &PathBuf::from("/dev/null")).unwrap();
        assert_eq!((verdict.checked, seconds), (Checked::NotChecked, None));
        assert_eq!(verdict.text, "fakefs has no checker");
    }

    #[test]
    fn a_checker_that_is_not_installed_is_never_clean() {
        let Checkup { verdict, seconds, .. } =
            fsck(&Fake(Some("fsck.no-such-checker")), &PathBuf::from("/dev/null")).unwrap();
        assert_eq!((verdict.checked, seconds), (Checked::NotChecked, None));
        assert!(verdict.text.starts_with("cannot "), "{}", verdict.text);
    }
}
