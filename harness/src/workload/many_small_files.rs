//! Many small files in one directory: what creating, naming and packing tiny files costs.
//!
//! Names are decimal numbers in order, as a shell loop makes them. Sizes and bytes are seeded.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::shared::files::{Files, LEAST_CALLS, Name, fsync_again};
use super::shared::parameters::{self, Fsync, Parameter, Span};
use super::{Build, Ended, Row, Workload};
use crate::content::Pattern;
use crate::error::Result;
use crate::ops::{self, Ops};
use crate::units::Seed;

pub(super) const ROW: Row = Row {
    name: "many-small-files",
    meaning: "Make many small files in one directory.",
    parameters: &[
        Parameter { key: "count", meaning: "Files.", default: "10000" },
        parameters::FILE_SIZE,
        parameters::FSYNC,
        parameters::PATTERN,
    ],
    build,
};

#[derive(Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Parameters {
    count: u64,
    file_size: Span,
    fsync: Fsync,
    pattern: Pattern,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            count: 10_000,
            file_size: Span { low: 1, high: 9 },
            fsync: Fsync::None,
            pattern: Pattern::Random,
        }
    }
}

struct ManySmallFiles {
    step: String,
    parameters: Parameters,
}

fn build(build: &Build) -> Result<Arc<dyn Workload>> {
    let parameters: Parameters = parameters::read(build)?;
    parameters::at_least_one(build, "count", parameters.count)?;
    Ok(Arc::new(ManySmallFiles { step: build.step.to_owned(), parameters }))
}

impl Workload for ManySmallFiles {
    fn run(&self, ops: &mut dyn Ops, seed: Seed) -> ops::Result<Ended> {
        let Parameters { count, file_size, fsync, pattern } = self.parameters;
        let mut files = Files::new(seed.derive(&self.step), file_size, pattern, fsync);
        let mut name = Name::of(count);
        ops.mkdir(&self.step)?;
        for number in 0..count {
            files.make(ops, name.entry(&self.step, number))?;
        }
        if fsync == Fsync::End {
            for number in 0..count {
                fsync_again(ops, name.entry(&self.step, number))?;
            }
        }
        Ok(Ended::Completed)
    }

    fn least_calls(&self) -> u64 {
        self.parameters.count.saturating_mul(LEAST_CALLS)
    }
}
