//! The index of a folder of modules, where its package has none: distributions make it while they
//! install a kernel, and nothing is installed here.
//!
//! All of it stands in the modules themselves, since the build writes what each needs (`depends`)
//! into its section `.modinfo`. So no symbols have to be matched, and no `depmod` has to be there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use goblin::container::Ctx;
use goblin::elf::{Elf, SectionHeader};

use super::modules::name_of;
use crate::error::{Cannot, Error, Result};

/// Write `modules.dep`, `modules.softdep` and `modules.alias` for the unpacked modules below `folder`.
///
/// # Errors
///
/// A module is none, or a file cannot be read or written.
pub(super) fn index(folder: &Path) -> Result<()> {
    let mut texts = Texts::default();
    let mut modules = vec![];
    for path in files(folder)?.into_iter().filter(|path| path.extension().is_some_and(|end| end == "ko")) {
        let bytes = fs::read(&path).cannot(|| format!("read {}", path.display()))?;
        let info = modinfo(&bytes)
            .ok_or_else(|| Error::unavailable(format!("understand {}: it is no module", path.display())))?;
        let below = path.strip_prefix(folder).unwrap_or(&path).to_string_lossy().into_owned();
        modules.push((below, info));
    }
    texts.fill(&modules);
    for (name, text) in
        [("modules.dep", texts.dep), ("modules.softdep", texts.softdep), ("modules.alias", texts.alias)]
    {
        let path = folder.join(name);
        fs::write(&path, text).cannot(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

/// All files below `folder`, sorted. Links are not followed: `build` and `source` lead elsewhere.
///
/// # Errors
///
/// A folder cannot be read.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let doing = || format!("read the folder {}", folder.display());
    let mut found = vec![];
    for entry in fs::read_dir(folder).cannot(doing)? {
        let entry = entry.cannot(doing)?;
        let kind = entry.file_type().cannot(doing)?;
        match (kind.is_dir(), kind.is_file()) {
            (true, _) => found.extend(files(&entry.path())?),
            (_, true) => found.push(entry.path()),
            _ => {}
        }
    }
    found.sort();
    Ok(found)
}

/// `key=value` pairs of a module.
type Info = Vec<(String, String)>;

#[derive(Debug, Default)]
struct Texts {
    dep: String,
    softdep: String,
    alias: String,
}

impl Texts {
    fn fill(&mut self, modules: &[(String, Info)]) {
        let paths: BTreeMap<_, _> = modules.iter().map(|(path, _)| (name_of(path), path.as_str())).collect();
        for (path, info) in modules {
            let values = |key: &'static str| {
                info.iter().filter(move |(found, _)| found == key).map(|(_, value)| value.as_str())
            };
            let names = values("depends").flat_map(|list| list.split(',')).filter(|name| !name.is_empty());
            // One that is built in, or left out, has no path: then the name tells who misses it.
            let needs = names.map(|name| paths.get(&name_of(name)).map_or(name, |path| *path));
            let needs: String = needs.flat_map(|need| [" ", need]).collect();
            let name = name_of(path);
            // Writing to a String does not fail.
            let _ = writeln!(self.dep, "{path}:{needs}");
            values("softdep").for_each(|list| self.softdep.push_str(&format!("softdep {name} {list}\n")));
            values("alias").for_each(|alias| self.alias.push_str(&format!("alias {alias} {name}\n")));
        }
    }
}

/// The section `.modinfo`: strings that a NUL ends.
fn modinfo(bytes: &[u8]) -> Option<Info> {
    let header = Elf::parse_header(bytes).ok()?;
    let context = Ctx::new(header.container().ok()?, header.endianness().ok()?);
    let (from, count) = (usize::try_from(header.e_shoff).ok()?, usize::from(header.e_shnum));
    let sections = SectionHeader::parse(bytes, from, count, context).ok()?;
    let names = part(bytes, sections.get(usize::from(header.e_shstrndx))?)?;
    let is_it = |section: &&SectionHeader| {
        names.get(section.sh_name..).is_some_and(|name| name.starts_with(b".modinfo\0"))
    };
    let text = part(bytes, sections.iter().find(is_it)?)?;
    let strings = text.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    Some(strings.filter_map(|text| text.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()))).collect())
}

fn part<'a>(bytes: &'a [u8], section: &SectionHeader) -> Option<&'a [u8]> {
    let from = usize::try_from(section.sh_offset).ok()?;
    bytes.get(from..from.checked_add(usize::try_from(section.sh_size).ok()?)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(pairs: &[(&str, &str)]) -> Info {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_index_is_in_the_words_of_depmod() {
        let mut texts = Texts::default();
        texts.fill(&[
            (
                "kernel/fs/a.ko".into(),
                info(&[("depends", "b-c,d"), ("softdep", "pre: crc32c"), ("alias", "fs-a")]),
            ),
            ("kernel/lib/b_c.ko".into(), info(&[("depends", "")])),
        ]);
        assert_eq!(texts.dep, "kernel/fs/a.ko: kernel/lib/b_c.ko d\nkernel/lib/b_c.ko:\n");
        assert_eq!(texts.softdep, "softdep a pre: crc32c\n");
        assert_eq!(texts.alias, "alias fs-a a\n");
    }

    #[test]
    fn what_is_no_module_is_refused() {
        assert_eq!(modinfo(b"no ELF"), None);
        let own = fs::read("/proc/self/exe").unwrap();
        assert_eq!(modinfo(&own), None, "a program has no such section");
    }
}
