//! Where the figures come from.

use std::collections::BTreeSet;

use super::Page;
use crate::report::{human, pick};
use crate::result::{CaseResult, Configuration, Environment, ONLY_SCALE, RunReport, Status, split_id};

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
    kernels(report, page);
    if let Some(compared) = compared(report) {
        page.field("compared", &compared);
    }
    page.field("seed", &report.manifest.seed);
    if let Some(blocks) = blocks(report) {
        page.field("repeated", &blocks);
    }
    pick::untimed(report).iter().for_each(|text| page.field("warning", text));
    for warning in &report.manifest.warnings {
        page.field("warning", &warning.text);
    }
}

/// Where cases ran, if that is not this machine alone: `6.1: Linux 6.1.0-51-amd64 (vm, tcg, 1 GiB
/// memory, 2 processors)`.
fn kernels(report: &RunReport, page: &mut Page) {
    let all = &report.environments;
    if all.len() < 2 && all.iter().all(|there| there.backend != "vm") {
        return;
    }
    let name = |at: usize| {
        let is_here = |case: &&CaseResult| usize::try_from(case.configuration.environment) == Ok(at);
        let case = report.cases.iter().find(is_here)?;
        split_id(&case.configuration.id).1.map(|kernel| format!("{kernel}: "))
    };
    let kernel = |(at, one): (usize, &Environment)| {
        format!("{}Linux {} ({})", name(at).unwrap_or_default(), one.kernel, place(one))
    };
    let told: Vec<_> = all.iter().enumerate().map(kernel).collect();
    page.field(if told.len() > 1 { "kernels" } else { "kernel" }, &told.join(", "));
}

#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn place(there: &Environment) -> String {
    let memory = there.memory_bytes.map(|bytes| format!("{} memory", human::size(bytes as f64)));
    let parts = [Some(there.backend.clone()), there.accelerator.clone(), memory];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What the names in the tables stand for, where one is not that of its file system.
fn compared(report: &RunReport) -> Option<String> {
    let ids = report.configuration_ids();
    let of = |id: &str| report.cases.iter().map(|case| &case.configuration).find(|it| it.id == id);
    let named = ids.iter().filter_map(|id| of(id)).any(|it| it.filesystem_id() != it.filesystem);
    let meaning = |it: &Configuration| {
        let mount = Some(&it.mount_options).filter(|options| !options.is_empty());
        let mount = mount.map(|options| format!(":{options}")).unwrap_or_default();
        let mkfs = match it.mkfs_options.as_slice() {
            [] => String::new(),
            options => format!(", made with {}", options.join(" ")),
        };
        let text = format!("{}{mount}{mkfs}", it.filesystem);
        if it.filesystem_id() == it.filesystem { it.id.clone() } else { format!("{} ({text})", it.id) }
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
        of if report.has_kernels() => format!("{of} file systems and kernels, each in random order"),
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
    let limited = report.environments.iter().filter(|there| there.backend == "host");
    if let Some(limit) = limited.filter_map(|there| there.memory_bytes).next() {
        page.field("memory", &format!("{} for the work and its page cache", human::size(limit as f64)));
    }
    store(report, page);
}

/// What file systems are made on.
#[expect(clippy::cast_precision_loss, reason = "shown with one decimal")]
fn store(report: &RunReport, page: &mut Page) {
    let store = &report.manifest.store;
    let case = report.cases.iter().find(|case| case.image_bytes > 0);
    let block = case.map(|case| human::size(f64::from(case.configuration.block_size_bytes)));
    let block = block.map(|block| format!(", block size {block}")).unwrap_or_default();
    let free = human::size(store.free_bytes as f64);
    if store.is_disk() {
        return page.field("disk", &format!("{}, all of its {free}{block}", store.path));
    }
    page.field("store", &format!("{} ({}, {free} free)", store.path, store.filesystem));
    if let Some(case) = case {
        page.field("image", &format!("{}{block}", human::size(case.image_bytes as f64)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example;
    use crate::report::part::tests::text;
    use crate::result::StoreInfo;

    fn words(report: &RunReport) -> String {
        let mut page = Page::new(100);
        write(report, &mut page);
        text(&page).split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_whole_disk_is_no_store_and_has_no_image() {
        let mut report = example::report();
        report.manifest.store =
            StoreInfo { path: "/dev/vdb".into(), filesystem: StoreInfo::DISK.into(), free_bytes: 8 << 30 };
        let text = words(&report);
        assert!(text.contains("disk /dev/vdb, all of its 8 GiB, block size 4 KiB"), "{text}");
        assert!(!text.contains("store /dev") && !text.contains("image 2 GiB"), "{text}");
    }

    #[test]
    fn a_limit_of_memory_is_told_and_that_of_a_guest_with_its_kernel() {
        let limit = "memory 64 MiB for the work and its page cache";
        let mut report = example::report();
        assert!(!words(&report).contains("for the work"));
        for there in &mut report.environments {
            there.memory_bytes = Some(64 << 20);
        }
        assert!(words(&report).contains(limit), "{}", words(&report));
        let text = words(&example::kernels());
        assert!(text.contains("1 GiB memory") && !text.contains("for the work"), "{text}");
    }

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
