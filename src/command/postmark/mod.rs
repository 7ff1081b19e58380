//! `fsduel postmark`: a configuration of PostMark, in its own language. With `--fs` it becomes a
//! suite and goes the way of `fsduel run`; without, it runs in directories that exist.

mod here;
mod made;
mod script;

use fsduel_harness::{Error, Result};

use crate::cli::{Backend, Beside, Content, PostmarkArguments, Shared, Verify};
use crate::destination;
use crate::parts::directory::Run;
use crate::parts::postmark::{self, Action, Script};
use crate::progress;

/// Read the configuration, and do what it asks for.
pub fn postmark(arguments: &PostmarkArguments) -> Result<u8> {
    let shared = &arguments.shared;
    let is_here = shared.what.filesystems.is_empty();
    if is_here {
        refuse_without_fs(shared, how(&arguments.beside))?;
    }
    let script = script::read(&arguments.config, arguments.shared.results.strict)?;
    let runs = runs(&script, &arguments.beside)?;
    match is_here {
        true => here::run(arguments, &script, &runs),
        false => made::run(arguments, &script, &runs),
    }
}

/// What runs and reports are called.
const NAME: &str = "postmark";

/// Every run of the script, in order.
fn runs(script: &Script, beside: &Beside) -> Result<Vec<Run>> {
    let settings = script.actions.iter().filter_map(|action| match action {
        Action::Run { settings, .. } => Some(settings),
        Action::Show { .. } => None,
    });
    let named = (1..).zip(settings).map(|(at, settings)| {
        settings.check()?;
        let name = if at == 1 { NAME.to_owned() } else { format!("{NAME}-{at}") };
        Ok(Run { name, settings: settings.clone(), options: options(beside) })
    });
    named.collect()
}

fn how(beside: &Beside) -> Verify {
    if beside.no_verify { Verify::None } else { beside.verify.unwrap_or_default() }
}

fn options(beside: &Beside) -> postmark::Options {
    let how = how(beside);
    postmark::Options {
        content: match beside.content.unwrap_or_default() {
            Content::Pool => postmark::Content::Pool,
            Content::Unique => postmark::Content::Unique,
        },
        verify: how != Verify::None,
        bug_compatible: beside.bug_compatible,
        delete: how != Verify::Full,
    }
}

/// Refuse what only a file system of our own can have. What stands in the environment may be meant
/// for other calls, and does nothing here.
fn refuse_without_fs(shared: &Shared, how: Verify) -> Result<()> {
    let (what, often, place, results) = (&shared.what, &shared.often, &shared.place, &shared.results);
    let given = [
        ("size", what.size.is_some()),
        ("block-size", what.block_size.is_some()),
        ("set", !what.set.is_empty()),
        ("mkfs-options", !what.mkfs_options.is_empty()),
        ("seed", what.seed.is_some()),
        ("repeat", often.repeat.is_some()),
        ("budget", often.budget.is_some()),
        ("timeout", often.timeout.is_some()),
        ("store", place.store.is_some()),
        ("direct-io", place.direct_io.is_some()),
        ("preallocate", place.preallocate),
        ("overcommit", place.overcommit),
        ("memory", place.memory.is_some()),
        ("backend", matches!(place.backend, Some(Backend::Host | Backend::Vm))),
        ("kernel", !place.kernels.is_empty()),
        ("device", place.device.is_some()),
        ("baseline", results.baseline.is_some()),
        ("gate", results.gate.is_some()),
        ("keep", results.keep.is_some()),
        ("require-all", results.require_all),
    ];
    let in_environment =
        |name: &str| std::env::var_os(format!("FSDUEL_{}", name.to_uppercase().replace('-', "_"))).is_some();
    if let Some((name, _)) = given.into_iter().find(|(name, given)| *given && !in_environment(name)) {
        return Err(Error::usage(format!("use --{name} without --fs"))
            .because("it is about file systems that are made for the run")
            .next("name file systems with --fs, or leave it out"));
    }
    match how {
        Verify::Full => Err(Error::usage("use --verify full without --fs")
            .because("reading back cold needs a file system that can be unmounted")
            .next("name file systems with --fs, or use --verify reads")),
        Verify::Reads | Verify::None => Ok(()),
    }
}

/// Text for FILE or, where there is none or it cannot be written, for standard output.
fn put(text: &str, file: Option<&str>, stdout_is_free: bool) -> Result<()> {
    if let Some(file) = file {
        match destination::append(file.as_ref(), text) {
            Ok(()) => return Ok(()),
            Err(error) => progress::line(&format!("warning: {error}; standard output gets it")),
        }
    }
    match stdout_is_free {
        true => print(text),
        false => Ok(()),
    }
}

fn print(text: &str) -> Result<()> {
    use fsduel_harness::error::Cannot;
    destination::to_stdout(|out| out.write_all(text.as_bytes()).cannot(|| "write the text".into()))
}
