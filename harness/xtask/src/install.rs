//! What a fresh machine lacks, and how it gets it.

use std::fs;
use std::path::Path;

use crate::process::{Failure, Result, as_root, has_program, run};

/// Something that may have to be installed.
pub struct Need {
    /// Debian's and Ubuntu's package.
    package: &'static str,
    /// Its name elsewhere.
    elsewhere: &'static str,
    why: &'static str,
    is_there: fn() -> bool,
}

/// The builds need it: the loopdev crate makes its bindings from the kernel's headers. The
/// package is the one that follows the distribution's own version, such as libclang1-14.
pub const LIBCLANG: Need = Need {
    package: "libclang1",
    elsewhere: "clang-libs (or clang)",
    why: "builds the bindings of the loop device",
    is_there: has_libclang,
};

/// The file system tools.
pub const TOOLS: [Need; 7] = [
    tool("btrfs-progs", "makes and checks btrfs", || has_program("mkfs.btrfs")),
    tool("e2fsprogs", "makes and checks ext4", || has_program("mkfs.ext4")),
    tool("xfsprogs", "makes and checks xfs", || has_program("mkfs.xfs")),
    tool("f2fs-tools", "makes and checks f2fs", || has_program("mkfs.f2fs")),
    tool("jfsutils", "makes and checks jfs", || has_program("jfs_mkfs")),
    tool("nilfs-tools", "makes nilfs2", || has_program("mkfs.nilfs2")),
    tool("reiserfsprogs", "makes and checks reiserfs", || has_program("mkfs.reiserfs")),
];

/// What PostMark is compared with, and what sees the system calls of both.
pub const POSTMARK: Need =
    tool("postmark", "does the same as fsduel postmark, for comparison", || has_program("postmark"));
pub const STRACE: Need = tool("strace", "shows the system calls of both", || has_program("strace"));

/// What people work with, run by the tests on each file system.
pub const CLIENTS: [Need; 4] = [
    tool("git", "is run by fsduel exec", || has_program("git")),
    Need {
        package: "sqlite3",
        elsewhere: "sqlite (sqlite3)",
        why: "is run by fsduel exec",
        is_there: || has_program("sqlite3"),
    },
    tool("fio", "is run by fsduel exec", || has_program("fio")),
    Need {
        package: "python3-pytest",
        elsewhere: "python3-pytest (or pytest)",
        why: "runs an example in Python",
        is_there: || ["pytest-3", "pytest"].into_iter().any(has_program),
    },
];

/// What shows the reports and what judges them, in tests. Only Debian's package of Chromium is one of
/// its own; elsewhere it is a snap, which sees none of our folders, so another Chrome will do.
pub const VIEWERS: [Need; 3] = [
    tool("chromium", "shows the HTML and SVG reports (about 100 MB)", || {
        ["chromium", "google-chrome", "chromium-browser"].into_iter().any(has_program)
    }),
    tool("tidy", "checks the HTML reports", || has_program("tidy")),
    Need {
        package: "libxml2-utils",
        elsewhere: "libxml2 (xmllint)",
        why: "checks the SVG and JUnit reports",
        is_there: || has_program("xmllint"),
    },
];

/// What boots other kernels.
pub const MACHINES: [Need; 3] = [
    tool("qemu-system-x86", "runs virtual machines", || has_program("qemu-system-x86_64")),
    tool("kmod", "lists the modules of a kernel", || has_program("depmod")),
    tool("xz-utils", "unpacks modules", || has_program("xz")),
];

pub const fn tool(package: &'static str, why: &'static str, is_there: fn() -> bool) -> Need {
    Need { package, elsewhere: package, why, is_there }
}

/// Make sure that everything is there: installed by apt, or named where there is no apt.
pub fn ensure<'a>(needs: impl IntoIterator<Item = &'a Need>) -> Result {
    let missing: Vec<_> = needs.into_iter().filter(|need| !(need.is_there)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    for need in &missing {
        eprintln!("missing: {} ({})", need.package, need.why);
    }
    if !has_program("apt-get") {
        let names: Vec<_> = missing.iter().map(|need| need.elsewhere).collect();
        return Err(Failure::unavailable(format!("cannot go on without them\n  next: {}", by_hand(&names))));
    }
    install(&missing)
}

fn install(missing: &[&Need]) -> Result {
    let quiet = [("DEBIAN_FRONTEND", "noninteractive")];
    run(&as_root(&["apt-get", "update"]), &quiet)?;
    let packages = missing.iter().map(|need| need.package);
    let words: Vec<_> =
        ["apt-get", "install", "-y", "--no-install-recommends"].into_iter().chain(packages).collect();
    run(&as_root(&words), &quiet)
}

/// The command for other distributions.
fn by_hand(names: &[&str]) -> String {
    let managers =
        [("dnf", "dnf install"), ("pacman", "pacman -S"), ("zypper", "zypper install"), ("apk", "apk add")];
    let known = managers.iter().find(|(program, _)| has_program(program)).map(|(_, words)| *words);
    format!("as root: {} {}", known.unwrap_or("install"), names.join(" "))
}

/// Whether the build will find a libclang. The folders are those that the clang-sys crate
/// searches on Linux (its `build/common.rs`).
fn has_libclang() -> bool {
    if std::env::var_os("LIBCLANG_PATH").is_some() {
        return true;
    }
    let fixed = ["/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/local/lib", "/usr/local/lib64"];
    let below = subfolders("/usr/lib");
    let llvm = below.iter().filter(|path| path.contains("/llvm")).map(|path| format!("{path}/lib"));
    let triple = below.iter().filter(|path| path.contains("-linux-")).cloned();
    fixed.iter().map(ToString::to_string).chain(llvm).chain(triple).any(|folder| holds_libclang(&folder))
}

fn subfolders(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .map(|path| path.display().to_string())
        .collect()
}

fn holds_libclang(folder: &str) -> bool {
    let entries = fs::read_dir(Path::new(folder)).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| is_libclang(&name.to_string_lossy()))
}

/// `libclang.so`, `libclang-14.so`, each with or without a version behind it; not `libclang-cpp`.
fn is_libclang(name: &str) -> bool {
    let Some(rest) = name.strip_prefix("libclang") else { return false };
    let Some((before, after)) = rest.split_once(".so") else { return false };
    let version = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '.');
    (before.is_empty() || before.strip_prefix('-').is_some_and(version))
        && (after.is_empty() || after.strip_prefix('.').is_some_and(version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libclang_is_known_under_all_its_names_and_libclang_cpp_is_another() {
        for name in ["libclang.so", "libclang.so.1", "libclang-14.so", "libclang-14.so.14.0.6"] {
            assert!(is_libclang(name), "{name}");
        }
        for name in ["libclang-cpp.so.14", "libclang.a", "libclangBasic.a", "libclang.so.debug", "clang.so"] {
            assert!(!is_libclang(name), "{name}");
        }
    }
}
