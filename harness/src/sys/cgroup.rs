//! A memory cgroup: what the processes in it, and the page cache that they fill, may use in all.
//!
//! Version 2 where it has the memory controller, else the memory hierarchy of version 1 (on a hybrid
//! machine only one of the two has it). What is limited: the processes' own memory, the page cache
//! that they were the first to touch, and the kernel's memory on their behalf (inodes, directory
//! entries). Under version 2, pages that the kernel writes back later stay charged to the group that
//! dirtied them. Kernel threads are outside, and so is what a loop device without direct I/O keeps of
//! its image under version 1.
//!
//! A group of version 1 is made below our own, so that every limit above it still holds. Version 2
//! allows no group between ours and the work (a group with processes may not hand controllers on),
//! so there it is made in the nearest ancestor that hands the memory controller on already, or in the
//! root. Source: Linux `Documentation/admin-guide/cgroup-v2.rst`, "No Internal Process Constraint";
//! `Documentation/admin-guide/cgroup-v1/memory.rst`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use nix::errno::Errno;

use super::mount_table::{self, MountEntry};
use super::retry::retry;
use crate::error::{Cannot, Error, Result};
use crate::units::Bytes;

/// How long a group may be busy after its last process was waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// What to do where no group can be had.
const NEXT: &str = "in a container: --privileged --cgroupns=host -v /sys/fs/cgroup:/sys/fs/cgroup; \
    or --backend vm, where --memory is the memory of the virtual machine";

/// The version of the hierarchy that has the memory controller: its files have other names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// Where groups can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parent {
    version: Version,
    folder: PathBuf,
}

/// A group of ours. Dropping it removes it.
#[derive(Debug)]
pub struct MemoryGroup {
    version: Version,
    folder: PathBuf,
    removed: bool,
}

impl MemoryGroup {
    /// Make a group without processes. With its own limit hold those of all groups above it.
    ///
    /// # Errors
    ///
    /// Of kind [`Unavailable`](crate::error::Kind::Unavailable): there is no memory controller, or no
    /// right to use it.
    pub fn create(name: &str, limit: Bytes) -> Result<Self> {
        Self::create_in(&parent()?, name, limit)
    }

    fn create_in(parent: &Parent, name: &str, limit: Bytes) -> Result<Self> {
        let folder = parent.folder.join(name);
        let unavailable = |error: Error| error.of_kind(crate::error::Kind::Unavailable).next(NEXT);
        fs::create_dir(&folder)
            .cannot(|| format!("make the memory cgroup {}", folder.display()))
            .map_err(unavailable)?;
        let group = Self { version: parent.version, folder, removed: false };
        group.limit(limit).map_err(unavailable)?;
        Ok(group)
    }

    /// Swap would only hide the limit, so none is allowed where the kernel counts it.
    fn limit(&self, limit: Bytes) -> Result<()> {
        let bytes = limit.0.to_string();
        match self.version {
            Version::One => {
                self.write("memory.limit_in_bytes", &bytes)?;
                self.write_if_there("memory.memsw.limit_in_bytes", &bytes)
            }
            Version::Two => {
                self.write("memory.max", &bytes)?;
                self.write_if_there("memory.swap.max", "0")
            }
        }
    }

    /// Put a process into it. What it has used so far stays charged elsewhere; what it starts from now
    /// on is in the group, too.
    ///
    /// # Errors
    ///
    /// The process is gone, or may not be moved.
    pub fn add(&self, pid: i32) -> Result<()> {
        self.write("cgroup.procs", &pid.to_string())
    }

    /// How many processes in it the kernel killed because they needed more than the limit; none where
    /// it does not tell (version 1 before Linux 4.13).
    #[must_use]
    pub fn kills(&self) -> Option<u64> {
        let file = match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        kills_in(&fs::read_to_string(self.folder.join(file)).ok()?)
    }

    /// Remove it. Its processes have ended and were waited for.
    ///
    /// # Errors
    ///
    /// A process is still in it.
    pub fn remove(mut self) -> Result<()> {
        self.removed = true;
        remove(&self.folder)
    }

    fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.folder.join(file);
        fs::write(&path, text).cannot(|| format!("write {text} to {}", path.display()))
    }

    fn write_if_there(&self, file: &str, text: &str) -> Result<()> {
        if self.folder.join(file).exists() { self.write(file, text) } else { Ok(()) }
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        if !self.removed
            && let Err(error) = remove(&self.folder)
        {
            log::warn!("{error}");
        }
    }
}

/// Remove a group that is empty; one that is gone is no failure.
///
/// # Errors
///
/// It has processes or groups in it.
pub fn remove(folder: &Path) -> Result<()> {
    let is = |error: &std::io::Error, errno: Errno| error.raw_os_error() == Some(errno as i32);
    match retry(PATIENCE, |error| is(error, Errno::EBUSY), || fs::remove_dir(folder)) {
        Err(error) if is(&error, Errno::ENOENT) => Ok(()),
        other => other.cannot(|| format!("remove the memory cgroup {}", folder.display())),
    }
}

/// All memory cgroups of this machine that we see, and whose name begins with `prefix`.
#[must_use]
pub fn find(prefix: &str) -> Vec<PathBuf> {
    let mut found = vec![];
    let Ok(mounts) = mount_table::read() else { return found };
    for mount in mounts.iter().filter(|mount| version_of(mount).is_some()) {
        collect(&mount.point, prefix, &mut found);
    }
    found.sort();
    found.dedup();
    found
}

/// Folders only: a group's files are no folders, and its name is nowhere else.
fn collect(folder: &Path, prefix: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        match entry.file_name().to_string_lossy().starts_with(prefix) {
            true => found.push(entry.path()),
            false => collect(&entry.path(), prefix, found),
        }
    }
}

/// `oom_kill 3` in both versions.
fn kills_in(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("oom_kill "))?.trim().parse().ok()
}

fn parent() -> Result<Parent> {
    let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    choose(&mount_table::read()?, &own)
}

/// Where a group can be made: version 2 first, which also charges what is written back later.
fn choose(mounts: &[MountEntry], own: &str) -> Result<Parent> {
    let of = |version| mounts.iter().filter(move |mount| version_of(mount) == Some(version));
    let two = of(Version::Two).find_map(|mount| hands_on(&own_folder(mount, own)?, &mount.point));
    let one = || of(Version::One).find_map(|mount| own_folder(mount, own));
    two.map(|folder| Parent { version: Version::Two, folder })
        .or_else(|| one().map(|folder| Parent { version: Version::One, folder }))
        .ok_or_else(|| {
            Error::unavailable("limit the memory of the work")
                .because(match mounts.iter().any(|mount| version_of(mount).is_some()) {
                    true => "no cgroup above this process hands the memory controller on to groups below it",
                    false => "no cgroup hierarchy with a memory controller is mounted",
                })
                .next(NEXT)
        })
}

fn version_of(mount: &MountEntry) -> Option<Version> {
    match mount.filesystem.as_str() {
        "cgroup2" => Some(Version::Two),
        "cgroup" if mount.super_options.split(',').any(|word| word == "memory") => Some(Version::One),
        _ => None,
    }
}

/// The folder of our own group below this mount, which need not show all of the hierarchy. `own` is
/// `/proc/self/cgroup`: lines of `NUMBER:CONTROLLERS:PATH`, without controllers for version 2. Source:
/// cgroups(7).
fn own_folder(mount: &MountEntry, own: &str) -> Option<PathBuf> {
    let version = version_of(mount)?;
    let path = own.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        let ours = match version {
            Version::One => controllers.split(',').any(|word| word == "memory"),
            Version::Two => controllers.is_empty(),
        };
        ours.then_some(path)
    })?;
    let below = Path::new(path).strip_prefix(&mount.root).ok()?;
    let folder = mount.point.join(below);
    folder.is_dir().then_some(folder)
}

/// From our own group upwards, the first that hands the memory controller on to groups below it; the
/// root of the hierarchy may be told to, since there processes do no harm.
fn hands_on(own: &Path, top: &Path) -> Option<PathBuf> {
    let has = |folder: &Path, file: &str| {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        text.split_ascii_whitespace().any(|word| word == "memory")
    };
    let above = || own.ancestors().take_while(|folder| folder.starts_with(top));
    if let Some(folder) = above().find(|folder| has(folder, "cgroup.subtree_control")) {
        return Some(folder.to_owned());
    }
    // The root has no type; the seeming root of a cgroup namespace has one. Source: cgroups(7).
    let is_root = !top.join("cgroup.type").exists();
    (is_root
        && has(top, "cgroup.controllers")
        && fs::write(top.join("cgroup.subtree_control"), "+memory").is_ok())
    .then(|| top.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(point: &Path, root: &str, filesystem: &str, options: &str) -> MountEntry {
        let line = format!("35 31 0:32 {root} {} rw - {filesystem} cgroup {options}", point.display());
        mount_table::parse(&line).remove(0)
    }

    /// Folders below a new one, with the groups that hand memory on.
    fn hierarchy(groups: &[(&str, &str)]) -> tempfile::TempDir {
        let top = tempfile::tempdir().unwrap();
        for (folder, handed_on) in groups {
            fs::create_dir_all(top.path().join(folder)).unwrap();
            fs::write(top.path().join(folder).join("cgroup.subtree_control"), handed_on).unwrap();
        }
        top
    }

    const HYBRID: &str = "4:memory:/jobs/7\n1:cpu:/\n0::/\n";

    #[test]
    fn a_group_of_version_1_is_made_below_our_own() {
        let top = hierarchy(&[("jobs/7", "")]);
        let mounts = [mount(top.path(), "/", "cgroup", "rw,memory")];
        let parent = choose(&mounts, HYBRID).unwrap();
        assert_eq!(parent, Parent { version: Version::One, folder: top.path().join("jobs/7") });
    }

    #[test]
    fn a_mount_that_shows_a_part_of_the_hierarchy_is_understood() {
        let top = hierarchy(&[("7", "")]);
        let shown = mount(top.path(), "/jobs", "cgroup", "rw,memory");
        assert_eq!(own_folder(&shown, HYBRID), Some(top.path().join("7")));
        let other = mount(top.path(), "/elsewhere", "cgroup", "rw,memory");
        assert_eq!(own_folder(&other, HYBRID), None);
    }

    #[test]
    fn version_2_without_the_controller_is_passed_over() {
        let (two, one) = (hierarchy(&[("", "")]), hierarchy(&[("jobs/7", "")]));
        fs::write(two.path().join("cgroup.controllers"), "hugetlb\n").unwrap();
        let mounts = [mount(two.path(), "/", "cgroup2", "rw"), mount(one.path(), "/", "cgroup", "rw,memory")];
        assert_eq!(choose(&mounts, HYBRID).unwrap().version, Version::One);
    }

    #[test]
    fn a_group_of_version_2_is_made_in_the_nearest_ancestor_that_hands_memory_on() {
        let groups =
            [("", "cpu memory"), ("user", "memory pids"), ("user/service", "pids"), ("user/service/own", "")];
        let top = hierarchy(&groups);
        let mounts = [mount(top.path(), "/", "cgroup2", "rw")];
        let parent = choose(&mounts, "0::/user/service/own\n").unwrap();
        assert_eq!(parent, Parent { version: Version::Two, folder: top.path().join("user") });
    }

    #[test]
    fn only_the_true_root_is_told_to_hand_memory_on() {
        let top = hierarchy(&[("", "")]);
        fs::write(top.path().join("cgroup.controllers"), "cpu memory\n").unwrap();
        fs::write(top.path().join("cgroup.type"), "domain\n").unwrap();
        let mounts = [mount(top.path(), "/", "cgroup2", "rw")];
        let error = choose(&mounts, "0::/\n").unwrap_err();
        assert_eq!(error.kind(), crate::error::Kind::Unavailable);
        assert!(error.to_string().contains("hands the memory controller on"), "{error}");
        assert!(error.next_step().unwrap().contains("--cgroupns=host"));
        fs::remove_file(top.path().join("cgroup.type")).unwrap();
        assert_eq!(choose(&mounts, "0::/\n").unwrap().folder, top.path());
        assert_eq!(fs::read_to_string(top.path().join("cgroup.subtree_control")).unwrap(), "+memory");
    }

    #[test]
    fn without_any_hierarchy_the_way_out_is_told() {
        let error = choose(&[], HYBRID).unwrap_err();
        assert!(error.to_string().contains("is mounted"), "{error}");
        assert!(error.next_step().unwrap().contains("--backend vm"));
    }

    #[test]
    fn kills_are_read_in_both_versions() {
        assert_eq!(kills_in("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"), Some(2));
        assert_eq!(kills_in("low 0\nhigh 0\nmax 812\noom 3\noom_kill 1\noom_group_kill 0\n"), Some(1));
        assert_eq!(kills_in("oom_kill_disable 0\nunder_oom 0\n"), None);
    }

    #[test]
    fn a_group_that_cannot_be_made_is_unavailable() {
        let parent = Parent { version: Version::One, folder: "/nowhere/at/all".into() };
        let error = MemoryGroup::create_in(&parent, "fsduel-1-2-3", Bytes::mib(64)).unwrap_err();
        assert_eq!(error.kind(), crate::error::Kind::Unavailable);
    }

    #[test]
    fn groups_are_found_by_name_at_any_depth() {
        let top = hierarchy(&[("jobs/7/fsduel-1-2-3", ""), ("fsduel-9-9-9", ""), ("other", "")]);
        let mut found = vec![];
        collect(top.path(), "fsduel-", &mut found);
        found.sort();
        assert_eq!(found, [top.path().join("fsduel-9-9-9"), top.path().join("jobs/7/fsduel-1-2-3")]);
    }
}
