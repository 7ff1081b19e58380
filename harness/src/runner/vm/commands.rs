//! The commands of a case, as a guest sees them: with what they take along, where it has that, and in
//! the environment of whoever called.

use crate::case::CaseSpec;
use crate::error::Result;
use crate::fs::Filesystem;
use crate::ops::Command;
use crate::vm::{Along, Places};
use crate::worker::sequence;

/// What the commands of a case take along; nothing, where it has none.
///
/// # Errors
///
/// The case is wrong, or something cannot be taken along.
pub(super) fn along(spec: &CaseSpec, filesystem: &dyn Filesystem) -> Result<Option<Along>> {
    let commands: Vec<Command> = commands(spec, filesystem)?.into_iter().flatten().collect();
    match commands.is_empty() {
        true => Ok(None),
        false => Along::of(&commands, spec.user.as_ref()).map(Some),
    }
}

/// The command of each step, where it is one.
fn commands(spec: &CaseSpec, filesystem: &dyn Filesystem) -> Result<Vec<Option<Command>>> {
    Ok(sequence(spec, filesystem)?.iter().map(|workload| workload.command().cloned()).collect())
}

/// The case with the paths of the guest.
///
/// # Errors
///
/// The case is wrong.
pub(super) fn in_guest(spec: CaseSpec, filesystem: &dyn Filesystem, along: &Along) -> Result<CaseSpec> {
    let is_command: Vec<bool> = commands(&spec, filesystem)?.iter().map(Option::is_some).collect();
    let mut spec = CaseSpec { environment: variables(), ..spec };
    let steps = spec.steps.iter_mut().zip(is_command).filter(|(_, is)| *is);
    for ((step, _), Places { root, copy }) in steps.zip(&along.places) {
        if let Some(parameters) = step.parameters.as_object_mut() {
            parameters.insert("root".into(), root.as_str().into());
            parameters.insert("copy".into(), copy.clone().unwrap_or_default().into());
        }
    }
    Ok(spec)
}

/// The environment, but for what is no text.
fn variables() -> Vec<(String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}
