//! Properties of the whole table.

use std::sync::atomic::AtomicBool;

use nix::errno::Errno;
use serde_json::json;

use super::*;
use crate::ops::{Counts, Entry, EntryKind, Failure, Op, Ops, Plan, Planned, Reach, Real};

const SEED: Seed = Seed(7);

fn make(step: &str, workload: &str, parameters: Value, earlier: &[Earlier]) -> Result<Arc<dyn Workload>> {
    let build = Build {
        step,
        parameters: &parameters,
        earlier,
        block_size: Bytes::kib(4),
        image_size: Bytes::mib(1),
        compressing: false,
    };
    super::build(&build, workload)
}

/// Small steps of every workload that makes a tree.
fn trees() -> Vec<Earlier> {
    let tree = |step: &str, workload, parameters| Earlier {
        step: step.into(),
        workload: make(step, workload, parameters, &[]).unwrap(),
    };
    vec![
        tree("small", "many-small-files", json!({"count": 20, "file-size": "0..9", "fsync": "end"})),
        tree("large", "many-small-files", json!({"count": 3, "file-size": "128KiB..400KiB"})),
        tree("directories", "many-directories", json!({"count": 5, "fsync": "file", "pattern": "text"})),
        tree("fill", "fill-until-enospc", json!({"cap": "300k", "chunk": "64k"})),
    ]
}

fn real<T>(directory: &tempfile::TempDir, work: impl FnOnce(&mut Real) -> T) -> (T, crate::ops::Record) {
    let stop = AtomicBool::new(false);
    let root = std::fs::File::open(directory.path()).unwrap();
    let mut real = Real::new(root, &stop);
    let result = work(&mut real);
    (result, real.into_record())
}

fn plan(workload: &dyn Workload, reach: Reach, seed: Seed) -> (ops::Result<Ended>, Planned, Vec<Entry>) {
    let mut entries = vec![];
    let mut tell = |entry| entries.push(entry);
    let mut plan = Plan::new(&mut tell);
    let ended = workload.leave(&mut plan, seed, reach);
    let planned = plan.finish();
    (ended, planned, entries)
}

#[test]
fn every_file_of_this_folder_has_a_row_in_the_table() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/workload");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_str().unwrap().replace('_', "-");
        if path.is_file() && stem != "mod" && stem != "tests" {
            assert!(ALL.iter().any(|row| row.name == stem), "{} has no row in ALL", path.display());
        }
    }
}

#[test]
fn the_parameters_in_help_are_those_that_are_read() {
    let keys = |value: Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let read = [
        ("many-small-files", serde_json::to_value(many_small_files::Parameters::default())),
        ("many-directories", serde_json::to_value(many_directories::Parameters::default())),
        ("fill-until-enospc", serde_json::to_value(fill_until_enospc::Parameters::default())),
        ("read", serde_json::to_value(shared::earlier::Parameters::default())),
    ];
    for (name, value) in read {
        let row = ALL.iter().find(|row| row.name == name).unwrap();
        let mut told: Vec<_> = row.parameters.iter().map(|parameter| parameter.key.to_owned()).collect();
        told.sort();
        assert_eq!(told, keys(value.unwrap()), "{name}");
    }
}

#[test]
fn a_default_in_help_is_the_default() {
    for row in ALL.iter().filter(|row| row.name.starts_with("many")) {
        let default = make("a", row.name, json!({}), &[]).unwrap();
        let value = |text| serde_json::from_str::<Value>(text).unwrap();
        let told: serde_json::Map<String, Value> =
            row.parameters.iter().map(|p| (p.key.into(), value(p.default))).collect();
        let told = make("a", row.name, Value::Object(told), &[]).unwrap();
        assert_eq!(plan(&*default, Reach::default(), SEED), plan(&*told, Reach::default(), SEED));
    }
}

#[test]
fn what_is_done_is_what_was_planned() {
    let directory = tempfile::tempdir().unwrap();
    for tree in trees() {
        let (ended, record) = real(&directory, |real| tree.workload.run(real, SEED));
        let (planned_end, planned, entries) = plan(&*tree.workload, Reach::default(), SEED);
        assert!(tree.workload.least_calls() <= planned.counts.total(), "{}", tree.step);
        assert_eq!((ended.unwrap(), record.counts), (planned_end.unwrap(), planned.counts), "{}", tree.step);
        for entry in entries {
            let found = std::fs::metadata(directory.path().join(&entry.path)).unwrap();
            assert_eq!(found.is_dir(), entry.kind == EntryKind::Directory, "{}", entry.path);
            assert!(found.is_dir() || found.len() == entry.size, "{}", entry.path);
        }
    }
    for name in ["list", "stat", "remove"] {
        let workload = make(name, name, json!({}), &trees()).unwrap();
        let (ended, record) = real(&directory, |real| workload.run(real, SEED));
        assert_eq!(ended.unwrap(), Ended::Completed);
        assert_eq!(Ok(Some(record.counts)), totals(&*workload, SEED, u64::MAX), "{name}");
        assert!(totals(&*workload, SEED, 1).is_err(), "{name} counts on");
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "remove leaves nothing");
}

#[test]
fn read_reads_every_byte_of_every_file() {
    let directory = tempfile::tempdir().unwrap();
    let trees = trees();
    let written: u64 = trees
        .iter()
        .map(|tree| real(&directory, |real| tree.workload.run(real, SEED)).1.counts.written_bytes)
        .sum();
    let all = make("read", "read", Value::Null, &trees).unwrap();
    let (_, record) = real(&directory, |real| all.run(real, SEED).unwrap());
    assert_eq!(record.counts.read_bytes, written);
    let known = make("read", "read", json!({"of": ["large", "small"]}), &trees).unwrap();
    let (_, record) = real(&directory, |real| known.run(real, SEED).unwrap());
    assert_eq!(Ok(Some(record.counts)), totals(&*known, SEED, u64::MAX));
}

#[test]
fn what_postmark_leaves_in_many_places_can_be_read_and_removed() {
    let paths = [&["a", "b/c"][..], &["", "../x", "/y", "../x/"], &["a", "a/b", "c", "a/d"], &["a/b", "a"]];
    for (paths, subdirectories) in paths.iter().flat_map(|paths| [(paths, 0), (paths, 3)]) {
        let directory = tempfile::tempdir().unwrap();
        let locations: Vec<_> = paths.iter().map(|path| json!({"path": path})).collect();
        let given = json!({"locations": locations, "subdirectories": subdirectories, "delete": false});
        let workload = make("mail", "postmark", given, &[]).unwrap();
        real(&directory, |real| workload.run(real, SEED).unwrap());
        let trees = [Earlier { step: "mail".into(), workload }];
        for next in ["list", "stat", "read", "remove"] {
            let next = make(next, next, json!({}), &trees).unwrap();
            real(&directory, |real| next.run(real, SEED).unwrap());
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0, "{paths:?} {subdirectories}");
    }
}

#[test]
fn remove_removes_exactly_what_it_names() {
    let directory = tempfile::tempdir().unwrap();
    let trees = trees();
    for tree in &trees {
        real(&directory, |real| tree.workload.run(real, SEED).unwrap());
    }
    let remove = make("remove", "remove", json!({"of": ["directories", "small"]}), &trees).unwrap();
    real(&directory, |real| remove.run(real, SEED).unwrap());
    let mut left: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["fill", "large"]);
    assert_eq!(remove.removes().len(), 2);
}

#[test]
fn remove_fails_where_something_else_is_in_the_way() {
    let directory = tempfile::tempdir().unwrap();
    let trees = trees();
    real(&directory, |real| trees[2].workload.run(real, SEED).unwrap());
    std::fs::write(directory.path().join("directories/000001/foreign"), "").unwrap();
    let remove = make("remove", "remove", json!({"of": ["directories"]}), &trees).unwrap();
    let (ended, record) = real(&directory, |real| remove.run(real, SEED));
    let failure = ended.unwrap_err();
    assert_eq!((failure.op, failure.errno), (Op::Rmdir, Errno::ENOTEMPTY));
    assert_eq!(record.errnos, [failure]);
}

#[test]
fn the_seed_decides_the_tree() {
    for tree in trees().iter().filter(|tree| tree.step != "fill") {
        let hash = |seed| plan(&*tree.workload, Reach::default(), seed).1.tree_hash();
        assert_eq!(hash(SEED), hash(SEED));
        assert_ne!(hash(SEED), hash(Seed(8)), "{}", tree.step);
    }
}

#[test]
fn a_tree_does_not_depend_on_how_much_a_write_takes() {
    struct Short<'a>(Plan<'a>);
    impl Ops for Short<'_> {
        fn write(&mut self, file: ops::Handle, bytes: &[u8]) -> ops::Result<usize> {
            self.0.write(file, &bytes[..bytes.len().min(5000)])
        }
        fn mkdir(&mut self, path: &str) -> ops::Result<()> {
            self.0.mkdir(path)
        }
        fn open_as(&mut self, path: &str, how: ops::How) -> ops::Result<ops::Handle> {
            self.0.open_as(path, how)
        }
        fn close(&mut self, file: ops::Handle) -> ops::Result<()> {
            self.0.close(file)
        }
        fn fsync(&mut self, file: ops::Handle) -> ops::Result<()> {
            self.0.fsync(file)
        }
        fn read(&mut self, file: ops::Handle, into: &mut [u8]) -> ops::Result<usize> {
            self.0.read(file, into)
        }
        fn rmdir(&mut self, path: &str) -> ops::Result<()> {
            self.0.rmdir(path)
        }
        fn unlink(&mut self, path: &str) -> ops::Result<()> {
            self.0.unlink(path)
        }
        fn stat(&mut self, path: &str) -> ops::Result<u64> {
            self.0.stat(path)
        }
        fn readdir(&mut self, path: &str, tell: &mut dyn FnMut(&str, ops::Kind)) -> ops::Result<()> {
            self.0.readdir(path, tell)
        }
        fn counts(&self) -> &Counts {
            self.0.counts()
        }
    }
    for tree in trees() {
        let mut tell = |_| {};
        let mut short = Short(Plan::new(&mut tell));
        tree.workload.run(&mut short, SEED).unwrap();
        let short = short.0.finish();
        let whole = plan(&*tree.workload, Reach::default(), SEED).1;
        assert_eq!(short.tree, whole.tree, "{}", tree.step);
    }
}

#[test]
fn a_fill_ends_at_the_capacity_to_the_byte_whatever_the_chunk() {
    for (pattern, chunk) in [("zero", "1MiB"), ("random", "1MiB"), ("zero", "4k"), ("text", "12k")] {
        let fill =
            make("fill", "fill-until-enospc", json!({"pattern": pattern, "chunk": chunk}), &[]).unwrap();
        let (ended, planned, entries) = plan(&*fill, Some(Bytes(5_000_001)).into(), SEED);
        let failure = Failure { op: Op::Write, path: "fill/file".into(), errno: Errno::ENOSPC };
        assert_eq!(ended.unwrap(), Ended::Full(failure));
        assert_eq!((entries.len(), entries[0].size), (1, 5_000_001));
        assert_eq!(planned.counts.written_bytes, 5_000_001);
    }
}

#[test]
fn a_cap_is_a_limit_of_the_suite_and_no_failure() {
    let fill = make("fill", "fill-until-enospc", json!({"cap": "2MiB"}), &[]).unwrap();
    let (ended, _, entries) = plan(&*fill, Reach::default(), SEED);
    assert!(matches!(ended.unwrap(), Ended::Capped(text) if text.starts_with("the cap of ")));
    assert_eq!(entries[0].size, 2 << 20);
}

#[test]
fn enospc_from_fsync_ends_a_fill_and_an_io_error_fails_it() {
    let cases = [(Op::Fsync, Errno::ENOSPC), (Op::Close, Errno::ENOSPC), (Op::Write, Errno::EIO)];
    for (op, errno) in cases {
        let fill = make("fill", "fill-until-enospc", json!({"cap": "2MiB"}), &[]).unwrap();
        let mut failing = Failing { op, errno, counts: Counts::default() };
        let failure = Failure { op, path: String::new(), errno };
        let ended = fill.run(&mut failing, SEED);
        if errno == Errno::ENOSPC {
            assert_eq!(ended.unwrap(), Ended::Full(failure));
        } else {
            assert_eq!(ended.unwrap_err(), failure);
        }
    }
}

/// One call fails, the others succeed.
struct Failing {
    op: Op,
    errno: Errno,
    counts: Counts,
}

impl Failing {
    fn answer<T>(&self, op: Op, value: T) -> ops::Result<T> {
        if op == self.op { Err(Failure { op, path: String::new(), errno: self.errno }) } else { Ok(value) }
    }
}

impl Ops for Failing {
    fn mkdir(&mut self, _: &str) -> ops::Result<()> {
        self.answer(Op::Mkdir, ())
    }
    fn rmdir(&mut self, _: &str) -> ops::Result<()> {
        self.answer(Op::Rmdir, ())
    }
    fn open_as(&mut self, _: &str, how: ops::How) -> ops::Result<ops::Handle> {
        self.answer(how.op(), ops::Handle(0))
    }
    fn write(&mut self, _: ops::Handle, bytes: &[u8]) -> ops::Result<usize> {
        self.answer(Op::Write, bytes.len())
    }
    fn read(&mut self, _: ops::Handle, _: &mut [u8]) -> ops::Result<usize> {
        self.answer(Op::Read, 0)
    }
    fn fsync(&mut self, _: ops::Handle) -> ops::Result<()> {
        self.answer(Op::Fsync, ())
    }
    fn close(&mut self, _: ops::Handle) -> ops::Result<()> {
        self.answer(Op::Close, ())
    }
    fn unlink(&mut self, _: &str) -> ops::Result<()> {
        self.answer(Op::Unlink, ())
    }
    fn stat(&mut self, _: &str) -> ops::Result<u64> {
        self.answer(Op::Stat, 1000)
    }
    fn readdir(&mut self, _: &str, _: &mut dyn FnMut(&str, ops::Kind)) -> ops::Result<()> {
        self.answer(Op::Readdir, ())
    }
    fn counts(&self) -> &Counts {
        &self.counts
    }
}

#[test]
fn a_full_file_system_recovers_when_the_space_is_back() {
    let directory = tempfile::tempdir().unwrap();
    let fill = make("fill", "fill-until-enospc", json!({"cap": "1MiB"}), &[]).unwrap();
    let (recovered, record) = real(&directory, |real| {
        fill.run(real, SEED).unwrap();
        let mut asked = 0;
        let mut free = || {
            asked += 1;
            Ok(Bytes::mib(asked - 1))
        };
        fill.recover(real, SEED, &mut free).unwrap().unwrap()
    });
    assert_eq!(recovered.second_size, Bytes::mib(1));
    assert!(recovered.freed_s >= 0.1, "the first answer was too little: {}", recovered.freed_s);
    assert_eq!((record.counts.of(Op::Create), record.counts.of(Op::Unlink)), (2, 1));
}

#[test]
fn a_step_that_makes_no_sense_is_refused_with_the_next_step() {
    let trees = trees();
    for (workload, parameters, earlier, reason) in [
        ("fast-files", json!({}), &trees[..], "no workload"),
        ("many-small-files", json!({"count": 0}), &[], "count = 0"),
        ("many-small-files", json!({"file-size": "9..1"}), &[], "reversed"),
        ("many-small-files", json!({"files": 3}), &[], "unknown field"),
        ("many-directories", json!({"fsync": "often"}), &[], "unknown variant"),
        ("remove", json!({}), &[], "no step before it"),
        ("read", json!({"of": ["tiny"]}), &trees, "no step before it made"),
        ("stat", json!({"of": ["small", "small"]}), &trees, "twice"),
        ("fill-until-enospc", json!({"chunk": 1}), &[], "chunk"),
        ("fill-until-enospc", json!({"chunk": "4k..8k"}), &[], "chunk"),
        ("fill-until-enospc", json!({"cap": 0}), &[], "cap"),
    ] {
        let Err(error) = make("a", workload, parameters, earlier) else { panic!("{workload}: {reason}") };
        assert_eq!(error.kind(), crate::error::Kind::Usage);
        assert!(error.to_string().contains(reason), "{error}");
        assert!(error.next_step().is_some(), "{error}");
    }
}

#[test]
fn a_compressing_file_system_gets_a_cap() {
    let build = Build {
        step: "fill",
        parameters: &Value::Null,
        earlier: &[],
        block_size: Bytes::kib(4),
        image_size: Bytes::mib(1),
        compressing: true,
    };
    let fill = super::build(&build, "fill-until-enospc").unwrap();
    assert_eq!(plan(&*fill, Reach::default(), SEED).2[0].size, 4 << 20);
    assert!(!fill.is_dense());
}

#[test]
fn a_plan_repeats_how_far_the_work_came() {
    let tree = &trees()[1];
    let all = plan(&*tree.workload, Reach::default(), SEED).1.counts;
    let reach = Reach {
        operations: Some(all.total() - 1),
        written: Some(Bytes(all.written_bytes - 10)),
        ..Reach::default()
    };
    let (ended, planned, entries) = plan(&*tree.workload, reach, SEED);
    assert_eq!(ended.unwrap_err().errno, Errno::ENOSPC);
    assert_eq!((planned.entries, entries.iter().map(|e| e.size).sum()), (3, all.written_bytes - 10));
}
