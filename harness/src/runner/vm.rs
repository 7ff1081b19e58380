//! A virtual machine as the place of a case: booted for it, with a disk that has no name, and gone
//! with it.
//!
//! QEMU is a child that dies with us; its disk is a file without a name, its port a socket. The guest
//! sees no image, so what only the image shows is looked at from here: what it takes of the store,
//! whether the store is full, whether the guest's clock goes as ours does.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

use crate::case::{CaseSpec, DirectIo, Event, Store};
use crate::error::{Cannot, Error, Result};
use crate::fs;
use crate::result::{CaseResult, Environment, Metrics, Reason, Status};
use crate::scratch::Image;
use crate::sys::clock::monotonic_s;
use crate::sys::proc::is_stopped;
use crate::sys::processors;
use crate::sys::spawn::{WorkerExit, WorkerProcess, spawn_machine};
use crate::units::{Bytes, duration_text};
use crate::vm::{self, Accelerator, Death, Kernel, Machine, Qemu};
use crate::worker::kept;

use super::backend::{Backend, Place, Started};

/// The memory of a guest where nobody says.
pub(super) const MEMORY: Bytes = Bytes::gib(1);

/// From the start of QEMU to the first word of the guest; an emulated processor on a busy machine is
/// slow.
const BOOT: Duration = Duration::from_secs(180);
/// A guest tells each second that it lives.
const SILENCE: Duration = Duration::from_secs(180);
/// KVM shows a sign of life within a second, or never.
const TRIAL: Duration = Duration::from_secs(10);

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
        let accelerator = vm::accelerator::choose(|| all.first().is_some_and(Self::starts));
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
    fn holds(&self, initramfs: &File) -> Result<()> {
        let size = |metadata: std::io::Result<std::fs::Metadata>| {
            metadata.map(|metadata| metadata.len()).cannot(|| "see what a guest is to hold".into())
        };
        let (kernel, initramfs) = (size(std::fs::metadata(&self.kernel.image))?, size(initramfs.metadata())?);
        let least = Bytes::mib((kernel + initramfs).div_ceil(1 << 20));
        if self.memory > least {
            return Ok(());
        }
        let text = format!(
            "boot a guest with {} of memory: its kernel takes {} of it, its initramfs {}",
            self.memory,
            Bytes(kernel),
            Bytes(initramfs)
        );
        Err(Error::environment(text).next(format!("more than --memory {}", least.typed())))
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
            processors: processors(),
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
        let initramfs = vm::build(&self.kernel, &[filesystem])?;
        self.holds(&initramfs.file)?;
        let store = match &spec.store {
            Store::Directory(folder) => Some(folder.clone()),
            _ => None,
        };
        let image = Image::create(store.as_deref(), spec.image_size, spec.preallocate)?;
        let direct = goes_round_the_cache(&image, spec.direct_io)?;
        let logical_block_size = spec.logical_block_size;
        let disk = vm::Disk { file: image.as_fd().as_raw_fd(), direct, logical_block_size };
        let (_, worker) = self.spawn(&initramfs.file, Some((&image, disk)))?;
        let guest = CaseSpec { store: Store::Disk(vm::DISK.into()), memory: None, ..spec.clone() };
        let as_asked = direct || spec.direct_io == DirectIo::Off;
        let place = Guest::new(image, self.memory, as_asked, worker.pid);
        Ok(Started { doing: "boot", worker, spec: guest, counters: None, place: Box::new(place) })
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

/// A guest that works on a case.
struct Guest {
    image: Image,
    memory: Bytes,
    /// As it was asked for; else the host's cache is below the disk.
    as_asked: bool,
    /// When it was last heard.
    heard: Instant,
    clock: Option<Clocks>,
    /// What the image took of the store when each step was unmounted.
    allocated: Vec<(String, Bytes)>,
    step: String,
    died: Option<String>,
    left: Option<(String, String)>,
    was_full: bool,
    /// QEMU, and whether a signal made it wait.
    machine: i32,
    was_stopped: bool,
}

/// The guest's clock and ours, at its first word and at its last.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    first: (f64, f64),
    last: (f64, f64),
}

impl Clocks {
    /// How long both say that it took, if they disagree by more than a message may be late.
    fn disagree(&self) -> Option<(f64, f64)> {
        let (guest, host) = (self.last.0 - self.first.0, self.last.1 - self.first.1);
        ((guest - host).abs() > 0.5 + host / 50.0).then_some((guest, host))
    }
}

impl Guest {
    fn new(image: Image, memory: Bytes, as_asked: bool, machine: i32) -> Self {
        Self {
            image,
            memory,
            as_asked,
            heard: Instant::now(),
            clock: None,
            allocated: vec![],
            step: String::new(),
            died: None,
            left: None,
            was_full: false,
            machine,
            was_stopped: false,
        }
    }

    fn hear_clock(&mut self, guest_s: f64) {
        let now = (guest_s, monotonic_s());
        let first = self.clock.map_or(now, |clock| clock.first);
        self.clock = Some(Clocks { first, last: now });
    }

    /// Others fill a store, too, and free it again. Of a machine that was stopped the clocks may tell
    /// nothing: an emulated one goes on with the time that it is then.
    fn glance(&mut self) {
        self.was_stopped |= is_stopped(self.machine);
        self.was_full |= self.image.lacks_room();
    }

    /// Why nothing of the case means anything.
    fn invalid(&self) -> Option<Error> {
        if self.was_full {
            return Some(self.image.out_of_space("the store has no space left"));
        }
        const GO_ON: &str = "do not stop or suspend this machine or QEMU meanwhile";
        if self.was_stopped {
            return Some(
                Error::environment("use what was measured: QEMU was stopped by a signal meanwhile")
                    .next(GO_ON),
            );
        }
        let (guest, host) = self.clock?.disagree()?;
        Some(
            Error::environment(format!(
                "use what was measured: the guest's clock went {guest:.2} s while this machine's went {host:.2} s"
            ))
            .next(GO_ON),
        )
    }

    fn keep(&self, spec: &CaseSpec, case: &mut CaseResult) -> Result<()> {
        if !kept::is_wanted(spec.keep, case.status == Status::Passed) {
            return Ok(());
        }
        let tag = crate::scratch::Tag::of_this_process(&spec.run_id)?.to_string();
        let Some(folder) = kept::Folder::make(spec, &tag)? else { return Ok(()) };
        case.kept = Some(folder.path().display().to_string());
        folder.image(&self.image)?;
        let (fsck, kernel_log) = self.left.clone().unwrap_or_default();
        folder.text("fsck.txt", &fsck)?;
        folder.text("kernel.log", &kernel_log)
    }
}

impl Place for Guest {
    fn stop(&mut self, worker: &mut WorkerProcess) -> Result<()> {
        // One that is not up does not listen, and has nothing to lose.
        match self.clock {
            None => worker.signal(Signal::SIGKILL),
            Some(_) => worker.input.write_all(b"stop\n").cannot(|| "ask the guest to stop".into()),
        }
    }

    fn speaks(&self) -> bool {
        false
    }

    fn note(&mut self, event: &Event) {
        self.heard = Instant::now();
        match event {
            Event::Up { clock_s, kernel } => {
                log::debug!("the guest is up: Linux {kernel}");
                self.hear_clock(*clock_s);
            }
            Event::Done { clock_s, .. } => self.hear_clock(*clock_s),
            Event::StepBegun { step, .. } => self.step.clone_from(step),
            // The first thing after the third stop.
            Event::Phase { phase } if phase == crate::case::READ_BACK => {
                if let Ok(bytes) = self.image.allocated() {
                    self.allocated.push((self.step.clone(), bytes));
                }
            }
            Event::Died { exit } => self.died = Some(exit.clone()),
            Event::Left { fsck, kernel_log } => self.left = Some((fsck.clone(), kernel_log.clone())),
            _ => {}
        }
    }

    fn look(&mut self, now: Instant) -> Option<Reason> {
        self.glance();
        let (limit, what) = match self.clock {
            None => (BOOT, "come up"),
            Some(_) => (SILENCE, "give a sign of life"),
        };
        (now.saturating_duration_since(self.heard) > limit).then(|| Reason {
            code: Reason::GUEST_HUNG.into(),
            text: format!("the guest did not {what} within {}", duration_text(limit)),
            next: Some("another --kernel; or a machine with less to do".into()),
        })
    }

    fn lost(&self, exit: WorkerExit, at: &str, said: &str) -> (Status, Reason) {
        let (came_up, worker) = (self.clock.is_some(), self.died.as_deref());
        Death { exit, console: said, at, came_up, worker, memory: self.memory }.explain()
    }

    fn finish(&mut self, spec: &CaseSpec, case: &mut CaseResult) {
        self.glance();
        if let Some(error) = self.invalid()
            && !matches!(case.status, Status::Stopped | Status::NotRun)
        {
            (case.status, case.reason) = (Status::Invalid, Some(Reason::from(&error)));
            case.steps.clear();
            case.metrics = Metrics::default();
        }
        for step in &mut case.steps {
            if let Some((_, bytes)) = self.allocated.iter().find(|(name, _)| *name == step.name) {
                step.metrics.set("image_allocated_bytes", bytes.as_f64());
            }
        }
        if !self.as_asked {
            let detail = "the store refuses direct I/O: the host's page cache is below the disk of the guest";
            case.verify.details.push(detail.into());
        }
        if let Err(error) = self.keep(spec, case) {
            case.verify.details.push(error.to_string());
        }
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

    #[test]
    fn clocks_may_differ_by_what_a_message_takes_and_no_more() {
        let clocks =
            |guest: f64, host: f64| Clocks { first: (5.0, 100.0), last: (5.0 + guest, 100.0 + host) };
        assert_eq!(clocks(10.0, 10.6).disagree(), None);
        assert_eq!(clocks(600.0, 605.0).disagree(), None);
        assert!(clocks(10.0, 20.0).disagree().is_some());
        assert!(clocks(20.0, 10.0).disagree().is_some());
    }
}
