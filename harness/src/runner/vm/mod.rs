//! A virtual machine as the place of a case: booted for it, with a disk that has no name, and gone
//! with it.
//!
//! QEMU is a child that dies with us; its disk is a file without a name, its port a socket. The guest
//! sees no image, so what only the image shows is looked at from here: what it takes of the store,
//! whether the store is full, whether the guest's clock goes as ours does.

mod commands;
mod guest;

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::case::{CaseSpec, DirectIo, Store};
use crate::error::{Cannot, Error, Result};
use crate::fs;
use crate::result::{CaseResult, Environment, Reason, Status};
use crate::scratch::Image;
use crate::sys::processors;
use crate::sys::spawn::{WorkerExit, WorkerProcess, spawn_machine};
use crate::units::Bytes;
use crate::vm::{self, Accelerator, Initramfs, Kernel, Machine, Qemu};
use crate::worker::quiet;

use super::backend::{Backend, Started};
use guest::{Guest, Heard};

/// The memory of a guest where nobody says.
pub(super) const MEMORY: Bytes = Bytes::gib(1);

/// KVM shows a sign of life within a second, or never.
const TRIAL: Duration = Duration::from_secs(10);

/// A kernel of a distribution, unpacked, and a small command.
const WORK: Bytes = Bytes::mib(160);

/// Boots a kernel for each case.
#[derive(Clone, Debug)]
pub(super) struct Vm {
    qemu: Qemu,
    kernel: Kernel,
    accelerator: Accelerator,
    memory: Bytes,
    /// Added to the kernel's command line.
    options: Option<String>,
}

impl Vm {
    /// Machines with each of these kernels. A trial boot of the first decides who runs their
    /// instructions.
    pub(super) fn all(kernels: &[Kernel], memory: Bytes, options: Option<&str>) -> Result<Vec<Self>> {
        let qemu = Qemu::find()?;
        let vm = |kernel: &Kernel| Self {
            qemu: qemu.clone(),
            kernel: kernel.clone(),
            accelerator: Accelerator::Kvm,
            memory,
            options: options.map(str::to_owned),
        };
        let mut all: Vec<Self> = kernels.iter().map(vm).collect();
        // What was asked for of guests may keep one from its end for other reasons.
        let plain = kernels.first().map(|kernel| Self { memory: MEMORY, options: None, ..vm(kernel) });
        let accelerator = vm::accelerator::choose(|| plain.is_some_and(|plain| plain.starts()));
        for vm in &mut all {
            vm.accelerator = accelerator;
            if accelerator == Accelerator::Tcg {
                vm.kernel.image = vm::plain(&vm.kernel.image);
            }
        }
        Ok(all)
    }

    /// The guest as the place where cases run.
    pub(super) fn environment(&self) -> Environment {
        let mut environment = environment(&self.kernel, self.memory);
        let qemu = self.qemu.program.file_name().unwrap_or_default().to_string_lossy();
        environment.tools.insert(qemu.into_owned(), self.qemu.version.to_string());
        environment.accelerator = Some(self.accelerator.name().into());
        environment.timings_comparable = self.accelerator == Accelerator::Kvm;
        environment
    }

    /// Whether a machine without a root file system comes to its panic with this accelerator.
    fn starts(&self) -> bool {
        let boot = || -> Result<bool> {
            let nothing = File::open("/dev/null").cannot(|| "open /dev/null".into())?;
            let (_ours, mut machine) = self.spawn(&nothing, None)?;
            let begun = Instant::now();
            while begun.elapsed() < TRIAL {
                if let Some(exit) = machine.try_wait()? {
                    let mut said = String::new();
                    std::io::Read::read_to_string(&mut machine.errors, &mut said)
                        .cannot(|| "read a console".into())?;
                    return Ok(exit == WorkerExit::Code(0) && said.contains("Kernel panic"));
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            Ok(false)
        };
        boot().unwrap_or_else(|error| {
            log::debug!("{error}");
            false
        })
    }

    /// A guest that cannot hold what is put into its memory ends without a word.
    fn holds(&self, initramfs: &Initramfs) -> Result<()> {
        let kernel = std::fs::metadata(&self.kernel.image).cannot(|| "see how large the kernel is".into())?;
        let (kernel, all, taken) = (Bytes(kernel.len()), initramfs.size(), initramfs.taken_along());
        let command = match taken {
            Bytes(0) => String::new(),
            taken => format!(", {taken} of that for the command"),
        };
        let takes = format!("its kernel takes {kernel} of it, its initramfs {all}{command}");
        let least = least_memory(kernel, all, taken);
        if self.memory > least {
            return Ok(());
        }
        Err(Error::usage(format!("boot a guest with {} of memory: {takes}", self.memory))
            .next(format!("more than --memory {}", least.typed())))
    }

    /// Start QEMU.
    fn spawn(&self, initramfs: &File, disk: Option<(&Image, vm::Disk)>) -> Result<(File, WorkerProcess)> {
        let doing = || "make the port of a virtual machine".to_owned();
        let (ours, theirs) =
            socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).cannot(doing)?;
        let log = log_option(std::env::var("FSDUEL_LOG").ok().as_deref());
        let machine = Machine {
            accelerator: self.accelerator,
            memory: self.memory,
            processors: self.accelerator.processors(self.qemu.version, processors()),
            kernel: &self.kernel.image,
            initramfs: initramfs.as_raw_fd(),
            port: theirs.as_raw_fd(),
            disk: disk.map(|(_, disk)| disk),
            options: log.into_iter().chain(self.options.clone()).collect(),
        };
        let arguments = vm::qemu::arguments(&machine);
        log::debug!("{} {}", self.qemu.program.display(), arguments[1..].join(" "));
        let argv: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut inherited = vec![theirs.as_fd(), initramfs.as_fd()];
        inherited.extend(disk.map(|(image, _)| image.as_fd()));
        let port = File::from(ours);
        let kept = port.try_clone().cannot(doing)?;
        Ok((kept, spawn_machine(&self.qemu.program, &argv, port, &inherited)?))
    }
}

/// What a guest needs at the very least. What commands take along is there twice while it is unpacked,
/// and a command needs some memory, too.
fn least_memory(Bytes(kernel): Bytes, Bytes(initramfs): Bytes, Bytes(taken): Bytes) -> Bytes {
    let more = if taken > 0 { initramfs + WORK.0 } else { 0 };
    Bytes::mib((kernel + initramfs + more).div_ceil(1 << 20))
}

/// The level of the log for a guest. Other words in the variable would be options of its kernel.
fn log_option(variable: Option<&str>) -> Option<String> {
    let level = variable?.parse::<log::LevelFilter>().ok()?;
    Some(format!("FSDUEL_LOG={}", level.as_str().to_lowercase()))
}

/// A guest as far as it is known before anything was tried.
pub(super) fn environment(kernel: &Kernel, memory: Bytes) -> Environment {
    Environment {
        backend: "vm".into(),
        kernel: kernel.release.clone(),
        timings_comparable: true,
        memory_bytes: Some(memory.0),
        ..Environment::default()
    }
}

impl Backend for Vm {
    fn start(&self, spec: &CaseSpec) -> Result<Started> {
        let name = &spec.configuration.filesystem;
        let filesystem =
            fs::by_name(name).ok_or_else(|| Error::usage(format!("find a file system named {name}")))?;
        let along = commands::along(spec, filesystem)?;
        let initramfs = Initramfs::new(&self.kernel, &[filesystem], along.as_ref())?;
        self.holds(&initramfs)?;
        let initramfs = initramfs.file()?;
        let store = match &spec.store {
            Store::Directory(folder) => Some(folder.clone()),
            _ => None,
        };
        let image = Image::create(store.as_deref(), spec.image_size, spec.preallocate)?;
        let store = store.filter(|_| spec.quiet);
        let quiet = store.map(|store| quiet::wait(None, Some(&store))).transpose()?;
        let direct = goes_round_the_cache(&image, spec.direct_io)?;
        let logical_block_size = spec.logical_block_size;
        let disk = vm::Disk { file: image.as_fd().as_raw_fd(), direct, logical_block_size };
        let (_, worker) = self.spawn(&initramfs, Some((&image, disk)))?;
        let mut guest = CaseSpec { store: Store::Disk(vm::DISK.into()), memory: None, ..spec.clone() };
        if let Some(along) = &along {
            guest = commands::in_guest(guest, filesystem, along)?;
        }
        let (machine, heard) = (worker.pid, Heard::nothing());
        let place = Guest { image, memory: self.memory, direct, quiet, machine, heard };
        Ok(Started { doing: "boot", worker, spec: guest, counters: None, place: Box::new(place) })
    }

    /// An emulated kernel may panic at boot because of its emulator, and then nothing was tried.
    fn tries_again(&self, case: &CaseResult) -> bool {
        self.accelerator == Accelerator::Tcg
            && case.status == Status::Error
            && case.reason.as_ref().is_some_and(|reason| reason.code == Reason::GUEST_PANIC)
    }
}

/// Whether QEMU can read and write the image without the host's page cache, as asked.
fn goes_round_the_cache(image: &Image, asked: DirectIo) -> Result<bool> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    if asked == DirectIo::Off {
        return Ok(false);
    }
    let path = format!("/proc/self/fd/{}", image.as_fd().as_raw_fd());
    let opened = openat(CWD, path, OFlags::RDWR | OFlags::DIRECT | OFlags::CLOEXEC, Mode::empty());
    match (opened, asked) {
        (Ok(_), _) => Ok(true),
        (Err(error), DirectIo::On) => Err(Error::environment("use direct I/O: the store does not allow it")
            .because(error)
            .next("use --direct-io auto, or another --store")),
        (Err(_), _) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_the_environment_adds_no_option_to_a_kernel() {
        assert_eq!(log_option(Some("Debug")).as_deref(), Some("FSDUEL_LOG=debug"));
        for wrong in ["", "debug init=/bin/sh", "debug\n-- x", "fsduel=debug,info"] {
            assert_eq!(log_option(Some(wrong)), None, "{wrong}");
        }
    }
}
