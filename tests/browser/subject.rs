//! The files that are looked at: each run in each format that a browser shows, as the built program
//! writes it, and the pages that are wrong.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};

use fsduel_harness::report::json;
use fsduel_harness::result::RunReport;
use tempfile::TempDir;

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
    Run(Arc<Run>, &'static str),
    /// A page.
    Page(String),
}

/// The formats that a browser shows.
const FORMATS: [&str; 2] = ["html", "svg"];

/// A run, and the folder with its files, once they are written.
pub struct Run {
    /// As it is stored.
    pub report: RunReport,
    written: OnceLock<Result<TempDir>>,
}

impl Run {
    /// The file of one of the formats. All are written at once, since reading a large run takes long.
    fn file(&self, format: &str) -> Result<PathBuf> {
        let folder = self.written.get_or_init(|| written(&self.report)).as_ref();
        folder.map(|folder| folder.path().join(format!("run.{format}"))).map_err(Clone::clone)
    }
}

impl Subject {
    /// A run in a format.
    fn run(name: &str, run: &Arc<Run>, format: &'static str, is_pictured: bool) -> Self {
        let content = Content::Run(Arc::clone(run), format);
        Self { name: format!("{name} as {format}"), content, is_pictured, visited: OnceLock::new() }
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
        let folder = folder()?;
        let path = match &self.content {
            Content::Page(text) => write(folder.path(), "page.html", text)?,
            Content::Run(run, format) => run.file(format)?,
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

fn folder() -> Result<TempDir> {
    tempfile::tempdir_in("/var/tmp").map_err(|error| format!("cannot make a folder in /var/tmp: {error}"))
}

/// As a user does it.
fn written(run: &RunReport) -> Result<TempDir> {
    let folder = folder()?;
    let stored = write(folder.path(), "run.json", &json::text(run).map_err(|error| error.to_string())?)?;
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsduel"));
    command.arg("report").arg(stored);
    for format in FORMATS {
        let path = folder.path().join(format!("run.{format}"));
        command.arg("--report").arg(format!("{format}={}", path.display()));
    }
    let done = command.output().map_err(|error| format!("cannot start fsduel: {error}"))?;
    if done.status.success() { Ok(folder) } else { Err(String::from_utf8_lossy(&done.stderr).into_owned()) }
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
    let both = |(name, report): (String, RunReport), is_pictured: bool| {
        let run = Arc::new(Run { report, written: OnceLock::new() });
        FORMATS.map(|format| Subject::run(&name, &run, format, is_pictured))
    };
    let recorded = shared::recorded().into_iter().flat_map(|run| both(run, true));
    let hostile = HOSTILE.iter().map(|kind| (kind.name.to_owned(), shared::hostile(&shared::small(), kind)));
    let hostile = hostile.flat_map(|run| both(run, false));
    let odd = shared::odd().into_iter().flat_map(|run| both(run, false));
    let mut all: Vec<Subject> = recorded.chain(hostile).chain(odd).collect();
    // Those of one run wait for each other while its files are written.
    all.sort_by_key(Subject::is_picture);
    all
}
