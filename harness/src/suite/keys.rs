//! Reads a table key by key and refuses what nobody asked for.
//!
//! The keys that are asked for are the keys that are known, so the two cannot drift apart.

use super::document::{Data, Node, Place, Source, Table};
use crate::error::{Error, Result};
use crate::names::unknown;

/// A table that is being read.
pub(super) struct Keys<'a> {
    source: &'a Source,
    table: &'a Table,
    place: &'a Place,
    asked: Vec<&'a str>,
}

impl<'a> Keys<'a> {
    pub(super) fn new(source: &'a Source, table: &'a Table, place: &'a Place) -> Self {
        Self { source, table, place, asked: vec![] }
    }

    /// Of a node that must be a table.
    pub(super) fn of(source: &'a Source, node: &'a Node) -> Result<Self> {
        match &node.data {
            Data::Table(table) => Ok(Self::new(source, table, &node.place)),
            _ => Err(wrong(source, node, "a table")),
        }
    }

    pub(super) fn node(&mut self, key: &'a str) -> Option<&'a Node> {
        self.asked.push(key);
        self.table.get(key)
    }

    pub(super) fn text(&mut self, key: &'a str) -> Result<Option<String>> {
        self.node(key).map(|node| text(self.source, node)).transpose()
    }

    pub(super) fn needed_text(&mut self, key: &'a str) -> Result<String> {
        let text = self.text(key)?;
        text.ok_or_else(|| self.source.error(self.place, &format!("`{key}` is missing here")))
    }

    pub(super) fn flag(&mut self, key: &'a str) -> Result<Option<bool>> {
        match self.node(key) {
            None => Ok(None),
            Some(Node { data: Data::Flag(flag), .. }) => Ok(Some(*flag)),
            Some(node) => Err(wrong(self.source, node, "true or false")),
        }
    }

    pub(super) fn texts(&mut self, key: &'a str) -> Result<Vec<String>> {
        self.list(key)?.iter().map(|node| text(self.source, node)).collect()
    }

    pub(super) fn list(&mut self, key: &'a str) -> Result<&'a [Node]> {
        match self.node(key) {
            None => Ok(&[]),
            Some(Node { data: Data::List(list), .. }) => Ok(list),
            Some(node) => Err(wrong(self.source, node, "a list")),
        }
    }

    /// Give a value that is written as a text or a whole number to `parse`.
    pub(super) fn parsed<T>(
        &mut self,
        key: &'a str,
        parse: impl FnOnce(&str) -> Result<T>,
    ) -> Result<Option<T>> {
        let Some(node) = self.node(key) else { return Ok(None) };
        let text = match &node.data {
            Data::Text(text) => text.clone(),
            Data::Whole(number) => number.to_string(),
            _ => return Err(wrong(self.source, node, "a text or a whole number")),
        };
        parse(&text).map(Some).map_err(|error| explain(self.source, &node.place, &error))
    }

    /// The keys that nobody asked for.
    pub(super) fn rest(&self) -> Table {
        let asked = |key: &str| self.asked.contains(&key);
        Table(self.table.0.iter().filter(|entry| !asked(&entry.key)).cloned().collect())
    }

    /// Refuse keys that nobody asked for.
    pub(super) fn done(self) -> Result<()> {
        match self.rest().0.first() {
            None => Ok(()),
            Some(entry) => {
                let known = self.asked.iter().copied();
                Err(self.source.error(&entry.place, &unknown("key", &entry.key, known)))
            }
        }
    }
}

/// The error of a part, at its place.
pub(super) fn explain(source: &Source, place: &Place, error: &Error) -> Error {
    let placed = source.error(place, &error.to_string());
    match error.next_step() {
        Some(next) => placed.next(next),
        None => placed,
    }
}

fn text(source: &Source, node: &Node) -> Result<String> {
    match &node.data {
        Data::Text(text) => Ok(text.clone()),
        _ => Err(wrong(source, node, "a text")),
    }
}

/// A value of a wrong kind.
pub(super) fn wrong(source: &Source, node: &Node, needed: &str) -> Error {
    source.error(&node.place, &format!("{needed} is needed here, not {}", node.kind()))
}
