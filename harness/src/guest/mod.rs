//! The inside of a virtual machine: this very program as its process 1.
//!
//! It mounts what every program expects, loads the modules that were packed, takes one case from the
//! port and runs a worker for it, just as a runner does on a machine of its own. So the worker is the
//! same, and its death is not that of the guest. All that the worker tells goes out through the port;
//! how far its step is, which the two share in memory, follows once a second and is a sign of life.
//! At the end the guest reboots, which its machine takes for its end.

mod modules;
mod port;
mod relay;

use std::time::Duration;

use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};

use crate::case::Event;
use crate::error::{Cannot, Error, Result};
use crate::sys::clock::monotonic_s;
use crate::vm::GUEST_ARGUMENT;

use port::Port;

/// What is mounted before anything else: kind, place.
const MOUNTS: [(&str, &str); 4] =
    [("devtmpfs", "/dev"), ("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/run")];

/// Be a guest if this is one; a program that runs cases calls this first, and it never returns then.
pub fn run_if_guest() {
    if std::env::args_os().nth(1).is_none_or(|word| word != GUEST_ARGUMENT) || std::process::id() != 1 {
        return;
    }
    if let Err(error) = run() {
        log::error!("{error}");
    }
    // What the serial line has not sent yet would be lost.
    std::thread::sleep(Duration::from_millis(100));
    let Err(errno) = reboot(RebootMode::RB_AUTOBOOT);
    log::error!("cannot reboot: {errno}");
}

/// What programs expect below `/dev` that the kernel does not put there: kind, place, options.
const BELOW_DEV: [(&str, &str, &str); 2] =
    [("devpts", "/dev/pts", "ptmxmode=666"), ("tmpfs", "/dev/shm", "mode=1777")];

/// Links there. Source: Linux `Documentation/admin-guide/devices.rst`, "Compulsory links".
const LINKS: [(&str, &str); 4] =
    [("/dev/fd", "/proc/self/fd"), ("/dev/stdin", "fd/0"), ("/dev/stdout", "fd/1"), ("/dev/stderr", "fd/2")];

/// Only commands need it, and few of them.
fn complete_dev() {
    let mounted = BELOW_DEV.iter().map(|(kind, place, options)| {
        std::fs::create_dir(place)?;
        mount(Some(*kind), *place, Some(*kind), MsFlags::empty(), Some(*options)).map_err(Into::into)
    });
    let linked = LINKS.iter().map(|(path, target)| std::os::unix::fs::symlink(target, path));
    let all = mounted.chain(linked).collect::<Vec<std::io::Result<()>>>();
    all.into_iter().filter_map(std::io::Result::err).for_each(|error| log::debug!("below /dev: {error}"));
}

fn run() -> Result<()> {
    for (kind, place) in MOUNTS {
        let none = None::<&str>;
        mount(Some(kind), place, Some(kind), MsFlags::empty(), none)
            .cannot(|| format!("mount {kind} on {place}"))?;
    }
    complete_dev();
    let loaded = modules::load();
    let mut port = Port::open().map_err(|error| match &loaded {
        Err(module) => Error::new(format!("open the port: {module}")),
        Ok(()) => error,
    })?;
    let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
    port.tell(&Event::Up { kernel, clock_s: monotonic_s() })?;
    if let Err(error) = loaded {
        return port.tell(&Event::Died { exit: error.to_string() });
    }
    let outcome = relay::run(&mut port);
    if let Err(error) = &outcome {
        port.tell(&Event::Died { exit: error.to_string() })?;
    }
    outcome
}
