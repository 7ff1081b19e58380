//! QEMU: whether it is there, and what it is told.
//!
//! Arguments come from pure functions, one for each part of the machine, so that what a test sees is
//! what is run. The machine has nothing that a case does not need: a disk, a port for events, a serial
//! console. Files reach it as open descriptors, since a scratch disk has no name.

use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use crate::command::{self, Invocation};
use crate::error::{Error, Result};
use crate::units::Bytes;

use super::accelerator::Accelerator;
use super::{PORT, initramfs};

/// The names of QEMU for this architecture, the usual one first; the third is that of Red Hat.
const PROGRAMS: [&str; 3] = ["qemu-system-x86_64", "qemu-kvm", "/usr/libexec/qemu-kvm"];

/// All options used here are in it. Source: QEMU's change logs.
const OLDEST: Version = Version(5, 0, 0);

/// A version, compared as one: 10.0 is newer than 9.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// QEMU as it is installed here.
#[derive(Clone, Debug)]
pub struct Qemu {
    /// Where it is.
    pub program: PathBuf,
    /// What it says that it is.
    pub version: Version,
}

impl Qemu {
    /// Look for it.
    ///
    /// # Errors
    ///
    /// It is not installed, does not start, is too old, or this is no x86-64 machine.
    pub fn find() -> Result<Self> {
        if !cfg!(target_arch = "x86_64") {
            return Err(Error::unavailable("use a virtual machine: that is done on x86-64 only")
                .next("use --backend host, as root"));
        }
        let found = PROGRAMS.iter().find_map(|program| Some((*program, command::find(program)?)));
        let (name, program) = found.ok_or_else(|| {
            Error::unavailable(format!("use a virtual machine: {} is not on PATH", PROGRAMS[0]))
                .next("apt install qemu-system-x86")
        })?;
        let told = command::run(&Invocation::new(name, ["--version"]))?;
        let version = version(&told.text).filter(|_| told.status == 0).ok_or_else(|| {
            Error::unavailable(format!("use {}: `--version` says `{}`", program.display(), told.text.trim()))
                .next("see whether it starts by hand")
        })?;
        if version < OLDEST {
            return Err(Error::unavailable(format!("use QEMU {version}: it is older than {OLDEST}"))
                .next("install a newer QEMU"));
        }
        Ok(Self { program, version })
    }
}

/// The version in "QEMU emulator version 7.2.22 (Debian ...)".
fn version(text: &str) -> Option<Version> {
    let word = text.split("version ").nth(1)?.split([' ', '(', '\n']).next()?;
    let mut numbers = word.split('.').map(|number| {
        number.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u32>().ok()
    });
    Some(Version(numbers.next()??, numbers.next()??, numbers.next().flatten().unwrap_or(0)))
}

/// A machine to boot.
#[derive(Clone, Debug)]
pub struct Machine<'a> {
    /// Who runs its instructions.
    pub accelerator: Accelerator,
    /// All that it has.
    pub memory: Bytes,
    /// Its processors.
    pub processors: u32,
    /// The kernel's image.
    pub kernel: &'a Path,
    /// The open initramfs.
    pub initramfs: RawFd,
    /// One end of a pair of sockets.
    pub port: RawFd,
    /// The disk that is worked on.
    pub disk: Option<Disk>,
    /// Added to the kernel's command line. What the kernel does not know and has a `=` is a variable of
    /// the environment in the guest, as `FSDUEL_LOG=debug`.
    pub options: Vec<String>,
}

/// A disk of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Disk {
    /// Its open file.
    pub file: RawFd,
    /// The host's page cache is left out.
    pub direct: bool,
    /// What the guest sees.
    pub logical_block_size: Bytes,
}

/// A panic once a task has not run for five minutes and cannot be interrupted; kernels warn of it after
/// two. Source: Linux `Documentation/admin-guide/sysctl/kernel.rst`; on the command line since 5.8.
const HUNG_TASK: &str = "sysctl.kernel.hung_task_panic=1 sysctl.kernel.hung_task_timeout_secs=300";

/// The command line, the program's name first.
#[must_use]
pub fn arguments(machine: &Machine) -> Vec<String> {
    let bare = ["fsduel-vm", "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"];
    let bare = bare.map(str::to_owned).to_vec();
    let disk = machine.disk.map(disk).unwrap_or_default();
    [bare, processor(machine), console(), port(machine.port), disk, kernel(machine)].concat()
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

/// There is room for a second processor, since QEMU emulates no barrier between the one that there is
/// and its own threads, which work on the queues of disk and port: then a word that work has come is
/// lost now and then, and both wait for ever. Source: QEMU `accel/tcg/tcg-accel-ops-mttcg.c`
/// (`CF_PARALLEL` follows from the most processors) and `tcg/tcg-op.c` (what follows from that).
fn processor(machine: &Machine) -> Vec<String> {
    let (accelerator, model) = match machine.accelerator {
        Accelerator::Kvm => ("kvm", "host"),
        Accelerator::Tcg => ("tcg", "max"),
    };
    let memory = format!("size={}B", machine.memory.0);
    let processors = format!("{},maxcpus={}", machine.processors, machine.processors.max(2));
    words(["-machine", "q35", "-accel", accelerator, "-cpu", model, "-m", &memory, "-smp", &processors])
}

/// What the kernel prints goes to QEMU's standard output.
fn console() -> Vec<String> {
    words(["-chardev", "stdio,id=console,signal=off", "-serial", "chardev:console"])
}

fn port(socket: RawFd) -> Vec<String> {
    let socket = format!("socket,id=port,fd={socket}");
    let port = format!("virtserialport,chardev=port,name={PORT}");
    words(["-chardev", &socket, "-device", "virtio-serial-pci", "-device", &port])
}

/// An error of the store must reach the guest at once, as one of a loop device would: QEMU's own way
/// is to stop the machine when the store is full.
fn disk(disk: Disk) -> Vec<String> {
    let direct = if disk.direct { "on" } else { "off" };
    let file = disk.file;
    let node = format!(
        "driver=raw,node-name=disk,discard=unmap,cache.direct={direct},file.driver=file,\
         file.filename=/proc/self/fd/{file},file.aio=threads,file.cache.direct={direct},file.discard=unmap"
    );
    let size = disk.logical_block_size.0;
    let device = format!(
        "virtio-blk-pci,drive=disk,logical_block_size={size},physical_block_size={size},\
         werror=report,rerror=report"
    );
    words(["-blockdev", &node, "-device", &device])
}

/// A panic ends the machine: the kernel reboots at once, which `-no-reboot` makes an end; and so does a
/// task that is blocked in the kernel for ever, as a guest with one lives on. A root of the kind ramfs
/// may take all memory; of the other kind, half of it.
fn kernel(machine: &Machine) -> Vec<String> {
    let options = machine.options.join(" ");
    let line = format!(
        "console=ttyS0 quiet panic=-1 {HUNG_TASK} random.trust_cpu=on rootfstype=ramfs rdinit={} {options} -- {}",
        initramfs::PROGRAM,
        crate::vm::GUEST_ARGUMENT
    );
    let initramfs = format!("/proc/self/fd/{}", machine.initramfs);
    let image = machine.kernel.to_string_lossy();
    words(["-kernel", &image, "-initrd", &initramfs, "-append", &line])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_what_distributions_print() {
        let debian = "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\nCopyright (c)";
        assert_eq!(version(debian), Some(Version(7, 2, 22)));
        assert_eq!(version("QEMU emulator version 9.1.0-rc3 (v9)\n"), Some(Version(9, 1, 0)));
        assert_eq!(version("QEMU emulator version 10.0\n"), Some(Version(10, 0, 0)));
        assert_eq!(version("sh: not found"), None);
        assert!(Version(10, 0, 0) > Version(9, 2, 4));
    }

    fn machine(accelerator: Accelerator, processors: u32, direct: bool) -> String {
        let disk = Disk { file: 7, direct, logical_block_size: Bytes(4096) };
        let machine = Machine {
            accelerator,
            memory: Bytes::gib(1),
            processors,
            kernel: Path::new("/boot/vmlinuz"),
            initramfs: 8,
            port: 9,
            disk: Some(disk),
            options: vec!["FSDUEL_LOG=debug".into()],
        };
        arguments(&machine).join(" ")
    }

    #[test]
    fn a_disk_goes_round_the_hosts_cache_where_the_store_allows_it_and_reports_its_errors() {
        let line = machine(Accelerator::Tcg, 2, true);
        assert!(
            line.contains("cache.direct=on,file.driver=file,file.filename=/proc/self/fd/7,file.aio=threads")
        );
        assert!(line.contains("logical_block_size=4096") && line.contains("werror=report"), "{line}");
        assert!(machine(Accelerator::Tcg, 2, false).contains("cache.direct=off"));
    }

    #[test]
    fn a_machine_with_one_processor_has_room_for_another() {
        let line = machine(Accelerator::Tcg, 1, true);
        assert!(line.contains(" -smp 1,maxcpus=2 "), "{line}");
    }

    #[test]
    fn the_machine_ends_at_a_panic_and_has_nothing_that_nobody_asked_for() {
        let line = machine(Accelerator::Kvm, 2, true);
        assert!(line.contains("-no-reboot") && line.contains("panic=-1") && line.contains("-nodefaults"));
        assert!(line.contains("-accel kvm -cpu host -m size=1073741824B -smp 2,maxcpus=2"), "{line}");
        assert!(line.contains("rdinit=/init FSDUEL_LOG=debug -- __guest"), "{line}");
    }
}
