//! The head of a run that goes on and its finished cases, one JSON line each, beside the place of the
//! result: what took an hour to measure outlives a crash of the runner or of the machine.
//! `fsduel report` reads it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fsduel_harness::Result;
use fsduel_harness::error::Cannot;

use crate::destination::{give_to_caller, partial_of};
use crate::parts::RunEvent;
use crate::progress;

/// `PATH.partial.jsonl`.
pub struct Partial {
    path: PathBuf,
    file: File,
}

impl Partial {
    /// Begin the file beside `json`. What an earlier run, which did not end, left there is moved aside,
    /// to `PATH.partial.jsonl.old`: it may be all that is known of an hour.
    ///
    /// # Errors
    ///
    /// The folder refuses it.
    pub fn start(json: &Path) -> Result<Self> {
        let path = partial_of(json);
        let doing = || format!("write {}", path.display());
        move_aside(&path)?;
        let file = File::create(&path).cannot(doing)?;
        give_to_caller(&path).cannot(doing)?;
        Ok(Self { path, file })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Add what has begun or finished. A failure is logged only: the run is worth more than its copy.
    pub fn tell(&mut self, event: &RunEvent) {
        let written = match event {
            RunEvent::RunBegun(head) => self.line(head),
            RunEvent::CaseEnded(case) => self.line(case),
            RunEvent::CaseBegun { .. }
            | RunEvent::Worker(_)
            | RunEvent::Said(_)
            | RunEvent::GoesOn { .. } => Ok(()),
        };
        if let Err(error) = written {
            log::warn!("cannot write {}: {error}", self.path.display());
        }
    }

    fn line(&mut self, data: &impl serde::Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(data)?;
        line.push(b'\n');
        self.file.write_all(&line)?;
        self.file.sync_data()
    }

    /// The result is stored: the file has done its work. That it has gone already is no failure.
    ///
    /// # Errors
    ///
    /// The folder refuses it.
    pub fn remove(self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other.cannot(|| format!("remove {}", self.path.display())),
        }
    }
}

/// Only a file of that name that holds something.
fn move_aside(path: &Path) -> Result<()> {
    if !fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() > 0) {
        return Ok(());
    }
    let mut old = path.as_os_str().to_owned();
    old.push(".old");
    let old = PathBuf::from(old);
    fs::rename(path, &old).cannot(|| format!("move {} aside", path.display()))?;
    progress::line(&format!("note: {} of a run that did not end is now {}", path.display(), old.display()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use fsduel_harness::result::CaseResult;
    use serde_json::json;

    use super::*;

    #[test]
    fn each_case_is_one_line_that_can_be_read_before_the_run_ends() {
        let folder = tempfile::tempdir().unwrap();
        let mut partial = Partial::start(&folder.path().join("run.json")).unwrap();
        let case: CaseResult = serde_json::from_value(json!({
            "id": "a/1", "block": 1, "order": 1, "started_s": 0.0, "image_bytes": 0, "status": "passed",
            "configuration": { "id": "a", "filesystem": "a", "mount_options": "", "mkfs_options": [],
                               "block_size_bytes": 4096, "environment": 0 },
        }))
        .unwrap();
        partial.tell(&RunEvent::CaseEnded(Box::new(case.clone())));
        partial.tell(&RunEvent::CaseEnded(Box::new(case)));
        let text = fs::read_to_string(folder.path().join("run.json.partial.jsonl")).unwrap();
        let ids: Vec<_> =
            text.lines().map(|line| serde_json::from_str::<CaseResult>(line).unwrap().id).collect();
        assert_eq!(ids, ["a/1", "a/1"]);
        partial.remove().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_an_earlier_run_left_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        fs::write(file("run.json.partial.jsonl"), "an hour of work\n").unwrap();
        let _new = Partial::start(&file("run.json")).unwrap();
        assert_eq!(fs::read_to_string(file("run.json.partial.jsonl")).unwrap(), "");
        assert_eq!(fs::read_to_string(file("run.json.partial.jsonl.old")).unwrap(), "an hour of work\n");
    }
}
