//! Who runs the instructions of a guest: the processor itself through KVM, or QEMU's emulator.
//!
//! That `/dev/kvm` is there proves nothing: nested virtualisation may refuse, abort or hang. So a trial
//! boot decides, with a time limit.

use std::fs::File;

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
