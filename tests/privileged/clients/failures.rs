//! A client that fails is told as that client's failure, with the status that it has anywhere, and
//! the file system below it is whole.

use std::os::unix::process::ExitStatusExt;

use fsduel_harness::result::Status;
use libtest_mimic::Trial;

use super::programs::REPOSITORY;
use super::{GIT, Ran, SQLITE, assert_whole, beside, client, exec, made_beside};
use crate::general;
use crate::lab::{Lab, stderr, told};

pub fn trials() -> Vec<Trial> {
    vec![
        client("git_that_finds_damage_fails_with_its_own_status", GIT, git),
        client("sqlite3_that_has_a_bad_statement_fails_with_its_own_status", SQLITE, sqlite),
        client("sqlite3_that_is_killed_by_a_signal_is_told_with_it", SQLITE, killed),
        client("sqlite3_that_fills_the_file_system_fails_and_what_it_had_is_whole", SQLITE, sqlite_fills),
        client("git_that_fills_the_file_system_fails_and_leaves_it_whole", GIT, git_fills),
        general("clients::tar_that_fills_the_file_system_fails_and_leaves_it_whole", tar_fills),
    ]
}

/// `line` fails in the file system as it does beside it; `prepare` goes before it.
fn assert_fails_as_beside(lab: &Lab, prepare: &str, line: &str) {
    made_beside(lab, "beside", prepare);
    let status = beside(lab, "beside", line).status;
    let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap());
    let options = ["--fs", "ext4", "--size", "256MiB", "--prepare", prepare];
    let ran = exec(lab, &options, &["sh", "-ec", line]);
    assert_failed(lab, &ran, Some(code));
}

/// The last case failed by its command, with `code` where one is given, and by nothing else.
fn assert_failed(lab: &Lab, (output, report): &Ran, code: Option<i32>) {
    let case = report.cases.last().unwrap();
    assert_eq!(case.status, Status::Failed, "{}", told(output));
    let command = case.steps[0].command.as_ref().unwrap();
    let own = command.exit_status.or(command.signal_number.map(|number| 128 + number));
    assert_eq!((output.status.code(), own), (code.or(own), code.or(own)), "{}", told(output));
    assert_ne!(own, Some(0));
    let said = stderr(output);
    let last = format!("exit status {} is the command's: it ", own.unwrap());
    assert!(said.lines().last().unwrap().starts_with(&last), "{}", told(output));
    assert_whole(case);
    lab.assert_nothing_is_left();
}

fn git() {
    let lab = Lab::new();
    made_beside(&lab, "git", REPOSITORY);
    let prepare = format!(
        "git clone --quiet file://{} clone; cd clone/.git/objects/pack; chmod u+w *.pack
         printf damage | dd of=\"$(ls *.pack)\" bs=1 seek=5000 conv=notrunc 2>&1",
        lab.path("git/repository").display()
    );
    assert_fails_as_beside(&lab, &prepare, "exec git -C clone fsck --strict");
}

fn sqlite() {
    let lab = Lab::new();
    assert_fails_as_beside(&lab, "true", "exec sqlite3 db 'SELECT * FROM nothing'");
}

/// By a limit that its own writing exceeds, so that it happens at the same place each time.
fn killed() {
    let lab = Lab::new();
    let line = "ulimit -f 16; exec sqlite3 db 'CREATE TABLE t AS SELECT randomblob(100000)'";
    assert_fails_as_beside(&lab, "true", line);
    let ran = exec(&lab, &["--fs", "ext4", "--size", "256MiB"], &["sh", "-ec", line]);
    assert!(stderr(&ran.0).contains("was killed by SIGXFSZ"), "{}", told(&ran.0));
}

/// What was in the database before is there, and nothing of what did not fit.
fn sqlite_fills() {
    let lab = Lab::new();
    let prepare = "sqlite3 db \"CREATE TABLE t (x); INSERT INTO t VALUES ('before')\"";
    let line = "sqlite3 db 'WITH RECURSIVE n(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n LIMIT 800) \
                INSERT INTO t SELECT randomblob(1000000) FROM n' && exit 0 || code=$?
                test \"$(sqlite3 db 'PRAGMA integrity_check; SELECT * FROM t')\" = \"$(printf 'ok\\nbefore')\" &&
                exit $code";
    for filesystem in ["ext4", "btrfs", "xfs"] {
        let options = ["--fs", filesystem, "--size", "512MiB", "--prepare", prepare];
        let ran = exec(&lab, &options, &["sh", "-c", line]);
        assert_failed(&lab, &ran, None);
        assert_printed(&ran, &["database or disk is full"]);
    }
}

fn git_fills() {
    let lab = Lab::new();
    let script = "git init --quiet repository; cd repository; head -c 100000000 /dev/urandom >large
                  git add large; git commit --quiet --message large";
    made_beside(&lab, "git", script);
    let from = format!("file://{}", lab.path("git/repository").display());
    let ran = exec(&lab, &["--fs", "ext4", "--size", "64MiB"], &["git", "clone", "--quiet", &from, "clone"]);
    assert_failed(&lab, &ran, Some(128));
    assert_printed(&ran, &["No space left on device"]);
}

fn tar_fills() {
    let lab = Lab::new();
    made_beside(&lab, "large", "truncate --size 700M file");
    let line = format!("tar cf - -C '{}' file | tar xf -", lab.path("large").display());
    for filesystem in ["ext4", "btrfs", "xfs"] {
        let ran = exec(&lab, &["--fs", filesystem, "--size", "512MiB"], &["sh", "-c", &line]);
        assert_failed(&lab, &ran, Some(2));
        // Where a part of its last block still fitted in, it tells only that.
        assert_printed(&ran, &["No space left on device", "Wrote only"]);
    }
}

/// One of these sentences of its own is among what the case keeps of its errors.
fn assert_printed((output, report): &Ran, sentences: &[&str]) {
    let command = report.cases[0].steps[0].command.as_ref().unwrap();
    assert!(sentences.iter().any(|words| command.stderr.contains(words)), "{}", told(output));
}
