//! PostMark's own configuration language.

use super::settings::Settings;

/// What a configuration asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// In order.
    pub actions: Vec<Action>,
    /// What surprises, in the order of the lines.
    pub warnings: Vec<Warning>,
}

/// One thing that a configuration asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// `run [FILE]`.
    Run {
        /// As they are at that line.
        settings: Settings,
        /// The report is appended to this file, not shown.
        report_to: Option<String>,
    },
    /// `show [FILE]`: text for the file, and text for standard output.
    Show {
        /// What is appended to the file, or shown where there is none.
        text: String,
        /// What is shown all the same: PostMark writes the lines of locations there.
        aside: String,
        /// The file.
        to: Option<String>,
    },
}

/// Something in a configuration that does not mean what it seems to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// `FILE:LINE`.
    pub place: String,
    /// A sentence without a full stop.
    pub text: String,
}

impl Script {
    /// Read a configuration; `file` names it in warnings. `load` gives the text of a file that
    /// the configuration loads.
    pub fn read(_file: &str, _text: &[u8], _load: &mut dyn FnMut(&str) -> std::io::Result<Vec<u8>>) -> Self {
        Self::default()
    }
}
