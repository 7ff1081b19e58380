//! Where the file systems of one thread are mounted: below a small tmpfs that only this thread, and
//! what it starts later, can see.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};

use crate::error::{Cannot, Error, Result};
use crate::scratch::Place;
use crate::sys::namespace::enter_private_mounts;

thread_local! {
    /// Never unmounted: it goes with the namespace, which goes with the thread.
    static HOME: OnceCell<PathBuf> = const { OnceCell::new() };
    static NEXT: Cell<u32> = const { Cell::new(0) };
}

/// A place for one more file system of this thread.
///
/// # Errors
///
/// Mount namespaces are not allowed.
pub(super) fn place() -> Result<Place> {
    let home = HOME.with(|home| match home.get() {
        Some(path) => Ok(path.clone()),
        None => {
            enter_private_mounts()?;
            let place = std::mem::ManuallyDrop::new(Place::new(None)?);
            Ok::<PathBuf, Error>(home.get_or_init(|| place.path().to_owned()).clone())
        }
    })?;
    let number = NEXT.with(|next| next.replace(next.get() + 1));
    let folder = home.join(number.to_string());
    std::fs::create_dir(&folder).cannot(|| format!("make {}", folder.display()))?;
    Place::at(Path::new(&folder))
}
