//! `--fs` and `--mkfs-options`, turned into what a suite would say.

use super::document::{Data, Entry, Node, Place, Table};
use crate::error::{Error, Result};

/// The file systems of all `--fs` options, as tables of a suite.
///
/// A value without `:` is a list; with one it is one SPEC, unless `;` separates several.
pub(super) fn filesystems(given: &[String]) -> Result<Vec<Node>> {
    let mut found = vec![];
    for value in given {
        for spec in specs(value) {
            found.push(node(spec, &Place::Option(format!("--fs {value}")))?);
        }
    }
    Ok(found)
}

fn specs(value: &str) -> Vec<&str> {
    let list = |part: &'static str, value| -> Vec<&str> { str::split(value, part).collect() };
    let parts = match (value.contains(';'), value.contains(':')) {
        (true, _) => list(";", value).into_iter().flat_map(|part| specs(part)).collect(),
        (false, true) => vec![value],
        (false, false) => list(",", value),
    };
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// `[ID=]NAME[:MOUNT_OPTIONS]`.
fn node(spec: &str, place: &Place) -> Result<Node> {
    let (head, mount) = spec.split_once(':').map_or((spec, None), |(head, mount)| (head, Some(mount)));
    let (id, name) = head.split_once('=').map_or((None, head), |(id, name)| (Some(id), name));
    if name.is_empty() || id == Some("") {
        return Err(Error::usage(format!("use `{spec}` as a file system"))
            .next("write [ID=]NAME[:MOUNT_OPTIONS], such as lzo=btrfs:noatime,compress=lzo"));
    }
    let entry = |key: &str, value: &str| Entry {
        key: key.to_owned(),
        place: place.clone(),
        node: Node { place: place.clone(), data: Data::Text(value.to_owned()) },
    };
    let keys = [("id", id), ("name", Some(name)), ("mount", mount)];
    let entries = keys.into_iter().filter_map(|(key, value)| Some(entry(key, value?))).collect();
    Ok(Node { place: place.clone(), data: Data::Table(Table(entries)) })
}

/// `NAME=OPTIONS` of `--mkfs-options`: the name, and the words of the options.
pub(super) fn mkfs_options(given: &str) -> Result<(&str, Vec<String>)> {
    match given.split_once('=') {
        Some((name, options)) if !name.trim().is_empty() => {
            Ok((name.trim(), options.split_whitespace().map(str::to_owned).collect()))
        }
        _ => Err(Error::usage(format!("use `--mkfs-options {given}`"))
            .next("write NAME=OPTIONS, such as 'ext4=-O ^has_journal'")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Vec<(String, String, String)> {
        let values: Vec<_> = values.iter().map(|value| (*value).to_owned()).collect();
        let text = |node: &Node, key: &str| node.text(key).unwrap_or("-").to_owned();
        let nodes = filesystems(&values).unwrap();
        nodes.iter().map(|node| (text(node, "id"), text(node, "name"), text(node, "mount"))).collect()
    }

    fn rows(rows: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
        rows.iter().map(|(a, b, c)| ((*a).into(), (*b).into(), (*c).into())).collect()
    }

    #[test]
    fn without_a_colon_commas_separate() {
        assert_eq!(
            read(&["btrfs,ext4", "a=xfs"]),
            rows(&[("-", "btrfs", "-"), ("-", "ext4", "-"), ("a", "xfs", "-")])
        );
    }

    #[test]
    fn with_a_colon_commas_and_equal_signs_belong_to_the_mount_options() {
        assert_eq!(
            read(&["lzo=btrfs:noatime,compress=lzo", "ext4:data=ordered"]),
            rows(&[("lzo", "btrfs", "noatime,compress=lzo"), ("-", "ext4", "data=ordered")])
        );
    }

    #[test]
    fn with_a_semicolon_several_have_mount_options() {
        assert_eq!(
            read(&["lzo=btrfs:noatime,compress=lzo;ext4:noatime;xfs"]),
            rows(&[("lzo", "btrfs", "noatime,compress=lzo"), ("-", "ext4", "noatime"), ("-", "xfs", "-")])
        );
    }

    #[test]
    fn a_spec_without_a_name_is_refused_and_an_empty_value_selects_nothing() {
        for wrong in [":noatime", "a=", "=ext4"] {
            assert!(filesystems(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
        assert_eq!(read(&["", ",", ";"]), []);
    }

    #[test]
    fn mkfs_options_are_split_at_blanks() {
        let (name, words) = mkfs_options("ext4=-O ^has_journal -E a=b").unwrap();
        assert_eq!((name, words), ("ext4", ["-O", "^has_journal", "-E", "a=b"].map(String::from).to_vec()));
        assert!(mkfs_options("ext4").is_err() && mkfs_options("=-O").is_err());
    }
}
