//! The options that a suite, a scale or `--set` can give, under the names of the command line.
//!
//! All that decide what is measured, but for kernels, which have a table of their own (`[matrix]`),
//! and the disk: `--device` loses all that is on a disk, so it is named by who runs a suite, on the
//! machine that has it, and never by a file that other people wrote.

use std::time::Duration;

use super::keys::Keys;
use crate::case::{Backend, DirectIo, Store};
use crate::compare::Repeat;
use crate::error::{Error, Result};
use crate::units::{Bytes, Seed, parse_duration};

/// Keys of `[defaults]`, of a scale, and of `--set` without a step.
pub(super) const KEYS: [&str; 14] = [
    "size",
    "block-size",
    "seed",
    "repeat",
    "budget",
    "timeout",
    "store",
    "direct-io",
    "preallocate",
    "overcommit",
    "memory",
    "backend",
    "require-all",
    "strict",
];

/// What was given; the rest is decided when a suite is resolved.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Defaults {
    pub(super) size: Option<Bytes>,
    pub(super) block_size: Option<Bytes>,
    pub(super) seed: Option<u64>,
    pub(super) repeat: Option<Repeat>,
    pub(super) budget: Option<Duration>,
    pub(super) timeout: Option<Duration>,
    pub(super) store: Option<String>,
    pub(super) direct_io: Option<DirectIo>,
    pub(super) preallocate: Option<bool>,
    pub(super) overcommit: Option<bool>,
    pub(super) memory: Option<Bytes>,
    pub(super) backend: Option<Backend>,
    pub(super) require_all: Option<bool>,
    pub(super) strict: Option<bool>,
}

impl Defaults {
    pub(super) fn read(mut keys: Keys) -> Result<Self> {
        let found = Self {
            size: keys.parsed("size", str::parse)?,
            block_size: keys.parsed("block-size", |text| checked_block_size(text.parse()?))?,
            seed: keys.parsed("seed", seed)?,
            repeat: keys.parsed("repeat", str::parse)?,
            budget: keys.parsed("budget", |text| checked_budget(parse_duration(text)?))?,
            timeout: keys.parsed("timeout", |text| checked_timeout(parse_duration(text)?))?,
            store: keys.text("store")?,
            direct_io: keys.parsed("direct-io", parse_direct_io)?,
            preallocate: keys.flag("preallocate")?,
            overcommit: keys.flag("overcommit")?,
            memory: keys.parsed("memory", str::parse)?,
            backend: keys.parsed("backend", parse_backend)?,
            require_all: keys.flag("require-all")?,
            strict: keys.flag("strict")?,
        };
        keys.done()?;
        Ok(found)
    }
}

fn seed(text: &str) -> Result<u64> {
    text.parse().map_err(|error: std::num::ParseIntError| {
        Error::usage(format!("take `{text}` as a seed"))
            .because(error)
            .next("write a whole number from 0 to 2^64 - 1; as a text where TOML has no room for it")
    })
}

/// The time limit of a step, if there is any time in it.
pub(super) fn checked_timeout(timeout: Duration) -> Result<Duration> {
    match timeout.is_zero() {
        false => Ok(timeout),
        true => Err(Error::usage("give a step no time at all").next("leave `timeout` out for no limit")),
    }
}

/// The time of a whole run, if there is any in it.
pub(super) fn checked_budget(budget: Duration) -> Result<Duration> {
    match budget.is_zero() {
        false => Ok(budget),
        true => Err(Error::usage("run in no time at all").next("leave `budget` out for no limit")),
    }
}

/// The block size, if a file system can have it.
///
/// From a sector of 512 bytes to a page of 64 KiB, the largest of any architecture Linux runs on.
pub(super) fn checked_block_size(size: Bytes) -> Result<Bytes> {
    if size.0.is_power_of_two() && (512..=65536).contains(&size.0) {
        return Ok(size);
    }
    Err(Error::usage(format!("use blocks of {size}"))
        .next("take a power of two from 512 bytes to 64 KiB, such as 4KiB"))
}

/// Read `auto`, `on` or `off`.
///
/// # Errors
///
/// Another word.
pub fn parse_direct_io(text: &str) -> Result<DirectIo> {
    match text {
        "auto" => Ok(DirectIo::Auto),
        "on" => Ok(DirectIo::On),
        "off" => Ok(DirectIo::Off),
        _ => Err(Error::usage(format!("take `{text}` as direct-io")).next("write auto, on or off")),
    }
}

/// Read the place where cases run.
///
/// # Errors
///
/// Another word than `auto`, `host`, `vm` or `directory`.
fn parse_backend(text: &str) -> Result<Backend> {
    match text {
        "auto" => Ok(Backend::Auto),
        "host" => Ok(Backend::Host),
        "vm" => Ok(Backend::Vm),
        "directory" => Ok(Backend::Directory),
        _ => Err(Error::usage(format!("take `{text}` as backend")).next("write auto, host or vm")),
    }
}

/// Read a folder or `memory`.
#[must_use]
pub fn parse_store(text: &str) -> Store {
    match text {
        "memory" => Store::Memory,
        folder => Store::Directory(folder.into()),
    }
}

/// What a seed is where nobody gives one: fixed, so that two runs do the same work. The number
/// means nothing; it is the year of the comparison that this program reproduces first.
pub const DEFAULT_SEED: Seed = Seed(2010);

/// The image where nobody says how large. In smaller ones btrfs stalls on the reservation of
/// metadata, which would measure the image and not the file system.
pub const DEFAULT_SIZE: Bytes = Bytes::gib(2);

/// The block size that all three of btrfs, ext4 and xfs can mount with 4 KiB pages.
pub const DEFAULT_BLOCK_SIZE: Bytes = Bytes::kib(4);

/// Where images are: `/var/tmp` is on a disk nearly everywhere, `/tmp` often is memory.
pub const DEFAULT_STORE: &str = "/var/tmp";
