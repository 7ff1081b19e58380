//! Values that begin with a name of a table, for completions: `--report html=PATH`, `--fs
//! 'lzo=btrfs:compress=lzo'`. The names are offered, and what follows them is free.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};

use crate::destination::{ReportTo, parse_report};
use crate::parts;

/// A way to understand a value, and the names that it may begin with.
#[derive(Clone)]
pub struct Named<T> {
    names: fn() -> Vec<&'static str>,
    parse: fn(&str) -> Result<T, String>,
}

/// A format, and where it is written.
pub fn report() -> Named<ReportTo> {
    let names = || parts::formats().into_iter().map(|row| row.name).collect();
    Named { names, parse: parse_report }
}

/// A file system, a list of them, or one with its options: the suite's parser understands it, since
/// suites have the same.
pub fn filesystem() -> Named<String> {
    Named { names: parts::filesystem_names, parse: |text| Ok(text.to_owned()) }
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Named<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        TypedValueParser::parse_ref(&self.parse, command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.names)().into_iter().map(PossibleValue::new)))
    }
}
