//! Stat every file and directory of earlier steps, in the order of creation.

use std::sync::Arc;

use super::shared::earlier;
use super::{Build, Earlier, Ended, Row, Workload};
use crate::error::Result;
use crate::ops::{self, Ops, Visit};
use crate::units::Seed;

pub(super) const ROW: Row = Row {
    name: "stat",
    meaning: "Stat every file and directory of earlier steps.",
    parameters: earlier::PARAMETERS,
    build,
};

struct Stat {
    targets: Vec<Earlier>,
}

fn build(build: &Build) -> Result<Arc<dyn Workload>> {
    Ok(Arc::new(Stat { targets: earlier::targets(build)? }))
}

impl Workload for Stat {
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
        ops.stat(path).map(drop)
    }

    fn file(&mut self, ops: &mut dyn Ops, path: &str, _size: Option<u64>) -> ops::Result<()> {
        ops.stat(path).map(drop)
    }
}
