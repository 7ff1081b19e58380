//! Reads a configuration, and tells what surprises in it.

use std::io;
use std::path::Path;

use fsduel_harness::{Error, Result};

use crate::parts::postmark::Script;
use crate::progress;
use crate::source;

/// Far more than any configuration has, with all that it loads.
const CONFIG_MAX: u64 = 1 << 20;

/// Read the configuration; what surprises is a warning or, if `strict`, an error.
pub fn read(config: &Path, strict: bool) -> Result<Script> {
    let text = source::read_bytes(config, CONFIG_MAX).map_err(|cause| {
        Error::usage(format!("read the configuration {}", config.display()))
            .because(cause)
            .next("give a file with commands of PostMark, such as `set number 1000`")
    })?;
    let mut left = CONFIG_MAX;
    let mut load = |file: &str| load(Path::new(file), &mut left);
    let script = Script::read(&config.display().to_string(), &text, &mut load);
    for warning in &script.warnings {
        progress::line(&format!("warning: {}: {}", warning.place, warning.text));
    }
    match script.warnings.iter().find(|warning| strict && warning.strict) {
        None => Ok(script),
        Some(first) => Err(Error::usage(format!("use {}", first.place))
            .because(first.text.clone())
            .next("correct the configuration, or leave out --strict")),
    }
}

/// A file of at most `left` bytes, which become fewer. A pipe or a terminal would be waited for.
fn load(file: &Path, left: &mut u64) -> io::Result<Vec<u8>> {
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let bytes = source::read_bytes(file, *left)?;
    *left = left.saturating_sub(bytes.len() as u64);
    Ok(bytes)
}
