//! Claims on the results of runs.

mod kernels;
mod repeated;

use serde_json::json;

use super::*;
use crate::result::{Reference, RunReport};

/// A case as a report stores it, with one step.
fn case(filesystem: &str, block: u32, status: &str, space: f64) -> serde_json::Value {
    json!({
        "id": format!("{filesystem}/{block}"),
        "configuration": {"id": filesystem, "filesystem": filesystem, "mount_options": "", "mkfs_options": [],
                          "block_size_bytes": 4096, "environment": 0},
        "block": block, "order": 1, "started_s": 0.0, "image_bytes": 0, "status": status,
        "reason": (status != "passed").then(|| json!({"code": "x", "text": "the store is full"})),
        "metrics": {"mkfs_s": 0.5},
        "steps": [{"name": "small-files", "workload": "many-small-files", "started_s": 0.0, "ended": "completed",
                   "facts": {"file_size_bytes": 1000, "tree_hash": "00"}, "read_back": "clean",
                   "metrics": {"space_used_bytes": space, "synced_s": 2.0}}]
    })
}

fn report(cases: &[serde_json::Value]) -> RunReport {
    serde_json::from_value(json!({
        "schema_version": 1, "run_id": "r", "tool": {"name": "fsduel", "version": "0"},
        "manifest": {"kernel": "", "os": "", "cpu": "", "cpus_count": 1, "memory_bytes": 0, "seed": "1",
                     "store": {"path": "", "filesystem": "", "free_bytes": 0}, "started_at": "", "argv": []},
        "suite": {"name": "", "title": "", "scale": "quick", "resolved": {}},
        "environments": [], "cases": cases
    }))
    .unwrap()
}

fn claim(holds: &str) -> ClaimSpec {
    ClaimSpec {
        id: "space".into(),
        holds: holds.into(),
        step: Some("small-files".into()),
        metric: Some("space_used_bytes".into()),
        must: true,
        ..ClaimSpec::default()
    }
}

fn verdict(holds: &str, report: &RunReport) -> (ClaimVerdict, Option<String>, Option<String>) {
    let result = evaluate(&[claim(holds)], &[], report).remove(0);
    (result.verdict, result.now, result.reason)
}

fn two() -> RunReport {
    report(&[case("btrfs", 1, "passed", 99_719_577.0), case("ext4", 1, "passed", 420_478_976.0)])
}

#[test]
fn a_claim_is_judged_by_the_figures_of_this_run_and_shows_them() {
    let (word, now, reason) = verdict("btrfs < 0.1 * ext4", &two());
    assert_eq!(word, ClaimVerdict::DoesNotHold);
    assert_eq!(now.unwrap(), "small-files space used: btrfs 95.1 MiB, ext4 401 MiB, ×0.237");
    assert_eq!(reason, None);
    assert_eq!(verdict("btrfs < 0.25 * ext4", &two()).0, ClaimVerdict::Holds);
}

#[test]
fn every_comparison_means_what_it_says() {
    let table = [
        ("1 < 1", false),
        ("1 <= 1", true),
        ("1 > 1", false),
        ("1 >= 1", true),
        ("104 ~ 100 within 5%", true),
        ("106 ~ 100 within 5%", false),
        ("94 ~ 100 within 5%", false),
        ("2 * 3 + 4 / 2 - 1 >= 7", true),
        ("2 * 3 + 4 / 2 - 1 <= 7", true),
        ("1 < 2 and 2 < 1", false),
        ("small-files.file_size_bytes[ext4] ~ 1000 within 0%", true),
    ];
    for (holds, expected) in table {
        let result = evaluate(&[claim(holds)], &[], &two()).remove(0);
        assert_eq!(result.verdict == ClaimVerdict::Holds, expected, "{holds}: {:?}", result.reason);
        assert_ne!(result.verdict, ClaimVerdict::NotChecked, "{holds}");
    }
}

#[test]
fn a_metric_of_the_whole_case_needs_no_step() {
    let spec = ClaimSpec { step: None, metric: None, ..claim("mkfs_s[ext4] ~ 0.5 within 1%") };
    let result = evaluate(&[spec], &[], &two()).remove(0);
    assert_eq!((result.verdict, result.now.as_deref()), (ClaimVerdict::Holds, Some("mkfs: ext4 500 ms")));
}

#[test]
fn figures_of_several_metrics_are_told_apart() {
    let (_, now, _) = verdict("btrfs < ext4 and synced_s[btrfs] > synced_s[ext4]", &two());
    assert_eq!(
        now.unwrap(),
        "small-files space used: btrfs 95.1 MiB, ext4 401 MiB, ×0.237; \
         small-files synced: btrfs 2.00 s, ext4 2.00 s, ×1.00"
    );
}

#[test]
fn a_claim_that_cannot_be_judged_says_why_and_never_holds() {
    let failed = report(&[case("btrfs", 1, "passed", 1.0), case("ext4", 1, "invalid", 9.0)]);
    let table = [
        ("xfs > 0", &failed, "xfs is not in this run"),
        ("btrfs < ext4", &failed, "case ext4/1 did not pass: the store is full"),
        ("user_cpu_s[btrfs] < 1", &failed, "small-files.user_cpu_s was not measured on btrfs"),
        ("1 < 0 and xfs > 0", &failed, "xfs is not in this run"),
        ("btrfs / 0 > 1", &failed, "a division by zero"),
        ("btrfs <", &failed, "cannot be read"),
    ];
    for (holds, report, why) in table {
        let (word, _, reason) = verdict(holds, report);
        assert_eq!(word, ClaimVerdict::NotChecked, "{holds}");
        assert!(reason.as_ref().unwrap().contains(why), "{holds}: {reason:?}");
    }
}

#[test]
fn a_claim_about_another_scale_shows_its_figures_without_a_verdict() {
    let spec = ClaimSpec { scales: vec!["full".into()], ..claim("btrfs < ext4") };
    let result = evaluate(&[spec], &[], &two()).remove(0);
    assert_eq!(result.verdict, ClaimVerdict::NotChecked);
    assert!(result.now.unwrap().contains("95.1 MiB"));
    assert_eq!(result.reason.unwrap(), "only at scale full; this is quick");
}

#[test]
fn the_warm_up_enters_nothing_and_blocks_are_averaged() {
    let cases =
        [case("ext4", 0, "passed", 1e9), case("ext4", 1, "passed", 100.0), case("ext4", 2, "passed", 101.0)];
    let (_, now, _) = verdict("ext4 > 1", &report(&cases));
    assert_eq!(now.unwrap(), "small-files space used: ext4 100 B");
    assert_eq!(verdict("ext4 ~ 100.5 within 10%", &report(&cases)).0, ClaimVerdict::Holds);
}

#[test]
fn the_figures_of_the_source_stand_beside() {
    let reference = |filesystem: &str, value, printed: &str| Reference {
        step: "small-files".into(),
        metric: "space_used_bytes".into(),
        filesystem: filesystem.into(),
        value,
        printed: printed.into(),
        approx: filesystem == "btrfs",
    };
    let references = [reference("btrfs", 53e6, "53 MByte"), reference("ext4", 621e6, "621 MByte")];
    let result = evaluate(&[claim("btrfs < 0.1 * ext4")], &references, &two()).remove(0);
    assert_eq!(result.then.unwrap(), "small-files space used: btrfs about 53 MByte, ext4 621 MByte, ×0.0853");
    let none = evaluate(&[claim("btrfs < 0.1 * ext4")], &[], &two()).remove(0);
    assert_eq!(none.then, None);
}

#[test]
fn many_shares_are_told_as_ratios_alone() {
    let share = |filesystem: &str| {
        let figure = |metric: &str| format!("small-files.{metric}[{filesystem}]");
        format!("{} < 0.1 * {}", figure("synced_s"), figure("space_used_bytes"))
    };
    let holds = format!("{} and {}", share("btrfs"), share("ext4"));
    let cases = [case("btrfs", 1, "passed", 8.0), case("ext4", 1, "passed", 20.0)];
    let (word, now, _) = verdict(&holds, &report(&cases));
    assert_eq!(word, ClaimVerdict::DoesNotHold);
    assert_eq!(now.unwrap(), "synced to space used: small-files btrfs ×0.250, ext4 ×0.100");
}
