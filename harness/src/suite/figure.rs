//! A figure that the source of a suite printed, to be made again from a run.

use super::document::{Node, Source};
use super::keys::Keys;
use super::model::place;
use crate::error::Result;
use crate::result::{Figure, Panel};

pub(super) fn read_figure(source: &Source, node: &Node) -> Result<Figure> {
    let mut keys = Keys::of(source, node)?;
    let panels = keys.list("panel")?;
    let figure = Figure {
        title: keys.needed_text("title")?,
        source: keys.text("source")?,
        panels: panels.iter().map(|node| panel(source, node)).collect::<Result<_>>()?,
    };
    keys.done()?;
    match figure.panels.is_empty() {
        true => Err(source.error(place(node, "panel"), "a figure needs a panel: [[figure.panel]]")),
        false => Ok(figure),
    }
}

fn panel(source: &Source, node: &Node) -> Result<Panel> {
    let mut keys = Keys::of(source, node)?;
    let (step, metric) = (keys.needed_text("step")?, keys.needed_text("metric")?);
    let title = keys.text("title")?.unwrap_or_else(|| format!("{step}: {metric}"));
    keys.done()?;
    Ok(Panel { step, metric, title })
}

/// The panels of a figure, as they were written.
pub(super) fn panels<'a>(figure: &'a Figure, node: &'a Node) -> impl Iterator<Item = (&'a Panel, &'a Node)> {
    figure.panels.iter().zip(node.list("panel"))
}
