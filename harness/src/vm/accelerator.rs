//! Who runs the instructions of a guest: the processor itself through KVM, or QEMU's emulator.
//!
//! That `/dev/kvm` is there proves nothing: nested virtualisation may refuse, abort or hang. So a trial
//! boot decides, with a time limit.
//!
//! QEMU before 8.1 may run a piece of a guest's code that another of its processors has just changed,
//! as a kernel does while it boots: it panics then, once in hundreds of boots. There a guest has one
//! processor. Source: QEMU deba78709ae8, "accel/tcg: Always lock pages before translation".

use std::fs::File;

use super::qemu::Version;

/// Since then an emulated guest may have more than one processor.
const SEVERAL: Version = Version(8, 1, 0);

/// Who runs the instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accelerator {
    /// The processor.
    Kvm,
    /// QEMU, which translates them: facts are the same, times are not.
    Tcg,
}

impl Accelerator {
    /// As reports name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kvm => "kvm",
            Self::Tcg => "tcg",
        }
    }

    /// How many of `all` processors a guest can have with this version of QEMU.
    #[must_use]
    pub fn processors(self, version: Version, all: u32) -> u32 {
        if self == Self::Tcg && version < SEVERAL { 1 } else { all }
    }
}

/// Whether KVM is there for this user; whether it works is another question.
#[must_use]
pub fn is_offered() -> bool {
    File::options().read(true).write(true).open("/dev/kvm").is_ok()
}

/// KVM where `trial` shows a sign of life with it.
pub fn choose(trial: impl FnOnce() -> bool) -> Accelerator {
    if !is_offered() {
        return Accelerator::Tcg;
    }
    if trial() {
        return Accelerator::Kvm;
    }
    log::warn!("/dev/kvm is there, and no machine starts with it: the processor is emulated");
    Accelerator::Tcg
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_guest_has_several_processors_only_where_qemu_emulates_them_well() {
        assert_eq!(Accelerator::Tcg.processors(Version(7, 2, 22), 2), 1);
        assert_eq!(Accelerator::Tcg.processors(Version(8, 1, 0), 2), 2);
        assert_eq!(Accelerator::Kvm.processors(Version(7, 2, 22), 2), 2);
    }
}
