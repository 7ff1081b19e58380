//! `fsduel postmark` as a user meets it, in directories of the test. None of it needs root.
//!
//! Counts and figures are those of the vectors, which the program of that name printed.
#![expect(clippy::unwrap_used, reason = "a test that cannot get its input has to fail")]

mod places;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// The configuration that was published in 2014.
const PUBLISHED: &str = "set size 3072 102400\nset report verbose\nset number 200000\n\
                         set transactions 500000\nset location /srv/vmail/postmark\n\
                         set subdirectories 1000\n";

/// A folder with a configuration `c`, and a place `a` for files.
fn folder(configuration: &str) -> TempDir {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    fs::write(folder.path().join("c"), configuration).unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    folder
}

fn program(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsduel"));
    command.args(["postmark", "c"]).args(arguments).current_dir(folder);
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// What a call told.
struct Told {
    code: i32,
    out: String,
    err: String,
}

fn told(output: Output) -> Told {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Told { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn run(folder: &Path, arguments: &[&str]) -> Told {
    told(program(folder, arguments).output().unwrap())
}

/// The end of a child, within a minute.
fn wait(mut child: Child) -> Output {
    let begun = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn vector(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/postmark/vectors.json");
    let all: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    all.into_iter().find(|vector| vector["name"] == name).unwrap()
}

/// The configuration of a vector, with its places below the current directory.
fn configuration(vector: &Value) -> String {
    let lines = vector["config_lines"].as_array().unwrap();
    let lines = lines.iter().map(|line| line.as_str().unwrap().replace("/X/", "") + "\n");
    lines.chain(["run\n".to_owned()]).collect()
}

/// Lines of PostMark's verbose report without the rates, which need a clock.
fn counts(expected: &Value) -> Vec<String> {
    let of = |key: &str| expected[key].clone();
    let text = |key: &str| of(key).as_str().unwrap().to_owned();
    vec![
        format!("\t{} created (", of("created")),
        format!("\t\tCreation alone: {} files (", of("created_alone")),
        format!("\t\tMixed with transactions: {} files (", of("created_mixed")),
        format!("\t{} read (", of("read")),
        format!("\t{} appended (", of("appended")),
        format!("\t{} deleted (", of("deleted")),
        format!("\t\tDeletion alone: {} files (", of("deleted_alone")),
        format!("\t\tMixed with transactions: {} files (", of("deleted_mixed")),
        format!("\t{} read (", text("bytes_read_printed")),
        format!("\t{} written (", text("bytes_written_printed")),
    ]
}

#[test]
fn a_dry_run_of_the_published_configuration_prints_the_published_counts() {
    let folder = folder(PUBLISHED);
    let told = run(folder.path(), &["--dry-run"]);
    assert_eq!(told.code, 0, "{}", told.err);
    for figure in
        ["450001 created", "250007 read", "249940 appended", "450001 deleted", "Deletion alone: 200002 files"]
    {
        assert!(told.out.contains(figure), "{figure}: {}", told.out);
    }
    assert!(told.out.contains("\t14705.82 megabytes read\n\t27453.33 megabytes written\n"), "{}", told.out);
    assert!(told.err.contains("no file was touched"), "{}", told.err);
    assert!(told.err.contains("no `run`"), "{}", told.err);
}

#[test]
fn a_run_prints_the_counts_of_the_program_and_leaves_the_place_as_it_was() {
    for name in ["defaults", "subdirs-10", "unbuffered", "two-locations", "equal-size"] {
        let vector = vector(name);
        let folder = folder(&configuration(&vector));
        fs::create_dir(folder.path().join("b")).unwrap();
        fs::write(folder.path().join("a/mail"), "mine").unwrap();
        let told = run(folder.path(), &[]);
        assert_eq!(told.code, 0, "{name}: {}", told.err);
        for line in counts(&vector["expected"]) {
            assert!(told.out.lines().any(|found| found.starts_with(&line)), "{name}: {line}: {}", told.out);
        }
        assert_eq!(names(folder.path()), ["a", "b", "c"], "{name}");
        assert_eq!(
            (names(&folder.path().join("a")), names(&folder.path().join("b")).len()),
            (vec!["mail".into()], 0)
        );
    }
}

#[test]
fn json_has_the_exact_sums_and_the_digest_and_only_a_run_has_times() {
    let vector = vector("defaults");
    let folder = folder(&configuration(&vector));
    for (arguments, status) in
        [(["--json", "-", "--dry-run"].as_slice(), "not_run"), (&["--json", "-"], "passed")]
    {
        let told = run(folder.path(), arguments);
        assert_eq!(told.code, 0, "{}", told.err);
        let report: Value = serde_json::from_str(&told.out).unwrap();
        let (case, step) = (&report["cases"][0], &report["cases"][0]["steps"][0]);
        assert_eq!(case["status"], status);
        assert_eq!(step["facts"]["operations_sha256"], vector["ops_sha256"]);
        let expected = &vector["expected"];
        assert_eq!(step["facts"]["postmark"]["read_bytes"], expected["bytes_read_exact"]);
        assert_eq!(step["facts"]["postmark"]["draws_count"], expected["rng_draws"]);
        let is_dry = status == "not_run";
        assert_eq!(step["metrics"].as_object().unwrap().is_empty(), is_dry, "{}", step["metrics"]);
        assert_eq!(case["reason"]["code"] == "dry_run", is_dry);
        assert_eq!(step["read_back"], if is_dry { "not_checked" } else { "clean" });
        assert!(step["metrics"]["synced_s"].is_null(), "nothing was synced");
    }
}

#[test]
fn reports_go_where_the_configuration_says() {
    let folder = folder("set location a\nshow\nset report terse\nrun out\nrun\n");
    let told = run(folder.path(), &["--quiet"]);
    assert_eq!((told.code, told.err.as_str()), (0, ""));
    assert!(told.out.starts_with("Current configuration is:\n"), "{}", told.out);
    let (file, last) = (fs::read_to_string(folder.path().join("out")).unwrap(), told.out.lines().last());
    assert_eq!((file.lines().count(), file.split(' ').count()), (1, 13), "{file}");
    assert_eq!(last.unwrap().split(' ').count(), 13, "{}", told.out);
    run(folder.path(), &["--quiet"]);
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap().lines().count(), 2, "it is appended");
}

#[test]
fn what_surprises_is_a_warning_with_its_line_and_an_error_if_strict() {
    let folder = folder("set location a\nset size  100 200\n");
    let told = run(folder.path(), &["--dry-run"]);
    assert_eq!(told.code, 0, "{}", told.err);
    assert!(told.err.contains("warning: c:2: "), "{}", told.err);
    let strict = run(folder.path(), &["--dry-run", "--strict"]);
    assert_eq!((strict.code, strict.out.as_str()), (2, ""));
    assert!(strict.err.contains("error: cannot use c:2: "), "{}", strict.err);
    fs::write(folder.path().join("c"), "set location a\n").unwrap();
    let no_run = run(folder.path(), &["--dry-run", "--strict"]);
    assert_eq!(no_run.code, 0, "a missing `run` is no quirk: {}", no_run.err);
}

#[test]
fn what_cannot_run_is_refused_with_the_reason() {
    let folder = folder("set transactions 9\nrun\n");
    let few = run(folder.path(), &[]);
    assert_eq!(few.code, 2);
    assert!(few.err.contains("SIGFPE"), "{}", few.err);
    for name in ["c", "d"] {
        let _ = fs::remove_file(folder.path().join("c"));
        if name == "d" {
            fs::create_dir(folder.path().join("c")).unwrap();
        }
        let unreadable = run(folder.path(), &[]);
        assert_eq!(unreadable.code, 2);
        assert!(unreadable.err.contains("cannot read the configuration c: "), "{}", unreadable.err);
        assert!(unreadable.err.contains("  next: "), "{}", unreadable.err);
    }
}

#[test]
fn options_about_file_systems_of_our_own_need_some() {
    let folder = folder("run\n");
    for (option, value) in
        [("--size", "1GiB"), ("--store", "/var/tmp"), ("--verify", "full"), ("--seed", "1")]
    {
        let told = run(folder.path(), &[option, value]);
        assert_eq!(told.code, 2, "{option}");
        assert!(told.err.contains(&format!("cannot use {option}")), "{}", told.err);
    }
    let environment = program(folder.path(), &["--dry-run"]).env("FSDUEL_STORE", "/var/tmp").output();
    assert_eq!(told(environment.unwrap()).code, 0, "a setting for other calls does nothing");
}

#[test]
fn with_file_systems_a_dry_run_shows_the_plan_and_the_counts() {
    let folder = folder("set location /srv/mail\nrun\nset seed 1\nrun\n");
    let told = run(folder.path(), &["--fs", "ext4", "--dry-run", "--verify", "full"]);
    assert_eq!(told.code, 0, "{}", told.err);
    for line in
        ["  postmark: postmark ", "  postmark-delete: remove ", "  postmark-2: postmark ", "\t764 created\n"]
    {
        assert!(told.out.contains(line), "{line}: {}", told.out);
    }
    assert!(told.err.contains("the deletion phase is another one"), "{}", told.err);
}

#[test]
fn json_on_standard_output_is_only_json_whatever_is_planned() {
    let folder = folder("set location a\nrun\n");
    for arguments in [["--dry-run"].as_slice(), &["--dry-run", "--fs", "ext4"]] {
        let told = run(folder.path(), &[arguments, &["--json", "-"]].concat());
        assert_eq!(told.code, 0, "{}", told.err);
        let report: Value = serde_json::from_str(&told.out).unwrap();
        assert_eq!(report["cases"][0]["steps"][0]["facts"]["postmark"]["created_count"], 764);
    }
}

#[test]
fn only_what_was_verified_is_clean() {
    let folder = folder("set location a\nrun\n");
    for (option, checked) in
        [("--verify=reads", "clean"), ("--no-verify", "not_checked"), ("--bug-compatible", "not_checked")]
    {
        let told = run(folder.path(), &[option, "--json", "-"]);
        let report: Value = serde_json::from_str(&told.out).unwrap();
        assert_eq!(report["cases"][0]["steps"][0]["read_back"], checked, "{option}");
        assert_eq!(report["cases"][0]["verify"]["read_back"], checked, "{option}");
    }
}

#[test]
fn a_dry_run_counts_what_set_made_of_the_configuration() {
    let folder = folder("run\nset report terse\nset seed 1\nrun\n");
    let changed = ["--set", "step.postmark.seed=1", "--set", "step.postmark-2.seed=42"];
    let told = run(folder.path(), &[&["--fs", "ext4", "--dry-run"], &changed[..]].concat());
    assert_eq!(told.code, 0, "{}", told.err);
    assert!(
        told.out.contains("\n\t761 created\n") && told.out.contains("\n1 1 500.00 764.00 "),
        "{}",
        told.out
    );
}

#[test]
fn standard_input_is_never_read() {
    let folder = folder("set location a\n");
    let mut child = program(folder.path(), &["--quiet"]).stdin(Stdio::piped()).spawn().unwrap();
    let open = child.stdin.take();
    assert_eq!(told(wait(child)).code, 0);
    drop(open);
}

#[test]
fn only_regular_files_are_loaded_and_no_endless_amount() {
    let folder = folder("load pipe\nload /dev/stdin\nload a\nload /dev/zero\nload big\nload big\n");
    nix::unistd::mkfifo(&folder.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    fs::write(folder.path().join("big"), "\n".repeat(600_000)).unwrap();
    let told = told(wait(program(folder.path(), &["--dry-run"]).stdin(Stdio::piped()).spawn().unwrap()));
    assert_eq!(told.code, 0, "{}", told.err);
    for line in 1..=4 {
        assert!(told.err.contains(&format!("c:{line}: cannot load")), "{line}: {}", told.err);
    }
    assert!(!told.err.contains("c:5:") && told.err.contains("c:6: cannot load"), "{}", told.err);
}
