//! A run that never was, for tests of reports: three file systems, two steps, one that the
//! kernel lacks.

mod kernels;
mod repeated;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::result::{
    CaseResult, Checked, ClaimResult, ClaimVerdict, Comparison, Configuration, EndedWord, Environment,
    Estimate, Facts, Latency, Limit, LoopInfo, Manifest, Metrics, Postmark, Reason, Reference, RunReport,
    Seconds, Status, StepResult, StoreInfo, SuiteInfo, Tool, Verify, Warning, Which,
};

pub(in crate::report) use kernels::{compared, emulated, kernels};
pub(in crate::report) use repeated::{changes, repeated};

/// The run.
pub(in crate::report) fn report() -> RunReport {
    RunReport {
        tool: Tool { name: "fsduel".into(), version: "0.1.0".into() },
        environments: vec![Environment {
            backend: "host".into(),
            kernel: "6.18.44".into(),
            tools: [("mkfs.ext4".to_owned(), "mke2fs 1.47.0 (5-Feb-2023)".to_owned())].into(),
            timings_comparable: true,
            ..Environment::default()
        }],
        cases: vec![btrfs(), ext4(), xfs(), reiserfs()],
        comparisons: comparisons(),
        references: references(),
        claims: claims(),
        ..RunReport::of("1f0c7f0a-0000-4000-8000-000000000000".into(), manifest(), suite())
    }
}

/// A run of the configuration that the mailing list published in 2014, as fast as it was there.
pub(in crate::report) fn postmark() -> RunReport {
    let mut report = report();
    report.cases.truncate(2);
    report.comparisons.clear();
    report.claims.clear();
    report.references = published();
    let btrfs = Seconds { total: 498, creation: 30, transactions: 454, deletion: 14 };
    let ext4 = Seconds { total: 1268, creation: 57, transactions: 1183, deletion: 28 };
    for (case, seconds) in report.cases.iter_mut().zip([btrfs, ext4]) {
        case.steps = vec![mail(&seconds)];
    }
    report
}

/// Of the 23 figures for each file system, the longest and the shortest.
fn published() -> Vec<Reference> {
    let one = |metric: &str, filesystem: &str, value, printed: &str| Reference {
        step: "mail".into(),
        metric: metric.into(),
        filesystem: filesystem.into(),
        value,
        printed: printed.into(),
        approx: false,
    };
    vec![
        one("postmark_total_s", "btrfs", 498.0, "498 s"),
        one("postmark_deleted_alone_per_s", "btrfs", 14285.0, "14285/s"),
        one("created_mixed_count", "btrfs", 250_001.0, "250001"),
        one("postmark_written_bytes_per_s", "btrfs", 57_807_995.0, "55.13 MiB/s"),
        one("postmark_total_s", "ext4", 1268.0, "1268 s"),
        one("postmark_deleted_alone_per_s", "ext4", 7142.0, "7142/s"),
        one("created_mixed_count", "ext4", 250_001.0, "250001"),
        one("postmark_written_bytes_per_s", "ext4", 22_701_670.0, "21.65 MiB/s"),
    ]
}

fn mail(seconds: &Seconds) -> StepResult {
    let counts = Postmark {
        created_count: 450_001,
        created_alone_count: 200_000,
        created_mixed_count: 250_001,
        read_count: 250_007,
        appended_count: 249_940,
        deleted_count: 450_001,
        deleted_alone_count: 200_002,
        deleted_mixed_count: 249_999,
        transactions_count: 500_000,
        read_bytes: 15_419_783_628,
        written_bytes: 28_790_499_995,
        read_single_precision_bytes: 15_420_171_264,
        written_single_precision_bytes: 28_786_898_944,
        ..Postmark::default()
    };
    let mut metrics = vec![("creation_s", 29.875), ("synced_s", seconds_of(seconds.total) + 1.5)];
    metrics.extend(seconds.by_key().map(|(key, value)| (key, seconds_of(value))));
    metrics.extend(counts.rates(seconds).map(|rate| (rate.key, seconds_of(rate.whole()))));
    metrics.extend(counts.byte_rates(seconds).map(|rate| (rate.key, f64::from(rate.single()))));
    let facts = Facts {
        files_created_count: Some(counts.created_count),
        files_deleted_count: Some(counts.deleted_count),
        directories_created_count: Some(1000),
        payload_bytes: Some(counts.written_bytes),
        postmark: Some(counts),
        ..Facts::default()
    };
    step("mail", "postmark", facts, &metrics)
}

#[expect(clippy::cast_precision_loss, reason = "an example")]
fn seconds_of(count: u64) -> f64 {
    count as f64
}

fn manifest() -> Manifest {
    Manifest {
        kernel: "6.18.44".into(),
        os: "Debian GNU/Linux 12 (bookworm)".into(),
        cpu: "Intel(R) Xeon(R) Processor".into(),
        cpus_count: 2,
        memory_bytes: 24_689_328 << 10,
        virtualisation: Some("virtual machine".into()),
        store: StoreInfo { path: "/var/tmp".into(), filesystem: "ext4".into(), free_bytes: 50 << 30 },
        seed: "2010".into(),
        started_at: "2026-11-30T11:26:33Z".into(),
        argv: vec!["fsduel".into(), "run".into(), "linux-magazin-2010".into()],
        load_average: Some(1.7),
        warnings: vec![Warning {
            code: "load".into(),
            text: "the load average is 1.7 on 2 processors: other work competes with this run".into(),
        }],
    }
}

fn suite() -> SuiteInfo {
    SuiteInfo {
        name: "linux-magazin-2010".into(),
        title: "Btrfs against Ext 4, many small files and one large one".into(),
        scale: "quick".into(),
        source: Some("Linux-Magazin, 2010".into()),
        figures: vec![],
        resolved: json!({
            "base_scale": "full",
            "command": "fsduel run linux-magazin-2010 --scale quick --seed 2010 --fs ext4,btrfs,xfs,reiserfs",
            "configurations": [{ "id": "ext4" }, { "id": "btrfs" }, { "id": "xfs" }, { "id": "reiserfs" }],
        }),
    }
}

fn case(id: &str, order: u32, status: Status) -> CaseResult {
    let configuration = Configuration {
        id: id.into(),
        filesystem: id.into(),
        mount_options: "noatime,nodiscard".into(),
        mkfs_options: vec![],
        block_size_bytes: 4096,
        environment: 0,
    };
    CaseResult {
        started_s: f64::from(order) * 3.25,
        image_bytes: 2 << 30,
        status,
        ..CaseResult::of(configuration, 1, order)
    }
}

fn ran(id: &str, order: u32, ledger: &[(&str, Value)], steps: Vec<StepResult>) -> CaseResult {
    let mut metrics = Metrics::default();
    metrics.set("mkfs_s", 0.056);
    let verify = Verify {
        read_back: Checked::Clean,
        fsck: Checked::Clean,
        kernel_log: Checked::Clean,
        teardown: Checked::Clean,
        details: vec![],
    };
    CaseResult {
        mkfs_command: vec![format!("mkfs.{id}"), "/dev/loop4".into()],
        mount_options_effective: Some("rw,noatime".into()),
        loop_device: Some(LoopInfo { direct_io: true, logical_block_size_bytes: 512 }),
        ledger: ledger.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect(),
        steps,
        verify,
        metrics,
        ..case(id, order, Status::Passed)
    }
}

fn btrfs() -> CaseResult {
    let ledger = [
        ("checksums", json!("crc32c, data and metadata")),
        ("metadata_profile", json!("DUP")),
        ("reserve_bytes", json!(3_670_016)),
        ("lazy_init", json!(false)),
    ];
    let files = small_files(655_360.0, 0.668, [0.31, 0.52]);
    ran("btrfs", 1, &ledger, vec![files, fill(1_910_505_472, 3.1, [0.9, 1.4])])
}

fn ext4() -> CaseResult {
    let ledger = [
        ("checksums", json!("metadata")),
        ("inode_size_bytes", json!(256)),
        ("reserve_bytes", json!(107_374_182)),
        ("lazy_init", json!(false)),
    ];
    let files = small_files(41_287_680.0, 0.412, [0.287, 0.094]);
    ran("ext4", 2, &ledger, vec![files, fill(2_002_780_160, 2.2, [0.7, 0.2])])
}

/// Its kernel log could not be read, and its fill ran in the fourth case only.
fn xfs() -> CaseResult {
    let ledger = [
        ("checksums", json!("metadata")),
        ("inode_size_bytes", json!(512)),
        ("reserve_bytes", json!(0)),
        ("lazy_init", json!(false)),
    ];
    let mut case = ran("xfs", 3, &ledger, vec![small_files(45_088_768.0, 0.43, [0.301, 0.11])]);
    case.steps[0].metrics.0.remove("kernel_threads_cpu_s");
    case.verify.kernel_log = Checked::NotChecked;
    case.verify.details = vec!["kernel log: /dev/kmsg is not readable (EPERM)".into()];
    case
}

fn reiserfs() -> CaseResult {
    CaseResult {
        reason: Some(Reason {
            code: "unavailable".into(),
            text: "cannot mount reiserfs: this kernel does not have it".into(),
            next: Some("Linux 6.13 removed reiserfs; run in a virtual machine with Linux 6.12".into()),
        }),
        ..case("reiserfs", 4, Status::NotRun)
    }
}

fn step(name: &str, workload: &str, facts: Facts, metrics: &[(&str, f64)]) -> StepResult {
    StepResult {
        name: name.into(),
        workload: workload.into(),
        started_s: 0.5,
        ended: EndedWord::Completed,
        limit: None,
        facts,
        metrics: Metrics(metrics.iter().map(|(key, value)| ((*key).to_owned(), *value)).collect()),
        latency: BTreeMap::new(),
        series: vec![],
        errnos: vec![],
        read_back: Checked::Clean,
        command: None,
    }
}

fn small_files(space: f64, synced: f64, [kernel, threads]: [f64; 2]) -> StepResult {
    let facts = Facts {
        files_created_count: Some(9999),
        directories_created_count: Some(0),
        payload_bytes: Some(49_923),
        ..Facts::default()
    };
    let metrics = [
        ("space_used_bytes", space),
        ("returned_s", (synced * 800.0).round() / 1000.0),
        ("synced_s", synced),
        ("kernel_cpu_s", kernel),
        ("kernel_threads_cpu_s", threads),
        ("operations_per_s", (29_997.0 / synced).round()),
    ];
    let mut step = step("small-files", "many-small-files", facts, &metrics);
    let latency = Latency {
        count: 9999,
        p50_s: 21e-6,
        p90_s: 34e-6,
        p99_s: 80e-6,
        p999_s: 2e-4,
        max_s: 0.004,
        histogram: "21000:9999".into(),
    };
    step.latency.insert("create".into(), latency);
    step
}

fn fill(size: u64, synced: f64, [kernel, threads]: [f64; 2]) -> StepResult {
    let facts = Facts {
        files_created_count: Some(1),
        payload_bytes: Some(size),
        file_size_bytes: Some(size),
        errno: Some("ENOSPC".into()),
        ..Facts::default()
    };
    #[expect(clippy::cast_precision_loss, reason = "an example")]
    let bytes = size as f64;
    let metrics = [
        ("space_used_bytes", bytes),
        ("synced_s", synced),
        ("kernel_cpu_s", kernel),
        ("kernel_threads_cpu_s", threads),
        ("payload_bytes_per_s", (bytes / synced).round()),
    ];
    let limit = Limit {
        which: Which::Space,
        errno: Some("ENOSPC".into()),
        call: Some("write".into()),
        path: Some("fill/0".into()),
        at_count: 1910,
        at_operation: None,
        at_bytes: size,
        text: None,
    };
    StepResult {
        ended: EndedWord::Limit,
        limit: Some(limit),
        ..step("fill", "fill-until-enospc", facts, &metrics)
    }
}

fn comparisons() -> Vec<Comparison> {
    let one = |metric: &str, ratio| Comparison {
        step: "small-files".into(),
        metric: metric.into(),
        baseline: "ext4".into(),
        candidate: "btrfs".into(),
        estimate: Estimate { ratio: Some(ratio), n: 1, ..Estimate::default() },
    };
    vec![one("space_used_bytes", 0.016), one("synced_s", 1.62), one("kernel_cpu_s", 1.08)]
}

fn references() -> Vec<Reference> {
    let one = |step: &str, metric: &str, filesystem: &str, value, printed: &str, approx| Reference {
        step: step.into(),
        metric: metric.into(),
        filesystem: filesystem.into(),
        value,
        printed: printed.into(),
        approx,
    };
    vec![
        one("small-files", "space_used_bytes", "btrfs", 53e6, "53 MB", true),
        one("small-files", "space_used_bytes", "ext4", 621e6, "621 MB", true),
        one("fill", "payload_bytes_per_s", "btrfs", 44.5e6, "44.5 MB/s", false),
        one("fill", "payload_bytes_per_s", "xfs", 40e6, "40 MB/s", false),
    ]
}

fn claims() -> Vec<ClaimResult> {
    let one = |id: &str, text: &str, verdict, reason: Option<&str>| ClaimResult {
        id: id.into(),
        text: text.into(),
        source: Some("Linux-Magazin, 2010".into()),
        then: None,
        now: None,
        verdict,
        must: false,
        reason: reason.map(Into::into),
    };
    let space = ClaimResult {
        then: Some("btrfs 53 MB, ext4 621 MB".into()),
        now: Some("btrfs 640.0 KiB, ext4 39.4 MiB".into()),
        must: true,
        ..one("space", "Small files take less than a tenth of the space", ClaimVerdict::Holds, None)
    };
    vec![
        space,
        one("time", "Btrfs is a little faster", ClaimVerdict::DoesNotHold, None),
        one(
            "large-file",
            "Btrfs writes faster, Ext 4 holds more",
            ClaimVerdict::NotChecked,
            Some("only at scale full"),
        ),
    ]
}
