//! Which versions of Linux have a file system, and what to say where a kernel has not.
//!
//! A tool can be installed, a kernel cannot: what a person needs to know is whether another
//! kernel would do, and which.

use std::fmt;

use super::{Missing, Requirement};

/// The kernel that will mount a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelVersion {
    /// Major and minor version, as (6, 12).
    pub version: (u32, u32),
    /// It is the one that runs here, which can be asked what it supports.
    pub here: bool,
}

impl KernelVersion {
    /// The one that runs here.
    #[must_use]
    pub fn here() -> Self {
        Self { here: true, ..Self::of(&release()) }
    }

    /// Another one, by what `uname -r` tells once it runs, as "6.12.95+deb12-amd64"; (0, 0) where
    /// that does not begin with a version.
    #[must_use]
    pub fn of(release: &str) -> Self {
        let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(str::parse);
        let version = match (numbers.next(), numbers.next()) {
            (Some(Ok(major)), Some(Ok(minor))) => (major, minor),
            _ => (0, 0),
        };
        Self { version, here: false }
    }
}

/// `uname -r`; empty where it cannot be asked.
pub(super) fn release() -> String {
    nix::sys::utsname::uname()
        .map_or_else(|_| String::new(), |name| name.release().to_string_lossy().into_owned())
}

/// The versions of Linux that have something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinuxVersions {
    /// The first that has it.
    pub since: (u32, u32),
    /// The first that has it no more.
    pub gone: Option<(u32, u32)>,
}

impl LinuxVersions {
    /// From this version on.
    #[must_use]
    pub const fn since(major: u32, minor: u32) -> Self {
        Self { since: (major, minor), gone: None }
    }

    /// No more in this version.
    #[must_use]
    pub const fn gone_in(self, major: u32, minor: u32) -> Self {
        Self { gone: Some((major, minor)), ..self }
    }

    /// Whether `version` may have it; whether it was built in is another question.
    #[must_use]
    pub fn has(self, version: (u32, u32)) -> bool {
        version >= self.since && self.gone.is_none_or(|gone| version < gone)
    }
}

/// The first that this program runs on, here and in a guest.
const OLDEST: (u32, u32) = (5, 8);

/// Those that can be booted to have it.
impl fmt::Display for LinuxVersions {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let (major, minor) = self.since.max(OLDEST);
        write!(f, "Linux {major}.{minor} or later")?;
        match self.gone {
            Some((major, minor)) => write!(f, ", before {major}.{minor}"),
            None => Ok(()),
        }
    }
}

/// What is missing where the kernel `release` has no `filesystem`. `found` says how that is known.
#[must_use]
pub fn lacking(filesystem: &'static str, linux: LinuxVersions, release: &str, found: &str) -> Missing {
    let (version, (since, minor)) = (KernelVersion::of(release).version, linux.since);
    let (text, kernel) = match linux.gone {
        Some((major, minor)) if version >= (major, minor) => (
            format!("{filesystem} left Linux in {major}.{minor}; kernel {release} has none"),
            "an older kernel, such as Debian's linux-image 6.1 or 6.12",
        ),
        _ if version < linux.since => (
            format!("{filesystem} came to Linux in {since}.{minor}; kernel {release} has none"),
            "a newer kernel",
        ),
        _ => (
            format!("kernel {release} has no {filesystem} ({found})"),
            "a kernel that has it, such as Debian's linux-image",
        ),
    };
    Missing {
        requirement: Requirement::Kernel { filesystem, linux },
        text,
        next: format!("--backend vm --kernel PATH with {kernel}; or leave {filesystem} out with --fs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNTIL_6_12: LinuxVersions = LinuxVersions::since(2, 4).gone_in(6, 13);

    #[test]
    fn versions_compare_as_versions() {
        assert!(KernelVersion::of("6.9.1").version < (6, 12));
        assert_eq!(KernelVersion::of("6.18.44-amd64").version, (6, 18));
        assert_eq!(KernelVersion::of("unknown").version, (0, 0));
        assert!(UNTIL_6_12.has((6, 12)) && !UNTIL_6_12.has((6, 13)) && !UNTIL_6_12.has((2, 2)));
    }

    #[test]
    fn what_left_linux_needs_an_older_kernel() {
        let missing = lacking("oldfs", UNTIL_6_12, "6.18.44", "no module");
        assert_eq!(missing.text, "oldfs left Linux in 6.13; kernel 6.18.44 has none");
        assert!(
            missing.next.starts_with("--backend vm --kernel PATH with an older kernel"),
            "{}",
            missing.next
        );
    }

    #[test]
    fn what_is_not_there_yet_needs_a_newer_kernel_and_what_was_left_out_another() {
        let newer = lacking("newfs", LinuxVersions::since(6, 7), "6.1.0-56-amd64", "no module");
        assert_eq!(newer.text, "newfs came to Linux in 6.7; kernel 6.1.0-56-amd64 has none");
        assert!(newer.next.contains("a newer kernel"), "{}", newer.next);
        let other = lacking("anyfs", LinuxVersions::since(3, 8), "6.18.44", "no module");
        assert_eq!(other.text, "kernel 6.18.44 has no anyfs (no module)");
    }

    #[test]
    fn the_versions_are_told_in_words() {
        assert_eq!(LinuxVersions::since(6, 7).to_string(), "Linux 6.7 or later");
        assert_eq!(UNTIL_6_12.to_string(), "Linux 5.8 or later, before 6.13");
    }
}
