//! Where the figures come from.

use std::collections::BTreeSet;

use super::Page;
use crate::report::{human, pick};
use crate::result::{Configuration, Environment, ONLY_SCALE, RunReport, Status};

/// The suite, the machine, the store, and what disturbs.
pub(in crate::report) fn write(report: &RunReport, page: &mut Page) {
    let suite = &report.suite;
    page.title(if suite.title.is_empty() { &suite.name } else { &suite.title });
    let source = suite.source.as_ref().map(|source| format!(" ({source})")).unwrap_or_default();
    let scale = match suite.scale.as_str() {
        ONLY_SCALE => String::new(),
        scale => format!(", scale {scale}"),
    };
    page.field("suite", &format!("{}{scale}{source}", suite.name));
    machine(report, page);
    if report.environments.len() > 1 {
        let kernel = |one: &Environment| format!("Linux {} ({})", one.kernel, one.backend);
        page.field("kernels", &report.environments.iter().map(kernel).collect::<Vec<_>>().join(", "));
    }
    if let Some(compared) = compared(report) {
        page.field("compared", &compared);
    }
    page.field("seed", &report.manifest.seed);
    if let Some(blocks) = blocks(report) {
        page.field("repeated", &blocks);
    }
    for environment in report.environments.iter().filter(|environment| !environment.timings_comparable) {
        let at =
            format!("times of {} (Linux {}) cannot be compared", environment.backend, environment.kernel);
        page.field("warning", &at);
    }
    for warning in &report.manifest.warnings {
        page.field("warning", &warning.text);
    }
}

/// What the names in the tables stand for, where one is not that of its file system.
fn compared(report: &RunReport) -> Option<String> {
    let ids = report.configuration_ids();
    let of = |id: &str| report.cases.iter().map(|case| &case.configuration).find(|it| it.id == id);
    let named = ids.iter().filter_map(|id| of(id)).any(|it| it.id != it.filesystem);
    let meaning = |it: &Configuration| {
        let mount = Some(&it.mount_options).filter(|options| !options.is_empty());
        let mount = mount.map(|options| format!(":{options}")).unwrap_or_default();
        let mkfs = match it.mkfs_options.as_slice() {
            [] => String::new(),
            options => format!(", made with {}", options.join(" ")),
        };
        let text = format!("{}{mount}{mkfs}", it.filesystem);
        if it.id == it.filesystem { it.id.clone() } else { format!("{} ({text})", it.id) }
    };
    named.then(|| ids.iter().filter_map(|id| of(id)).map(meaning).collect::<Vec<_>>().join(", "))
}

/// How often all were repeated, and in which order.
fn blocks(report: &RunReport) -> Option<String> {
    let measured = pick::blocks(report).len();
    let warmed_up = report.cases.iter().any(|case| case.block == 0);
    let ran = report.cases.iter().filter(|case| case.status != Status::NotRun);
    let of = match ran.map(|case| &case.configuration.id).collect::<BTreeSet<_>>().len() {
        0 => return None,
        1 => "1 file system".to_owned(),
        of => format!("{of} file systems, each in random order"),
    };
    let warm_up = if warmed_up { ", after 1 to warm up" } else { "" };
    match measured {
        0 if warmed_up => Some("no block is measured: what follows is that to warm up".into()),
        0 | 1 => None,
        blocks => Some(format!("{blocks} blocks of {of}{warm_up}")),
    }
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn machine(report: &RunReport, page: &mut Page) {
    let manifest = &report.manifest;
    let memory = human::size(manifest.memory_bytes as f64);
    let mut words = format!(
        "Linux {}, {}, {} ×{}, {memory} memory",
        manifest.kernel, manifest.os, manifest.cpu, manifest.cpus_count
    );
    if let Some(virtualisation) = &manifest.virtualisation {
        words = format!("{words}, {virtualisation}");
    }
    page.field("machine", &words);
    let free = human::size(manifest.store.free_bytes as f64);
    page.field("store", &format!("{} ({}, {free} free)", manifest.store.path, manifest.store.filesystem));
    if let Some(case) = report.cases.iter().find(|case| case.image_bytes > 0) {
        let block = human::size(f64::from(case.configuration.block_size_bytes));
        page.field("image", &format!("{}, block size {block}", human::size(case.image_bytes as f64)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;

    #[test]
    fn a_name_that_is_not_its_file_system_is_explained() {
        let mut report = example::report();
        assert_eq!(compared(&report), None);
        for case in report.cases.iter_mut().filter(|case| case.configuration.id == "btrfs") {
            case.configuration.id = "ext4#2".into();
            case.configuration.filesystem = "ext4".into();
            case.configuration.mount_options = "sync".into();
            case.configuration.mkfs_options = vec!["-O".into(), "^has_journal".into()];
        }
        let text = compared(&report).unwrap();
        assert!(text.contains("ext4#2 (ext4:sync, made with -O ^has_journal)"), "{text}");
        assert!(!text.contains("xfs ("), "{text}");
    }
}
