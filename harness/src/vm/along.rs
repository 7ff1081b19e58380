//! What the commands of a case take along into a guest.
//!
//! A command has a root directory of its own there: a folder that was given for it, or else one with
//! the programs and files that it names. So its libraries never meet those of the tools.

use std::fs::{self, Metadata};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::mirror::Mirror;
use super::pack::{Entry, Pack, unreadable};
use crate::command::stop_requested;
use crate::error::{Cannot, Error, Result};
use crate::ops::Command;
use crate::sys::caller::User;
use crate::units::Bytes;

/// QEMU puts an initramfs below the hole for devices, which begins at 2 GiB. Source: QEMU
/// `hw/i386/x86.c`, `x86_load_linux`; `hw/i386/pc_q35.c`.
const LARGEST: Bytes = Bytes::mib(1900);

/// Where all of it lies in the guest.
const FOLDER: &str = "/along";

/// Folders of a root in which something else is shown to a command.
const SHOWN: [&str; 4] = ["dev", "mnt", "proc", "sys"];

/// For the lines around a command, and for programs that run others through it. Source: system(3).
const SHELL: [&str; 2] = ["sh", "/bin/sh"];

/// Folders where no root was given, and their rights.
const FOLDERS: [(&str, u32); 9] = [
    ("dev", 0o755),
    ("etc", 0o755),
    ("mnt", 0o755),
    ("proc", 0o555),
    ("root", 0o700),
    ("run", 0o755),
    ("sys", 0o555),
    ("tmp", 0o1777),
    ("var/tmp", 0o1777),
];

/// What is taken along, and where the guest has it.
pub struct Along {
    pack: Pack,
    /// For each command, in order.
    pub places: Vec<Places>,
}

/// Where the guest has what one command needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// Its root directory.
    pub root: String,
    /// What is put into the file system first.
    pub copy: Option<String>,
}

impl Along {
    /// Find all that `commands` of `user` need. The contents of files are not read yet.
    ///
    /// # Errors
    ///
    /// Something is not there or cannot be read, or is no directory that a command can have as its
    /// root.
    pub fn of(commands: &[Command], user: Option<&User>) -> Result<Self> {
        let mut taken = Taken { pack: Pack::default(), folders: vec![], mirror: None };
        let places = commands.iter().map(|command| taken.command(command, user)).collect::<Result<_>>()?;
        Ok(Self { pack: taken.pack, places })
    }

    /// Whether something is put into a file system.
    pub(super) fn copies(&self) -> bool {
        self.places.iter().any(|places| places.copy.is_some())
    }

    /// What it takes of an initramfs.
    #[must_use]
    pub fn size(&self) -> Bytes {
        Bytes(self.pack.bytes())
    }

    pub(super) fn write(&self, to: &mut impl Write) -> Result<()> {
        self.pack.write(to)
    }
}

struct Taken {
    pack: Pack,
    /// Given folders, and where they are in the guest.
    folders: Vec<(PathBuf, String)>,
    mirror: Option<Mirror>,
}

impl Taken {
    fn command(&mut self, command: &Command, user: Option<&User>) -> Result<Places> {
        let root = match &command.root {
            Some(root) => {
                can_be_root(root)?;
                self.folder(root, true)?
            }
            None => self.programs(command, user)?,
        };
        let copy = command.copy.as_ref().map(|folder| self.folder(folder, false)).transpose()?;
        Ok(Places { root, copy })
    }

    /// All that is below `folder`; once, where several ask for it. A root ends where another file
    /// system begins, since `/proc` and others may be mounted there.
    fn folder(&mut self, folder: &Path, one_disk: bool) -> Result<String> {
        if let Some((_, place)) = self.folders.iter().find(|(known, _)| known == folder) {
            return Ok(place.clone());
        }
        let place = format!("{FOLDER}/{}", self.folders.len());
        let top =
            folder.metadata().cannot(|| format!("take {} along", folder.display())).map_err(unreadable)?;
        let disk = one_disk.then(|| top.dev());
        add_all(&mut self.pack, folder, &top, Path::new(&place), disk)?;
        if one_disk {
            SHOWN.iter().try_for_each(|name| {
                self.pack.add_new(&Path::new(&place).join(name), Entry::folder(0o755))
            })?;
        }
        self.folders.push((folder.to_owned(), place.clone()));
        Ok(place)
    }

    /// The programs that a command names, and that the lines around it do.
    fn programs(&mut self, command: &Command, user: Option<&User>) -> Result<String> {
        let place = format!("{FOLDER}/programs");
        if self.mirror.is_none() {
            lay_out(&mut self.pack, Path::new(&place), user)?;
        }
        let mirror = self.mirror.get_or_insert_with(|| Mirror::new(&place));
        let lines: Vec<&str> = command.prepare.iter().chain(&command.check).map(String::as_str).collect();
        for text in command.words.iter().map(String::as_str).chain(lines).chain(SHELL) {
            mirror.named(text, command.copy.as_deref(), &mut self.pack)?;
        }
        Ok(place)
    }
}

/// The folders that every program expects, and names for the two users of the guest.
fn lay_out(pack: &mut Pack, place: &Path, user: Option<&User>) -> Result<()> {
    for (name, rights) in FOLDERS {
        pack.add(&place.join(name), Entry::folder(rights))?;
    }
    let (mut users, mut groups) = ("root:x:0:0:root:/root:/bin/sh\n".to_owned(), "root:x:0:\n".to_owned());
    if let Some(User { name, home, ids }) = user {
        let (uid, gid, shown) = (ids.uid, ids.gid, home.display());
        users.push_str(&format!("{name}:x:{uid}:{gid}::{shown}:/bin/sh\n"));
        groups.push_str(&format!("{name}:x:{gid}:\n"));
        if home.is_dir() && home.parent().is_some() {
            let home = home.strip_prefix("/").unwrap_or(home);
            pack.add(&place.join(home), Entry::folder(0o700).owned_by((uid, gid)))?;
        }
    }
    pack.add(&place.join("etc/passwd"), Entry::text(users))?;
    pack.add(&place.join("etc/group"), Entry::text(groups))
}

/// Nothing can be shown to a command where a link leads elsewhere.
fn can_be_root(root: &Path) -> Result<()> {
    let is_other = |name: &&&str| root.join(name).symlink_metadata().is_ok_and(|found| !found.is_dir());
    match SHOWN.iter().find(is_other) {
        None => Ok(()),
        Some(name) => Err(Error::usage(format!(
            "use {} as a root directory: its {name} is no directory",
            root.display()
        ))
        .next(format!("make a directory of it: {name} is what a command sees of the machine"))),
    }
}

/// A folder and all below it, without what is on another disk than `disk`.
fn add_all(pack: &mut Pack, from: &Path, found: &Metadata, to: &Path, disk: Option<u64>) -> Result<()> {
    let doing = || format!("take {} along", from.display());
    let Some(entry) = Entry::of(from, found)? else { return Ok(()) };
    pack.add(to, entry)?;
    if pack.bytes() > LARGEST.0 {
        return Err(Error::usage(format!("{}: with it, it is more than {LARGEST}", doing()))
            .next("a smaller directory for --root or --copy: a virtual machine is started with no more"));
    }
    if !found.is_dir() || disk.is_some_and(|disk| disk != found.dev()) {
        return Ok(());
    }
    if stop_requested() {
        return Err(Error::stopped(doing()));
    }
    for below in fs::read_dir(from).cannot(doing).map_err(unreadable)? {
        let below = below.cannot(doing)?;
        let found = below.metadata().cannot(doing)?;
        add_all(pack, &below.path(), &found, &to.join(below.file_name()), disk)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::error::Kind;
    use crate::sys::confine::Ids;

    fn command(root: Option<&Path>, copy: Option<&Path>) -> Command {
        let (root, copy) = (root.map(Path::to_owned), copy.map(Path::to_owned));
        Command { words: vec!["sh".into(), "-c".into(), "true".into()], root, copy, ..Command::default() }
    }

    #[test]
    fn a_folder_that_several_commands_need_is_taken_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("etc")).unwrap();
        fs::write(folder.path().join("etc/file"), "content").unwrap();
        let (root, copy) = (tempfile::tempdir().unwrap(), folder.path());
        let all = [command(Some(root.path()), Some(copy)), command(None, Some(copy)), command(None, None)];
        let along = Along::of(&all, None).unwrap();
        let places =
            |root: &str, copy: Option<&str>| Places { root: root.into(), copy: copy.map(Into::into) };
        let expected = [
            places("/along/0", Some("/along/1")),
            places("/along/programs", Some("/along/1")),
            places("/along/programs", None),
        ];
        assert_eq!(along.places, expected);
        for there in
            ["/along/1/etc/file", "/along/0/proc", "/along/programs/tmp", "/along/programs/etc/passwd"]
        {
            assert!(along.pack.has(Path::new(there)), "{there}");
        }
        assert!(along.copies() && along.size() > Bytes::mib(1), "{}", along.size());
    }

    #[test]
    fn the_user_has_a_name_and_a_home_beside_the_programs() {
        let home = tempfile::tempdir().unwrap();
        let ids = Ids { uid: 1000, gid: 1001, groups: vec![] };
        let user = User { name: "me".into(), home: home.path().to_owned(), ids };
        let along = Along::of(&[command(None, None)], Some(&user)).unwrap();
        let there = Path::new("/along/programs").join(home.path().strip_prefix("/").unwrap());
        assert!(along.pack.has(&there));
        let mut archive = vec![];
        along.write(&mut archive).unwrap();
        let text = String::from_utf8_lossy(&archive);
        assert!(text.contains(&format!("\nme:x:1000:1001::{}:/bin/sh\n", home.path().display())));
    }

    #[test]
    fn a_root_whose_folders_lead_elsewhere_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        symlink("/media", folder.path().join("mnt")).unwrap();
        let error = Along::of(&[command(Some(folder.path()), None)], None).err().unwrap();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().ends_with("its mnt is no directory"), "{error}");
    }
}
