//! The machine, how the file system was made, and every figure, as properties of a suite.
//!
//! The names in capitals are those of xfstests (`common/report`), so that programs that read its
//! results find the same things here.

use std::collections::BTreeSet;

use quick_junit::Property;

use crate::report::part::outcome;
use crate::report::pick;
use crate::result::RunReport;
use crate::stats::median;
use crate::units::plain;

/// All properties of a configuration.
pub(super) fn of(report: &RunReport, id: &str) -> Vec<Property> {
    let properties = [of_machine(report), of_configuration(report, id), figures(report, id)].concat();
    properties.into_iter().map(|(name, value)| property(&name, &value)).collect()
}

type Named = (String, String);

fn property(name: &str, value: &str) -> Property {
    Property::new(plain::line(name), plain::line(value))
}

fn named<const N: usize>(all: [(&str, String); N]) -> Vec<Named> {
    all.map(|(name, value)| (name.to_owned(), value)).into()
}

fn of_machine(report: &RunReport) -> Vec<Named> {
    let (manifest, suite, tool) = (&report.manifest, &report.suite, &report.tool);
    let mut all = named([
        ("CPUS", manifest.cpus_count.to_string()),
        ("MEM_KB", (manifest.memory_bytes / 1024).to_string()),
        ("run_id", report.run_id.clone()),
        ("tool", format!("{} {}", tool.name, tool.version)),
        ("suite", suite.name.clone()),
        ("scale", suite.scale.clone()),
        ("seed", manifest.seed.clone()),
        ("started_at", manifest.started_at.clone()),
        ("os", manifest.os.clone()),
        ("cpu", manifest.cpu.clone()),
        ("store", format!("{} ({})", manifest.store.path, manifest.store.filesystem)),
    ]);
    let optional = [
        ("virtualisation", manifest.virtualisation.clone()),
        ("load_average", manifest.load_average.map(pick::exact)),
        ("command", outcome::command(report).map(str::to_owned)),
    ];
    all.extend(optional.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
    all.extend(
        manifest.warnings.iter().map(|warning| (format!("warning.{}", warning.code), warning.text.clone())),
    );
    all
}

/// As asked for; what is in effect and what the tools made is in every case, alike in all of them.
fn of_configuration(report: &RunReport, id: &str) -> Vec<Named> {
    let Some(case) = report.measured(id).into_iter().next() else { return vec![] };
    let configuration = &case.configuration;
    let mut all = named([
        ("KERNEL", pick::kernel(report, configuration).to_owned()),
        ("FSTYP", configuration.filesystem.clone()),
        ("MKFS_OPTIONS", configuration.mkfs_options.join(" ")),
        ("MOUNT_OPTIONS", configuration.mount_options.clone()),
        ("block_size_bytes", configuration.block_size_bytes.to_string()),
    ]);
    let effective = case.mount_options_effective.clone().map(|options| ("mount_options_effective", options));
    let mkfs = (!case.mkfs_command.is_empty()).then(|| ("mkfs_command", case.mkfs_command.join(" ")));
    let image = (case.image_bytes > 0).then(|| ("image_bytes", case.image_bytes.to_string()));
    let there = report.environment_of(id);
    let backend = there.map(|there| ("backend", there.backend.clone()));
    let accelerator = there.and_then(|there| Some(("accelerator", there.accelerator.clone()?)));
    let comparable = there.filter(|there| !there.timings_comparable).map(|_| {
        let texts = pick::untimed(report).join("; ");
        ("timings_comparable", format!("false: {texts}"))
    });
    let place = backend.into_iter().chain(accelerator).chain(comparable);
    let known = effective.into_iter().chain(mkfs).chain(image).chain(place);
    all.extend(known.map(|(name, value)| (name.to_owned(), value)));
    all
}

/// The medians over the blocks that count: of steps, as `STEP.METRIC`, then of the whole case.
fn figures(report: &RunReport, id: &str) -> Vec<Named> {
    let of_step = |step: &&str| -> Vec<Named> {
        let steps = pick::counted(report, id, step);
        let keys: BTreeSet<String> =
            steps.iter().flat_map(|step| pick::numbers(step)).map(|(key, _)| key).collect();
        let figure = |key: String| {
            let value = pick::number(report, id, step, &key)?;
            Some((format!("{step}.{key}"), pick::exact(value)))
        };
        keys.into_iter().filter_map(figure).collect()
    };
    let steps = pick::planned(report);
    steps.iter().flat_map(of_step).chain(of_case(report, id)).collect()
}

fn of_case(report: &RunReport, id: &str) -> Vec<Named> {
    let cases: Vec<_> = report.measured(id).into_iter().filter(|case| case.counts()).collect();
    let keys: BTreeSet<&String> = cases.iter().flat_map(|case| case.metrics.0.keys()).collect();
    let figure = |key: &String| {
        let value = median(cases.iter().filter_map(|case| case.metrics.get(key)).collect())?;
        Some((key.clone(), pick::exact(value)))
    };
    keys.into_iter().filter_map(figure).collect()
}
