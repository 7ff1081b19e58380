//! Sizes, times and seeds as types.

use serde::{Deserialize, Serialize};

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Bytes(pub u64);

impl Bytes {
    /// 1024 bytes, `n` times.
    #[must_use]
    pub const fn kib(n: u64) -> Self {
        Self(n << 10)
    }
    /// 1024² bytes, `n` times.
    #[must_use]
    pub const fn mib(n: u64) -> Self {
        Self(n << 20)
    }
    /// 1024³ bytes, `n` times.
    #[must_use]
    pub const fn gib(n: u64) -> Self {
        Self(n << 30)
    }
}

/// Decides every name, size, byte and order of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// A seed of its own for one part of a run, such as a step.
    #[must_use]
    pub fn derive(self, part: &str) -> Self {
        Self(xxhash_rust::xxh3::xxh3_64_with_seed(part.as_bytes(), self.0))
    }
}
