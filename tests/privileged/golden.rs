//! Real runs against the golden facts of their suites, `fixtures/NAME/facts.snap`.
//!
//! One comparison serves all: insta asks the library whether the file agrees, so a version of mkfs
//! or a kernel that the file does not know is no failure here, as it is none for `fsduel verify`.
//! With `INSTA_UPDATE=always` a file is written that keeps what other runs have put there.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fsduel_harness::facts::{self, Golden};
use fsduel_harness::result::RunReport;
use insta::{Comparator, Snapshot};
use libtest_mimic::Trial;

use crate::general;
use crate::lab::{Lab, assert_exits, told};

pub fn trials() -> Vec<Trial> {
    vec![
        general("the_facts_of_linux_magazin_2010_are_the_golden_ones", || agrees(&["linux-magazin-2010"])),
        general("the_facts_of_dovecot_2014_are_the_golden_ones", || agrees(DOVECOT)),
    ]
}

/// The suite has no third file system; the two that it has are mounted as it says.
const DOVECOT: &[&str] = &[
    "dovecot-2014",
    "--fs",
    "btrfs:noatime,compress=lzo",
    "--fs",
    "ext4:noatime,data=ordered",
    "--fs",
    "xfs",
];

/// A run of a suite agrees with its golden facts, for insta and for `fsduel verify`.
fn agrees(arguments: &[&str]) {
    let lab = Lab::new();
    let (output, report) = lab.report([&["run"], arguments].concat());
    assert_exits(&output, 0);
    assert_golden(&report);
    let file = folder(&report).join("facts.snap");
    let run = lab.path("report.json");
    let output =
        lab.fsduel(["verify".as_ref(), run.as_os_str()]).arg("--against").arg(file).output().unwrap();
    assert_exits(&output, 0);
    assert!(told(&output).contains("ok: "), "{}", told(&output));
    lab.assert_nothing_is_left();
}

fn folder(report: &RunReport) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(&report.suite.name)
}

/// Tests of one file system each share a file, which one may write while another reads it.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Assert that the facts of a run are those of its suite's golden file.
pub fn assert_golden(report: &RunReport) {
    let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = folder(report);
    let known = fs::read_to_string(folder.join("facts.snap")).ok();
    let golden = Golden::of_run(report).unwrap();
    let golden = match known {
        Some(text) => golden.keeping(facts::parse(&text).unwrap().golden),
        None => golden,
    };
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder);
    settings.set_prepend_module_to_snapshot(false);
    settings.set_comparator(Box::new(Agrees(Arc::new(report.clone()))));
    settings.bind(|| insta::assert_snapshot!("facts", facts::text(&golden, None).unwrap()));
}

/// Whether a snapshot agrees with a run.
#[derive(Clone)]
struct Agrees(Arc<RunReport>);

impl Comparator for Agrees {
    fn matches(&self, reference: &Snapshot, _test: &Snapshot) -> bool {
        let golden = reference.as_text().and_then(|text| facts::parse(&text.to_string()).ok());
        let compared = golden.and_then(|known| facts::compare(&known.golden, &self.0).ok());
        compared.is_some_and(|compared| {
            for deviation in &compared.deviations {
                eprintln!("{deviation}");
            }
            compared.deviations.is_empty()
        })
    }

    fn dyn_clone(&self) -> Box<dyn Comparator> {
        Box::new(self.clone())
    }
}
