//! Every workload, with every way to sync and every pattern: what is planned is what is done, what
//! is done is what is read back, and what removes leaves nothing.
#![expect(clippy::unwrap_used, reason = "a test that cannot get its input has to fail")]

use std::fs::File;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fsduel_harness::ops::{Counts, Plan, Reach, Real};
use fsduel_harness::result::Checked;
use fsduel_harness::units::{Bytes, Seed};
use fsduel_harness::verify::read_back;
use fsduel_harness::workload::{ALL, StepSpec, Workload, sequence};
use serde_json::{Value, json};
use tempfile::TempDir;

const SEED: Seed = Seed(2010);
static GO_ON: AtomicBool = AtomicBool::new(false);

/// Parameters of a small step of each workload that makes a tree.
fn trees() -> Vec<(&'static str, Value)> {
    let mut trees = vec![];
    for pattern in ["random", "zero", "text"] {
        for fsync in ["none", "file", "end"] {
            let common = json!({"pattern": pattern, "fsync": fsync});
            let files = |more| ("many-small-files", merged(&common, more));
            trees.push(files(json!({"count": 40, "file-size": "0..9"})));
            // More than one write for each file, and an end beside every boundary.
            trees.push(files(json!({"count": 4, "file-size": "130k..300001"})));
            let directories = json!({"count": 12, "files": "0..3", "file-size": "1..5000"});
            trees.push(("many-directories", merged(&common, directories)));
        }
        trees.push(("fill-until-enospc", json!({"pattern": pattern, "cap": 300_001, "chunk": "64k"})));
    }
    for content in ["pool", "unique"] {
        let settings = json!({"number": 40, "transactions": 90, "subdirectories": 3, "delete": false});
        trees.push(("postmark", merged(&json!({"content": content}), settings)));
    }
    trees
}

fn merged(common: &Value, mut more: Value) -> Value {
    more.as_object_mut().unwrap().extend(common.as_object().unwrap().clone());
    more
}

/// The tree, what reads it, and what removes it.
fn steps(workload: &str, parameters: Value) -> Vec<Arc<dyn Workload>> {
    let step = |workload: &str, parameters| StepSpec {
        name: if parameters == Value::Null { workload.into() } else { "tree".into() },
        workload: workload.into(),
        parameters,
        allow_limit: false,
    };
    let readers = ["list", "stat", "read", "remove"].map(|workload| step(workload, Value::Null));
    let all: Vec<_> = std::iter::once(step(workload, parameters)).chain(readers).collect();
    sequence(&all, Bytes::kib(4), Bytes::mib(1), false).map_err(|(_, error)| error).unwrap()
}

fn done(workload: &dyn Workload, on: &TempDir) -> Counts {
    let mut real = Real::new(File::open(on.path()).unwrap(), &GO_ON);
    workload.run(&mut real, SEED).unwrap();
    real.into_record().counts
}

/// What is done, and the hash of the tree that is left.
fn planned(workload: &dyn Workload) -> (Counts, String) {
    let mut counting = Plan::counting();
    workload.run(&mut counting, SEED).unwrap();
    let mut tell = |_| {};
    let mut plan = Plan::new(&mut tell);
    workload.leave(&mut plan, SEED, Reach::default()).unwrap();
    (counting.finish().counts, plan.finish().tree_hash())
}

/// What is read back after `workload`, which must be as it was planned.
fn clean_hash(workload: &dyn Workload, on: &TempDir, reach: Reach) -> String {
    let root = File::open(on.path()).unwrap();
    let back = read_back(root.as_fd(), workload, "tree", SEED, reach, &GO_ON).unwrap();
    assert_eq!((back.checked, &back.details[..]), (Checked::Clean, &[][..]));
    back.tree_hash
}

#[test]
fn what_is_planned_is_done_read_back_and_removed() {
    for (name, parameters) in trees() {
        let case = format!("{name} {parameters}");
        // Not /tmp: a memory file system may have no holes to look for.
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let steps = steps(name, parameters);
        let [tree, readers @ .., remove] = &steps[..] else { panic!("there are five steps") };
        let counts = done(&**tree, &folder);
        let (planned_counts, hash) = planned(&**tree);
        assert_eq!(counts, planned_counts, "{case}");
        let fill = tree.fills().then_some(Bytes(counts.written_bytes));
        assert_eq!(clean_hash(&**tree, &folder, fill.into()), hash, "{case}");
        for reader in readers {
            let counts = done(&**reader, &folder);
            // The size of a file that ends with the space is known to the file system only.
            assert!(tree.fills() || counts == planned(&**reader).0, "{case}");
            assert_eq!(clean_hash(&**reader, &folder, fill.into()), hash, "{case}");
        }
        assert_eq!(done(&**remove, &folder), planned(&**remove).0, "{case}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{case}");
        assert_eq!(clean_hash(&**remove, &folder, fill.into()), "0".repeat(32), "{case}");
    }
}

#[test]
fn every_workload_is_in_the_table_above() {
    let made: Vec<_> = trees().into_iter().map(|(name, _)| name).collect();
    for row in ALL {
        let reads = ["list", "stat", "read", "remove"].contains(&row.name);
        // What a command does cannot be planned.
        assert!(reads || row.name == "exec" || made.contains(&row.name), "{} is not tested", row.name);
    }
}
