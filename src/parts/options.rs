//! The command line in the words of a suite.

use fsduel_harness::case;
use fsduel_harness::error::{Error, Result};
use fsduel_harness::suite::Options;

use crate::cli::{Backend, DirectIo, Place, Shared, ShellArguments};

/// The options of a suite, as the command line has them.
///
/// # Errors
///
/// A disk that is not named twice.
pub(super) fn of(shared: &Shared) -> Result<Options> {
    let (what, place) = (&shared.what, &shared.place);
    twice(place)?;
    Ok(Options {
        filesystems: what.filesystems.clone(),
        size: what.size,
        block_size: what.block_size,
        scale: None,
        set: what.set.clone(),
        mkfs_options: what.mkfs_options.clone(),
        seed: what.seed,
        repeat: shared.often.repeat,
        budget: shared.often.budget,
        timeout: shared.often.timeout,
        store: place.store.clone(),
        direct_io: place.direct_io.map(|when| match when {
            DirectIo::Auto => case::DirectIo::Auto,
            DirectIo::On => case::DirectIo::On,
            DirectIo::Off => case::DirectIo::Off,
        }),
        preallocate: place.preallocate.then_some(true),
        overcommit: place.overcommit.then_some(true),
        memory: place.memory,
        backend: place.backend.map(|backend| match backend {
            Backend::Auto => case::Backend::Auto,
            Backend::Host => case::Backend::Host,
            Backend::Vm => case::Backend::Vm,
            Backend::Directory => case::Backend::Directory,
        }),
        kernels: place.kernels.clone(),
        kernel_options: place.kernel_options.clone(),
        device: place.device.clone(),
        wipe: place.wipe,
        require_all: shared.results.require_all,
        strict: shared.results.strict,
    })
}

/// Those of a shell, which is on this machine.
pub(super) fn of_shell(arguments: &ShellArguments) -> Options {
    Options {
        filesystems: vec![arguments.filesystem.clone()],
        size: arguments.size,
        block_size: arguments.block_size,
        mkfs_options: arguments.mkfs_options.clone(),
        store: arguments.store.clone(),
        memory: arguments.memory,
        backend: Some(case::Backend::Host),
        ..Options::default()
    }
}

/// Refuse a disk that is not named twice in the same way: who means it, says so.
fn twice(place: &Place) -> Result<()> {
    let (Some(disk), Some(again)) = (&place.device, &place.destroy_data) else { return Ok(()) };
    if disk == again {
        return Ok(());
    }
    let disk = disk.display();
    Err(Error::usage(format!("use {disk}: --destroy-data names {}", again.display()))
        .next(format!("write --device {disk} --destroy-data {disk} if all that is on it may be lost")))
}
