//! The words of the language.

use crate::workload::postmark::settings::Settings;

/// What a line asks for.
#[derive(Clone, Copy)]
pub enum Command {
    /// `set size`
    Size,
    /// A number of 1 or more.
    Count(fn(&mut Settings) -> &mut u32),
    /// `set location`
    Location,
    /// `set buffering`
    Buffering,
    /// A chance in tenths, or -1.
    Bias(fn(&mut Settings) -> &mut i32),
    /// `set report`
    Report,
    /// `run`
    Run,
    /// `load`
    Load,
    /// `show`
    Show,
    /// `help`
    Help,
    /// `quit`
    Quit,
}

/// In the order in which PostMark looks; the first that a line begins with is it.
pub const COMMANDS: [(&str, Command); 17] = [
    ("set size", Command::Size),
    ("set number", Command::Count(|settings| &mut settings.number)),
    ("set seed", Command::Count(|settings| &mut settings.seed)),
    ("set transactions", Command::Count(|settings| &mut settings.transactions)),
    ("set location", Command::Location),
    ("set subdirectories", Command::Count(|settings| &mut settings.subdirectories)),
    ("set read", Command::Count(|settings| &mut settings.read)),
    ("set write", Command::Count(|settings| &mut settings.write)),
    ("set buffering", Command::Buffering),
    ("set bias read", Command::Bias(|settings| &mut settings.bias_read)),
    ("set bias create", Command::Bias(|settings| &mut settings.bias_create)),
    ("set report", Command::Report),
    ("run", Command::Run),
    ("load", Command::Load),
    ("show", Command::Show),
    ("help", Command::Help),
    ("quit", Command::Quit),
];

/// A line that begins with a command.
pub struct Found<'a> {
    /// The whole name.
    pub name: &'static str,
    /// What is to be done.
    pub command: Command,
    /// The one character that is skipped after the name; none where the line ends with it.
    pub skipped: Option<u8>,
    /// What follows that; none where there is nothing to skip, which is not the same as empty.
    pub argument: Option<&'a [u8]>,
}

/// The command that `line` begins with.
pub fn find(line: &[u8]) -> Option<Found<'_>> {
    COMMANDS.into_iter().find_map(|(name, command)| {
        let rest = line.strip_prefix(name.as_bytes())?;
        let (skipped, argument) = rest.split_first().unzip();
        Some(Found { name, command, skipped: skipped.copied(), argument })
    })
}

/// The command that someone who wrote `line` probably had in mind.
pub fn meant(line: &str) -> Option<&'static str> {
    let words: Vec<String> = line.split_whitespace().map(str::to_ascii_lowercase).collect();
    if words.first().is_some_and(|word| word == "exit") {
        return Some("quit");
    }
    let plain = words.join(" ");
    COMMANDS.iter().map(|(name, _)| *name).find(|name| plain.starts_with(name))
}
