//! What can be asked for together about where a run takes place.
//!
//! What contradicts itself is refused before anything is looked at, with the way out: a kernel that
//! is silently not booted, or a disk that is silently not used, would measure something else.

use serde_json::json;

use super::kernels::HOST;
use super::resolve::Choices;
use super::{Options, Resolved};
use crate::case::Backend;
use crate::error::{Error, Result};
use crate::units::Bytes;

/// Check all of it.
pub(super) fn check(choices: &Choices, options: &Options) -> Result<()> {
    directory(choices)?;
    kernels(choices)?;
    kernel_options(choices, options)?;
    memory(choices)?;
    device(choices, options)
}

fn directory(choices: &Choices) -> Result<()> {
    if choices.backend != Backend::Directory {
        return Ok(());
    }
    Err(Error::usage("use --backend directory for file systems that are made for the run")
        .because("in a directory that exists no file system is made")
        .next("`fsduel postmark CONFIG` without --fs runs in directories; leave --backend out here"))
}

fn kernels(choices: &Choices) -> Result<()> {
    if let Some(kernel) = choices.kernels.iter().find(|kernel| kernel.path.is_empty()) {
        let id = kernel.id.as_deref().map(|id| format!(" `{id}`")).unwrap_or_default();
        return Err(Error::usage(format!("boot the kernel{id}: its path is empty"))
            .next(format!("--kernel PATH, or --kernel {HOST} for that of this machine")));
    }
    if choices.backend != Backend::Host || choices.kernels.is_empty() {
        return Ok(());
    }
    Err(Error::usage("boot another kernel on this machine")
        .because("--backend host runs on the kernel that the machine has")
        .next("--backend vm, or leave out --kernel and the [matrix] of the suite"))
}

/// What would cut off or swallow what follows on the command line, without which a guest is none.
fn kernel_options(choices: &Choices, line: &Options) -> Result<()> {
    /// Half of what a kernel for x86 takes. Source: Linux `COMMAND_LINE_SIZE`.
    const MOST: usize = 1024;
    if line.kernel_options.is_some() && (choices.backend != Backend::Vm || line.device.is_some()) {
        return Err(Error::usage("pass --kernel-options on")
            .because("no kernel is booted on this machine")
            .next("--backend vm, or leave out --kernel-options"));
    }
    let Some(options) = &choices.kernel_options else { return Ok(()) };
    let why = if options.split_ascii_whitespace().any(|word| word == "--") {
        "`--` ends the options of a kernel"
    } else if !options.matches('"').count().is_multiple_of(2) {
        "a quotation mark is not closed"
    } else if options.len() > MOST {
        "they are longer than 1024 bytes"
    } else {
        return Ok(());
    };
    Err(Error::usage("pass --kernel-options on")
        .because(why.to_owned())
        .next("write NAME=VALUE, as quiet or mitigations=off"))
}

fn memory(choices: &Choices) -> Result<()> {
    match choices.memory {
        Some(memory) if memory.0 == 0 => {
            Err(Error::usage("work in no memory at all")
                .next("leave `memory` out for no limit, or take 512M"))
        }
        _ => Ok(()),
    }
}

/// A whole disk has its own size and place, and it is one of this machine.
fn device(choices: &Choices, options: &Options) -> Result<()> {
    let Some(device) = &options.device else { return Ok(()) };
    let refuse = |with: &str, why: &str, next: &str| {
        let both = format!("use --device {} together with {with}", device.display());
        Err(Error::usage(both).because(why.to_owned()).next(next.to_owned()))
    };
    if choices.backend == Backend::Vm || !choices.kernels.is_empty() {
        let why = "a virtual machine has disks of its own, and never gets one of this machine";
        let next = "leave out --device, or run here: --backend host, no --kernel, no [matrix] in the suite";
        return refuse("a virtual machine", why, next);
    }
    let taken = [
        ("--store", options.store.is_some(), "no image is made that could lie there"),
        ("--preallocate", options.preallocate == Some(true), "no image is made that could be allocated"),
        ("--size", options.size.is_some(), "the file systems are as large as the disk"),
    ];
    match taken.into_iter().find(|(_, given, _)| *given) {
        Some((option, _, why)) => refuse(option, why, &format!("leave out {option}")),
        None => Ok(()),
    }
}

impl Resolved {
    /// Use a whole disk of this size, which is known only where the disk is: file systems are as large
    /// as it is, whatever the suite says of images.
    pub fn on_a_disk_of(&mut self, size: Bytes) {
        self.image_size = size;
        self.info.resolved["size_bytes"] = json!(size);
    }
}
