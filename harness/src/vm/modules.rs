//! Which modules a kernel has, what they need, and the order in which to load them.
//!
//! Read from the files that `depmod` makes, as modprobe does, because nothing in the guest could ask
//! them: its kernel finds no modprobe, so all that it would ask for later is loaded before. Names
//! treat `-` and `_` alike. Source: modules.dep(5), kmod's `libkmod-index.c`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::error::{Cannot, Result};

/// The modules of one kernel.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Index {
    /// Below the folder of the modules, by name.
    paths: BTreeMap<String, String>,
    /// Names of those that one cannot be loaded without.
    needs: BTreeMap<String, Vec<String>>,
    /// Names or aliases of those that one would like to find loaded.
    likes: BTreeMap<String, Vec<String>>,
    aliases: BTreeMap<String, Vec<String>>,
    built_in: BTreeSet<String>,
}

/// A module to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Load {
    /// Below the folder of the modules.
    pub path: String,
    /// Another one is as good without it: a driver of a processor that is not there, for example.
    pub optional: bool,
}

/// What a kernel has under a name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    BuiltIn,
    /// As modules, of which an alias can name more than one.
    Modules(Vec<String>),
}

/// A module that is nowhere, and the one that needs it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotThere {
    pub module: String,
    pub needed_by: Option<String>,
}

impl Index {
    /// Read the index files in `folder`. One that is not there is empty.
    ///
    /// # Errors
    ///
    /// One cannot be read.
    pub fn read(folder: &Path) -> Result<Self> {
        let text = |name: &str| {
            let path = folder.join(name);
            match fs::read(&path) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
                read => read.cannot(|| format!("read {}", path.display())).map(|bytes| lossy(&bytes)),
            }
        };
        let mut index = Self::default();
        index.add_dep(&text("modules.dep")?);
        index.add_softdep(&text("modules.softdep")?);
        index.add_alias(&text("modules.alias")?);
        index.add_builtin(&text("modules.builtin")?);
        index.add_builtin_modinfo(&text("modules.builtin.modinfo")?);
        Ok(index)
    }

    /// `kernel/fs/ext4/ext4.ko: kernel/fs/jbd2/jbd2.ko kernel/fs/mbcache.ko`
    fn add_dep(&mut self, text: &str) {
        for (path, needs) in text.lines().filter_map(|line| line.split_once(':')) {
            let needs = needs.split_ascii_whitespace().rev().map(name_of).collect();
            self.needs.insert(name_of(path), needs);
            self.paths.insert(name_of(path), path.to_owned());
        }
    }

    /// `softdep ext4 pre: crc32c post: more`
    fn add_softdep(&mut self, text: &str) {
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            let (Some("softdep"), Some(module)) = (words.next(), words.next()) else { continue };
            let before = words.skip_while(|word| *word != "pre:").skip(1).take_while(|word| *word != "post:");
            self.likes.entry(alike(module)).or_default().extend(before.map(alike));
        }
    }

    /// `alias fs-ext4 ext4`
    fn add_alias(&mut self, text: &str) {
        for line in text.lines() {
            let mut words = line.split_ascii_whitespace();
            if let (Some("alias"), Some(alias), Some(module)) = (words.next(), words.next(), words.next()) {
                self.aliases.entry(alike(alias)).or_default().push(alike(module));
            }
        }
    }

    /// `kernel/fs/ext4/ext4.ko`
    fn add_builtin(&mut self, text: &str) {
        self.built_in.extend(text.lines().map(name_of));
    }

    /// `ext4.alias=fs-ext4`, each ended by a NUL. Source: Linux `Documentation/kbuild/kbuild.rst`.
    fn add_builtin_modinfo(&mut self, text: &str) {
        let entries = text.split('\0').filter_map(|entry| entry.split_once('='));
        let aliases = entries.filter(|(key, _)| key.ends_with(".alias"));
        self.built_in.extend(aliases.map(|(_, alias)| alike(alias)));
    }

    /// What there is under a name or an alias. What is built in comes last, as it does in modprobe: the
    /// name of a driver, such as crc32, can be that of a library, too.
    pub fn find(&self, name: &str) -> Option<Found> {
        let name = alike(name);
        if self.paths.contains_key(&name) {
            return Some(Found::Modules(vec![name]));
        }
        let aliased = self.aliases.get(&name).map(|modules| Found::Modules(modules.clone()));
        aliased.or_else(|| self.built_in.contains(&name).then_some(Found::BuiltIn))
    }

    /// What there is of a file system, whose alias is `fs-NAME` whatever its module is called.
    pub fn find_filesystem(&self, name: &str) -> Option<Found> {
        self.find(&format!("fs-{name}")).or_else(|| self.find(name))
    }

    /// Everything to load for these modules, those that others need or like before them.
    ///
    /// # Errors
    ///
    /// A module that one of them needs is not there.
    pub fn order(&self, wanted: &[String]) -> Result<Vec<Load>, NotThere> {
        let mut walk = Walk { index: self, done: vec![], seen: BTreeSet::new(), needed: BTreeSet::new() };
        for name in wanted {
            walk.need(name, None)?;
        }
        wanted.iter().for_each(|name| walk.visit(name));
        let load = |name: &String| {
            let path = self.paths.get(name)?.clone();
            Some(Load { path, optional: !walk.needed.contains(name) })
        };
        Ok(walk.done.iter().filter_map(load).collect())
    }
}

/// A walk from the wanted modules down to those that need nothing.
struct Walk<'a> {
    index: &'a Index,
    done: Vec<String>,
    seen: BTreeSet<String>,
    needed: BTreeSet<String>,
}

impl Walk<'_> {
    fn need(&mut self, name: &str, needed_by: Option<&str>) -> Result<(), NotThere> {
        if self.index.built_in.contains(name) || !self.needed.insert(name.to_owned()) {
            return Ok(());
        }
        if !self.index.paths.contains_key(name) {
            return Err(NotThere { module: name.to_owned(), needed_by: needed_by.map(str::to_owned) });
        }
        let index = self.index;
        index.needs.get(name).into_iter().flatten().try_for_each(|other| self.need(other, Some(name)))
    }

    fn visit(&mut self, name: &str) {
        if !self.seen.insert(name.to_owned()) {
            return;
        }
        let index = self.index;
        for liked in index.likes.get(name).into_iter().flatten() {
            if let Some(Found::Modules(modules)) = index.find(liked) {
                modules.iter().for_each(|module| self.visit(module));
            }
        }
        index.needs.get(name).into_iter().flatten().for_each(|other| self.visit(other));
        if !index.built_in.contains(name) {
            self.done.push(name.to_owned());
        }
    }
}

/// The name of a module from its path: without folders and without `.ko`, `.ko.xz`, ...
pub(super) fn name_of(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    alike(file.split('.').next().unwrap_or(file))
}

fn alike(name: &str) -> String {
    name.replace('-', "_")
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_is_loaded_although_a_library_of_its_name_is_built_in() {
        let mut index = Index::default();
        index.add_builtin("kernel/lib/crc32.ko\n");
        index.add_dep("kernel/fs/f2fs/f2fs.ko:\nkernel/crypto/crc32_generic.ko:\n");
        index.add_alias("alias crc32 crc32_generic\n");
        index.add_softdep("softdep f2fs pre: crc32\n");
        let paths: Vec<_> =
            index.order(&["f2fs".into()]).unwrap().into_iter().map(|load| load.path).collect();
        assert_eq!(paths, ["kernel/crypto/crc32_generic.ko", "kernel/fs/f2fs/f2fs.ko"]);
    }

    /// Lines from a Debian 6.1 machine.
    fn debian() -> Index {
        let mut index = Index::default();
        index.add_dep(
            "kernel/fs/ext4/ext4.ko: kernel/lib/crc16.ko kernel/fs/mbcache.ko kernel/fs/jbd2/jbd2.ko\n\
             kernel/lib/crc16.ko:\nkernel/fs/mbcache.ko:\nkernel/fs/jbd2/jbd2.ko:\n\
             kernel/arch/x86/crypto/crc32c-intel.ko:\nkernel/crypto/crc32c_generic.ko:\n\
             kernel/fs/xfs/xfs.ko: kernel/lib/libcrc32c.ko\nkernel/lib/libcrc32c.ko:\n\
             kernel/drivers/block/virtio_blk.ko: kernel/drivers/virtio/virtio_ring.ko kernel/drivers/virtio/virtio.ko\n\
             kernel/drivers/virtio/virtio_ring.ko: kernel/drivers/virtio/virtio.ko\n",
        );
        index.add_softdep(
            "# Soft dependencies\nsoftdep ext4 pre: crc32c\nsoftdep libcrc32c pre: crc32c post: x\n",
        );
        index.add_alias(
            "alias fs-ext4 ext4\nalias fs-ext3 ext4\nalias crc32c crc32c_intel\nalias crc32c crc32c_generic\n",
        );
        index.add_builtin("kernel/drivers/virtio/virtio.ko\nkernel/fs/fuse/fuse.ko\n");
        index.add_builtin_modinfo("fuse.alias=fs-fuse\0fuse.license=GPL\0sha256_generic.alias=sha256\0");
        index
    }

    fn paths(loads: &[Load]) -> Vec<(&str, bool)> {
        loads.iter().map(|load| (load.path.rsplit('/').next().unwrap(), load.optional)).collect()
    }

    #[test]
    fn what_is_needed_and_what_is_liked_comes_before() {
        let loads = debian().order(&["ext4".into(), "virtio_blk".into()]).unwrap();
        let expected = [
            ("crc32c-intel.ko", true),
            ("crc32c_generic.ko", true),
            ("jbd2.ko", false),
            ("mbcache.ko", false),
            ("crc16.ko", false),
            ("ext4.ko", false),
            ("virtio_ring.ko", false),
            ("virtio_blk.ko", false),
        ];
        assert_eq!(paths(&loads), expected);
    }

    #[test]
    fn a_module_is_loaded_once_and_likes_of_what_is_needed_count() {
        let loads = debian().order(&["xfs".into(), "xfs".into()]).unwrap();
        let names: Vec<_> = paths(&loads).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["crc32c-intel.ko", "crc32c_generic.ko", "libcrc32c.ko", "xfs.ko"]);
    }

    #[test]
    fn a_file_system_is_found_by_alias_by_name_and_built_in() {
        let index = debian();
        assert_eq!(index.find_filesystem("ext3"), Some(Found::Modules(vec!["ext4".into()])));
        assert_eq!(index.find_filesystem("xfs"), Some(Found::Modules(vec!["xfs".into()])));
        assert_eq!(index.find_filesystem("fuse"), Some(Found::BuiltIn));
        assert_eq!(index.find_filesystem("reiserfs"), None);
    }

    #[test]
    fn hyphen_and_underscore_are_alike() {
        assert_eq!(name_of("kernel/arch/x86/crypto/crc32c-intel.ko.zst"), "crc32c_intel");
        assert_eq!(debian().find("virtio-blk"), Some(Found::Modules(vec!["virtio_blk".into()])));
    }

    #[test]
    fn a_need_that_is_nowhere_names_who_needs_it() {
        let mut index = debian();
        index.add_dep("kernel/fs/jfs/jfs.ko: kernel/fs/nls/nls_ucs2_utils.ko\n");
        let missing = index.order(&["jfs".into()]).unwrap_err();
        assert_eq!(missing, NotThere { module: "nls_ucs2_utils".into(), needed_by: Some("jfs".into()) });
    }
}
