//! `fsduel verify`: the facts of a stored run against a file of known ones.
//!
//! It reads files only, so it works anywhere and without root. The list of deviations is for a
//! log, where one line must name the field; the diff below it is for a person, who looks for the
//! pattern in what changed.

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use fsduel_harness::error::Cannot;
use fsduel_harness::result::{RunReport, Status};
use fsduel_harness::{Error, Result};
use similar::TextDiff;

use super::report;
use crate::cli::VerifyArguments;
use crate::destination::{self, to_stdout};
use crate::parts::facts::{self, Compared, Deviation, Differing, Golden, Parsed};
use crate::{exit, source};

/// Far more than any file of facts has.
const FACTS_MAX: u64 = 1 << 26;

/// Lines around a change.
const CONTEXT: usize = 3;

/// Compare, or write.
pub fn verify(arguments: &VerifyArguments) -> Result<u8> {
    let run = report::read(&arguments.run)?;
    let known = read_facts(&arguments.against)?;
    if arguments.accept {
        return accept(arguments, &run, known);
    }
    let Some(known) = known else {
        let missing = format!("read {}: there is no such file", arguments.against.display());
        return Err(Error::usage(missing).next("add --accept to make it from this run"));
    };
    let compared = facts::compare(&known.golden, &run)
        .map_err(|cause| caused(format!("use {}", arguments.against.display()), cause))?;
    let agree = compared.deviations.is_empty();
    if !(agree && arguments.quiet) {
        tell(&if agree { agreement(&compared, arguments) } else { deviations(&compared, arguments)? })?;
    }
    Ok(if agree { exit::OK } else { exit::CLAIM })
}

/// The facts at `path`; none if there is no such file.
fn read_facts(path: &Path) -> Result<Option<Parsed>> {
    let text = match source::read_text(path, FACTS_MAX) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|cause| {
            Error::usage(format!("read {}", path.display()))
                .because(cause)
                .next("give a file that `fsduel verify --accept` wrote")
        })?,
    };
    let parsed = facts::parse(&text).map_err(|cause| caused(format!("use {}", path.display()), cause))?;
    Ok(Some(parsed))
}

/// An error with a file before it; its kind and its next step stay.
fn caused(doing: String, cause: Error) -> Error {
    let (kind, next) = (cause.kind(), cause.next_step().map(str::to_owned));
    let error = Error::new(doing).of_kind(kind).because(cause);
    match next {
        Some(next) => error.next(next),
        None => error,
    }
}

fn tell(text: &str) -> Result<()> {
    to_stdout(|out| out.write_all(text.as_bytes()).cannot(|| "write to standard output".into()))
}

fn agreement(compared: &Compared, arguments: &VerifyArguments) -> String {
    let file = arguments.against.display();
    format!("ok: {} agree with {file}\n{}", extent(compared), notes(compared))
}

/// `24 steps on btrfs, ext4, xfs (312 facts)`.
fn extent(compared: &Compared) -> String {
    let Compared { steps_count, facts_count, configurations, .. } = compared;
    format!("{steps_count} steps on {} ({facts_count} facts)", configurations.join(", "))
}

fn notes(compared: &Compared) -> String {
    compared.notes.iter().map(|note| format!("note: {note}\n")).collect()
}

/// One line for each deviation, then the diff of each file system that differs.
fn deviations(compared: &Compared, arguments: &VerifyArguments) -> Result<String> {
    let (run, file) = (arguments.run.display(), arguments.against.display());
    let count = compared.deviations.len();
    let mut text = format!("{count} of {} facts differ from {file}:\n", compared.facts_count.max(count));
    for (deviation, blocks) in once(&compared.deviations) {
        let blocks =
            if blocks.is_empty() { String::new() } else { format!(" (in blocks {})", blocks.join(", ")) };
        writeln!(text, "  {deviation}{blocks}").cannot(|| "write the deviations".into())?;
    }
    for Differing { name, golden, got } in &compared.differing {
        text.push('\n');
        text.push_str(&diff(golden, got, &format!("{file}: {name}"), &format!("{run}: {name}")));
    }
    Ok(text + &notes(compared))
}

/// Each deviation once, with the blocks in which it is: a wrong fact is wrong in all of them.
fn once(deviations: &[Deviation]) -> Vec<(Deviation, Vec<&str>)> {
    let mut found: Vec<(Deviation, Vec<&str>)> = vec![];
    for deviation in deviations {
        let (case, fact) = deviation.path.split_once('.').unwrap_or((&deviation.path, ""));
        let (id, block) = case.split_once('/').map_or((case, None), |(id, block)| (id, Some(block)));
        let of_all = Deviation { path: format!("{id}.{fact}"), ..deviation.clone() };
        match found.iter_mut().find(|(known, _)| *known == of_all) {
            Some((_, blocks)) => blocks.extend(block),
            None => found.push((of_all, block.into_iter().collect())),
        }
    }
    found
}

fn diff(old: &str, new: &str, old_name: &str, new_name: &str) -> String {
    let (old, new) = (with_newline(old), with_newline(new));
    let diff = TextDiff::from_lines(old.as_str(), new.as_str());
    diff.unified_diff().context_radius(CONTEXT).header(old_name, new_name).to_string()
}

fn with_newline(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

/// Write the facts of the run into the file, and tell what changed.
fn accept(arguments: &VerifyArguments, run: &RunReport, known: Option<Parsed>) -> Result<u8> {
    if let Some(code) = refused(run) {
        return Ok(code);
    }
    destination::test(&arguments.against)?;
    let golden = Golden::of_run(run)?;
    let compared = facts::compare(&golden, run)?;
    let path = &arguments.against;
    let is_snapshot = path.extension().is_some_and(|end| end == "snap");
    let new_header = is_snapshot.then(|| facts::NEW_HEADER.to_owned());
    let (header, old) = known.map_or((None, None), |known| (known.header, Some(known.golden)));
    let header = header.or(new_header);
    let told = match &old {
        None => format!("made {}: {}\n", path.display(), extent(&compared)),
        Some(old) if old.work != golden.work => {
            format!("replaced {}, which had facts of other work: {}\n", path.display(), extent(&compared))
        }
        Some(_) => format!("accepted into {}: {}\n", path.display(), extent(&compared)),
    };
    let before = old.as_ref().map(|old| facts::text(old, None)).transpose()?;
    let golden = match old {
        Some(old) => golden.keeping(old),
        None => golden,
    };
    let after = facts::text(&golden, None)?;
    if before.as_ref() == Some(&after) {
        let same = format!("{} has these facts already: {}\n", path.display(), extent(&compared));
        return tell_unless(arguments.quiet, &same);
    }
    let text = facts::text(&golden, header.as_deref())?;
    destination::write(path, |out| out.write_all(text.as_bytes()).cannot(|| "write the facts".into()))?;
    let name = path.display().to_string();
    let changed = before.map(|before| diff(&before, &after, &name, &name)).unwrap_or_default();
    tell_unless(arguments.quiet, &(told + &changed))
}

fn tell_unless(quiet: bool, text: &str) -> Result<u8> {
    if !quiet {
        tell(text)?;
    }
    Ok(exit::OK)
}

/// The code of a run whose facts may not be taken, after saying why.
fn refused(run: &RunReport) -> Option<u8> {
    let bad: Vec<_> = run.cases.iter().filter(|case| case.status != Status::Passed).collect();
    let first = bad.first()?;
    let why = first.reason.as_ref().map_or("it did not pass", |reason| &reason.text);
    let mut out = std::io::stderr().lock();
    let count = format!("{} of {} cases did not pass", bad.len(), run.cases.len());
    let _ = writeln!(out, "error: cannot accept the facts of this run: {count}; {}: {why}", first.id);
    let _ = writeln!(out, "  next: repeat the run, with --fs for what can run here");
    let asked = exit::Asked { named: true, require_all: true, signal: None };
    Some(exit::code(run, asked))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fact_that_is_wrong_in_every_block_is_told_once() {
        let wrong = |path: &str, got: u32| Deviation {
            path: path.into(),
            golden: Some(7.into()),
            got: Some(got.into()),
        };
        let all =
            [wrong("a/0.read.x", 8), wrong("b.read.x", 8), wrong("a/1.read.x", 8), wrong("a/2.read.x", 9)];
        let told: Vec<_> = once(&all).into_iter().map(|(one, blocks)| (one.to_string(), blocks)).collect();
        assert_eq!(
            told,
            [
                ("a.read.x: golden 7, got 8".to_owned(), vec!["0", "1"]),
                ("b.read.x: golden 7, got 8".to_owned(), vec![]),
                ("a.read.x: golden 7, got 9".to_owned(), vec!["2"]),
            ]
        );
    }
}
