//! A run against an earlier one, and against limits. Both are understood before the first case
//! starts, so that no hour is measured for a comparison that cannot be.

use std::path::Path;

use fsduel_harness::Result;
use fsduel_harness::result::RunReport;

use crate::cli::Results;
use crate::command::report::read;
use crate::destination;
use crate::parts::{self, Gate};

/// What a run is held against.
pub struct Against {
    base: Option<RunReport>,
    gates: Vec<Gate>,
}

impl Against {
    /// Read the baseline and the gates of one suite.
    ///
    /// # Errors
    ///
    /// The baseline cannot be read or did other work; a gate names what nobody measures or a
    /// step that is not planned, or has nothing to compare.
    pub fn read(results: &Results, plan: &parts::Plan) -> Result<Self> {
        let place = |path: &Path| destination::for_suite(path, plan.suite());
        let base = results.baseline.as_deref().map(|path| read(&place(path))).transpose()?;
        if let Some(base) = &base {
            parts::same_work(base, plan)?;
        }
        let gates = results.gate.as_deref().map(parts::gates).transpose()?.unwrap_or_default();
        parts::steps_of_gates(&gates, plan)?;
        if !gates.is_empty() && base.is_none() {
            parts::something_to_compare(plan)?;
        }
        Ok(Self { base, gates })
    }

    /// Put the changes and what becomes of the gates into the report.
    ///
    /// # Errors
    ///
    /// There is nothing to compare after all: nothing ran that the baseline has, or a gate is about a
    /// figure that no step has.
    pub fn judge(&self, report: &mut RunReport) -> Result<()> {
        report.gates = match &self.base {
            Some(base) => {
                report.changes = Some(parts::changes(base, report)?);
                parts::gates_of_changes(&self.gates, base, report)?
            }
            None => parts::gates_of_run(&self.gates, report)?,
        };
        Ok(())
    }
}
