//! Line by line: what each changes, asks for, and hides.

use std::io;
use std::ops::ControlFlow;

use super::command::{self, Command, Found};
use super::doubt::letter;
use super::lines::{self, Line};
use super::number::is_space;
use super::{Action, Script, Warning, quoted, show};
use crate::workload::postmark::settings::Settings;

/// Files that load files that load files: PostMark goes on until it has no descriptors.
const DEEPEST: usize = 16;
/// Files loaded in all, as a chain of files that load each other twice doubles at each.
const MOST_LOADS: usize = 1000;

/// Said once for each file; what they really change has a warning of its own.
const CARRIAGE_RETURNS: &str = "lines end with CR LF, of which the CR stays a part of the line; numbers are read \
    all the same, paths and words are not";

/// What has been read so far.
pub struct Reader<'a> {
    /// As the lines so far have them.
    pub(super) settings: Settings,
    script: Script,
    load: &'a mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
    /// Files that are being read, the innermost last.
    open: Vec<String>,
    loads: usize,
    /// The number of the line that is being read.
    pub(super) line: usize,
}

/// Read `text` and what it loads: what it asks for, and the settings at its end.
pub fn read(
    file: &str,
    text: &[u8],
    load: &mut dyn FnMut(&str) -> io::Result<Vec<u8>>,
) -> (Script, Settings) {
    let mut reader = Reader {
        settings: Settings::default(),
        script: Script::default(),
        load,
        open: vec![],
        loads: 0,
        line: 0,
    };
    reader.file(file, text);
    (reader.script, reader.settings)
}

impl Reader<'_> {
    /// Something of the line that is being read.
    pub(super) fn warn(&mut self, text: impl Into<String>) {
        let file = self.open.last().map(String::as_str).unwrap_or_default();
        let place = format!("{file}:{}", self.line);
        self.script.warnings.push(Warning { place, text: text.into(), strict: true });
    }

    /// Until its end, or its `quit`.
    fn file(&mut self, file: &str, text: &[u8]) {
        self.open.push(file.into());
        let lines = lines::split(text);
        let carriage_return = lines.iter().find(|line| line.text.ends_with(b"\r")).copied();
        let mut lines = lines.into_iter();
        while let Some(line) = lines.next() {
            self.line = line.number;
            if carriage_return == Some(line) {
                self.warn(CARRIAGE_RETURNS);
            }
            self.doubt_line(&line);
            if self.line(&line).is_break() {
                self.doubt_rest(lines);
                break;
            }
        }
        self.open.pop();
    }

    fn line(&mut self, line: &Line) -> ControlFlow<()> {
        let text = String::from_utf8_lossy(line.text);
        if text.starts_with('!') {
            self.warn(format!("{} is a command for a shell, and is not run", quoted(&text)));
            return ControlFlow::Continue(());
        }
        let Some(found) = command::find(line.text) else {
            if !line.is_for_readers() {
                self.unknown(&text);
            }
            return ControlFlow::Continue(());
        };
        if line.comment {
            self.warn(format!("the comment is too long: its end is read as {}", quoted(&text)));
        }
        self.doubt_name(&found);
        self.obey(&found)
    }

    fn obey(&mut self, found: &Found) -> ControlFlow<()> {
        let argument = found.argument.map(String::from_utf8_lossy);
        let text = argument.as_deref();
        match (found.command, text) {
            (Command::Quit, _) => return ControlFlow::Break(()),
            (Command::Help, _) => self.warn("`help` is ignored"),
            (Command::Run, _) => self.run(found),
            (Command::Show, _) => self.show(found),
            (Command::Size, _) => self.size(text.unwrap_or_default()),
            (Command::Count(field), _) => self.count(found.name, text.unwrap_or_default(), field),
            (Command::Bias(field), _) => self.bias(found.name, text, field),
            (Command::Buffering, _) => self.buffering(text.unwrap_or_default()),
            (Command::Report, _) => self.report(text.unwrap_or_default()),
            (Command::Location, Some(text)) => {
                self.doubt_encoding(found);
                self.location(text);
            }
            (Command::Location | Command::Load, None) => {
                self.warn(format!("`{}` without a path is refused", found.name));
            }
            (Command::Load, Some(name)) => {
                self.doubt_encoding(found);
                self.load(name);
            }
        }
        ControlFlow::Continue(())
    }

    fn run(&mut self, found: &Found) {
        let report_to = self.output(found);
        self.script.actions.push(Action::Run { settings: self.settings.clone(), report_to });
    }

    fn show(&mut self, found: &Found) {
        let to = self.output(found);
        let shown = show::show(&self.settings);
        let action = match to {
            None => Action::Show { text: shown.whole(), aside: String::new(), to },
            Some(_) => Action::Show { text: shown.before + &shown.after, aside: shown.locations, to },
        };
        self.script.actions.push(action);
    }

    /// The file that `run` and `show` write to. None has an empty name, so PostMark cannot open
    /// that, complains, and writes to standard output.
    fn output(&mut self, found: &Found) -> Option<String> {
        let name = String::from_utf8_lossy(found.argument?).into_owned();
        self.doubt_encoding(found);
        if name.is_empty() {
            let after = letter(found.skipped.unwrap_or_default());
            self.warn(format!(
                "{after} after `{}` makes it write to a file without a name, and then to standard output",
                found.name
            ));
            return None;
        }
        if name.starts_with(is_space) || name.ends_with(is_space) {
            self.warn(format!("the file is {}: white space is part of its name", quoted(&name)));
        }
        Some(name)
    }

    /// Why `name` is not to be loaded, if it is not.
    fn endless(&self, name: &str) -> Option<String> {
        if self.open.iter().any(|file| file == name) {
            return Some("it loads itself, without end".into());
        }
        let deep = self.open.len() > DEEPEST;
        let deep = deep.then(|| format!("it would be {} files deep", DEEPEST + 1));
        deep.or_else(|| (self.loads == MOST_LOADS).then(|| format!("{MOST_LOADS} files have been")))
    }

    fn load(&mut self, name: &str) {
        let named = quoted(name);
        if let Some(why) = self.endless(name) {
            return self.warn(format!("{named} is not loaded, as {why}"));
        }
        self.loads += 1;
        match (self.load)(name) {
            Err(cause) => self.warn(format!("cannot load {named}, which is passed over: {cause}")),
            Ok(text) => {
                let line = self.line;
                self.file(name, &text);
                self.line = line;
            }
        }
    }
}
