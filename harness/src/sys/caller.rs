//! The user who called us, through sudo or as themselves: what we leave on purpose is theirs, and
//! their commands run as them.

use std::ffi::CString;
use std::io;
use std::os::unix::fs::lchown;
use std::path::{Path, PathBuf};

use nix::unistd::{Gid, Uid, geteuid, getgid, getgrouplist, getgroups};
use serde::{Deserialize, Serialize};

use super::confine::Ids;

/// A user as a command knows them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct User {
    /// Login name; the number where there is none.
    pub name: String,
    /// Home directory.
    pub home: PathBuf,
    /// Numbers of user and groups.
    pub ids: Ids,
}

/// Under sudo, give `path` to the user who called it.
///
/// # Errors
///
/// The file system of `path` knows no owners.
pub fn give_to_caller(path: &Path) -> io::Result<()> {
    match sudo() {
        Some((uid, gid)) => lchown(path, Some(uid.as_raw()), Some(gid.as_raw())),
        None => Ok(()),
    }
}

/// Who called, where that is not root.
#[must_use]
pub fn caller() -> Option<User> {
    let (uid, gid) = match geteuid() {
        root if root.is_root() => sudo()?,
        other => (other, getgid()),
    };
    if uid.is_root() {
        return None;
    }
    let known = nix::unistd::User::from_uid(uid).ok().flatten();
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let asked = if geteuid().is_root() { variable("SUDO_USER") } else { variable("USER") };
    let name = known.as_ref().map(|user| user.name.clone()).or(asked).unwrap_or_else(|| uid.to_string());
    let home = known.map_or_else(|| "/".into(), |user| user.dir);
    let ids = Ids { uid: uid.as_raw(), gid: gid.as_raw(), groups: groups(&name, gid) };
    Some(User { name, home, ids })
}

/// The shell of whoever called: that of their login, or for root `$SHELL`; where there is none, `/bin/sh`.
#[must_use]
pub fn shell(as_root: bool) -> PathBuf {
    let variable = std::env::var_os("SHELL").map(PathBuf::from);
    let asked = match caller().filter(|_| !as_root && geteuid().is_root()) {
        Some(user) => nix::unistd::User::from_uid(user.ids.uid.into()).ok().flatten().map(|user| user.shell),
        None => variable,
    };
    // Some logins are not for people, and have a program that only says so.
    let works = |shell: &PathBuf| shell.is_file() && !shell.ends_with("nologin") && !shell.ends_with("false");
    asked.filter(works).unwrap_or_else(|| "/bin/sh".into())
}

/// See that what sudo says of its caller is whole: a command is not to run as root by mistake.
///
/// # Errors
///
/// `SUDO_UID` or `SUDO_GID` is set, and both together name nobody.
pub fn check() -> crate::error::Result<()> {
    let is_set = |name| std::env::var_os(name).is_some();
    if !geteuid().is_root() || sudo().is_some() || !(is_set("SUDO_UID") || is_set("SUDO_GID")) {
        return Ok(());
    }
    Err(crate::error::Error::usage("tell who called sudo: SUDO_UID and SUDO_GID are no two numbers")
        .next("set both, or neither"))
}

/// What sudo says of who called it.
fn sudo() -> Option<(Uid, Gid)> {
    let id = |name| std::env::var(name).ok().and_then(|text| text.parse::<u32>().ok());
    if !geteuid().is_root() {
        return None;
    }
    Some((Uid::from_raw(id("SUDO_UID")?), Gid::from_raw(id("SUDO_GID")?)))
}

/// Those of a login; where nobody has that name, the first alone.
fn groups(name: &str, gid: Gid) -> Vec<u32> {
    let found = match geteuid().is_root() {
        true => CString::new(name).ok().and_then(|name| getgrouplist(&name, gid).ok()),
        false => getgroups().ok(),
    };
    found.filter(|all| !all.is_empty()).unwrap_or_else(|| vec![gid]).into_iter().map(Gid::as_raw).collect()
}
