//! Stat every file and directory of earlier steps, in the order of creation.

use super::Row;
use super::shared::earlier::{self, look};
use crate::ops::{self, Ops, Visit};

pub(super) const ROW: Row = Row {
    name: "stat",
    meaning: "Stat every file and directory of earlier steps.",
    parameters: earlier::PARAMETERS,
    build: |build| look(build, || Box::new(Visitor)),
};

struct Visitor;

impl Visit for Visitor {
    fn directory(&mut self, ops: &mut dyn Ops, path: &str) -> ops::Result<()> {
        ops.stat(path).map(drop)
    }

    fn file(&mut self, ops: &mut dyn Ops, path: &str, _size: Option<u64>) -> ops::Result<()> {
        ops.stat(path).map(drop)
    }
}
