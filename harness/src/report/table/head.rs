//! Where the figures come from.

use std::collections::BTreeSet;

use super::Page;
use crate::report::{human, pick};
use crate::result::{Environment, ONLY_SCALE, RunReport, Status};

/// The suite, the machine, the store, and what disturbs.
pub(super) fn write(report: &RunReport, page: &mut Page) {
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
