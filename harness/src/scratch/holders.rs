//! Who keeps a mount or a device busy, so that "busy" can be told with a process and a reason.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::sys::mount_table;

/// A process that keeps something busy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its id.
    pub pid: u32,
    /// Its name.
    pub command: String,
    /// How it holds on: `cwd /mnt/x`, `fd 3 /mnt/x/file`, `mount namespace`.
    pub how: String,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {} ({}) {}", self.pid, self.command, self.how)
    }
}

/// All processes that use anything at or below `mount`.
#[must_use]
pub fn of_mount(mount: &Path) -> Vec<Holder> {
    processes().filter_map(|(pid, folder)| holder(pid, &folder, mount_use(&folder, mount)?)).collect()
}

/// All other processes that have `device` open, or use or see a mount of it. `number` is its
/// device number.
#[must_use]
pub fn of_device(device: &Path, number: u64) -> Vec<Holder> {
    // Not our id: in a PID namespace of our own we are another in the inherited /proc.
    let own = fs::read_link("/proc/self").unwrap_or_default();
    processes()
        .filter(|(_, folder)| folder.file_name() != Some(own.as_os_str()))
        .filter_map(|(pid, folder)| holder(pid, &folder, device_use(&folder, device, number)?))
        .collect()
}

/// In a few words, for the end of a message.
#[must_use]
pub fn sentence(holders: &[Holder]) -> String {
    match holders {
        [] => {
            "no process that /proc shows holds it; swap, a loop device or the kernel's own writing may".into()
        }
        [first @ .., last] if first.len() < 4 => {
            let mut words: Vec<_> = first.iter().map(Holder::to_string).collect();
            words.push(last.to_string());
            format!("held by {}", words.join(", "))
        }
        many => format!("held by {} and {} more", many[0], many.len() - 1),
    }
}

fn processes() -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
}

fn holder(pid: u32, folder: &Path, how: String) -> Option<Holder> {
    let command = fs::read_to_string(folder.join("comm")).ok()?.trim_end().to_owned();
    Some(Holder { pid, command, how })
}

fn mount_use(process: &Path, mount: &Path) -> Option<String> {
    let below = |link: &Path| fs::read_link(link).ok().filter(|target| target.starts_with(mount));
    for name in ["cwd", "root"] {
        if let Some(target) = below(&process.join(name)) {
            return Some(format!("{name} {}", target.display()));
        }
    }
    let fds = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    for fd in fds {
        if let Some(target) = below(&fd.path()) {
            return Some(format!("fd {} {}", fd.file_name().display(), target.display()));
        }
    }
    let maps = fs::read_to_string(process.join("maps")).ok()?;
    mapped_below(&maps, mount).map(|path| format!("maps {path}"))
}

/// The path is the sixth field, and may hold spaces. Source: proc_pid_maps(5).
fn mapped_below<'a>(maps: &'a str, mount: &Path) -> Option<&'a str> {
    maps.lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .find(|path| Path::new(path).starts_with(mount))
}

fn device_use(process: &Path, device: &Path, number: u64) -> Option<String> {
    let name = device.file_name()?;
    let fds = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    for fd in fds {
        // Only links that look like it are followed: a stat on a dead network mount would hang.
        let looks_like_it = fs::read_link(fd.path()).is_ok_and(|target| target.file_name() == Some(name));
        if looks_like_it && fs::metadata(fd.path()).is_ok_and(|found| found.rdev() == number) {
            return Some(format!("fd {} {}", fd.file_name().display(), device.display()));
        }
    }
    let text = fs::read_to_string(process.join("mountinfo")).ok()?;
    let mounted = mount_table::parse(&text)
        .into_iter()
        .find(|entry| Path::new(&entry.source).file_name() == Some(name) && entry.source.starts_with('/'))?;
    let used = mount_use(process, &mounted.point);
    Some(used.unwrap_or_else(|| format!("mount namespace, mounted at {}", mounted.point.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_file_names_its_process_and_descriptor() {
        let folder = tempfile::tempdir().unwrap();
        let _file = fs::File::create(folder.path().join("held")).unwrap();
        let held = of_mount(folder.path());
        let ours = held.iter().find(|holder| holder.pid == std::process::id()).unwrap();
        assert!(ours.how.starts_with("fd ") && ours.how.ends_with("/held"), "{}", ours.how);
    }

    #[test]
    fn a_mapped_file_is_found_by_its_whole_path() {
        let maps = "7f0 r-xp 00000000 fe:01 12   /mnt/fsduel/a b\n7f1 rw-p 00000000 00:00 0  [heap]\n";
        assert_eq!(mapped_below(maps, Path::new("/mnt/fsduel")), Some("/mnt/fsduel/a b"));
        assert_eq!(mapped_below(maps, Path::new("/mnt/fs")), None);
    }

    #[test]
    fn nobody_is_told_too() {
        assert!(sentence(&[]).starts_with("no process"));
        let one = Holder { pid: 7, command: "sleep".into(), how: "cwd /mnt".into() };
        assert_eq!(sentence(std::slice::from_ref(&one)), "held by pid 7 (sleep) cwd /mnt");
        assert_eq!(sentence(&vec![one; 9]), "held by pid 7 (sleep) cwd /mnt and 8 more");
    }
}
