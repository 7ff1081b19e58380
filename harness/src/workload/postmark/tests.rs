//! The counts, the draws and the operations are those that the real program had.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};

mod doubles;

use self::doubles::{Changed, Small};
use super::*;
use crate::ops::{Entry, Real};

/// What PostMark 1.53 did: `fixtures/postmark`.
fn vectors(name: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/postmark").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn settings(vector: &Value) -> Settings {
    let mut config = vector["config"].clone();
    config["report"] = json!("verbose");
    serde_json::from_value(config).unwrap()
}

/// The counts of a vector under our names.
fn expected(vector: &Value) -> Vec<u64> {
    let keys = [
        "created",
        "created_alone",
        "created_mixed",
        "read",
        "appended",
        "deleted",
        "deleted_alone",
        "deleted_mixed",
        "transactions_not_run",
        "creates_skipped",
        "appends_skipped",
        "bytes_read_exact",
        "bytes_written_exact",
        "bytes_read_f32",
        "bytes_written_f32",
        "rng_draws",
        "live_peak",
    ];
    keys.map(|key| vector["expected"][key].as_u64().unwrap()).to_vec()
}

fn counted(counts: &Postmark) -> Vec<u64> {
    vec![
        counts.created_count,
        counts.created_alone_count,
        counts.created_mixed_count,
        counts.read_count,
        counts.appended_count,
        counts.deleted_count,
        counts.deleted_alone_count,
        counts.deleted_mixed_count,
        counts.transactions_not_run_count,
        counts.creates_skipped_count,
        counts.appends_skipped_count,
        counts.read_bytes,
        counts.written_bytes,
        counts.read_single_precision_bytes,
        counts.written_single_precision_bytes,
        counts.draws_count,
        counts.live_peak_count,
    ]
}

#[test]
fn a_plan_counts_draws_and_operates_as_the_real_program_did() {
    for vector in vectors("vectors.json") {
        let (counts, digest) = plan(&settings(&vector), &Options::default()).unwrap();
        assert_eq!(counted(&counts), expected(&vector), "{}", vector["name"]);
        assert_eq!(counts.file_operations_count, vector["ops"], "{}", vector["name"]);
        assert_eq!(digest, vector["ops_sha256"], "{}", vector["name"]);
    }
}

static GO_ON: AtomicBool = AtomicBool::new(false);

fn step(settings: &Settings, options: &Options) -> Arc<dyn Workload> {
    let parameters = parameters(settings, options);
    build(&build_of(&parameters)).unwrap()
}

fn build_of(parameters: &Value) -> Build<'_> {
    Build {
        step: "mail",
        parameters,
        earlier: &[],
        block_size: Bytes(4096),
        image_size: Bytes::gib(2),
        compressing: false,
    }
}

fn real(folder: &Path) -> Real<'static> {
    Real::new(std::fs::File::open(folder).unwrap(), &GO_ON)
}

#[test]
fn real_files_give_the_same_counts_and_nothing_is_left_but_directories() {
    let small = |vector: &Value| vector["config"]["number"].as_u64().unwrap() <= 20_000;
    for vector in vectors("vectors.json").iter().filter(|vector| small(vector)) {
        let folder = tempfile::tempdir().unwrap();
        let work = step(&settings(vector), &Options::default());
        let mut real = real(folder.path());
        assert_eq!(work.run(&mut real, Seed(1)).unwrap(), Ended::Completed, "{}", vector["name"]);
        let record = real.into_record();
        let counts = record.postmark.unwrap();
        assert_eq!(counted(&counts), expected(vector), "{}", vector["name"]);
        assert_eq!(work.digest(Seed(1), &counts), vector["ops_sha256"].as_str().map(str::to_owned));
        let other = Postmark { operations_hash: counts.operations_hash ^ 1, ..counts.clone() };
        assert_eq!(work.digest(Seed(1), &other), None, "equal counts are not enough");
        assert_eq!(record.counts.written_bytes, counts.written_bytes);
        assert_eq!(record.counts.read_bytes, counts.read_bytes);
        assert_eq!(record.errnos, []);
        assert_eq!(left_in(folder.path()), left_by(&*work, Reach::default()), "{}", vector["name"]);
    }
}

/// Every path below the mount, with the size of a file.
fn left_in(folder: &Path) -> Vec<(String, u64)> {
    let mut found = vec![];
    let mut inside = vec![folder.join("mail")];
    while let Some(directory) = inside.pop() {
        for entry in std::fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path().strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            let data = entry.metadata().unwrap();
            if data.is_dir() {
                inside.push(entry.path());
            }
            found.push((path, if data.is_dir() { 0 } else { data.len() }));
        }
    }
    found.sort();
    found
}

fn left_by(work: &dyn Workload, reach: Reach) -> Vec<(String, u64)> {
    let mut found = vec![];
    let mut tell = |entry: Entry| found.push((entry.path, entry.size));
    let mut plan = Plan::new(&mut tell);
    work.leave(&mut plan, Seed(1), reach).unwrap();
    let _ = plan.finish();
    found.sort();
    found
}

#[test]
fn what_a_run_leaves_without_its_deletion_is_planned_to_the_byte() {
    for (locations, subdirectories) in [(0, 0), (1, 7), (2, 0), (3, 4)] {
        let location = |number: u32| Location { path: format!("/srv/{number}"), weight: 1 + number };
        let settings = Settings {
            number: 60,
            transactions: 200,
            locations: (0..locations).map(location).collect(),
            subdirectories,
            ..Settings::default()
        };
        for content in [Content::Pool, Content::Unique] {
            let folder = tempfile::tempdir().unwrap();
            let work = step(&settings, &Options { delete: false, content, ..Options::default() });
            work.run(&mut real(folder.path()), Seed(1)).unwrap();
            let root = std::fs::File::open(folder.path()).unwrap();
            assert!(left_in(folder.path()).len() > 30);
            assert_eq!(left_in(folder.path()), left_by(&*work, Reach::default()));
            let back = crate::verify::read_back(
                std::os::fd::AsFd::as_fd(&root),
                &*work,
                "mail",
                Seed(1),
                Reach::default(),
                &GO_ON,
            );
            let back = back.unwrap();
            assert_eq!(back.details, Vec::<String>::new());
        }
    }
}

fn small(vector: &Value) -> Small {
    match vector["max_files"].as_u64() {
        Some(files) => Small::new(usize::try_from(files).unwrap(), u64::MAX),
        None => Small::new(usize::MAX, 1 << 20),
    }
}

#[test]
fn with_its_bugs_a_full_file_system_gives_the_counts_of_the_real_program() {
    for vector in vectors("vectors_faults.json") {
        let options = Options { bug_compatible: true, ..Options::default() };
        let work = step(&settings(&vector), &options);
        let mut small = small(&vector);
        assert_eq!(work.run(&mut small, Seed(1)).unwrap(), Ended::Completed, "{}", vector["name"]);
        let counts = small.told.unwrap();
        assert_eq!(counted(&counts), expected(&vector), "{}", vector["name"]);
        let planned = vector["max_files"].is_null();
        assert_eq!(work.digest(Seed(1), &counts).is_some(), planned, "only of what was done");
    }
}

#[test]
fn a_full_file_system_ends_the_run_at_the_first_call_that_fails() {
    for (vector, op) in vectors("vectors_faults.json").iter().zip([ops::Op::Write, ops::Op::Create]) {
        let mut small = small(vector);
        let work = step(&settings(vector), &Options::default());
        let Ended::Limit(failure, number) = work.run(&mut small, Seed(1)).unwrap() else {
            panic!("{vector}")
        };
        assert_eq!((failure.op, failure.errno), (op, nix::errno::Errno::ENOSPC));
        assert!((100..700).contains(&number), "{number}");
        assert_eq!(small.told.unwrap().file_operations_count, number - 1);
    }
}

#[test]
fn what_a_cut_short_run_leaves_is_planned_to_the_byte() {
    let settings = Settings { number: 60, transactions: 200, subdirectories: 7, ..Settings::default() };
    let work = step(&settings, &Options::default());
    let mut whole = Plan::counting();
    work.run(&mut whole, Seed(1)).unwrap();
    let whole = whole.finish().counts;
    for part in [3, 8, 40, 71, 90, 99] {
        let folder = tempfile::tempdir().unwrap();
        let reach = Reach {
            operations: Some(whole.total() * part / 100),
            written: Some(Bytes(whole.written_bytes * part / 100)),
            block_size: Some(4096),
        };
        let mut real = real(folder.path());
        let mut cut = UpTo::new(&mut real, reach);
        assert!(matches!(work.run(&mut cut, Seed(1)).unwrap(), Ended::Limit(..)), "{part}");
        drop(real);
        assert_eq!(left_in(folder.path()), left_by(&*work, reach), "at {part} %");
    }
}

/// After `change`, the run must say what is wrong.
fn told_after(change: impl Fn(&Path) + Copy) -> String {
    let folder = tempfile::tempdir().unwrap();
    // Nothing is deleted in the transactions, so file 40 is there to the end.
    let settings =
        Settings { number: 60, transactions: 4000, bias_read: 10, bias_create: -1, ..Settings::default() };
    let mut changed = Changed::new(real(folder.path()), folder.path(), &change);
    match step(&settings, &Options::default()).run(&mut changed, Seed(1)) {
        Ok(Ended::Differs(text)) => text,
        Ok(ended) => panic!("{ended:?}"),
        Err(failure) => failure.to_string(),
    }
}

#[test]
fn a_read_notices_every_change_of_a_file() {
    let flipped = told_after(|file| {
        let mut bytes = std::fs::read(file).unwrap();
        bytes[100] ^= 1;
        std::fs::write(file, bytes).unwrap();
    });
    assert_eq!(flipped, "mail/40 differs at byte 100 from what was written");
    let short = told_after(|file| {
        let bytes = std::fs::read(file).unwrap();
        std::fs::write(file, &bytes[..bytes.len() - 3]).unwrap();
    });
    assert!(short.starts_with("mail/40 ") && short.contains("ends after"), "{short}");
    let longer = told_after(|file| {
        let mut bytes = std::fs::read(file).unwrap();
        bytes.extend([7; 10_000]);
        std::fs::write(file, bytes).unwrap();
    });
    assert!(longer.starts_with("mail/40 goes on after its "), "{longer}");
    let other = told_after(|file| std::fs::write(file.with_file_name("77"), "x").unwrap());
    assert_eq!(other, "mail/77 is there, and was deleted or never made");
    let gone = told_after(|file| std::fs::remove_file(file).unwrap());
    assert!(gone.contains("mail/40"), "{gone}");
}

/// In place, in a folder that `prepare` fills before.
fn in_folder(settings: &Settings, options: &Options, prepare: impl Fn(&Path)) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    prepare(folder.path());
    in_place(settings, options).unwrap().run(&mut real(folder.path()), Seed(1)).unwrap()
}

#[test]
fn files_of_others_with_higher_numbers_are_in_nobodys_way() {
    let prepare = |folder: &Path| ["20140625", "1001"].iter().for_each(|name| touch(&folder.join(name)));
    let ended = in_folder(&Settings::default(), &Options::default(), prepare);
    assert_eq!(ended, Ended::Completed, "500 files and 500 transactions make no 1001");
}

fn touch(file: &Path) {
    std::fs::write(file, "").unwrap();
}

#[test]
fn a_location_that_is_written_in_two_ways_is_one_directory() {
    for subdirectories in [0, 3] {
        let locations = ["a", "a/", "a/./"].map(|path| Location { path: path.into(), weight: 1 });
        let settings = Settings { locations: locations.to_vec(), subdirectories, ..Settings::default() };
        let prepare = |folder: &Path| std::fs::create_dir(folder.join("a")).unwrap();
        assert_eq!(in_folder(&settings, &Options::default(), prepare), Ended::Completed);
        let folder = tempfile::tempdir().unwrap();
        let work = step(&settings, &Options::default());
        assert_eq!(work.run(&mut real(folder.path()), Seed(1)).unwrap(), Ended::Completed);
    }
}

#[test]
fn comparing_what_was_read_is_no_part_of_a_latency() {
    let size = 1 << 20;
    let settings = Settings {
        size_low: size,
        size_high: size,
        number: 1,
        read: size,
        buffering: false,
        transactions: 50,
        bias_read: 10,
        bias_create: -1,
        ..Settings::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let mut real = real(folder.path());
    let options = Options { content: Content::Unique, ..Options::default() };
    assert_eq!(in_place(&settings, &options).unwrap().run(&mut real, Seed(1)).unwrap(), Ended::Completed);
    let latency = real.into_record().latency;
    let (close, write) = (latency["close"].p50_s, latency["write"].max_s);
    // Making the bytes again takes longer than this; closing a file that was read does not.
    assert!(close < 1e-4 && close * 5.0 < write, "close {close} s, write {write} s");
}

#[test]
fn what_a_read_lacks_is_noticed_without_comparing_and_with_the_bugs_nothing_is() {
    let settings = Settings { number: 60, transactions: 4000, bias_create: -1, ..Settings::default() };
    let settings = Settings { bias_read: 10, ..settings };
    let after = |options| {
        let folder = tempfile::tempdir().unwrap();
        let cut = |file: &Path| touch(file);
        let mut changed = Changed::new(real(folder.path()), folder.path(), &cut);
        step(&settings, &options).run(&mut changed, Seed(1)).unwrap()
    };
    let options = Options { verify: false, ..Options::default() };
    let Ended::Differs(text) = after(options) else { panic!("it read 0 bytes") };
    assert!(text.starts_with("mail/40 ends after 0 bytes"), "{text}");
    assert_eq!(after(Options { bug_compatible: true, ..options }), Ended::Completed);
}

#[test]
fn with_its_bugs_calls_that_fail_on_an_open_file_change_no_count() {
    let settings = Settings { number: 50, ..Settings::default() };
    let (planned, _) = plan(&settings, &Options::default()).unwrap();
    for buffering in [false, true] {
        for op in [ops::Op::Read, ops::Op::Write, ops::Op::Close] {
            let mut small = Small::new(usize::MAX, u64::MAX).refusing(op);
            let settings = Settings { buffering, ..settings.clone() };
            let options = Options { bug_compatible: true, ..Options::default() };
            step(&settings, &options).run(&mut small, Seed(1)).unwrap();
            assert_eq!(small.open, 0, "{op:?}: each file is closed");
            assert_eq!(small.told.unwrap(), planned, "{op:?}");
        }
    }
}

#[test]
fn a_directory_that_finds_no_room_belongs_to_no_operation() {
    let settings = Settings { subdirectories: 7, ..Settings::default() };
    let mut plan = Plan::counting();
    let reach = Reach { operations: Some(4), ..Reach::default() };
    let ended = step(&settings, &Options::default()).run(&mut UpTo::new(&mut plan, reach), Seed(1));
    assert_eq!(ended.unwrap_err().op, Op::Mkdir);
}

#[test]
fn a_count_that_is_cut_short_is_none() {
    let work = step(&Settings::default(), &Options::default());
    let all = crate::workload::totals(&*work, Seed(1), u64::MAX).unwrap().unwrap().total();
    assert!(crate::workload::totals(&*work, Seed(1), all).is_ok());
    assert!(crate::workload::totals(&*work, Seed(1), all - 1).is_err());
}

#[test]
fn files_that_no_plan_knows_are_not_kept() {
    let options = Options { bug_compatible: true, delete: false, ..Options::default() };
    let parameters = parameters(&Settings::default(), &options);
    let error = build(&build_of(&parameters)).err().unwrap();
    assert!(error.to_string().contains("goes on after failures"), "{error}");
}
