//! What a suite says, as types; still without a look at what this program knows.

use super::KernelChoice;
use super::defaults::Defaults;
use super::document::{Data, Node, Place, Source, Table};
use super::figure::read_figure;
use super::kernels::read_matrix;
use super::keys::Keys;
use super::reference::read_reference;
use crate::claim::ClaimSpec;
use crate::error::Result;
use crate::names::is_name;
use crate::result::{Figure, Reference};

/// A suite at one scale.
#[derive(Clone, Debug)]
pub(super) struct Model {
    pub(super) head: Head,
    pub(super) defaults: Defaults,
    pub(super) filesystems: Vec<Filesystem>,
    pub(super) steps: Vec<Step>,
    pub(super) references: Vec<(Reference, Node)>,
    pub(super) claims: Vec<(ClaimSpec, Node)>,
    pub(super) figures: Vec<(Figure, Node)>,
    /// Kernels to cross with the file systems.
    pub(super) kernels: Vec<KernelChoice>,
}

/// The `[suite]` table.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) title: String,
    pub(super) source: Option<String>,
    pub(super) base_scale: Option<String>,
    pub(super) default_scale: Option<String>,
    pub(super) place: Place,
}

/// A `[[filesystem]]`, or a SPEC of `--fs`.
#[derive(Clone, Debug)]
pub(super) struct Filesystem {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) mount: String,
    pub(super) mkfs: Vec<String>,
    pub(super) node: Node,
}

/// A `[[step]]`.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) name: String,
    pub(super) workload: String,
    pub(super) allow_limit: bool,
    pub(super) parameters: Table,
    pub(super) node: Node,
}

impl Model {
    pub(super) fn read(source: &Source, root: &Table) -> Result<Self> {
        let start = Place::File(0..0);
        let mut keys = Keys::new(source, root, &start);
        let empty = Node { place: start.clone(), data: Data::Table(Table::default()) };
        let head = match keys.node("suite") {
            Some(node) => Head::read(source, node)?,
            None => return Err(source.error(&start, "the table `[suite]` is missing")),
        };
        let model = Self {
            head,
            defaults: Defaults::read(Keys::of(source, keys.node("defaults").unwrap_or(&empty))?)?,
            filesystems: filesystems(source, keys.list("filesystem")?)?,
            steps: steps(source, keys.list("step")?)?,
            references: each(keys.list("reference")?, |node| read_reference(source, node))?,
            claims: claims(source, keys.list("claim")?)?,
            figures: each(keys.list("figure")?, |node| read_figure(source, node))?,
            kernels: read_matrix(source, keys.node("matrix"))?,
        };
        // Scales are read when they are applied.
        keys.node("scale");
        keys.done()?;
        Ok(model)
    }
}

fn each<T>(nodes: &[Node], read: impl Fn(&Node) -> Result<T>) -> Result<Vec<(T, Node)>> {
    nodes.iter().map(|node| Ok((read(node)?, node.clone()))).collect()
}

impl Head {
    fn read(source: &Source, node: &Node) -> Result<Self> {
        let mut keys = Keys::of(source, node)?;
        let name = keys.needed_text("name")?;
        let head = Self {
            title: keys.text("title")?.unwrap_or_else(|| name.clone()),
            name,
            source: keys.text("source")?,
            base_scale: keys.text("base-scale")?,
            default_scale: keys.text("default-scale")?,
            place: node.place.clone(),
        };
        keys.done()?;
        Ok(head)
    }
}

fn filesystems(source: &Source, nodes: &[Node]) -> Result<Vec<Filesystem>> {
    let with_id = |(node, id)| filesystem(source, node, id);
    nodes.iter().zip(ids(nodes)).map(with_id).collect()
}

/// Ids of the file systems of a list: as given, else the name; a second `ext4` is `ext4#2`.
pub(super) fn ids(nodes: &[Node]) -> Vec<String> {
    let mut found: Vec<String> = vec![];
    for node in nodes {
        let given = node.text("id").or(node.text("name")).unwrap_or_default();
        let numbered = (2u32..).map(|n| format!("{given}#{n}"));
        let free = std::iter::once(given.to_owned()).chain(numbered).find(|id| !found.contains(id));
        found.extend(free);
    }
    found
}

fn filesystem(source: &Source, node: &Node, id: String) -> Result<Filesystem> {
    let mut keys = Keys::of(source, node)?;
    let name = keys.needed_text("name")?;
    check_name(source, node, &keys.text("id")?.unwrap_or_else(|| name.clone()))?;
    let filesystem = Filesystem {
        id,
        name,
        mount: keys.text("mount")?.unwrap_or_default(),
        mkfs: keys.texts("mkfs")?,
        node: node.clone(),
    };
    keys.done()?;
    Ok(filesystem)
}

fn steps(source: &Source, nodes: &[Node]) -> Result<Vec<Step>> {
    let mut found: Vec<Step> = vec![];
    for node in nodes {
        let step = step(source, node)?;
        if found.iter().any(|other| other.name == step.name) {
            return Err(source.error(place(node, "name"), &format!("a second step `{}`", step.name)));
        }
        found.push(step);
    }
    Ok(found)
}

fn step(source: &Source, node: &Node) -> Result<Step> {
    let mut keys = Keys::of(source, node)?;
    let name = keys.needed_text("name")?;
    check_name(source, node, &name)?;
    let workload = keys.needed_text("workload")?;
    let allow_limit = keys.flag("allow-limit")?.unwrap_or(false);
    Ok(Step { name, workload, allow_limit, parameters: keys.rest(), node: node.clone() })
}

fn claims(source: &Source, nodes: &[Node]) -> Result<Vec<(ClaimSpec, Node)>> {
    let mut found: Vec<(ClaimSpec, Node)> = vec![];
    for (claim, node) in each(nodes, |node| claim(source, node))? {
        if found.iter().any(|(other, _)| other.id == claim.id) {
            return Err(source.error(place(&node, "id"), &format!("a second claim `{}`", claim.id)));
        }
        found.push((claim, node));
    }
    Ok(found)
}

fn claim(source: &Source, node: &Node) -> Result<ClaimSpec> {
    let mut keys = Keys::of(source, node)?;
    let claim = ClaimSpec {
        id: keys.needed_text("id")?,
        text: keys.needed_text("text")?,
        source: keys.text("source")?,
        scales: keys.texts("scales")?,
        holds: keys.needed_text("holds")?,
        step: keys.text("step")?,
        metric: keys.text("metric")?,
        must: keys.flag("must")?.unwrap_or(false),
        then: keys.text("then")?,
    };
    keys.done()?;
    Ok(claim)
}

/// Where a key's value was written, or the table if it was not.
pub(super) fn place<'a>(node: &'a Node, key: &str) -> &'a Place {
    match &node.data {
        Data::Table(table) => table.get(key).map_or(&node.place, |node| &node.place),
        _ => &node.place,
    }
}

fn check_name(source: &Source, node: &Node, name: &str) -> Result<()> {
    if is_name(name) {
        return Ok(());
    }
    let at = [place(node, "id"), place(node, "name")].into_iter().find(|at| **at != node.place);
    // As it was written: a control character must not reach the terminal.
    let shown = name.escape_debug();
    let message = format!("`{shown}` cannot be a name: take letters, digits, `-` and `_`, a letter first");
    Err(source.error(at.unwrap_or(&node.place), &message))
}
