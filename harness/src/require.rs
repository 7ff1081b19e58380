//! What a machine must have, as data; all that is missing is told at once, with what gets it.
//!
//! User id 0 proves nothing: inside a user namespace, and in most containers, root may not use
//! loop devices. So the check looks at the id map and at the capabilities too, and a device that
//! is absent, forbidden by its mode and forbidden by a device cgroup are three messages.

use std::fs::{File, read_to_string};

use nix::errno::Errno;
use nix::unistd::Uid;

use crate::command::{self, Invocation};

mod linux;

pub use self::linux::{KernelVersion, LinuxVersions, lacking};

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
        /// The versions of Linux that have it.
        linux: LinuxVersions,
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

/// Check all of them, and tell those that are not met, in order.
#[must_use]
pub fn check(requirements: &[Requirement]) -> Vec<Missing> {
    requirements.iter().filter_map(check_one).collect()
}

fn check_one(requirement: &Requirement) -> Option<Missing> {
    let found = match requirement {
        Requirement::Tool { program, package } => check_tool(program, package),
        Requirement::Kernel { filesystem, linux } => return check_kernel(filesystem, *linux),
        Requirement::Root => check_root(),
        Requirement::Loop => check_loop(),
    };
    found.map(|(text, next)| Missing { requirement: requirement.clone(), text, next })
}

/// What is missing, and what gets it.
type Lack = Option<(String, String)>;

fn check_tool(program: &str, package: &str) -> Lack {
    let text = format!("{program} is not on PATH, nor in /usr/sbin or /sbin");
    let next = format!("apt install {package}, or leave it out with --fs");
    command::find(program).is_none().then_some((text, next))
}

fn check_kernel(filesystem: &'static str, linux: LinuxVersions) -> Option<Missing> {
    let is_there = || has_filesystem(&read("/proc/filesystems"), filesystem);
    if is_there() {
        return None;
    }
    let tried = modprobe(filesystem);
    if is_there() {
        return None;
    }
    let found = format!("/proc/filesystems; modprobe: {tried}");
    Some(lacking(filesystem, linux, &linux::release(), &found))
}

/// `/proc/filesystems` has one name a line, after an optional `nodev`. Source: filesystems(5).
fn has_filesystem(text: &str, name: &str) -> bool {
    text.lines().any(|line| line.split_ascii_whitespace().next_back() == Some(name))
}

/// Load a module; in a few words, what came of it. A failure means nothing by itself: built-in
/// parts have no module, and small systems have no modprobe.
fn modprobe(module: &str) -> String {
    if command::find("modprobe").is_none() {
        return "not found".into();
    }
    match command::run(&Invocation::new("modprobe", ["-q", "--", module])) {
        Ok(output) if output.status == 0 => "loaded".into(),
        Ok(output) => format!("exit {}", output.status),
        Err(error) => error.to_string(),
    }
}

fn check_root() -> Lack {
    root_lack(Uid::effective().as_raw(), &read("/proc/self/uid_map"), &read("/proc/self/status"))
}

fn root_lack(uid: u32, uid_map: &str, status: &str) -> Lack {
    if uid != 0 {
        return Some((
            format!("not root (uid={uid}); loop devices and mounts need it"),
            "sudo fsduel ...".into(),
        ));
    }
    if !is_identity(uid_map) {
        let text = "root only inside a user namespace, which may not use loop devices";
        return Some((text.into(), "use a rootful container with --privileged".into()));
    }
    let text = "root without CAP_SYS_ADMIN, which mounts need";
    let next = "start the container with --privileged";
    (!has_sys_admin(status)).then(|| (text.into(), next.into()))
}

/// Outside any user namespace the map is `0 0 4294967295`. Source: user_namespaces(7).
fn is_identity(uid_map: &str) -> bool {
    uid_map.split_ascii_whitespace().eq(["0", "0", "4294967295"])
}

/// Bit 21 of `CapEff` is `CAP_SYS_ADMIN`. Source: Linux `include/uapi/linux/capability.h`.
fn has_sys_admin(status: &str) -> bool {
    status
        .lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask & (1 << 21) != 0)
}

fn check_loop() -> Lack {
    let open = || File::options().read(true).write(true).open("/dev/loop-control");
    let mut opened = open();
    if opened.as_ref().is_err_and(|error| error.raw_os_error() == Some(Errno::ENOENT as i32)) {
        modprobe("loop");
        opened = open();
    }
    let errno = opened.err()?.raw_os_error().map_or(Errno::UnknownErrno, Errno::from_raw);
    Some(loop_lack(errno, command::find("modprobe").is_some()))
}

fn loop_lack(errno: Errno, has_modprobe: bool) -> (String, String) {
    let rules = "allow the devices (b 7:* rwm, c 10:237 rwm), or start the container with --privileged";
    let what = "/dev/loop-control";
    let (why, next) = match errno {
        Errno::ENOENT if has_modprobe => {
            ("does not exist, and modprobe loop did not bring it", "start the container with -v /dev:/dev")
        }
        Errno::ENOENT => ("does not exist", "modprobe loop; in a container: -v /dev:/dev"),
        Errno::EACCES => (
            "is not ours to open (its mode, or a nodev mount)",
            "run as root (sudo); in a container --privileged",
        ),
        Errno::EPERM => ("is forbidden by a device cgroup", rules),
        Errno::ENXIO | Errno::ENODEV => {
            ("has no driver: the kernel lacks loop devices", "run in a virtual machine")
        }
        _ => ("does not open", rules),
    };
    (format!("{what} {why} ({errno:?})"), next.into())
}

/// A file of /proc; empty where it cannot be read, which no check takes for a yes.
fn read(path: &str) -> String {
    read_to_string(path).unwrap_or_default()
}

/// Debian's package that has a program, where known.
#[must_use]
pub fn package_of(program: &str) -> Option<&'static str> {
    let packages: [(&str, &[&str]); 11] = [
        ("btrfs-progs", &["btrfs", "mkfs.btrfs"]),
        (
            "e2fsprogs",
            &["mke2fs", "mkfs.ext2", "mkfs.ext3", "mkfs.ext4", "e2fsck", "dumpe2fs", "tune2fs", "debugfs"],
        ),
        ("xfsprogs", &["mkfs.xfs", "xfs_repair", "xfs_db", "xfs_info", "xfs_io"]),
        ("f2fs-tools", &["mkfs.f2fs", "fsck.f2fs", "dump.f2fs"]),
        ("nilfs-tools", &["mkfs.nilfs2", "nilfs-tune"]),
        ("jfsutils", &["mkfs.jfs", "fsck.jfs", "jfs_mkfs", "jfs_fsck", "jfs_tune"]),
        ("reiserfsprogs", &["mkfs.reiserfs", "reiserfsck", "debugreiserfs"]),
        ("bcachefs-tools", &["bcachefs", "mkfs.bcachefs"]),
        ("exfatprogs", &["mkfs.exfat", "fsck.exfat"]),
        ("kmod", &["modprobe"]),
        ("util-linux", &["blkid", "wipefs"]),
    ];
    packages.iter().find(|(_, programs)| programs.contains(&program)).map(|(package, _)| *package)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "CapPrm:\t000001fffeffffff\nCapEff:\t000001fffeffffff\nCapBnd:\t000001fffeffffff\n";
    const IDENTITY: &str = "         0          0 4294967295\n";

    #[test]
    fn root_with_all_capabilities_lacks_nothing() {
        assert_eq!(root_lack(0, IDENTITY, STATUS), None);
    }

    #[test]
    fn three_ways_of_not_being_root_have_three_messages() {
        let none = "CapEff:\t00000000a80425fb\n";
        let texts = [
            root_lack(65534, IDENTITY, STATUS),
            root_lack(0, "         0       1000          1\n", STATUS),
            root_lack(0, IDENTITY, none),
        ]
        .map(|lack| lack.unwrap().0);
        assert!(texts[0].starts_with("not root (uid=65534)"), "{}", texts[0]);
        assert!(texts[1].starts_with("root only inside a user namespace"), "{}", texts[1]);
        assert!(texts[2].starts_with("root without CAP_SYS_ADMIN"), "{}", texts[2]);
    }

    #[test]
    fn a_file_system_is_found_by_its_whole_name() {
        let text = "nodev\tsysfs\nnodev\ttmpfs\n\text3\n\text4\n\tbtrfs\n\txfs\n";
        assert!(has_filesystem(text, "ext4") && has_filesystem(text, "tmpfs"));
        assert!(
            !has_filesystem(text, "fs") && !has_filesystem(text, "nodev") && !has_filesystem(text, "f2fs")
        );
    }

    #[test]
    fn an_absent_and_a_forbidden_loop_control_differ() {
        assert!(loop_lack(Errno::ENOENT, false).0.contains("does not exist"));
        assert!(loop_lack(Errno::EACCES, false).0.contains("not ours to open"));
        let (text, next) = loop_lack(Errno::EPERM, false);
        assert!(text.contains("device cgroup") && next.contains("b 7:* rwm"), "{text}; {next}");
    }

    #[test]
    fn a_missing_tool_names_its_package() {
        let tool = Requirement::Tool { program: "mkfs.of-another-machine", package: "other-progs" };
        let missing = check(&[tool, Requirement::Tool { program: "sh", package: "dash" }]);
        assert_eq!(missing.len(), 1);
        assert!(missing[0].next.starts_with("apt install other-progs"), "{}", missing[0].next);
    }

    #[test]
    fn a_missing_kernel_part_names_the_kernel() {
        let missing =
            check(&[Requirement::Kernel { filesystem: "nosuchfs", linux: LinuxVersions::since(2, 6) }]);
        assert!(
            missing[0].text.contains("has no nosuchfs (/proc/filesystems; modprobe: "),
            "{}",
            missing[0].text
        );
    }
}
