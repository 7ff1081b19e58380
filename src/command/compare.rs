//! `fsduel compare`: a stored run against an earlier one. It reads the two files only, so it works
//! anywhere and without root.

use std::path::Path;

use fsduel_harness::Result;
use fsduel_harness::result::RunReport;

use crate::cli::CompareArguments;
use crate::command::gates;
use crate::command::report::read;
use crate::destination::{self, to_stdout};
use crate::{exit, parts};

/// Show every change with its interval; the code tells what became of the gates.
pub fn compare(arguments: &CompareArguments) -> Result<u8> {
    let gates = arguments.gate.as_deref().map(parts::gates).transpose()?.unwrap_or_default();
    let json = arguments.json.as_deref();
    json.filter(|path| *path != Path::new("-")).map(destination::test).transpose()?;
    let (base, new) = (read(&arguments.base)?, read(&arguments.new)?);
    let changes = parts::changes(&base, &new)?;
    let judged = parts::gates_of_changes(&gates, &base, &new)?;
    match json {
        Some(path) if path == Path::new("-") => {
            to_stdout(|out| parts::write_changes_as_json(&changes, &judged, out))?;
        }
        json => {
            if let Some(path) = json {
                destination::write(path, |out| parts::write_changes_as_json(&changes, &judged, out))?;
            }
            let title = format!("{} against {}", named(&arguments.new, &new), named(&arguments.base, &base));
            to_stdout(|out| parts::write_changes(&title, &changes, &judged, out))?;
        }
    }
    gates::tell(&judged);
    Ok(exit::first(judged.iter().map(exit::of_gate)))
}

/// `new.json (2026-05-01 10:20)`: the file, and when its run began.
fn named(path: &Path, run: &RunReport) -> String {
    let minute = run.manifest.started_at.get(..16).unwrap_or(&run.manifest.started_at);
    format!("{} ({})", path.display(), minute.replace('T', " "))
}
