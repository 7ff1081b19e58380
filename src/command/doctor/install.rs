//! Packages of the distribution: installed by apt, printed as a command elsewhere, because only
//! apt was tried.

use std::collections::BTreeSet;
use std::io::Write;

use fsduel_harness::command::{self, Invocation};
use fsduel_harness::{Error, Result};
use nix::unistd::Uid;

/// A package manager, by the words of `ID` and `ID_LIKE` in os-release(5).
struct Manager {
    ids: &'static [&'static str],
    words: &'static str,
}

const MANAGERS: [Manager; 5] = [
    Manager { ids: &["debian", "ubuntu"], words: "apt-get install -y" },
    Manager { ids: &["fedora", "rhel"], words: "dnf install -y" },
    Manager { ids: &["arch"], words: "pacman -S --needed" },
    Manager { ids: &["suse", "opensuse"], words: "zypper install -y" },
    Manager { ids: &["alpine"], words: "apk add" },
];

/// The command that installs `packages` on this distribution.
pub fn command(packages: &BTreeSet<&str>) -> String {
    let names: Vec<_> = packages.iter().copied().collect();
    let manager = manager(&os_release());
    let words = manager.map_or("install with the package manager of this system:", |manager| manager.words);
    format!("{words} {}", names.join(" "))
}

/// Install `packages` with apt.
///
/// # Errors
///
/// We are not root, the distribution has no apt (the command to type is the next step), or apt
/// fails.
pub fn install(packages: &BTreeSet<&'static str>) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    as_root(Uid::effective())?;
    if command::find("apt-get").is_none() {
        return Err(Error::unavailable("install packages: apt-get is not on this system")
            .next(format!("as root: {}", command(packages))));
    }
    let names: Vec<_> = packages.iter().copied().collect();
    let _ = writeln!(std::io::stderr(), "installing {}", names.join(" "));
    apt(&["update"])?;
    let words: Vec<_> = ["install", "-y"].into_iter().chain(names).collect();
    apt(&words)
}

/// Programs run without a terminal, where sudo could not ask for a password. A container without
/// CAP_SYS_ADMIN can install all the same.
fn as_root(user: Uid) -> Result<()> {
    if user.is_root() {
        return Ok(());
    }
    Err(Error::unavailable(format!("install packages: not root (uid={user})"))
        .next("sudo fsduel doctor --install"))
}

fn apt(words: &[&str]) -> Result<()> {
    let invocation = Invocation::new("apt-get", words);
    let output = command::run(&invocation.env("DEBIAN_FRONTEND", "noninteractive"))?;
    if output.status == 0 {
        return Ok(());
    }
    let _ = std::io::stderr().write_all(output.text.as_bytes());
    Err(Error::unavailable(format!("run apt-get {}: it ended with {}", words.join(" "), output.status))
        .next("see what apt-get says above, or install them by hand"))
}

/// The text of os-release(5); empty where there is none.
fn os_release() -> String {
    let read = |path| std::fs::read_to_string(path).ok();
    read("/etc/os-release").or_else(|| read("/usr/lib/os-release")).unwrap_or_default()
}

fn manager(os_release: &str) -> Option<&'static Manager> {
    let value = |line: &str| {
        let (key, value) = line.split_once('=')?;
        ["ID", "ID_LIKE"].contains(&key).then(|| value.trim_matches(['"', '\'']).to_owned())
    };
    let values: Vec<_> = os_release.lines().filter_map(value).collect();
    let ids: Vec<_> = values.iter().flat_map(|value| value.split_ascii_whitespace()).collect();
    MANAGERS.iter().find(|manager| ids.iter().any(|id| manager.ids.contains(id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit;

    #[test]
    fn only_root_installs_and_others_are_told_how() {
        as_root(Uid::from_raw(0)).unwrap();
        let error = as_root(Uid::from_raw(1000)).unwrap_err();
        assert_eq!(exit::of_error(&error, None), exit::UNAVAILABLE);
        assert_eq!(error.next_step(), Some("sudo fsduel doctor --install"));
    }

    #[test]
    fn a_distribution_is_known_by_its_own_name_or_by_what_it_is_like() {
        let words = |text| manager(text).map(|manager| manager.words);
        assert_eq!(
            words("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n"),
            Some("apt-get install -y")
        );
        assert_eq!(words("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"), Some("apt-get install -y"));
        assert_eq!(words("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"), Some("dnf install -y"));
        assert_eq!(words("ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n"), Some("zypper install -y"));
        assert_eq!(words("ID=alpine\n"), Some("apk add"));
        assert_eq!(words("VERSION_ID=debian\nID=plan9\n"), None);
    }
}
