//! `fsduel report`: a stored run in another format. It reads the file only, so it works anywhere
//! and without root.

use std::path::Path;

use fsduel_harness::result::RunReport;
use fsduel_harness::{Error, Result};

use crate::cli::ReportArguments;
use crate::destination::{self, ReportTo, to_stdout};
use crate::{exit, parts, source};

/// The format without `--report`.
pub const DEFAULT_FORMAT: &str = "table";

/// Far more than any run has.
const RUN_MAX: u64 = 1 << 30;

/// Read the run, and write it in every format asked for.
pub fn report(arguments: &ReportArguments) -> Result<u8> {
    let run = read(&arguments.run)?;
    let reports = or_default(&arguments.reports);
    let paths = reports.iter().filter_map(|to| to.path.as_deref());
    let paths: Vec<_> = paths.map(|path| destination::for_suite(path, &run.suite.name)).collect();
    destination::test_all(&paths, Some(&arguments.run))?;
    write_all(&run, &reports)?;
    Ok(exit::OK)
}

/// A stored run.
///
/// # Errors
///
/// The file cannot be read, or holds no run.
pub fn read(path: &Path) -> Result<RunReport> {
    let text = source::read_cut_text(path, RUN_MAX).map_err(|cause| {
        let partial = destination::partial_of(path);
        let next = match partial.exists() {
            true => {
                format!("the run did not end; `fsduel report {}` shows what had finished", partial.display())
            }
            false => "give a file that `fsduel run --json PATH` wrote".into(),
        };
        Error::usage(format!("read {}", path.display())).because(cause).next(next)
    })?;
    parts::read_report(&text).map_err(|cause| {
        let next = cause.next_step().unwrap_or("give a file that `fsduel run --json PATH` wrote").to_owned();
        Error::usage(format!("use {}", path.display())).because(cause).next(next)
    })
}

/// The table on standard output, if nothing was asked for.
pub fn or_default(reports: &[ReportTo]) -> Vec<ReportTo> {
    match reports {
        [] => vec![ReportTo { format: DEFAULT_FORMAT.into(), path: None }],
        reports => reports.to_vec(),
    }
}

/// Write `run` in several formats. `{suite}` in a path is the name of the run's suite.
pub fn write_all(run: &RunReport, reports: &[ReportTo]) -> Result<()> {
    for to in reports {
        match &to.path {
            None => to_stdout(|out| parts::write_report(&to.format, run, out))?,
            Some(path) => {
                let path = destination::for_suite(path, &run.suite.name);
                destination::write(&path, |out| parts::write_report(&to.format, run, out))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_place_of_a_run_that_did_not_end_its_cases_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        let next = || read(&path).unwrap_err().next_step().unwrap().to_owned();
        assert!(next().contains("--json PATH"), "{}", next());
        std::fs::write(destination::partial_of(&path), "").unwrap();
        assert!(next().contains("run.json.partial.jsonl"), "{}", next());
    }
}
