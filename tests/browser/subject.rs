//! The files that are looked at: each run in each format that a browser shows, as the built program
//! writes it, and the pages that are wrong.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use fsduel_harness::report::json;
use fsduel_harness::result::RunReport;

use crate::chromium::{Chromium, Result};
use crate::shared::{self, HOSTILE};
use crate::visit::{File, Visit, visit};

/// What is looked at.
pub struct Subject {
    /// In the name of a test.
    pub name: String,
    /// A run, and the format in which it is written; or a page as it is.
    pub content: Content,
    /// For people to look at.
    is_pictured: bool,
    visited: OnceLock<Result<Visit>>,
}

/// What is in the file.
pub enum Content {
    /// Written by the program.
    Run(Box<RunReport>, &'static str),
    /// A page.
    Page(String),
}

impl Subject {
    /// A run in a format.
    fn run(name: &str, run: RunReport, format: &'static str, is_pictured: bool) -> Self {
        let name = format!("{name} as {format}");
        Self { name, content: Content::Run(Box::new(run), format), is_pictured, visited: OnceLock::new() }
    }

    /// A page of a test.
    pub fn page(name: &str, page: String) -> Self {
        Self { name: name.into(), content: Content::Page(page), is_pictured: false, visited: OnceLock::new() }
    }

    /// A picture in a file of its own.
    pub fn is_picture(&self) -> bool {
        matches!(self.content, Content::Run(_, "svg"))
    }

    /// What the browser says; it is asked once.
    pub fn visit(&self, chromium: &Chromium) -> std::result::Result<&Visit, &str> {
        self.visited.get_or_init(|| self.look(chromium)).as_ref().map_err(String::as_str)
    }

    fn look(&self, chromium: &Chromium) -> Result<Visit> {
        let folder = tempfile::tempdir_in("/var/tmp").map_err(|error| error.to_string())?;
        let path = match &self.content {
            Content::Page(text) => write(folder.path(), "page.html", text)?,
            Content::Run(run, format) => written(folder.path(), run, format)?,
        };
        let screenshots = if self.is_pictured { Some(screenshots(&self.name)?) } else { None };
        visit(chromium, &File { path: &path, is_picture: self.is_picture(), screenshots })
    }
}

fn write(folder: &Path, name: &str, text: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

/// As a user does it.
fn written(folder: &Path, run: &RunReport, format: &str) -> Result<PathBuf> {
    let stored = write(folder, "run.json", &json::text(run).map_err(|error| error.to_string())?)?;
    let path = folder.join(format!("run.{format}"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsduel"));
    command.arg("report").arg(stored).arg("--report").arg(format!("{format}={}", path.display()));
    let done = command.output().map_err(|error| format!("cannot start fsduel: {error}"))?;
    if done.status.success() { Ok(path) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
}

/// `target/browser-screenshots`.
fn screenshots(name: &str) -> Result<PathBuf> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap_or(Path::new("target"));
    let folder = target.join("browser-screenshots");
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder.join(name.replace(' ', "-")))
}

/// All runs that are looked at, in both formats.
pub fn all() -> Vec<Subject> {
    let both = |(name, run): (String, RunReport), is_pictured: bool| {
        ["html", "svg"].map(|format| Subject::run(&name, run.clone(), format, is_pictured))
    };
    let recorded = shared::recorded().into_iter().flat_map(|run| both(run, true));
    let hostile = HOSTILE.iter().map(|kind| (kind.name.to_owned(), shared::hostile(&shared::small(), kind)));
    let hostile = hostile.flat_map(|run| both(run, false));
    let odd = shared::odd().into_iter().flat_map(|run| both(run, false));
    recorded.chain(hostile).chain(odd).collect()
}
