//! Debian's kernels for tests in virtual machines, fetched by apt without root.
//!
//! Each release of Debian keeps its series of kernels: 6.1 that of bookworm, 6.12 that of trixie. apt
//! checks their signatures; its lists and its cache lie below `target/kernels`, so that the sources and
//! the packages of this machine, whatever distribution it has, are neither used nor changed.

use std::env::consts::ARCH;
use std::fs;
use std::path::{Path, PathBuf};

use crate::install::{Need, ensure, tool};
use crate::process::{Failure, Result, has_program, output, run_in};

/// Debian's keys, with which its lists are signed.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
const KEYS: Need =
    tool("debian-archive-keyring", "verifies Debian's packages", || Path::new(KEYRING).is_file());

/// The series of kernels, each as the beginning of its version.
const SERIES: [&str; 2] = ["6.1", "6.12"];

/// Fetch those that are not there yet into `folder`, as `linux-6.1.deb`.
pub fn fetch(folder: &Path) -> Result {
    let missing: Vec<_> = SERIES.into_iter().filter(|series| !kept(folder, series).is_file()).collect();
    if !missing.is_empty() {
        let apt = Apt::new(folder)?;
        let known = apt.known()?;
        missing.iter().try_for_each(|series| apt.fetch(&known, series, &kept(folder, series)))?;
    }
    SERIES.into_iter().for_each(|series| println!("{}", kept(folder, series).display()));
    Ok(())
}

fn kept(folder: &Path, series: &str) -> PathBuf {
    folder.join(format!("linux-{series}.deb"))
}

/// apt with settings of its own.
struct Apt {
    folder: PathBuf,
    architecture: &'static str,
}

impl Apt {
    fn new(folder: &Path) -> Result<Self> {
        if !has_program("apt-get") {
            return Err(Failure::unavailable(
                "cannot fetch Debian's kernels without apt\n  next: fetch packages such as \
                 linux-image-6.1.0-56-amd64 from https://packages.debian.org by hand",
            ));
        }
        ensure([&KEYS])?;
        let architecture = match ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => return Err(Failure::unavailable(format!("cannot name Debian's kernel for {other}"))),
        };
        let apt = Self { folder: folder.join("apt"), architecture };
        let failed =
            |error| Failure::unavailable(format!("cannot write to {}: {error}", apt.folder.display()));
        for name in ["lists/partial", "cache/archives/partial", "new"] {
            fs::create_dir_all(apt.folder.join(name)).map_err(failed)?;
        }
        fs::write(apt.folder.join("debian.sources"), sources()).map_err(failed)?;
        Ok(apt)
    }

    /// `program` with our folders, and then `words`.
    fn words(&self, program: &str, words: &[&str]) -> Vec<String> {
        let folder = self.folder.display();
        let settings = [
            format!("Dir::Etc::sourcelist={folder}/debian.sources"),
            "Dir::Etc::sourceparts=/dev/null".into(),
            "Dir::Etc::preferences=/dev/null".into(),
            "Dir::Etc::preferencesparts=/dev/null".into(),
            format!("Dir::State::lists={folder}/lists"),
            // A kernel installed on this machine may be one that these sources do not offer.
            "Dir::State::status=/dev/null".into(),
            format!("Dir::Cache={folder}/cache"),
            format!("APT::Architecture={}", self.architecture),
            // The user to whom apt changes as root may not be able to reach our folder.
            "APT::Sandbox::User=root".into(),
            "APT::Update::Error-Mode=any".into(),
        ];
        let settings = settings.into_iter().flat_map(|setting| ["-o".into(), setting]);
        let words = words.iter().map(|word| (*word).to_owned());
        std::iter::once(program.to_owned()).chain(settings).chain(words).collect()
    }

    /// What Debian says of the package that depends on the newest kernel of each release.
    fn known(&self) -> Result<String> {
        self.run(&["update"])?;
        let name = format!("linux-image-{}", self.architecture);
        let words = self.words("apt-cache", &["show", "--all-versions", &name]);
        output(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn fetch(&self, known: &str, series: &str, to: &Path) -> Result {
        let package = package(known, series).ok_or_else(|| {
            Failure::unavailable(format!("cannot find a kernel {series} among Debian's packages"))
        })?;
        let new = self.folder.join("new");
        let failed = |error| Failure::unavailable(format!("cannot keep {}: {error}", to.display()));
        fs::remove_dir_all(&new).and_then(|()| fs::create_dir(&new)).map_err(failed)?;
        self.run(&["download", package])?;
        let mut files = fs::read_dir(&new).map_err(failed)?.flatten().map(|entry| entry.path());
        let file = files.find(|path| path.extension().is_some_and(|end| end == "deb"));
        let file = file.ok_or_else(|| Failure::unavailable(format!("apt-get did not fetch {package}")))?;
        fs::rename(file, to).map_err(failed)
    }

    fn run(&self, words: &[&str]) -> Result {
        let words = self.words("apt-get", words);
        run_in(&self.folder.join("new"), &words.iter().map(String::as_str).collect::<Vec<_>>(), &[])
    }
}

fn sources() -> String {
    format!(
        "Types: deb\nURIs: http://deb.debian.org/debian\nSuites: bookworm trixie\nComponents: main\nTargets: Packages\n\
         Signed-By: {KEYRING}\n"
    )
}

/// The kernel of a series that one of the packages in `known` depends on:
/// `Depends: linux-image-6.1.0-56-amd64 (= 6.1.192-2)`.
fn package<'a>(known: &'a str, series: &str) -> Option<&'a str> {
    let depends = known.lines().filter_map(|line| line.strip_prefix("Depends: "));
    let names = depends.flat_map(|list| list.split([',', ' ']));
    let start = format!("linux-image-{series}.");
    names.into_iter().find(|name| name.starts_with(&start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_package_of_a_series_is_the_one_that_is_depended_on() {
        let known = "Package: linux-image-amd64\nVersion: 6.12.95-1\nDepends: linux-image-6.12.95+deb13-amd64 (= 6.12.95-1)\n\n\
                     Package: linux-image-amd64\nDepends: x, linux-image-6.1.0-56-amd64 (= 6.1.192-2)\n";
        assert_eq!(package(known, "6.1"), Some("linux-image-6.1.0-56-amd64"));
        assert_eq!(package(known, "6.12"), Some("linux-image-6.12.95+deb13-amd64"));
        assert_eq!(package(known, "6.18"), None);
    }

    #[test]
    fn apt_knows_no_package_of_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        if has_program("apt-cache") && Path::new(KEYRING).is_file() {
            let words = Apt::new(folder.path()).unwrap().words("apt-cache", &["pkgnames"]);
            assert_eq!(output(&words.iter().map(String::as_str).collect::<Vec<_>>()).unwrap(), "");
        }
    }
}
