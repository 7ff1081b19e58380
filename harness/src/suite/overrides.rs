//! Changes of the tree before it is read: a scale, and `--set`.

use super::defaults::KEYS;
use super::document::{Data, Entry, Node, Place, Source, Table};
use super::keys::{Keys, wrong};
use super::model::ids;
use crate::error::{Error, Result};
use crate::names::unknown;

/// Names of the scales that have a table.
pub(super) fn scales(source: &Source, root: &Table) -> Result<Vec<String>> {
    match root.get("scale") {
        None => Ok(vec![]),
        Some(Node { data: Data::Table(table), .. }) => {
            Ok(table.0.iter().map(|entry| entry.key.clone()).collect())
        }
        Some(node) => Err(wrong(source, node, "a table")),
    }
}

/// Put the values of a scale in the place of those below.
pub(super) fn apply_scale(source: &Source, root: &mut Table, name: &str) -> Result<()> {
    let Some(Data::Table(all)) = root.get("scale").map(|node| node.data.clone()) else { return Ok(()) };
    let Some(scale) = all.get(name) else { return Ok(()) };
    let mut keys = Keys::of(source, scale)?;
    if let Some(steps) = keys.node("step") {
        for step in &table(source, steps)?.0 {
            apply_step(source, root, step)?;
        }
    }
    for entry in keys.rest().0 {
        set_default(source, root, entry)?;
    }
    Ok(())
}

fn apply_step(source: &Source, root: &mut Table, step: &Entry) -> Result<()> {
    for entry in table(source, &step.node)?.0.iter().cloned() {
        set_in(source, root, &STEP, (&step.key, &step.place), entry)?;
    }
    Ok(())
}

fn table<'a>(source: &Source, node: &'a Node) -> Result<&'a Table> {
    match &node.data {
        Data::Table(table) => Ok(table),
        _ => Err(wrong(source, node, "a table")),
    }
}

/// A list of tables that can be changed by name.
struct Kind {
    list: &'static str,
    what: &'static str,
    names: fn(&[Node]) -> Vec<String>,
    /// What cannot be changed.
    fixed: &'static [&'static str],
}

const STEP: Kind = Kind { list: "step", what: "step", names: step_names, fixed: &["name", "workload"] };
const FILESYSTEM: Kind = Kind { list: "filesystem", what: "file system", names: ids, fixed: &["id", "name"] };

fn step_names(nodes: &[Node]) -> Vec<String> {
    nodes.iter().map(|node| node.text("name").unwrap_or_default().to_owned()).collect()
}

/// Put `entry` into the table called `name`.
fn set_in(
    source: &Source,
    root: &mut Table,
    kind: &Kind,
    (name, place): (&str, &Place),
    entry: Entry,
) -> Result<()> {
    if kind.fixed.contains(&entry.key.as_str()) {
        let message = format!("the {} of a {} cannot be changed", entry.key, kind.what);
        return Err(source.error(&entry.place, &message));
    }
    let list = root.entry(kind.list, place, Data::List(vec![]));
    let Data::List(nodes) = &mut list.data else { return Err(wrong(source, list, "a list of tables")) };
    let names = (kind.names)(nodes);
    let found = names.iter().position(|known| known == name).and_then(|at| nodes.get_mut(at));
    match found.map(|node| &mut node.data) {
        Some(Data::Table(table)) => {
            table.set(entry);
            Ok(())
        }
        _ => Err(source.error(place, &unknown(kind.what, name, names.iter().map(String::as_str)))),
    }
}

fn set_default(source: &Source, root: &mut Table, entry: Entry) -> Result<()> {
    let node = root.entry("defaults", &entry.place, Data::Table(Table::default()));
    match &mut node.data {
        Data::Table(defaults) => {
            defaults.set(entry);
            Ok(())
        }
        _ => Err(wrong(source, node, "a table")),
    }
}

/// Apply `--set PATH=VALUE`. `bare` is the step that a lone key belongs to if it is no option.
pub(super) fn apply_set(source: &Source, root: &mut Table, given: &str, bare: Option<&str>) -> Result<()> {
    let option = format!("--set {given}");
    let Some((path, value)) = given.split_once('=') else {
        return Err(Error::usage(format!("use `{option}`"))
            .because("there is no `=` in it")
            .next("write PATH=VALUE, such as step.small-files.count=500 or size=1GiB"));
    };
    let place = Place::Option(option.clone());
    let entry = |key: &str| Entry {
        key: key.to_owned(),
        place: place.clone(),
        node: Source::given(&option, value.trim()),
    };
    let path: Vec<&str> = path.trim().split('.').collect();
    match (path.as_slice(), bare) {
        ([key], Some(step)) if !KEYS.contains(key) => set_in(source, root, &STEP, (step, &place), entry(key)),
        ([key], None) if !KEYS.contains(key) => Err(source
            .error(&place, &unknown("key", key, KEYS))
            .next("write step.NAME.KEY=VALUE for a parameter of a step")),
        ([key] | ["defaults", key], _) => set_default(source, root, entry(key)),
        (["step", name, key], _) => set_in(source, root, &STEP, (name, &place), entry(key)),
        (["filesystem", id, key], _) => set_in(source, root, &FILESYSTEM, (id, &place), entry(key)),
        ([first, ..], _) => {
            let message = match ["step", "filesystem", "defaults"].contains(first) {
                true => format!("a path in it is `{first}.NAME.KEY`"),
                false => unknown("key", first, ["step", "filesystem", "defaults"]),
            };
            Err(source
                .error(&place, &message)
                .next("write step.NAME.KEY=VALUE, filesystem.ID.KEY=VALUE or KEY=VALUE"))
        }
        ([], _) => Err(source.error(&place, "there is no key before the `=`")),
    }
}
