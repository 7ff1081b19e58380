//! Kernels as a dimension of a suite: each file system runs on each of them.
//!
//! A suite names kernels by id and path, the command line by path alone. What a kernel calls itself
//! is known only when it was found, which a suite cannot do: until then a kernel without an id is
//! called by its place, and [`Resolved::name_kernels`] gives it the name that people know it by.
//! Configurations are in the order of kernels, so the first is the first file system on the first
//! kernel, and those of one kernel stand together in every table.

use std::path::Path;

use serde_json::{Value, json};

use super::document::{Node, Source};
use super::keys::Keys;
use super::model::place;
use super::{KernelChoice, Resolved};
use crate::error::Result;
use crate::result::{Configuration, id_on, split_id};

/// The kernel of this machine, as a word in place of a path.
pub(super) const HOST: &str = "host";

/// `[matrix] kernel = [...]`: each with its `path`, its `id`, or both. The id `host` alone is the
/// kernel of this machine.
pub(super) fn read_matrix(source: &Source, node: Option<&Node>) -> Result<Vec<KernelChoice>> {
    let Some(node) = node else { return Ok(vec![]) };
    let mut keys = Keys::of(source, node)?;
    let mut found: Vec<KernelChoice> = vec![];
    for node in keys.list("kernel")? {
        let kernel = kernel(source, node)?;
        if kernel.id.is_some() && found.iter().any(|other| other.id == kernel.id) {
            let message = format!("a second kernel `{}`", kernel.id.unwrap_or_default());
            return Err(source.error(place(node, "id"), &message));
        }
        found.push(kernel);
    }
    keys.done()?;
    Ok(found)
}

fn kernel(source: &Source, node: &Node) -> Result<KernelChoice> {
    let mut keys = Keys::of(source, node)?;
    let (id, path) = (keys.text("id")?, keys.text("path")?);
    keys.done()?;
    if let Some(id) = id.as_deref().filter(|id| !is_kernel_id(id)) {
        let shown = id.escape_debug();
        let message = format!(
            "`{shown}` cannot be the id of a kernel: take letters, digits, `.`, `-`, `_` and `+`, no sign first"
        );
        return Err(source.error(place(node, "id"), &message));
    }
    let path = path.filter(|path| !path.is_empty()).or_else(|| id.clone().filter(|id| id == HOST));
    let path = path.ok_or_else(|| source.error(&node.place, "`path` is missing here"))?;
    Ok(KernelChoice { id, path })
}

/// Nothing that would make an id of a configuration look like another, or like an option.
fn is_kernel_id(id: &str) -> bool {
    let fits = |sign: char| sign.is_ascii_alphanumeric() || ".-_+".contains(sign);
    id.len() <= 64 && id.starts_with(|first: char| first.is_ascii_alphanumeric()) && id.chars().all(fits)
}

/// `--kernel` in place of those of the suite. A path of a suite is relative to the folder of its
/// file, as a suite and its kernels travel together; one of the command line to where it is typed.
pub(super) fn chosen(
    given: &[String],
    matrix: Vec<KernelChoice>,
    folder: Option<&Path>,
) -> Vec<KernelChoice> {
    if !given.is_empty() {
        return given.iter().map(|path| KernelChoice { id: None, path: path.clone() }).collect();
    }
    let beside = |path: String| match folder {
        Some(folder) if path != HOST => folder.join(&path).to_string_lossy().into_owned(),
        _ => path,
    };
    matrix.into_iter().map(|kernel| KernelChoice { path: beside(kernel.path), ..kernel }).collect()
}

/// Ids of kernels: as given, else major and minor of its release, as `6.1`; else, or where another
/// has it, with a number. `releases` are those of `uname -r`, as far as they are known.
#[must_use]
pub fn kernel_ids(kernels: &[KernelChoice], releases: &[String]) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    for (at, kernel) in kernels.iter().enumerate() {
        let release = releases.get(at).and_then(|release| major_and_minor(release));
        let name = release.unwrap_or_else(|| (at + 1).to_string());
        let numbered = (2u32..).map(|n| format!("{name}#{n}"));
        let is_given = |id: &String| kernels.iter().any(|other| other.id.as_ref() == Some(id));
        let mut free = std::iter::once(name.clone()).chain(numbered);
        let derived = || free.find(|id| !found.contains(id) && !is_given(id)).unwrap_or_default();
        let id = kernel.id.clone().unwrap_or_else(derived);
        found.push(id);
    }
    found
}

/// `6.12` of `6.12.95+deb13-amd64`.
fn major_and_minor(release: &str) -> Option<String> {
    let (major, rest) = release.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(major) && is_number(&minor)).then(|| format!("{major}.{minor}"))
}

/// Each file system on each kernel; as they are where there are not several.
pub(super) fn crossed(filesystems: Vec<Configuration>, kernels: &[KernelChoice]) -> Vec<Configuration> {
    let ids = kernel_ids(kernels, &[]);
    if ids.len() < 2 {
        return filesystems;
    }
    let on = |(environment, kernel): (u32, &String)| {
        let one = move |filesystem: &Configuration| Configuration {
            id: id_on(&filesystem.id, Some(kernel)),
            environment,
            ..filesystem.clone()
        };
        filesystems.iter().map(one).collect::<Vec<_>>()
    };
    (0..).zip(&ids).flat_map(on).collect()
}

/// For the report; nothing where none was asked for.
pub(super) fn listed(kernels: &[KernelChoice]) -> Option<Vec<Value>> {
    let listed = kernels.iter().map(|kernel| json!({ "id": kernel.id, "path": kernel.path }));
    Some(listed.collect()).filter(|listed: &Vec<Value>| !listed.is_empty())
}

impl Resolved {
    /// Name the kernels, and after them the configurations, also in what the report says of both.
    /// `releases` are what `uname -r` will say there, in the order of [`kernels`](Self::kernels).
    pub fn name_kernels(&mut self, releases: &[String]) {
        let ids = kernel_ids(&self.kernels, releases);
        if ids.is_empty() {
            return;
        }
        for (kernel, id) in self.kernels.iter_mut().zip(&ids) {
            kernel.id = Some(id.clone());
        }
        for configuration in self.configurations.iter_mut().filter(|_| ids.len() > 1) {
            let at = usize::try_from(configuration.environment).unwrap_or(usize::MAX);
            let kernel = ids.get(at).map(String::as_str);
            configuration.id = id_on(split_id(&configuration.id).0, kernel);
        }
        let mut kernels = listed(&self.kernels).unwrap_or_default();
        for (kernel, release) in kernels.iter_mut().zip(releases) {
            kernel["release"] = release.as_str().into();
        }
        self.info.resolved["kernels"] = kernels.into();
        self.info.resolved["configurations"] = json!(self.configurations);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choices(ids: &[Option<&str>]) -> Vec<KernelChoice> {
        ids.iter().map(|id| KernelChoice { id: id.map(Into::into), path: "k".into() }).collect()
    }

    #[test]
    fn a_kernel_is_called_as_given_or_after_its_release() {
        let releases = ["6.1.0-51-amd64", "6.12.95+deb13-amd64", "6.1.9", "6.1.0", "strange"];
        let releases = releases.map(String::from);
        let found = kernel_ids(&choices(&[None, Some("new"), None, None, None]), &releases);
        assert_eq!(found, ["6.1", "new", "6.1#2", "6.1#3", "5"]);
        assert_eq!(kernel_ids(&choices(&[None, Some("6.1")]), &releases[..1]), ["6.1#2", "6.1"]);
        assert_eq!(kernel_ids(&choices(&[None, None]), &[]), ["1", "2"]);
    }

    #[test]
    fn a_release_has_a_version_only_where_it_begins_with_numbers() {
        for (release, version) in [
            ("6.12.95+deb13-amd64", Some("6.12")),
            ("6.19-rc1", Some("6.19")),
            ("6", None),
            ("v6.1", None),
            ("6.x", None),
            ("", None),
        ] {
            assert_eq!(major_and_minor(release).as_deref(), version, "{release}");
        }
    }

    #[test]
    fn an_id_of_a_kernel_is_plain() {
        for id in ["6.1", "host", "6.12.95+deb13-amd64", "my_kernel"] {
            assert!(is_kernel_id(id), "{id}");
        }
        for id in ["", "-x", ".1", "a@b", "a/b", "a b", "\u{202e}", "a#2", &"a".repeat(65)] {
            assert!(!is_kernel_id(id), "{id}");
        }
    }
}
