//! Remove everything that earlier steps made, in the order of creation, as deleting by hand does:
//! each directory goes as soon as what was made in it is gone.

use std::sync::Arc;

use super::shared::earlier;
use super::{Build, Earlier, Ended, Row, Workload};
use crate::error::Result;
use crate::ops::{self, Ops, Visit};
use crate::units::Seed;

pub(super) const ROW: Row = Row {
    name: "remove",
    meaning: "Remove everything that earlier steps made.",
    parameters: earlier::PARAMETERS,
    build,
};

struct Remove {
    targets: Vec<Earlier>,
}

fn build(build: &Build) -> Result<Arc<dyn Workload>> {
    Ok(Arc::new(Remove { targets: earlier::targets(build)? }))
}

impl Workload for Remove {
    fn run(&self, ops: &mut dyn Ops, seed: Seed) -> ops::Result<Ended> {
        for target in &self.targets {
            let mut visitor = Visitor::default();
            earlier::visit(std::slice::from_ref(target), ops, seed, &mut visitor)?;
            visitor.leave_all_but(ops, "")?;
        }
        Ok(Ended::Completed)
    }

    fn has_directory(&self) -> bool {
        false
    }

    fn removes(&self) -> &[Earlier] {
        &self.targets
    }
}

/// The directories that are not done, each in the one before: memory for the depth only.
#[derive(Default)]
struct Visitor {
    inside: Vec<String>,
}

impl Visitor {
    /// Remove the directories that `path` is not in.
    fn leave_all_but(&mut self, ops: &mut dyn Ops, path: &str) -> ops::Result<()> {
        while let Some(last) = self.inside.last().filter(|last| !is_in(path, last)) {
            ops.rmdir(last)?;
            self.inside.pop();
        }
        Ok(())
    }
}

fn is_in(path: &str, directory: &str) -> bool {
    path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

impl Visit for Visitor {
    fn directory(&mut self, ops: &mut dyn Ops, path: &str) -> ops::Result<()> {
        self.leave_all_but(ops, path)?;
        self.inside.push(path.to_owned());
        Ok(())
    }

    fn file(&mut self, ops: &mut dyn Ops, path: &str, _size: Option<u64>) -> ops::Result<()> {
        self.leave_all_but(ops, path)?;
        ops.unlink(path)
    }
}
