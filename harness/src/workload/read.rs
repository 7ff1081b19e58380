//! Read every file of earlier steps to its end, in the order of creation.
//!
//! 128 KiB at a time, as `cat` of coreutils 9 does.

use std::sync::Arc;

use super::shared::earlier;
use super::{Build, Earlier, Ended, Row, Workload};
use crate::error::Result;
use crate::ops::{self, Ops, Visit};
use crate::units::Seed;

pub(super) const ROW: Row = Row {
    name: "read",
    meaning: "Read every file of earlier steps to its end.",
    parameters: earlier::PARAMETERS,
    build,
};

/// Bytes asked for at once.
const BUFFER: usize = 128 << 10;

struct Read {
    targets: Vec<Earlier>,
}

fn build(build: &Build) -> Result<Arc<dyn Workload>> {
    Ok(Arc::new(Read { targets: earlier::targets(build)? }))
}

impl Workload for Read {
    fn run(&self, ops: &mut dyn Ops, seed: Seed) -> ops::Result<Ended> {
        earlier::visit(&self.targets, ops, seed, &mut Visitor { buffer: vec![0; BUFFER] })
    }

    fn has_directory(&self) -> bool {
        false
    }

    fn reads(&self) -> &[Earlier] {
        &self.targets
    }
}

struct Visitor {
    buffer: Vec<u8>,
}

impl Visit for Visitor {
    fn directory(&mut self, _ops: &mut dyn Ops, _path: &str) -> ops::Result<()> {
        Ok(())
    }

    fn file(&mut self, ops: &mut dyn Ops, path: &str, size: Option<u64>) -> ops::Result<()> {
        let file = ops.open(path)?;
        if let Some(size) = size {
            ops.expect_size(file, size);
        }
        while ops.read(file, &mut self.buffer)? > 0 {}
        ops.close(file)
    }
}
