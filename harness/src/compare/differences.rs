//! Whether two runs did the same work, and what else differs between them.
//!
//! Other work cannot be compared. Another kernel, tool or option is often the very question, so it is
//! told, not refused.

use serde_json::Value;

use super::between::in_both;
use super::figure::cases;
use crate::error::{Error, Result};
use crate::result::{Configuration, Environment, RunReport};
use crate::units::Bytes;

/// Refuses runs that did not do the same work; the new one may be planned only, without cases.
///
/// # Errors
///
/// All that differs: suite, scale, seed, size, steps; or no configuration is in both.
pub fn same_work(base: &RunReport, new: &RunReport) -> Result<()> {
    let mut wrong: Vec<String> = [
        ("suite", base.suite.name.as_str(), new.suite.name.as_str()),
        ("scale", &base.suite.scale, &new.suite.scale),
        ("seed", &base.manifest.seed, &new.manifest.seed),
    ]
    .into_iter()
    .filter_map(|(what, old, new)| other(what, old, new))
    .collect();
    let size = |report| resolved(report, "size_bytes").map(|size| format!("{size} bytes"));
    wrong.extend(size(base).zip(size(new)).and_then(|(old, new)| other("size", &old, &new)));
    wrong.extend(other_steps(base, new));
    let (old, is) = (configurations(base), configurations(new));
    if wrong.is_empty() && !is.iter().any(|id| old.contains(id)) {
        wrong.push(format!("no configuration is in both: {} there, {} here", old.join(", "), is.join(", ")));
    }
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Error::usage(format!("compare {} with {}: {}", new.run_id, base.run_id, wrong.join("; "))).next(
        "measure again with the options of the base; `fsduel report BASE.json` ends with its command line",
    ))
}

/// Ids of what ran or, before that, of what is to run.
fn configurations(report: &RunReport) -> Vec<&str> {
    let planned = report.suite.resolved.get("configurations").and_then(Value::as_array);
    let planned = planned.into_iter().flatten().filter_map(|it| it.get("id")?.as_str());
    match report.cases.is_empty() {
        true => planned.collect(),
        false => report.configuration_ids(),
    }
}

/// A sentence for everything that may explain a change, beside the work.
pub(super) fn differences(base: &RunReport, new: &RunReport) -> Vec<String> {
    let mut found = of_machines(base, new);
    found.extend(of_options(base, new));
    for id in in_both(base, new) {
        found.extend(of_configuration(base, new, id));
    }
    found.extend(in_one(base, new, "base"));
    found.extend(in_one(new, base, "new run"));
    let mut unique: Vec<String> = vec![];
    for sentence in found {
        if !unique.contains(&sentence) {
            unique.push(sentence);
        }
    }
    unique
}

/// What `one` has and `two` has not.
fn in_one(one: &RunReport, two: &RunReport, side: &str) -> Vec<String> {
    let known = two.configuration_ids();
    let missing = one.configuration_ids().into_iter().filter(|id| !known.contains(id));
    missing.map(|id| format!("{id} is in the {side} only")).collect()
}

/// `what` and both values, if they differ.
fn other(what: &str, old: &str, new: &str) -> Option<String> {
    let shown = |value: &str| if value.is_empty() { "none".to_owned() } else { value.to_owned() };
    (old != new).then(|| format!("{what} was {} and is {}", shown(old), shown(new)))
}

/// An option as it was resolved; `None` where the run does not say.
fn resolved<'a>(report: &'a RunReport, key: &str) -> Option<&'a Value> {
    report.suite.resolved.get(key).filter(|value| !value.is_null())
}

/// A value as one would write it.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A sentence for each step that is not the same in both.
fn other_steps(base: &RunReport, new: &RunReport) -> Vec<String> {
    let steps = |report| resolved(report, "steps").and_then(Value::as_array);
    let Some((old, new)) = steps(base).zip(steps(new)) else { return vec![] };
    let told = |step: Option<&Value>| step.map_or_else(String::new, describe);
    let pair = |at: usize| other(&format!("step {}", at + 1), &told(old.get(at)), &told(new.get(at)));
    (0..old.len().max(new.len())).filter_map(pair).collect()
}

/// `small-files (many-small-files, count=300, fsync=file)`.
fn describe(step: &Value) -> String {
    let text = |key: &str| step.get(key).map(plain).unwrap_or_default();
    let parameters = step.get("parameters").and_then(Value::as_object).into_iter().flatten();
    let written = parameters.map(|(key, value)| format!(", {key}={}", plain(value)));
    let limit = if step.get("allow_limit") == Some(&Value::Bool(true)) { ", may meet a limit" } else { "" };
    format!("{} ({}{}{limit})", text("name"), text("workload"), written.collect::<String>())
}

fn of_machines(base: &RunReport, new: &RunReport) -> Vec<String> {
    let facts = |report: &RunReport| {
        let machine = &report.manifest;
        [
            ("kernel", machine.kernel.clone()),
            ("system", machine.os.clone()),
            ("processor", machine.cpu.clone()),
            ("number of processors", machine.cpus_count.to_string()),
            ("memory", format!("{} bytes", machine.memory_bytes)),
            ("virtualisation", machine.virtualisation.clone().unwrap_or_default()),
            ("store", machine.store.path.clone()),
            ("file system of the store", machine.store.filesystem.clone()),
            ("version of fsduel", report.tool.version.clone()),
        ]
    };
    let both = facts(base).into_iter().zip(facts(new));
    both.filter_map(|((what, old), (_, new))| other(what, &old, &new)).collect()
}

fn of_options(base: &RunReport, new: &RunReport) -> Vec<String> {
    let keys = [
        ("block_size_bytes", "block size in bytes"),
        ("direct_io", "direct I/O"),
        ("preallocate", "preallocation"),
        ("repeat", "number of blocks"),
    ];
    let mut found: Vec<String> = keys
        .into_iter()
        .filter_map(|(key, what)| {
            let (old, new) = resolved(base, key).zip(resolved(new, key))?;
            other(what, &plain(old), &plain(new))
        })
        .collect();
    for (key, what) in [("size_bytes", "size"), ("steps", "steps")] {
        if resolved(base, key).is_some() != resolved(new, key).is_some() {
            found.push(format!("only one of the runs says what its {what} was"));
        }
    }
    found
}

fn of_configuration(base: &RunReport, new: &RunReport, id: &str) -> Vec<String> {
    let of = |report: &RunReport| {
        report.cases.iter().map(|case| &case.configuration).find(|it| it.id == id).cloned()
    };
    let Some((was, is)) = of(base).zip(of(new)) else { return vec![] };
    let options = |it: &Configuration| it.mkfs_options.join(" ");
    let mut found: Vec<String> = [
        other(&format!("file system of {id}"), &was.filesystem, &is.filesystem),
        other(&format!("mount options of {id}"), &was.mount_options, &is.mount_options),
        other(&format!("mkfs options of {id}"), &options(&was), &options(&is)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let environment = |report: &RunReport, it: &Configuration| {
        report.environments.get(usize::try_from(it.environment).unwrap_or(usize::MAX)).cloned()
    };
    if let Some((was, is)) = environment(base, &was).zip(environment(new, &is)) {
        found.extend(of_environments(base, new, &was, &is));
    }
    found.extend(without_figures(base, new, id));
    found
}

/// Why there is no word about a time.
const EMULATED: &str = "times come from an emulated processor, so nothing is concluded from them";

/// Kernel, backend and tools. A tool of one side only belongs to a configuration of that side only.
fn of_environments(base: &RunReport, new: &RunReport, was: &Environment, is: &Environment) -> Vec<String> {
    let hosts = base.manifest.kernel == was.kernel && new.manifest.kernel == is.kernel;
    let kernel = other("kernel below the file systems", &was.kernel, &is.kernel).filter(|_| !hosts);
    let tools = was.tools.iter().filter_map(|(tool, old)| other(tool, old, is.tools.get(tool)?));
    let emulated = !was.timings_comparable || !is.timings_comparable;
    let emulated = emulated.then(|| EMULATED.to_owned());
    let memory = |it: &Environment| {
        it.memory_bytes.map_or_else(|| "no limit".into(), |bytes| Bytes(bytes).to_string())
    };
    let memory = other("memory of the work", &memory(was), &memory(is));
    let backend = other("backend", &was.backend, &is.backend).into_iter();
    backend.chain(memory).chain(emulated).chain(kernel).chain(tools).collect()
}

/// Steps whose figures one run lacks: a case that does not count, or work that was cut short.
fn without_figures(base: &RunReport, new: &RunReport, id: &str) -> Vec<String> {
    let has = |report: &RunReport, step: &str| {
        let steps = cases(report, id).into_iter().filter_map(|case| case.step(step));
        steps.into_iter().any(|step| !step.cut_short())
    };
    let names = base.steps().into_iter().chain(new.steps()).map(|step| step.name.as_str());
    let told = names.filter_map(|step| match (has(base, step), has(new, step)) {
        (true, false) => Some(format!("{id} has figures of {step} in the base only")),
        (false, true) => Some(format!("{id} has figures of {step} in the new run only")),
        _ => None,
    });
    told.collect()
}
