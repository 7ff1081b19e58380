//! What people work with.

use std::fs;

use fsduel_harness::require::Requirement;
use libtest_mimic::Trial;

use super::{GIT, ON_ALL, SQLITE, assert_passed, assert_same_tree, client, exec, made_beside, sources, word};
use crate::lab::Lab;
use crate::postmark::{POSTMARK, figures};

const FIO: Requirement = Requirement::Tool { program: "fio", package: "fio" };
const TAR: Requirement = Requirement::Tool { program: "tar", package: "tar" };

pub fn trials() -> Vec<Trial> {
    vec![
        client("git_clones_a_repository_that_is_whole_when_it_is_read_cold", GIT, git),
        client("sqlite3_keeps_a_thousand_transactions", SQLITE, sqlite),
        client("fio_reads_back_cold_what_it_wrote_through_the_page_cache", FIO, || fio("0")),
        client("fio_reads_back_cold_what_it_wrote_past_the_page_cache", FIO, || fio("1")),
        client("postmark_does_the_same_on_each_as_anywhere", POSTMARK, postmark),
        client("tar_unpacks_the_same_files_as_it_packed", TAR, tar),
    ]
}

/// Thirty commits, of which each adds three files and changes one; prints the last.
pub(super) const REPOSITORY: &str = "
git init --quiet repository
cd repository
for commit in $(seq 30); do
    folder=d$((commit % 6))
    mkdir -p $folder
    for n in 1 2 3; do seq $commit $((commit * n * 40)) >$folder/$commit-$n; done
    seq $commit 300 >changed
    git add --all
    git commit --quiet --message \"commit $commit\"
done
git rev-parse HEAD";

fn git() {
    let lab = Lab::new();
    let head = made_beside(&lab, "git", REPOSITORY);
    // By its address, it is sent as over a network; by its path, files would be copied.
    let from = format!("file://{}", lab.path("git/repository").display());
    let check = format!(
        "cd clone && git fsck --strict --full && test \"$(git rev-parse HEAD)\" = {} && \
         test -z \"$(git status --porcelain)\" && test \"$(git ls-files | wc -l)\" = 91",
        head.trim()
    );
    let options = [&ON_ALL[..], &["--check", &check]].concat();
    assert_passed(&lab, &exec(&lab, &options, &["git", "clone", "--quiet", &from, "clone"]));
}

fn sqlite() {
    let lab = Lab::new();
    let rows = (1..=1000).map(|n| format!("INSERT INTO numbers VALUES ({n}, 'number {n}');\n"));
    let table = "CREATE TABLE numbers (n INTEGER PRIMARY KEY, name TEXT UNIQUE);\n";
    let script = lab.path("script.sql");
    fs::write(&script, std::iter::once(table.to_owned()).chain(rows).collect::<String>()).unwrap();
    let check = "sqlite3 db 'PRAGMA integrity_check; SELECT count(*), sum(n) FROM numbers' >found && \
                 printf 'ok\\n1000|500500\\n' | diff - found";
    let options = [&ON_ALL[..], &["--check", check]].concat();
    let read = format!(".read {}", word(&script));
    assert_passed(&lab, &exec(&lab, &options, &["sqlite3", "-bail", "db", &read]));
}

/// Blocks in random order, each with a checksum; `direct`: `1` for `O_DIRECT`.
fn fio(direct: &str) {
    let lab = Lab::new();
    let direct = format!("--direct={direct}");
    let words = [
        "fio",
        "--name=blocks",
        "--filename=blocks",
        "--rw=randwrite",
        "--bs=4k",
        "--size=16M",
        "--ioengine=psync",
        "--verify=crc32c",
        "--verify_fatal=1",
        "--verify_state_save=0",
        "--output=/dev/null",
        &direct,
    ];
    let check = [&words[..], &["--verify_only"]].concat().join(" ");
    let options = [&ON_ALL[..], &["--check", &check]].concat();
    assert_passed(&lab, &exec(&lab, &options, &words));
}

fn postmark() {
    let lab = Lab::new();
    let file = lab.path("config");
    fs::write(&file, "set number 500\nset transactions 2000\nset subdirectories 10\nrun\nquit\n").unwrap();
    let printed = made_beside(&lab, "postmark", &format!("postmark {}", word(&file)));
    let wanted = figures(&printed);
    assert!(wanted.len() > 5, "{printed}");
    let ran = exec(&lab, &ON_ALL, &["postmark", file.to_str().unwrap()]);
    assert_passed(&lab, &ran);
    assert_same_tree(&ran);
    for case in &ran.1.cases {
        assert_eq!(figures(&case.steps[0].command.as_ref().unwrap().stdout), wanted, "{}", case.id);
    }
}

fn tar() {
    let lab = Lab::new();
    let from = word(&sources());
    let line = format!("tar cf - -C {from} src harness tests | tar xf -");
    let check = format!("for folder in src harness tests; do diff -r {from}/$folder $folder || exit 1; done");
    let options = [&ON_ALL[..], &["--check", &check]].concat();
    let ran = exec(&lab, &options, &["sh", "-c", &line]);
    assert_passed(&lab, &ran);
    assert_same_tree(&ran);
}
