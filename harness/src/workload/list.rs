//! List every directory of earlier steps, in the order of creation.

use super::Row;
use super::shared::earlier::{self, look};
use crate::ops::{self, Ops, Visit};

pub(super) const ROW: Row = Row {
    name: "list",
    meaning: "List every directory of earlier steps.",
    parameters: earlier::PARAMETERS,
    build: |build| look(build, || Box::new(Visitor)),
};

struct Visitor;

impl Visit for Visitor {
    fn directory(&mut self, ops: &mut dyn Ops, path: &str) -> ops::Result<()> {
        ops.readdir(path, &mut |_, _| {})
    }

    fn file(&mut self, _ops: &mut dyn Ops, _path: &str, _size: Option<u64>) -> ops::Result<()> {
        Ok(())
    }
}
