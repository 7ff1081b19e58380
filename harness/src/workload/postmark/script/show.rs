//! What `show` prints.

use std::fmt::Write as _;

use crate::workload::postmark::settings::{ReportStyle, Settings};

/// The text of `show` in the three parts that PostMark writes: it sends the lines of locations to
/// standard output even when the others go to a file.
pub struct Shown {
    /// Up to the heading of the locations.
    pub before: String,
    /// A line for each location.
    pub locations: String,
    /// The rest.
    pub after: String,
}

impl Shown {
    /// In the order of standard output.
    pub fn whole(&self) -> String {
        format!("{}{}{}", self.before, self.locations, self.after)
    }
}

/// Of `settings`; the current directory is named where there is no location.
pub fn show(settings: &Settings) -> Shown {
    Shown { before: before(settings), locations: locations(settings), after: after(settings) }
}

fn before(settings: &Settings) -> String {
    let (low, high) = (size(settings.size_low), size(settings.size_high));
    let files = match settings.size_low == settings.size_high {
        true => format!("are {low}"),
        false => format!("range between {low} and {high}"),
    };
    let directory = match &settings.locations[..] {
        [] => format!("directory: {}", current_directory()),
        [_] => "directory: ".into(),
        _ => "directories: ".into(),
    };
    format!(
        "Current configuration is:\nThe base number of files is {}\nTransactions: {}\n\
         Files {files} in size\nWorking {directory}\n",
        settings.number, settings.transactions
    )
}

fn locations(settings: &Settings) -> String {
    settings.locations.iter().fold(String::new(), |mut text, location| {
        let _ = writeln!(text, "\t{} (weight={})", location.path, location.weight);
        text
    })
}

fn after(settings: &Settings) -> String {
    let subdirectories = match settings.subdirectories {
        0 => String::new(),
        1 => "1 subdirectory will be used\n".into(),
        count => format!("{count} subdirectories will be used\n"),
    };
    let using = if settings.buffering { "Using" } else { "Not using" };
    let report = match settings.report {
        ReportStyle::Verbose => "verbose",
        ReportStyle::Terse => "terse",
    };
    format!(
        "{subdirectories}Block sizes are: read={}, write={}\n\
         Biases are: read/append={}, create/delete={}\n{using} Unix buffered file I/O\n\
         Random number generator seed is {}\nReport format is {report}.\n",
        size(settings.read),
        size(settings.write),
        settings.bias_read,
        settings.bias_create,
        settings.seed
    )
}

/// PostMark divides in single precision: 900008481 bytes are 858.32 megabytes there, not 858.31.
fn size(bytes: u32) -> String {
    #[expect(clippy::cast_precision_loss, reason = "as PostMark does")]
    let value = f64::from(bytes as f32);
    let hundredths = |unit: f64| (value / unit * 100.0).round_ties_even() / 100.0;
    match bytes {
        0..1024 => format!("{bytes} bytes"),
        1024..1_048_576 => format!("{:.2} kilobytes", hundredths(1024.0)),
        _ => format!("{:.2} megabytes", hundredths(1_048_576.0)),
    }
}

/// Nothing where the kernel has no name for it.
fn current_directory() -> String {
    std::env::current_dir().map(|path| path.display().to_string()).unwrap_or_default()
}
