//! A command of the user's: it starts in the root of the file system and does what it likes there.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use super::shared::parameters::{self, Parameter};
use super::{Build, Ended, Row, Workload};
use crate::error::{Error, Result};
use crate::ops::{self, Command, Ops};
use crate::units::Seed;

pub(super) const ROW: Row = Row {
    name: "exec",
    meaning: "A command, run in the root of the file system.",
    parameters: &[
        Parameter {
            key: "command",
            meaning: "The program and its arguments as a list, or a line for the shell.",
            default: "(none)",
        },
        Parameter { key: "prepare", meaning: "A line for the shell before the clock.", default: "\"\"" },
        Parameter {
            key: "check",
            meaning: "A line for the shell after the clock, with cold caches; its failure fails the case.",
            default: "\"\"",
        },
        Parameter {
            key: "copy",
            meaning: "A directory whose content is put into the file system first.",
            default: "\"\"",
        },
        Parameter {
            key: "root",
            meaning: "Its root directory in a virtual machine, as a tree of debootstrap.",
            default: "\"\"",
        },
        Parameter {
            key: "as-root",
            meaning: "Run it as root, although another user called through sudo.",
            default: "false",
        },
    ],
    build,
};

#[derive(Deserialize)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
#[derive(Default)]
struct Parameters {
    command: Words,
    prepare: String,
    check: String,
    copy: String,
    root: String,
    as_root: bool,
}

/// A list of words, or a line that a shell splits.
#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    Line(String),
    List(Vec<String>),
}

impl Default for Words {
    fn default() -> Self {
        Self::List(vec![])
    }
}

struct Exec(Command);

fn build(build: &Build) -> Result<Arc<dyn Workload>> {
    let Parameters { command, prepare, check, copy, root, as_root } = parameters::read(build)?;
    let words = match command {
        Words::List(words) => words,
        Words::Line(line) if line.trim().is_empty() => vec![],
        Words::Line(line) => ["sh", "-c", &line].map(str::to_owned).to_vec(),
    };
    if words.first().is_none_or(String::is_empty) {
        return Err(Error::usage(format!("run step `{}`: it has no command", build.step))
            .next("command = [\"make\", \"test\"], or --set step.NAME.command='make test'"));
    }
    if words.iter().chain([&prepare, &check, &copy, &root]).any(|word| word.contains('\0')) {
        return Err(Error::usage(format!("run step `{}`: its command holds a NUL byte", build.step)));
    }
    let given = |line: String| Some(line).filter(|line| !line.trim().is_empty());
    let [copy, root] = [copy, root].map(|folder| given(folder).map(PathBuf::from));
    Ok(Arc::new(Exec(Command { words, prepare: given(prepare), check: given(check), copy, root, as_root })))
}

impl Workload for Exec {
    /// Nothing of it can be planned.
    fn run(&self, _ops: &mut dyn Ops, _seed: Seed) -> ops::Result<Ended> {
        Ok(Ended::Completed)
    }

    fn command(&self) -> Option<&Command> {
        Some(&self.0)
    }

    fn has_directory(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::error::Kind;
    use crate::units::Bytes;

    fn built(parameters: &Value) -> Result<Command> {
        let here = Build {
            step: "exec",
            parameters,
            earlier: &[],
            block_size: Bytes(4096),
            image_size: Bytes::gib(1),
            compressing: false,
        };
        build(&here).map(|workload| workload.command().unwrap().clone())
    }

    #[test]
    fn a_command_is_a_list_of_words_or_a_line_for_the_shell() {
        let list = built(&json!({ "command": ["make", "-j", "2"], "as-root": true })).unwrap();
        assert_eq!((list.words.join("|"), list.as_root, list.check), ("make|-j|2".into(), true, None));
        let line = built(&json!({ "command": "make && sync", "prepare": "tar xf a.tar" })).unwrap();
        assert_eq!(line.words, ["sh", "-c", "make && sync"]);
        assert_eq!(line.prepare.as_deref(), Some("tar xf a.tar"));
    }

    #[test]
    fn no_command_and_one_that_no_program_can_be_given_are_refused() {
        for wrong in [
            json!({}),
            json!({ "command": [] }),
            json!({ "command": " " }),
            json!({ "command": [""] }),
            json!({ "command": ["a", "b\0"] }),
            json!({ "command": 7 }),
            json!({ "command": "a", "comand": "b" }),
        ] {
            assert_eq!(built(&wrong).unwrap_err().kind(), Kind::Usage, "{wrong}");
        }
    }
}
