//! PostMark's own configuration language, read as PostMark reads it.
//!
//! Published configurations are comparable only when they mean here what they meant there, down
//! to the oddities: numbers are read as C's `atoi` reads them, a command is whatever a line begins
//! with, and the last character of a line is dropped unseen. So everything is read PostMark's way,
//! and what people would not expect becomes a [`Warning`]; nothing is corrected.

mod command;
mod doubt;
mod lines;
mod location;
mod number;
mod reader;
mod set;
mod show;
#[cfg(test)]
mod tests;

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
    /// `FILE:LINE`, or `FILE` for what concerns the whole of it.
    pub place: String,
    /// A sentence without a full stop.
    pub text: String,
    /// A quirk, which a strict reading refuses; else only a note.
    pub strict: bool,
}

impl Script {
    /// Read a configuration; `file` names it in warnings. `load` gives the text of a file that
    /// the configuration loads.
    ///
    /// A configuration that never runs is run once at its end, as published ones leave `run` to
    /// whoever types it; that is a note, not a quirk.
    pub fn read(file: &str, text: &[u8], load: &mut dyn FnMut(&str) -> std::io::Result<Vec<u8>>) -> Self {
        let (mut script, settings) = reader::read(file, text, load);
        let runs = |action: &Action| matches!(action, Action::Run { .. });
        if !script.actions.iter().any(runs) {
            script.actions.push(Action::Run { settings, report_to: None });
            script.warnings.push(Warning {
                place: file.into(),
                text: "it has no `run`, so it is run once at its end".into(),
                strict: false,
            });
        }
        script
    }
}

/// `text` as it can stand in a sentence: what cannot be seen is written as an escape.
fn quoted(text: &str) -> String {
    let seen = text.chars().map(|letter| match letter.is_control() {
        true => letter.escape_default().to_string(),
        false => letter.to_string(),
    });
    format!("`{}`", seen.collect::<String>())
}
