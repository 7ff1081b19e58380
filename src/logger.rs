//! Log lines on stderr. `FSDUEL_LOG` sets the level; a progress bar is taken away meanwhile.

use std::io::Write;

use log::{LevelFilter, Log, Metadata, Record};

use crate::progress;

struct Stderr;

impl Log for Stderr {
    fn enabled(&self, metadata: &Metadata) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record) {
        if self.enabled(record.metadata()) {
            let level = record.level().as_str().to_lowercase();
            progress::above(|| {
                let _ = writeln!(std::io::stderr(), "{level}: {}", record.args());
            });
        }
    }

    fn flush(&self) {}
}

/// Start to log. A level that cannot be understood is `warn`, the default.
pub fn start() {
    let level = std::env::var("FSDUEL_LOG").ok().and_then(|text| text.parse().ok());
    log::set_max_level(level.unwrap_or(LevelFilter::Warn));
    // Fails only where a logger was set before, and nothing does that.
    let _ = log::set_logger(&Stderr);
}
