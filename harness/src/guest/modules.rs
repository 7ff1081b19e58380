//! Loads the kernel's modules that were packed, in their order.

use std::fs::{File, read_to_string};

use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module};

use crate::error::{Cannot, Error, Result};
use crate::vm::{MODULES, OPTIONAL};

/// Load all of them. A driver that fails does not keep the others from loading: without those of the
/// port nobody would hear of it.
///
/// # Errors
///
/// The first that failed, with its path.
pub(super) fn load() -> Result<()> {
    let read = |path: &str| read_to_string(path).cannot(|| format!("read {path}"));
    let (list, optional) = (read(MODULES)?, read(OPTIONAL)?);
    let failed = |path: &str| {
        let loaded = load_one(path);
        match &loaded {
            Err(error) if optional.lines().any(|one| one == path) => {
                log::debug!("{error}");
                Ok(())
            }
            _ => loaded,
        }
    };
    list.lines().map(failed).fold(Ok(()), Result::and)
}

fn load_one(path: &str) -> Result<()> {
    let file = File::open(path).cannot(|| format!("open the module {path}"))?;
    match finit_module(&file, c"", ModuleInitFlags::empty()) {
        Ok(()) | Err(Errno::EEXIST) => Ok(()),
        Err(errno) => Err(Error::new(format!("load the module {path}"))
            .because(errno)
            .next("the kernel's last words tell why; the module may belong to another build of the kernel")),
    }
}
