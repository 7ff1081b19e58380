//! Several kernels in one run: which configurations belong together.
//!
//! The id of a configuration says it, as `btrfs@6.1`: no id of a file system has an `@`. So a stored
//! run needs nothing beside its ids to be read, and a run of one kernel has ids as if there were no
//! others. Configurations are compared along one dimension at a time: with another file system on
//! the same kernel, or with the same file system on another kernel. A ratio across both at once
//! would be nobody's answer.

use super::{Configuration, RunReport, Status};

/// Between the id of a file system and that of its kernel.
const AT: char = '@';

/// The id of the file system in that of a configuration, and that of its kernel where it has one.
#[must_use]
pub fn split_id(id: &str) -> (&str, Option<&str>) {
    id.split_once(AT).map_or((id, None), |(filesystem, kernel)| (filesystem, Some(kernel)))
}

/// The id of a configuration on a kernel.
#[must_use]
pub fn id_on(filesystem: &str, kernel: Option<&str>) -> String {
    kernel.map_or_else(|| filesystem.to_owned(), |kernel| format!("{filesystem}{AT}{kernel}"))
}

impl Configuration {
    /// Its id without that of its kernel.
    #[must_use]
    pub fn filesystem_id(&self) -> &str {
        split_id(&self.id).0
    }
}

impl RunReport {
    /// Kernels in the order of the run, `None` for that of ids without one; a run of one kernel has
    /// one.
    #[must_use]
    pub fn kernels(&self) -> Vec<Option<&str>> {
        let mut kernels = vec![];
        for (_, kernel) in self.configuration_ids().into_iter().map(split_id) {
            if !kernels.contains(&kernel) {
                kernels.push(kernel);
            }
        }
        kernels
    }

    /// Whether kernels are compared.
    #[must_use]
    pub fn has_kernels(&self) -> bool {
        self.kernels().len() > 1
    }

    /// What a configuration is compared with among those of its kernel: the first that ran there.
    /// It may be itself.
    #[must_use]
    pub fn on_its_kernel(&self, id: &str) -> Option<&str> {
        let (_, kernel) = split_id(id);
        self.baseline(|other| split_id(other).1 == kernel)
    }

    /// What a configuration is compared with among those of its file system: the same on the first
    /// kernel that it ran on. It may be itself.
    #[must_use]
    pub fn on_the_first_kernel(&self, id: &str) -> Option<&str> {
        let (filesystem, kernel) = split_id(id);
        if kernel.is_none() {
            // Nothing else has its name.
            return self.cases.iter().map(|case| case.configuration.id.as_str()).find(|own| *own == id);
        }
        self.baseline(|other| split_id(other).0 == filesystem)
    }

    /// As the comparisons have it; where there is none the first that ran, else the first: what is
    /// missing on a machine must not take all comparisons with it.
    fn baseline(&self, is_of: impl Fn(&str) -> bool) -> Option<&str> {
        let compared = self.comparisons.iter().find(|one| is_of(&one.baseline) && is_of(&one.candidate));
        let ran = || {
            let mut own = self.configuration_ids();
            own.retain(|id| is_of(id));
            own.iter().find(|id| self.ran(id)).or(own.first()).copied()
        };
        compared.map(|one| one.baseline.as_str()).or_else(ran)
    }

    /// Whether it could start here at all.
    #[must_use]
    pub fn ran(&self, configuration: &str) -> bool {
        let mut own = self.cases.iter().filter(|case| case.configuration.id == configuration);
        own.any(|case| case.status != Status::NotRun)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_a_kernel_behind_the_first_at_sign() {
        for (id, parts) in [
            ("btrfs", ("btrfs", None)),
            ("ext4#2@6.1#2", ("ext4#2", Some("6.1#2"))),
            ("a@b@c", ("a", Some("b@c"))),
        ] {
            assert_eq!(split_id(id), parts);
            assert_eq!(id_on(parts.0, parts.1), id);
        }
    }
}
