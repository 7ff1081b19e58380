mod command;
mod fixtures;
mod kernels;
mod messages;
mod options;

use super::*;
use crate::error::Kind;

const METRICS: [&str; 6] =
    ["returned_s", "synced_s", "user_cpu_s", "kernel_cpu_s", "space_used_bytes", "payload_bytes_per_s"];

/// Workloads with the keys of their parameters.
fn workloads() -> Vec<KnownWorkload> {
    let table: [(&str, &[&str]); 8] = [
        ("many-small-files", &["count", "file-size", "fsync", "pattern"]),
        ("many-directories", &["count", "files", "file-size", "fsync", "pattern"]),
        ("remove", &["of"]),
        ("list", &["of"]),
        ("stat", &["of"]),
        ("read", &["of"]),
        ("fill-until-enospc", &["pattern", "chunk", "cap", "recover"]),
        ("postmark", &["number", "transactions", "size", "subdirectories", "locations"]),
    ];
    let row = |(name, parameters): (&str, &[&str])| KnownWorkload {
        name: name.into(),
        parameters: parameters.iter().map(|key| (*key).into()).collect(),
    };
    table.into_iter().map(row).collect()
}

fn resolve(suite: &Suite, options: &Options) -> Result<Resolved> {
    let postmark = crate::measure::documented().map(|metric| metric.key);
    let postmark: Vec<&str> = postmark.filter(|key| key.starts_with("postmark_")).collect();
    let metrics = [METRICS.as_slice(), &["metadata_ratio"], &postmark].concat();
    suite.resolve(
        options,
        &Known {
            filesystems: &["btrfs", "ext4", "xfs"],
            common: &["btrfs", "ext4", "xfs"],
            left_out: &[("oldfs", "in no kernel")],
            workloads: &workloads(),
            metrics: &metrics,
            case_metrics: &["mkfs_s", "mount_s", "fsck_s"],
        },
    )
}

const SUITE: &str = r#"
[suite]
name = "two"
title = "Two steps"
source = "a test"
base-scale = "full"
default-scale = "quick"

[defaults]
size = "4GiB"
seed = 7
timeout = "1m30s"
store = "memory"

[scale.quick]
size = "1GiB"
step.small-files.count = 10

[[filesystem]]
name = "btrfs"
mount = "noatime,compress=lzo"
[[filesystem]]
id = "nojournal"
name = "ext4"
mkfs = ["-O", "^has_journal"]

[[step]]
name = "small-files"
workload = "many-small-files"
count = 100
file-size = "1..9"
[[step]]
name = "fill"
workload = "fill-until-enospc"
allow-limit = true
recover = false

[[reference]]
step = "small-files"
metric = "space_used_bytes"
filesystem = "btrfs"
value = "53MB"
approx = true

[[claim]]
id = "space"
text = "less space"
scales = ["full"]
step = "small-files"
metric = "space_used_bytes"
holds = "btrfs < nojournal"
must = true

[[figure]]
title = "What fits"
source = "figure 1"
[[figure.panel]]
step = "fill"
metric = "file_size_bytes"
title = "One file"
"#;

fn suite() -> Suite {
    Suite::parse("two.toml", SUITE).unwrap()
}

fn set(values: &[&str]) -> Options {
    Options { set: values.iter().map(|value| (*value).into()).collect(), ..Options::default() }
}

fn fs(values: &[&str]) -> Options {
    Options { filesystems: values.iter().map(|value| (*value).into()).collect(), ..Options::default() }
}

fn ids(resolved: &Resolved) -> Vec<&str> {
    resolved.configurations.iter().map(|configuration| configuration.id.as_str()).collect()
}

#[test]
fn a_suite_becomes_what_is_run() {
    let run = resolve(&suite(), &Options::default()).unwrap();
    assert_eq!((run.info.name.as_str(), run.info.title.as_str()), ("two", "Two steps"));
    assert_eq!((run.info.scale.as_str(), run.info.source.as_deref()), ("quick", Some("a test")));
    assert_eq!(ids(&run), ["btrfs", "nojournal"]);
    assert_eq!(run.configurations[0].mount_options, "noatime,compress=lzo");
    assert_eq!(run.configurations[1].mount_options, "");
    assert_eq!(run.configurations[1].filesystem, "ext4");
    assert_eq!(run.configurations[1].mkfs_options, ["-O", "^has_journal"]);
    assert_eq!((run.image_size, run.block_size), (Bytes::gib(1), Bytes::kib(4)));
    assert_eq!((run.seed, run.timeout), (Seed(7), Some(Duration::from_secs(90))));
    assert_eq!((run.store, run.named, run.require_all), (Store::Memory, false, false));
    assert_eq!(run.steps[0].parameters, serde_json::json!({"count": 10, "file-size": "1..9"}));
    assert_eq!((run.steps[0].allow_limit, run.steps[1].allow_limit), (false, true));
    assert_eq!(run.references[0].value.to_bits(), 53e6f64.to_bits());
    assert_eq!(run.references[0].printed, "53MB");
    assert!(run.references[0].approx && run.claims[0].must);
    let figure = &run.info.figures[0];
    assert_eq!((figure.panels[0].step.as_str(), figure.panels[0].title.as_str()), ("fill", "One file"));
    assert_eq!((figure.title.as_str(), figure.source.as_deref()), ("What fits", Some("figure 1")));
    assert_eq!(run.claims[0].holds, "btrfs < nojournal");
}

#[test]
fn what_nobody_gives_has_a_documented_default() {
    let text = "[suite]\nname = \"x\"\n[[step]]\nname = \"a\"\nworkload = \"list\"";
    let run = resolve(&Suite::parse("x", text).unwrap(), &Options::default()).unwrap();
    assert_eq!((run.image_size, run.block_size, run.seed), (DEFAULT_SIZE, DEFAULT_BLOCK_SIZE, DEFAULT_SEED));
    assert_eq!(run.store, Store::Directory(DEFAULT_STORE.into()));
    assert_eq!((run.direct_io, run.preallocate, run.overcommit), (DirectIo::Auto, false, false));
    assert_eq!((run.timeout, run.info.scale.as_str()), (None, "base"));
    assert_eq!(ids(&run), ["btrfs", "ext4", "xfs"]);
    assert!(!run.named);
}

#[test]
fn a_workload_alone_is_a_suite_of_one_step() {
    let suite = Suite::of_workload("many-small-files").unwrap();
    let run =
        resolve(&suite, &set(&["count=5", "size=1GiB", "step.many-small-files.fsync=end", "file-size=1..4"]))
            .unwrap();
    assert_eq!(run.image_size, Bytes::gib(1));
    assert_eq!(run.steps.len(), 1);
    assert_eq!(run.steps[0].parameters, serde_json::json!({"count": 5, "fsync": "end", "file-size": "1..4"}));
}

#[test]
fn every_option_as_resolved_is_in_the_report() {
    let resolved = resolve(&suite(), &Options::default()).unwrap().info.resolved;
    assert_eq!(resolved["size_bytes"], 1u64 << 30);
    assert_eq!(resolved["seed"], "7");
    assert_eq!(resolved["store"], "memory");
    assert_eq!(resolved["timeout_s"], 90.0);
    assert_eq!(resolved["direct_io"], "auto");
    assert_eq!(resolved["configurations"][1]["id"], "nojournal");
    assert_eq!(resolved["steps"][0]["parameters"]["count"], 10);
}
