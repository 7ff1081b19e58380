//! On a small run that never was.

use serde_json::{Value, json};

use super::*;
use crate::error::Kind;

fn case(id: &str, block: u32) -> Value {
    json!({
        "id": format!("{id}/{block}"), "block": block, "order": 1, "started_s": 0.0, "image_bytes": 4096,
        "configuration": { "id": id, "filesystem": "a", "mount_options": "", "mkfs_options": [],
                           "block_size_bytes": 4096, "environment": 0 },
        "status": "passed", "mkfs_command": ["mkfs.a", "/dev/loop0"],
        "features": ["big"], "ledger": { "inode_size_bytes": 256 },
        "steps": [
            { "name": "mail", "workload": "postmark", "started_s": 0.0, "ended": "completed", "metrics": {},
              "facts": { "files_created_count": 7, "postmark": { "read_count": 5 } }, "read_back": "clean" },
            { "name": "fill", "workload": "fill-until-enospc", "started_s": 0.0, "ended": "limit",
              "limit": { "which": "space", "errno": "ENOSPC", "call": "write", "at_count": 3, "at_bytes": 4096 },
              "metrics": {}, "facts": { "file_size_bytes": 4096, "errno": "ENOSPC" }, "read_back": "clean" },
            { "name": "read", "workload": "read", "started_s": 0.0, "ended": "completed", "metrics": {},
              "facts": { "payload_bytes": 4096 }, "read_back": "clean" },
        ],
    })
}

fn run(cases: &[Value]) -> Value {
    let step = |name: &str, workload: &str, parameters: Value| json!({ "name": name, "workload": workload, "parameters": parameters, "allow_limit": false });
    let steps = [
        step("mail", "postmark", json!({ "number": 7 })),
        step("fill", "fill-until-enospc", json!({})),
        step("read", "read", json!({})),
    ];
    json!({
        "schema_version": 1, "run_id": "r", "tool": { "name": "fsduel", "version": "0" },
        "manifest": { "kernel": "6.18.44-1-amd64", "os": "", "cpu": "", "cpus_count": 1, "memory_bytes": 1,
                      "store": { "path": "", "filesystem": "", "free_bytes": 0 }, "seed": "1",
                      "started_at": "", "argv": [] },
        "suite": { "name": "s", "title": "", "scale": "base",
                   "resolved": { "seed": "1", "size_bytes": 4096, "block_size_bytes": 4096, "steps": steps } },
        "environments": [{ "backend": "host", "kernel": "6.18.44-1-amd64",
                           "tools": { "mkfs.a": "mkfs.a 1.0" }, "timings_comparable": true }],
        "cases": cases,
    })
}

fn report(run: &Value) -> RunReport {
    serde_json::from_value(run.clone()).unwrap()
}

fn golden(run: &Value) -> Golden {
    Golden::of_run(&report(run)).unwrap()
}

/// What a change of a run of two file systems is told as.
fn told(change: impl FnOnce(&mut Value)) -> Vec<String> {
    let mut new = run(&[case("a", 1), case("b", 1)]);
    let golden = golden(&new);
    change(&mut new);
    let compared = compare(&golden, &report(&new)).unwrap();
    assert_eq!(compared.differing.is_empty(), compared.deviations.is_empty());
    compared.deviations.iter().map(Deviation::to_string).collect()
}

#[test]
fn a_run_agrees_with_its_own_facts_and_all_are_counted() {
    let run = run(&[case("a", 1), case("b", 1)]);
    let compared = compare(&golden(&run), &report(&run)).unwrap();
    assert_eq!(compared.deviations, []);
    assert_eq!(compared.notes, [] as [&str; 0]);
    assert_eq!(compared.configurations, ["a", "b"]);
    assert_eq!(compared.steps_count, 6);
    // Options 3, features 1, ledger 1; of each step 3; the limit 3; 2 + 1 + 0 facts; reached 2 + 1.
    let postmark = serde_json::to_value(crate::result::Postmark::default()).unwrap();
    let more = postmark.as_object().unwrap().len() - 1;
    assert_eq!(compared.facts_count, 2 * (3 + 2 + 9 + 3 + 3 + 3 + more));
}

#[test]
fn each_fact_that_differs_is_named_with_both_values() {
    let change = |new: &mut Value| {
        let steps = &mut new["cases"][1]["steps"];
        steps[0]["facts"]["files_created_count"] = json!(6);
        steps[0]["facts"]["postmark"]["read_count"] = json!(4);
        steps[0]["facts"]["tree_hash"] = json!("00");
        steps[1]["limit"]["which"] = json!("metadata");
        steps[1]["facts"]["file_size_bytes"] = json!(8192);
        steps[2]["read_back"] = json!("not_checked");
        new["cases"][1]["ledger"]["inode_size_bytes"] = json!(512);
        new["cases"][1]["features"] = json!([]);
    };
    assert_eq!(
        told(change),
        [
            "b.features: golden [\"big\"], got []",
            "b.ledger.inode_size_bytes: golden 256, got 512",
            "b.fill.file_size_bytes: golden 4096, got 8192",
            "b.fill.limit.which: golden space, got metadata",
            "b.mail.files_created_count: golden 7, got 6",
            "b.mail.read_count: golden 5, got 4",
            "b.mail.tree_hash: golden nothing, got 00",
            "b.read.read_back: golden clean, got not_checked",
        ]
    );
}

#[test]
fn how_many_calls_a_fill_needed_and_all_that_is_measured_is_no_fact() {
    let change = |new: &mut Value| {
        new["cases"][0]["steps"][1]["limit"]["at_count"] = json!(4);
        new["cases"][0]["steps"][1]["metrics"]["synced_s"] = json!(1.5);
        new["cases"][0]["uuid"] = json!("random");
        new["run_id"] = json!("other");
    };
    assert_eq!(told(change), [] as [&str; 0]);
}

#[test]
fn a_case_that_did_not_pass_is_a_deviation_and_its_facts_are_not_taken() {
    let mut new = run(&[case("a", 1)]);
    let golden = golden(&new);
    new["cases"][0]["status"] = json!("invalid");
    new["cases"][0]["reason"] = json!({ "code": "environment", "text": "the store is full" });
    let compared = compare(&golden, &report(&new)).unwrap();
    assert_eq!(
        compared.deviations[0].to_string(),
        "a.status: golden passed, got invalid (the store is full)"
    );
    assert!(Golden::of_run(&report(&new)).unwrap_err().to_string().contains("invalid (the store is full)"));
}

#[test]
fn every_block_is_compared_and_blocks_that_differ_give_no_facts() {
    let known = golden(&run(&[case("a", 1)]));
    let mut new = run(&[case("a", 0), case("a", 1), case("a", 2)]);
    assert_eq!(compare(&known, &report(&new)).unwrap().steps_count, 9);
    new["cases"][2]["steps"][0]["facts"]["files_created_count"] = json!(6);
    let compared = compare(&known, &report(&new)).unwrap();
    assert_eq!(compared.deviations[0].to_string(), "a/2.mail.files_created_count: golden 7, got 6");
    let error = Golden::of_run(&report(&new)).unwrap_err();
    assert_eq!(error.kind(), Kind::Damage);
    assert!(error.to_string().contains("files_created_count"), "{error}");
}

#[test]
fn a_version_that_is_not_known_is_a_note_and_what_all_versions_share_is_compared() {
    let base = run(&[case("a", 1)]);
    let known = golden(&base);
    let mut new = base.clone();
    new["environments"][0]["tools"]["mkfs.a"] = json!("mkfs.a 2.0");
    new["cases"][0]["features"] = json!(["other"]);
    let compared = compare(&known, &report(&new)).unwrap();
    assert_eq!(
        (compared.deviations, compared.notes),
        (vec![], vec!["a: no facts for mkfs.a 2.0; --accept adds them".to_owned()])
    );
    new["cases"][0]["steps"][0]["facts"]["files_created_count"] = json!(6);
    assert_eq!(compare(&known, &report(&new)).unwrap().deviations.len(), 1);

    let mut new = base;
    new["environments"][0]["kernel"] = json!("6.19.1");
    new["cases"][0]["steps"][1]["facts"]["file_size_bytes"] = json!(8192);
    let compared = compare(&known, &report(&new)).unwrap();
    assert_eq!(
        (compared.deviations, compared.notes),
        (vec![], vec!["a: no facts for Linux 6.19; --accept adds them".to_owned()])
    );
    new["environments"][0]["kernel"] = json!("6.18.99");
    assert_eq!(compare(&known, &report(&new)).unwrap().deviations.len(), 1, "the same series");
}

#[test]
fn what_the_other_side_does_not_have_is_a_note_and_nothing_in_common_is_empty() {
    let (a, b) = (run(&[case("a", 1)]), run(&[case("b", 1)]));
    let both = run(&[case("a", 1), case("b", 1)]);
    assert_eq!(compare(&golden(&both), &report(&a)).unwrap().notes, ["b: not in this run, not compared"]);
    assert_eq!(
        compare(&golden(&a), &report(&both)).unwrap().notes,
        ["b: no facts of it; --accept adds them"]
    );
    assert_eq!(compare(&golden(&a), &report(&b)).unwrap_err().kind(), Kind::Empty);
    assert_eq!(Golden::of_run(&report(&run(&[]))).unwrap_err().kind(), Kind::Empty);
}

#[test]
fn other_work_is_refused_with_what_differs() {
    let base = run(&[case("a", 1)]);
    for (path, value, wanted) in [
        ("/suite/name", json!("other"), "run.suite: golden s, got other"),
        ("/suite/scale", json!("full"), "run.scale: golden base, got full"),
        ("/suite/resolved/seed", json!("2"), "run.seed: golden 1, got 2"),
        ("/suite/resolved/size_bytes", json!(1), "run.size_bytes: golden 4096, got 1"),
        ("/suite/resolved/block_size_bytes", json!(1), "run.block_size_bytes: golden 4096, got 1"),
        (
            "/suite/resolved/steps/0/parameters/number",
            json!(8),
            "run.mail.parameters.number: golden 7, got 8",
        ),
        ("/suite/resolved/steps/1/allow_limit", json!(true), "run.fill.allow_limit: golden false, got true"),
    ] {
        let mut new = base.clone();
        *new.pointer_mut(path).unwrap() = value;
        let error = compare(&golden(&base), &report(&new)).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().ends_with(wanted), "{error}");
    }
    let mut swapped = base.clone();
    swapped["suite"]["resolved"]["steps"].as_array_mut().unwrap().swap(0, 1);
    let error = compare(&golden(&base), &report(&swapped)).unwrap_err();
    assert!(error.to_string().contains("run.order"), "{error}");
}

#[test]
fn accepting_keeps_what_did_not_run_and_other_versions_of_the_same_work() {
    let old = golden(&run(&[case("a", 1), case("b", 1)]));
    let mut new = run(&[case("a", 1)]);
    new["environments"][0]["kernel"] = json!("6.19.1");
    let kept = golden(&new).keeping(old.clone());
    assert_eq!(kept.configurations.len(), 2);
    let kernels: Vec<_> = kept.versioned["a"]["mkfs.a 1.0"].reached.keys().collect();
    assert_eq!(kernels, ["6.18", "6.19"]);

    new["environments"][0]["tools"]["mkfs.a"] = json!("mkfs.a 2.0");
    let kept = golden(&new).keeping(old.clone());
    assert_eq!(kept.versioned["a"].len(), 2);
    new["cases"][0]["configuration"]["mkfs_options"] = json!(["-x"]);
    let kept = golden(&new).keeping(old.clone());
    assert_eq!(kept.versioned["a"].len(), 1, "made with other options");

    new["suite"]["resolved"]["seed"] = json!("2");
    assert_eq!(golden(&new).keeping(old).configurations.len(), 1, "other work");
}

#[test]
fn what_is_written_reads_back_the_same_with_and_without_a_header() {
    let golden = golden(&run(&[case("a", 1)]));
    for header in [None, Some(NEW_HEADER)] {
        let text = text(&golden, header).unwrap();
        let parsed = parse(&text).unwrap();
        assert_eq!((parsed.header.as_deref(), &parsed.golden), (header, &golden));
        assert!(text.ends_with("}\n"));
        assert_eq!(super::text(&parsed.golden, parsed.header.as_deref()).unwrap(), text);
    }
}

#[test]
fn text_that_is_no_file_of_facts_is_refused_with_the_reason() {
    let text = text(&golden(&run(&[case("a", 1)])), None).unwrap();
    for (text, wanted) in [
        (text[..text.len() / 2].to_owned(), "cut short"),
        (String::new(), "cut short"),
        ("fsduel".into(), "line 1"),
        ("{}".into(), "no schema_version"),
        (text.replace("\"schema_version\": 1", "\"schema_version\": 2"), "schema_version is 2"),
        (text.replace("\"read_back\"", "\"read_bark\""), "unknown field `read_bark`"),
        ("---\nsource: x\n".into(), "has no end"),
    ] {
        let error = parse(&text).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage);
        assert!(error.to_string().contains(wanted), "{error}");
        assert!(error.next_step().is_some(), "{error}");
    }
}
