//! What `--keep` leaves of a case: a folder in the store with all that one needs to look into it by
//! hand, without fsduel.
//!
//! The worker puts the image, the checker's words and the kernel's there while it still has the
//! device; the runner adds what the worker printed. Where the worker died the image died with it, and
//! the runner leaves the rest.

mod script;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::case::{CaseSpec, Keep, Store};
use crate::command::Invocation;
use crate::error::{Cannot, Result};
use crate::fs::by_name;
use crate::result::{CaseResult, Status};
use crate::scratch::{IMAGE, Image, Tag, create_kept, is_kept};
use crate::sys::caller::give_to_caller;

/// Add what only the runner knows: how the case ended, and what its worker `said` on its standard
/// error. A worker that died has made no folder.
///
/// # Errors
///
/// It cannot be made or written.
pub(crate) fn complete(spec: &CaseSpec, case: &mut CaseResult, said: &str) -> Result<()> {
    let ran = case.status != Status::NotRun || case.kept.is_some();
    if !ran || !is_wanted(spec.keep, case.status == Status::Passed) {
        return Ok(());
    }
    let folder = match &case.kept {
        Some(path) => Some(Folder(path.into())),
        None => Folder::left_or_made(spec)?,
    };
    let Some(folder) = folder else { return Ok(()) };
    case.kept = Some(folder.path().display().to_string());
    let filled = folder.text("worker.log", said).and_then(|()| folder.script(spec, case));
    // Last: while we write as root, nobody else can put a link into it.
    own(folder.path()).and(filled)
}

/// A folder that is being filled.
pub(crate) struct Folder(PathBuf);

/// Whether the folder is wanted.
pub(crate) fn is_wanted(keep: Keep, passed: bool) -> bool {
    match keep {
        Keep::Never => false,
        Keep::Failed => !passed,
        Keep::Always => true,
    }
}

impl Folder {
    /// That of a worker that died while it filled it; else a new one.
    fn left_or_made(spec: &CaseSpec) -> Result<Option<Self>> {
        let Some(path) = place(spec)? else { return Ok(None) };
        match is_kept(&path) {
            true => Ok(Some(Self(path))),
            false => Self::make(spec, &Tag::of_this_process(&spec.run_id)?.to_string()),
        }
    }

    /// Make it, marked with `tag`; none for a case whose image is in memory.
    ///
    /// # Errors
    ///
    /// There is one of that name, or it cannot be made.
    pub(crate) fn make(spec: &CaseSpec, tag: &str) -> Result<Option<Self>> {
        let Some(path) = place(spec)? else { return Ok(None) };
        create_kept(&path, tag)?;
        Ok(Some(Self(path)))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The image, as the case left it.
    pub(crate) fn image(&self, image: &Image) -> Result<()> {
        let path = self.0.join(IMAGE);
        image.keep(&path)?;
        own(&path)
    }

    /// Words of a program or of the kernel.
    pub(crate) fn text(&self, name: &str, text: &str) -> Result<()> {
        let path = self.0.join(name);
        let ended = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        fs::write(&path, format!("{text}{ended}")).cannot(|| format!("write {}", path.display()))?;
        own(&path)
    }

    /// The commands, to make it again or to look into what is there.
    fn script(&self, spec: &CaseSpec, case: &CaseResult) -> Result<()> {
        let Some(filesystem) = by_name(&spec.configuration.filesystem) else { return Ok(()) };
        let name = "repeat.sh";
        let configuration = self.mkfs_configuration(&script::mkfs(spec, filesystem))?;
        self.text(name, &script::text(spec, case, filesystem, configuration.as_deref()))?;
        let path = self.0.join(name);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).cannot(|| "mark the script".into())
    }

    /// A file that `mkfs` is pointed to, which goes with this process: a copy stays. The name of its
    /// variable.
    fn mkfs_configuration(&self, mkfs: &Invocation) -> Result<Option<String>> {
        for (variable, value) in &mkfs.environment {
            if let Ok(text) = fs::read_to_string(value) {
                self.text(script::CONFIGURATION, &text)?;
                return Ok(Some((*variable).to_owned()));
            }
        }
        Ok(None)
    }
}

fn own(path: &Path) -> Result<()> {
    give_to_caller(path).cannot(|| format!("give {} to the caller of sudo", path.display()))
}

/// `/var/tmp/fsduel-1f0c7f0a-ext4-1`: a report is read elsewhere, where a relative path says nothing.
fn place(spec: &CaseSpec) -> Result<Option<PathBuf>> {
    let Store::Directory(store) = &spec.store else { return Ok(None) };
    let run = spec.run_id.get(..8).unwrap_or(&spec.run_id);
    let name = format!("fsduel-{run}-{}-{}", spec.configuration.id, spec.block).replace(['/', '#'], "-");
    let path = std::path::absolute(store.join(name));
    path.map(Some).cannot(|| format!("find the folder {}", store.display()))
}
