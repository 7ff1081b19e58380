//! List every directory of earlier steps, in the order of creation.

use std::sync::Arc;

use super::shared::earlier;
use super::{Build, Earlier, Ended, Row, Workload};
use crate::error::Result;
use crate::ops::{self, Ops, Visit};
use crate::units::Seed;

pub(super) const ROW: Row = Row {
    name: "list",
    meaning: "List every directory of earlier steps.",
    parameters: earlier::PARAMETERS,
    build,
};

struct List {
    targets: Vec<Earlier>,
}

fn build(build: &Build) -> Result<Arc<dyn Workload>> {
    Ok(Arc::new(List { targets: earlier::targets(build)? }))
}

impl Workload for List {
    fn run(&self, ops: &mut dyn Ops, seed: Seed) -> ops::Result<Ended> {
        earlier::visit(&self.targets, ops, seed, &mut Visitor)
    }

    fn has_directory(&self) -> bool {
        false
    }

    fn reads(&self) -> &[Earlier] {
        &self.targets
    }
}

struct Visitor;

impl Visit for Visitor {
    fn directory(&mut self, ops: &mut dyn Ops, path: &str) -> ops::Result<()> {
        ops.readdir(path, &mut |_, _| {})
    }

    fn file(&mut self, _ops: &mut dyn Ops, _path: &str, _size: Option<u64>) -> ops::Result<()> {
        Ok(())
    }
}
