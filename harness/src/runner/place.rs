//! Where the cases of a run will run: decided before the start, so that what is missing is told then.

use crate::case::Backend as Asked;
use crate::error::{Cannot, Error, Result};
use crate::require::{self, Missing, Requirement};
use crate::result::Environment;
use crate::suite::{KernelChoice, Resolved};
use crate::sys::proc::kib_field;
use crate::units::Bytes;
use crate::vm::{self, Kernel, Qemu};

use super::backend::{Backend, Host};
use super::costs::Costs;
use super::vm::{MEMORY, Vm, environment};

/// Where cases run.
#[derive(Clone, Debug)]
pub(super) enum Where {
    /// On this machine.
    Host,
    /// In virtual machines: those of a configuration have the kernel with its number.
    Vm {
        kernels: Vec<Kernel>,
        /// Of each guest.
        memory: Bytes,
        /// Added to the command line of the kernels.
        options: Option<String>,
    },
}

impl Where {
    /// What was asked for, and where that is open, what this machine can.
    pub(super) fn choose(resolved: &Resolved) -> Result<Self> {
        let vm = |kernels: &[KernelChoice]| Self::vm(kernels, resolved);
        match (resolved.backend, resolved.kernels.as_slice()) {
            _ if resolved.device.is_some() => Ok(Self::Host),
            (Asked::Host, _) => Ok(Self::Host),
            (Asked::Vm, []) => vm(&[host()]),
            (Asked::Vm | Asked::Auto, kernels @ [_, ..]) => vm(kernels),
            (Asked::Auto, []) if host_lacks().is_empty() => Ok(Self::Host),
            // What is missing is told before the start, with both ways out.
            (Asked::Auto, []) => match Qemu::find().and_then(|_| vm(&[host()])) {
                Ok(vm) => Ok(vm),
                Err(_) => Ok(Self::Host),
            },
            (Asked::Directory, _) => Err(Error::usage("run a suite in a directory that exists")
                .next("only `fsduel postmark CONFIG` does that, without --fs")),
        }
    }

    fn vm(kernels: &[KernelChoice], resolved: &Resolved) -> Result<Self> {
        let kernels = kernels.iter().map(|kernel| Kernel::find(&kernel.path)).collect::<Result<_>>()?;
        let (memory, options) = (resolved.memory.unwrap_or(MEMORY), resolved.kernel_options.clone());
        let meminfo = std::fs::read_to_string("/proc/meminfo").cannot(|| "read /proc/meminfo".into())?;
        can_have(memory, kib_field(&meminfo, "MemTotal"))?;
        Ok(Self::Vm { kernels, memory, options })
    }

    /// What the kernels call themselves, where others than this machine's are booted.
    pub(super) fn releases(&self) -> Vec<String> {
        match self {
            Self::Host => vec![],
            Self::Vm { kernels, .. } => kernels.iter().map(|kernel| kernel.release.clone()).collect(),
        }
    }

    /// The kernel that mounts what configurations of this environment make; none for this machine's own.
    pub(super) fn kernel(&self, environment: u32) -> Option<&Kernel> {
        match self {
            Self::Host => None,
            Self::Vm { kernels, .. } => kernels.get(usize::try_from(environment).unwrap_or(usize::MAX)),
        }
    }

    /// What costs so much on this machine.
    pub(super) fn costs(&self, here: Costs) -> Costs {
        match self {
            Self::Host => here,
            Self::Vm { .. } => here.in_guests(!vm::accelerator::is_offered()),
        }
    }

    /// Refuse to start where this machine cannot.
    ///
    /// # Errors
    ///
    /// Root, loop devices or QEMU are missing; with what would do.
    pub(super) fn admit(&self) -> Result<()> {
        match self {
            Self::Vm { .. } => Qemu::find().map(drop),
            Self::Host => {
                let missing = host_lacks();
                let Some(first) = missing.first() else { return Ok(()) };
                let texts: Vec<&str> = missing.iter().map(|missing| missing.text.as_str()).collect();
                Err(Error::unavailable("run here").because(texts.join("; ")).next(ways_out(first)))
            }
        }
    }

    /// The places themselves, in the order of the environments of the report.
    pub(super) fn backends(&self) -> Result<Vec<(Box<dyn Backend>, Environment)>> {
        match self {
            Self::Host => Ok(vec![(Box::new(Host), here())]),
            Self::Vm { kernels, memory, options } => {
                let all = Vm::all(kernels, *memory, options.as_deref())?.into_iter();
                Ok(all.map(|vm| (vm.environment(), vm)).map(|(here, vm)| (Box::new(vm) as _, here)).collect())
            }
        }
    }

    /// As the report says before the places were tried.
    pub(super) fn environments(&self) -> Vec<Environment> {
        match self {
            Self::Host => vec![here()],
            Self::Vm { kernels, memory, .. } => {
                kernels.iter().map(|kernel| environment(kernel, *memory)).collect()
            }
        }
    }
}

/// With less, a kernel ends or hangs before it can say so.
const LEAST: Bytes = Bytes::mib(64);

/// Refuse a guest that could not start, or only by what this machine would swap.
fn can_have(memory: Bytes, total: Option<Bytes>) -> Result<()> {
    if memory < LEAST {
        return Err(Error::usage(format!("boot a virtual machine with {memory} of memory"))
            .next(format!("--memory {} at the very least", LEAST.typed())));
    }
    match total {
        Some(total) if memory > total => Err(Error::unavailable(format!(
            "boot a virtual machine with {memory} of memory: this machine has {total}"
        ))
        .next("a smaller --memory")),
        _ => Ok(()),
    }
}

/// This machine's own kernel, to boot.
fn host() -> KernelChoice {
    KernelChoice { id: None, path: "host".into() }
}

fn host_lacks() -> Vec<Missing> {
    require::check(&[Requirement::Root, Requirement::Loop])
}

/// This machine as it should be; or a virtual one, and what that lacks.
fn ways_out(missing: &Missing) -> String {
    let vm = match Qemu::find() {
        Ok(_) => "--backend vm --kernel PATH needs no root".to_owned(),
        Err(error) => format!(
            "in a virtual machine, which needs no root: {}, then --backend vm --kernel PATH",
            error.next_step().unwrap_or("install QEMU")
        ),
    };
    format!("{}; or {vm}", missing.next)
}

/// This machine as the place where cases run.
fn here() -> Environment {
    Environment {
        backend: "host".into(),
        kernel: rustix::system::uname().release().to_string_lossy().into_owned(),
        timings_comparable: true,
        ..Environment::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn a_guest_has_no_less_than_a_kernel_needs_and_no_more_than_there_is() {
        let kind = |memory| can_have(memory, Some(Bytes::gib(8))).err().map(|error| error.kind());
        for little in [Bytes(1), Bytes::mib(4), Bytes(LEAST.0 - 1)] {
            assert_eq!(kind(little), Some(Kind::Usage), "{little}");
        }
        assert_eq!(kind(LEAST), None);
        assert_eq!(kind(Bytes::gib(8)), None);
        assert_eq!(kind(Bytes::gib(9)), Some(Kind::Unavailable));
        assert!(can_have(Bytes::gib(9), None).is_ok(), "QEMU tells");
    }
}
