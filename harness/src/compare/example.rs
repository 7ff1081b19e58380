//! Runs that never were, for tests.

use serde_json::json;

use crate::result::{CaseResult, Environment, RunReport, Status};

/// A run of these configurations; `value(configuration, block)` gives the metrics of its one step
/// `files`, which made `blocks` measured blocks.
pub(super) fn run(
    ids: &[&str],
    blocks: u32,
    value: impl Fn(usize, u32) -> Vec<(&'static str, f64)>,
) -> RunReport {
    let configurations: Vec<_> = ids.iter().map(|id| json!({"id": id})).collect();
    let mut report: RunReport = serde_json::from_value(json!({
        "schema_version": 1, "run_id": "run", "tool": {"name": "fsduel", "version": "1"},
        "manifest": {
            "kernel": "6.18", "os": "Debian", "cpu": "Xeon", "cpus_count": 2, "memory_bytes": 4096, "seed": "7",
            "store": {"path": "/var/tmp", "filesystem": "ext4", "free_bytes": 1}, "started_at": "", "argv": []
        },
        "suite": {"name": "smoke", "title": "", "scale": "base", "resolved": {
            "configurations": configurations, "repeat": blocks, "size_bytes": 1024, "block_size_bytes": 4096,
            "steps": [{"name": "files", "workload": "list", "parameters": {"count": 3}}]
        }},
        "environments": [], "cases": []
    }))
    .unwrap();
    report.environments = vec![Environment {
        backend: "host".into(),
        kernel: "6.18".into(),
        tools: [("mke2fs".to_owned(), "1.47".to_owned())].into(),
        timings_comparable: true,
        ..Environment::default()
    }];
    let order = (1..=blocks).flat_map(|block| (0..ids.len()).map(move |id| (block, id)));
    report.cases = order.map(|(block, id)| case(ids[id], block, &value(id, block))).collect();
    report
}

/// A case that passed, of one step.
pub(super) fn case(id: &str, block: u32, metrics: &[(&str, f64)]) -> CaseResult {
    let configuration = serde_json::from_value(json!({
        "id": id, "filesystem": "ext4", "mount_options": "", "mkfs_options": [], "block_size_bytes": 4096,
        "environment": 0
    }));
    let mut case = CaseResult::of(configuration.unwrap(), block, 1);
    case.status = Status::Passed;
    let step = json!({
        "name": "files", "workload": "list", "started_s": 0.0, "ended": "completed",
        "facts": {"files_created_count": 10}, "metrics": {}, "read_back": "clean"
    });
    case.steps = vec![serde_json::from_value(step).unwrap()];
    for (key, value) in metrics {
        case.steps[0].metrics.0.insert((*key).into(), *value);
    }
    case.metrics.set("mkfs_s", 0.5);
    case
}

/// Noise of a few percent without a pattern, the same in every run.
pub(super) fn wobble(seed: u32) -> f64 {
    1.0 + f64::from(seed.wrapping_mul(2_654_435_761) >> 16) / f64::from(u16::MAX) * 0.06 - 0.03
}
