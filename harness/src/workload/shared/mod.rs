//! What several workloads share: the parameters they take, and how they make and visit files.

pub(super) mod earlier;
pub(super) mod files;
pub(super) mod parameters;
