//! Programs of crates.io that the tests run, built by cargo below `target/tools`. No distribution has
//! them as a package.

use std::fs;
use std::path::Path;

use crate::process::{Result, run};

/// A name, and the version that the tests know.
const PROGRAMS: [(&str, &str); 2] = [("fsx", "0.3.2"), ("pjdfstest", "0.2.2")];

/// Build and install those that are not there yet. They wait for the file system, not for the
/// processor: without optimisation and without symbols, they are there in a third of the time.
pub fn install(folder: &Path) -> Result {
    let (root, build) = (folder.display().to_string(), folder.join("build"));
    let missing = PROGRAMS.into_iter().filter(|(name, version)| !is_installed(folder, name, version));
    for (name, version) in missing {
        let shared = build.display().to_string();
        let install = ["cargo", "install", "--locked", "--debug", "--root", &root, "--target-dir", &shared];
        run(
            &[&install[..], &[name, "--version", version]].concat(),
            &[("CARGO_PROFILE_DEV_DEBUG", "false")],
        )?;
    }
    // 300 MB, which nobody needs again.
    let _ = fs::remove_dir_all(build);
    Ok(())
}

/// Whether cargo's own list has it, in this version, and the program is there.
fn is_installed(root: &Path, name: &str, version: &str) -> bool {
    let list = fs::read_to_string(root.join(".crates.toml")).unwrap_or_default();
    root.join("bin").join(name).is_file() && lists(&list, name, version)
}

/// A line is `"fsx 0.3.2 (registry+https://...)" = ["fsx"]`.
fn lists(list: &str, name: &str, version: &str) -> bool {
    list.lines().any(|line| line.starts_with(&format!("\"{name} {version} ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_there_only_in_the_version_that_is_wanted() {
        let list =
            "[v1]\n\"fsx 0.3.2 (registry+https://github.com/rust-lang/crates.io-index)\" = [\"fsx\"]\n";
        assert!(lists(list, "fsx", "0.3.2"));
        for (name, version) in [("fsx", "0.3"), ("fsx", "0.3.20"), ("sx", "0.3.2")] {
            assert!(!lists(list, name, version), "{name} {version}");
        }
    }

    #[test]
    fn a_program_that_is_listed_and_not_there_is_missing() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(".crates.toml"), "\"fsx 0.3.2 (x)\" = [\"fsx\"]\n").unwrap();
        assert!(!is_installed(root.path(), "fsx", "0.3.2"));
        fs::create_dir(root.path().join("bin")).unwrap();
        fs::write(root.path().join("bin/fsx"), "").unwrap();
        assert!(is_installed(root.path(), "fsx", "0.3.2"));
    }
}
