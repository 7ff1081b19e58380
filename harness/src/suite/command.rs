//! The command line that repeats a run.
//!
//! What decides the figures is always written out, even where it is a default of this version: the
//! scale, sizes and the seed. File systems are named only if they were named before, because the
//! exit code depends on that. Environment variables are in the options already.

use std::time::Duration;

use super::resolve::Choices;
use super::{DEFAULT_STORE, Options, Suite, parse_store};
use crate::case::{Backend, DirectIo, Store};
use crate::command::quoted;
use crate::compare::Repeat;

/// The whole line, quoted as a shell reads it.
pub(super) fn command(suite: &Suite, options: &Options, scale: &str, choices: &Choices) -> String {
    let mut line = Line("fsduel".to_owned());
    suite.called.iter().for_each(|word| line.word(word));
    if suite.scales.len() > 1 {
        line.option("--scale", scale);
    }
    line.options("--fs", &options.filesystems);
    if choices.device.is_none() {
        line.option("--size", &choices.size.typed());
    }
    line.option("--block-size", &choices.block_size.typed());
    line.option("--seed", &choices.seed.0.to_string());
    line.options("--set", &options.set);
    line.options("--mkfs-options", &options.mkfs_options);
    if options.repeat.is_some() || choices.repeat != Repeat::default() {
        line.option("--repeat", &choices.repeat.to_string());
    }
    if let Some(budget) = options.budget {
        line.option("--budget", &duration(budget));
    }
    if let Some(limit) = options.timeout {
        line.option("--timeout", &duration(limit));
    }
    place(&mut line, options, choices);
    if !suite.trailing.is_empty() {
        line.word("--");
        suite.trailing.iter().for_each(|word| line.word(word));
    }
    line.0
}

/// Where it runs: what was asked for, and what is no default.
fn place(line: &mut Line, options: &Options, choices: &Choices) {
    if options.store.is_some() || choices.store != parse_store(DEFAULT_STORE) {
        match &choices.store {
            Store::Memory => line.option("--store", "memory"),
            Store::Directory(folder) => line.option("--store", &folder.to_string_lossy()),
            Store::Disk(disk) => {
                line.option("--device", &disk.to_string_lossy());
                line.option("--destroy-data", &disk.to_string_lossy());
            }
        }
    }
    if let Some(options) = &choices.kernel_options {
        line.option("--kernel-options", options);
    }
    if let Some(memory) = choices.memory {
        line.option("--memory", &memory.typed());
    }
    if options.backend.is_some() || choices.backend != Backend::Auto {
        line.option("--backend", backend(choices.backend));
    }
    line.options("--kernel", &options.kernels);
    if options.direct_io.is_some() || choices.direct_io != DirectIo::Auto {
        let when = match choices.direct_io {
            DirectIo::Auto => "auto",
            DirectIo::On => "on",
            DirectIo::Off => "off",
        };
        line.option("--direct-io", when);
    }
    let flags = [
        ("--wipe", options.wipe),
        ("--preallocate", choices.preallocate),
        ("--overcommit", choices.overcommit),
        ("--require-all", choices.require_all),
        ("--strict", choices.strict),
    ];
    flags.into_iter().filter(|(_, on)| *on).for_each(|(name, _)| line.word(name));
}

const fn backend(backend: Backend) -> &'static str {
    match backend {
        Backend::Auto => "auto",
        Backend::Host => "host",
        Backend::Vm => "vm",
        Backend::Directory => "directory",
    }
}

/// A command line that grows.
struct Line(String);

impl Line {
    fn word(&mut self, word: &str) {
        self.0.push(' ');
        self.0.push_str(&quoted(word));
    }

    fn option(&mut self, name: &str, value: &str) {
        self.word(name);
        self.word(value);
    }

    fn options(&mut self, name: &str, values: &[String]) {
        values.iter().for_each(|value| self.option(name, value));
    }
}

fn duration(limit: Duration) -> String {
    match limit.subsec_nanos() {
        0 => format!("{}s", limit.as_secs()),
        nanoseconds if nanoseconds % 1_000_000 == 0 => format!("{}ms", limit.as_millis()),
        nanoseconds => format!("{}.{:06}ms", limit.as_millis(), nanoseconds % 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    #[test]
    fn a_size_and_a_duration_read_back_exactly() {
        for bytes in [0, 1, 512, 4096, 1536, 2 << 30, 9 << 28, (2 << 30) + 4096, (2 << 30) - 512] {
            assert_eq!(Bytes(bytes).typed().parse::<Bytes>().unwrap(), Bytes(bytes));
        }
        assert_eq!(Bytes::gib(2).typed(), "2GiB");
        assert_eq!(Bytes(9 << 28).typed(), "2304MiB");
        for limit in [1_500_000_000, 90_000_000_000, 250_000_000, 1_000_001] {
            let limit = Duration::from_nanos(limit);
            assert_eq!(crate::units::parse_duration(&duration(limit)).unwrap(), limit);
        }
        assert_eq!(duration(Duration::from_millis(1500)), "1500ms", "as somebody would type it");
    }
}
