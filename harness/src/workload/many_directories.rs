//! Many directories with a few small files each: what a directory costs beside its files.
//!
//! Each directory is made and filled before the next, as unpacking an archive does.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::shared::files::{Files, LEAST_CALLS, Name, fsync_again};
use super::shared::parameters::{self, Fsync, Parameter, Span};
use super::{Build, Ended, Row, Workload};
use crate::content::{Pattern, draw, random};
use crate::error::Result;
use crate::ops::{self, Ops};
use crate::units::Seed;

pub(super) const ROW: Row = Row {
    name: "many-directories",
    meaning: "Make many directories with a few small files in each.",
    parameters: &[
        Parameter { key: "count", meaning: "Directories.", default: "10000" },
        Parameter { key: "files", meaning: "Files in a directory, or a range.", default: "\"3..4\"" },
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
    files: Span,
    file_size: Span,
    fsync: Fsync,
    pattern: Pattern,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            count: 10_000,
            files: Span { low: 3, high: 4 },
            file_size: Span { low: 1, high: 9 },
            fsync: Fsync::None,
            pattern: Pattern::Random,
        }
    }
}

struct ManyDirectories {
    step: String,
    parameters: Parameters,
}

fn build(build: &Build) -> Result<Arc<dyn Workload>> {
    let parameters: Parameters = parameters::read(build)?;
    parameters::at_least_one(build, "count", parameters.count)?;
    Ok(Arc::new(ManyDirectories { step: build.step.to_owned(), parameters }))
}

impl Workload for ManyDirectories {
    fn run(&self, ops: &mut dyn Ops, seed: Seed) -> ops::Result<Ended> {
        let Parameters { count, files: per_directory, file_size, fsync, pattern } = self.parameters;
        let seed = seed.derive(&self.step);
        let mut files = Files::new(seed, file_size, pattern, fsync);
        let mut name = Name::of(count);
        let mut numbers = random(seed.derive("files"));
        ops.mkdir(&self.step)?;
        for number in 0..count {
            ops.mkdir(name.entry(&self.step, number))?;
            for file in 0..draw(&mut numbers, per_directory.range()) {
                files.make(ops, name.file_in(&self.step, number, file))?;
            }
        }
        if fsync == Fsync::End {
            let mut numbers = random(seed.derive("files"));
            for number in 0..count {
                for file in 0..draw(&mut numbers, per_directory.range()) {
                    fsync_again(ops, name.file_in(&self.step, number, file))?;
                }
            }
        }
        Ok(Ended::Completed)
    }

    fn least_calls(&self) -> u64 {
        let Parameters { count, files, .. } = &self.parameters;
        count.saturating_mul(files.low.saturating_mul(LEAST_CALLS).saturating_add(1))
    }
}
