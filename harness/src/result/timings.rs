//! Times that are no answer: those of an emulated processor.
//!
//! There code that computes is slowed down many times and code that waits for a disk is not, so even
//! the ratio of two times on the same emulator is another one than on a processor. Such times are
//! stored and shown, and nothing is concluded from them; space and facts are as anywhere.

use super::{Environment, RunReport};

/// Whether the figure of this key is a time, or is made of one.
#[must_use]
pub fn is_time(key: &str) -> bool {
    key.ends_with("_s")
}

/// The accelerator of a virtual machine whose processor is emulated.
pub const EMULATED: &str = "tcg";

impl RunReport {
    /// Where a configuration ran, as far as that is known.
    #[must_use]
    pub fn environment_of(&self, configuration: &str) -> Option<&Environment> {
        let case = self.cases.iter().find(|case| case.configuration.id == configuration)?;
        self.environments.get(usize::try_from(case.configuration.environment).ok()?)
    }

    /// Whether nothing is to be concluded from this figure of these configurations.
    #[must_use]
    pub fn withholds(&self, metric: &str, configurations: &[&str]) -> bool {
        let untimed = |id: &&str| self.environment_of(id).is_some_and(|there| !there.timings_comparable);
        is_time(metric) && configurations.iter().any(untimed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_made_of_times_and_sizes_are_not() {
        for key in ["synced_s", "kernel_cpu_s", "operations_per_s", "payload_bytes_per_s"] {
            assert!(is_time(key), "{key}");
        }
        for key in ["space_used_bytes", "files_created_count", "metadata_ratio", "tree_hash"] {
            assert!(!is_time(key), "{key}");
        }
    }
}
