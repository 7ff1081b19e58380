//! A plan in words: what would be done, with the commands.

use std::fmt::Write;
use std::path::Path;

use fsduel_harness::case::{CaseSpec, Store};
use fsduel_harness::compare::Repeat;
use fsduel_harness::fs::{self, MkfsOptions};
use fsduel_harness::result::Environment;
use fsduel_harness::runner::Plan;
use fsduel_harness::suite::ONLY_SCALE;
use fsduel_harness::units::Bytes;
use fsduel_harness::workload::StepSpec;

/// Stands for the loop device, whose number is known only when it is attached.
const LOOP: &str = "/dev/loopN";

/// The only disk of a virtual machine.
const VIRTUAL: &str = "/dev/vda";

/// Cases, steps and commands, one a line.
pub fn plan(plan: &Plan) -> String {
    let mut text = plan.info.title.clone();
    if plan.info.scale != ONLY_SCALE {
        // Writing to a String cannot fail.
        let _ = write!(text, ", scale {}", plan.info.scale);
    }
    let environments = plan.head().environments;
    for case in &plan.cases {
        let there = usize::try_from(case.configuration.environment).ok().and_then(|at| environments.get(at));
        let _ = write!(text, "\n\n{}", case.id());
        match plan.not_run.get(&case.configuration.id) {
            Some(reason) => {
                let _ = write!(text, ": will not run: {}", reason.text);
            }
            None => commands(&mut text, case, there.filter(|there| there.backend == "vm")),
        }
    }
    if plan.repeat.blocks() > 1 {
        let _ = write!(text, "\n\n{}", blocks(plan.repeat));
    }
    text.push_str("\n\nsteps");
    for step in plan.cases.first().map(|case| case.steps.as_slice()).unwrap_or_default() {
        let _ = write!(text, "\n  {}", words(step));
    }
    text.push('\n');
    text
}

/// How often all cases run, and in which order.
fn blocks(repeat: Repeat) -> String {
    let warm_up = if repeat.warms_up() { ", after one more to warm up" } else { "" };
    let count = match repeat {
        Repeat::Times(times) => times.to_string(),
        Repeat::Auto => format!("5 to {}", repeat.blocks()),
    };
    format!("{count} blocks{warm_up}; each holds every case once, in an order drawn from the seed")
}

/// The commands of one case, as a person would type them.
fn commands(text: &mut String, case: &CaseSpec, machine: Option<&Environment>) {
    let configuration = &case.configuration;
    let Some(filesystem) = fs::by_name(&configuration.filesystem) else { return };
    let options = MkfsOptions {
        block_size: Bytes(configuration.block_size_bytes.into()),
        uuid: "UUID".into(),
        seed: case.seed,
        extra: configuration.mkfs_options.clone(),
    };
    let device = match (&case.store, machine) {
        (_, Some(_)) => Path::new(VIRTUAL),
        (Store::Disk(disk), None) => disk,
        _ => Path::new(LOOP),
    };
    let mount = filesystem.mount_options(&configuration.mount_options);
    let mut lines = vec![
        place(case, machine),
        filesystem.mkfs(device, &options).words().join(" "),
        format!("mount -t {} -o {} {}", filesystem.name(), mount, device.display()),
    ];
    lines.extend(filesystem.fsck(device).map(|fsck| fsck.words().join(" ")));
    for line in lines {
        let _ = write!(text, "\n  {line}");
    }
}

/// Where the file system will be.
fn place(case: &CaseSpec, machine: Option<&Environment>) -> String {
    let memory = machine.and_then(|there| there.memory_bytes).map(Bytes).or(case.memory);
    let memory = memory.map(|memory| format!(", {memory} of memory")).unwrap_or_default();
    match (&case.store, machine) {
        (_, Some(there)) => {
            format!("virtual machine with Linux {}{memory}, disk of {}", there.kernel, case.image_size)
        }
        (Store::Disk(_), None) => format!("whole disk of {}{memory}", case.image_size),
        _ => format!("image of {}{memory}", case.image_size),
    }
}

/// A step on one line, as `small-files: many-small-files count=9999`.
fn words(step: &StepSpec) -> String {
    let parameters = step.parameters.as_object().into_iter().flatten();
    let parameters: String = parameters.map(|(key, value)| format!(" {key}={value}")).collect();
    format!("{}: {}{parameters}", step.name, step.workload)
}
