//! What the way PostMark reads a line does to it, said to who wrote it.

use super::command::{self, Found};
use super::lines::{self, Line};
use super::number::is_space;
use super::quoted;
use super::reader::Reader;

impl Reader<'_> {
    /// What comes after `quit`.
    pub(super) fn doubt_rest<'l>(&mut self, mut lines: impl Iterator<Item = Line<'l>>) {
        if let Some(line) = lines.find(|line| !line.is_for_readers()) {
            let after = self.line;
            self.line = line.number;
            self.warn(format!("this is never read, as line {after} is `quit`"));
        }
    }

    /// A line that is too long, has a NUL or no newline.
    pub(super) fn doubt_line(&mut self, line: &Line) {
        let text = quoted(&String::from_utf8_lossy(line.text));
        if line.comment {
            return;
        }
        if let Some(lost) =
            line.lost_before.filter(|lost| !lost.is_ascii_whitespace() || !line.is_for_readers())
        {
            let lost = letter(lost);
            self.warn(format!(
                "the line has more than {} characters: {lost} is dropped, and what follows it is \
                 read as a line of its own, {text}",
                lines::PIECE - 1
            ));
        }
        if line.nul {
            self.warn(format!("the line has a NUL byte, at which it ends: it is read as {text}"));
        } else if let Some(lost) = line.lost.filter(|lost| !lost.is_ascii_whitespace()) {
            let lost = letter(lost);
            self.warn(format!(
                "the last line has no newline, in place of which {lost} is dropped: it is read as {text}"
            ));
        }
    }

    /// A line that is no command, and nothing for readers either.
    pub(super) fn unknown(&mut self, text: &str) {
        let meant = command::meant(text).map(|name| {
            format!("; `{name}` was probably meant, which must be written just so, from the first column")
        });
        self.warn(format!(
            "unknown command {}, which is passed over{}",
            quoted(text),
            meant.unwrap_or_default()
        ));
    }

    /// `set numbers 5`, `run60`.
    pub(super) fn doubt_name(&mut self, found: &Found) {
        let Some(skipped) = found.skipped.filter(|byte| !is_space(char::from(*byte))) else { return };
        let argument = String::from_utf8_lossy(found.argument.unwrap_or_default());
        self.warn(format!(
            "this is read as `{}`: {} after it is skipped, and its argument is {}",
            found.name,
            letter(skipped),
            quoted(&argument)
        ));
    }

    /// A path is kept as text here.
    pub(super) fn doubt_encoding(&mut self, found: &Found) {
        let bytes = found.argument.unwrap_or_default();
        if std::str::from_utf8(bytes).is_err() {
            let text = quoted(&String::from_utf8_lossy(bytes));
            self.warn(format!("the path is not UTF-8: {text} is used instead"));
        }
    }
}

/// One byte, as it can stand in a sentence.
pub fn letter(byte: u8) -> String {
    match byte {
        b' ' => "a space".into(),
        b'\r' => "a carriage return".into(),
        b'\t' => "a tab".into(),
        byte if byte.is_ascii() => quoted(&char::from(byte).to_string()),
        byte => format!("the byte {byte:#04x}"),
    }
}
