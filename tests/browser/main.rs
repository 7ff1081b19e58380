//! The reports that a browser shows, in a browser: the file that a user opens is opened, and what
//! he would see is measured.
//!
//! Needs Chromium, not root. Without it the tests are "ignored" with the reason, or fail where
//! `FSDUEL_REQUIRE_ALL=1`. Pictures of what was seen are in `target/browser-screenshots`.
#![expect(clippy::unwrap_used, reason = "a test that cannot get its input has to fail")]

mod chromium;
mod rule;
#[path = "../shared/mod.rs"]
mod shared;
mod subject;
mod tab;
mod visit;

use std::io::{Read, Write};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};

use fsduel_harness::command;
use fsduel_harness::report::json;
use fsduel_harness::result::RunReport;
use libtest_mimic::{Arguments, Completion, Failed, Trial};

use chromium::{Chromium, PROGRAMS};
use rule::RULES;
use subject::{Content, Subject};
use visit::Visit;

/// One for all tests, started by the first that needs it.
static BROWSER: OnceLock<chromium::Result<Chromium>> = OnceLock::new();

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // The browser works in processes of its own: more pages at once are not sooner there.
    arguments.test_threads.get_or_insert(2);
    let mut trials = checks_of_the_checks();
    trials
        .extend(dealt(subject::all().into_iter().map(Arc::new).map(|subject| trials_of(&subject)).collect()));
    let conclusion = libtest_mimic::run(&arguments, trials);
    match BROWSER.get() {
        Some(Ok(browser)) => browser.close().map_or_else(left, |()| conclusion.exit_code()),
        _ => conclusion.exit_code(),
    }
}

/// The first of each list, then the second of each, and so on: the first trial of a file looks at it,
/// and whoever runs another one of the same file meanwhile only waits.
fn dealt(lists: Vec<Vec<Trial>>) -> Vec<Trial> {
    let mut places: Vec<(usize, Trial)> = lists.into_iter().flat_map(|list| (0..).zip(list)).collect();
    places.sort_by_key(|(place, _)| *place);
    places.into_iter().map(|(_, trial)| trial).collect()
}

/// A browser that stays is a failure, whatever it saw.
fn left(error: String) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}

fn require_all() -> bool {
    std::env::var("FSDUEL_REQUIRE_ALL").is_ok_and(|value| value == "1")
}

type Checked = Result<(), String>;

/// A test of what the browser found in one file.
fn trial(
    name: String,
    subject: &Arc<Subject>,
    check: impl FnOnce(&Visit) -> Checked + Send + 'static,
) -> Trial {
    let subject = Arc::clone(subject);
    Trial::ignorable_test(name, move || {
        let Some(program) = PROGRAMS.into_iter().find(|program| command::find(program).is_some()) else {
            let missing = "chromium is not on PATH: apt install chromium";
            return if require_all() { Err(missing.into()) } else { Ok(Completion::ignored_with(missing)) };
        };
        let browser = BROWSER.get_or_init(|| Chromium::start(program)).as_ref();
        let seen = browser.map_err(String::as_str).and_then(|browser| subject.visit(browser));
        seen.map_err(str::to_owned).and_then(check).map_err(Failed::from)?;
        Ok(Completion::Completed)
    })
}

/// Each rule is seen to be broken on a page that breaks it, and on no other.
fn checks_of_the_checks() -> Vec<Trial> {
    let right = Arc::new(Subject::page("right", rule::page("")));
    let none = |visit: &Visit| equal(&visit.faults.iter().next(), &None);
    let mut trials = vec![trial("check::finds_nothing_on_a_page_that_is_right".into(), &right, none)];
    for rule in RULES {
        for (at, broken) in rule.broken_by.iter().enumerate() {
            let wrong = Arc::new(Subject::page(rule.key, rule::page(broken)));
            let name = format!("check::{}::fails_on_a_page_that_is_wrong_{at}", rule.sentence);
            let found = |visit: &Visit| match visit.faults.contains_key(rule.key) {
                true => Ok(()),
                false => Err(format!("it finds only {:?}", visit.faults)),
            };
            trials.push(trial(name, &wrong, found));
        }
    }
    trials
}

fn trials_of(subject: &Arc<Subject>) -> Vec<Trial> {
    let named = |sentence: &str| format!("{}::{sentence}", subject.name);
    let rules = RULES.iter().filter(|rule| rule.of_pictures || !subject.is_picture());
    let mut trials: Vec<Trial> = rules
        .map(|rule| {
            trial(named(rule.sentence), subject, |visit| match visit.faults.get(rule.key) {
                None => Ok(()),
                Some(faults) => Err(faults.join("\n")),
            })
        })
        .collect();
    if !subject.is_picture() {
        trials.push(trial(named("the_parts_stand_in_their_order"), subject, parts_in_order));
        trials.push(trial(named("it_can_be_printed"), subject, printed));
        let about = Arc::clone(subject);
        let download = move |visit: &Visit| download(visit, &about);
        trials.push(trial(named("the_link_gives_the_run"), subject, download));
    }
    trials
}

fn equal<T: PartialEq + std::fmt::Debug>(found: &T, expected: &T) -> Checked {
    if found == expected { Ok(()) } else { Err(format!("found {found:?}, expected {expected:?}")) }
}

/// How the headings begin, in their order; of those in one row a run has one or the other. What a run
/// does not have is left out.
const PARTS: [&[&str]; 11] = [
    &["The answer"],
    &["The figure of the source", "Every step at a glance"],
    &["Step by step"],
    &["Then and now"],
    &["Fairness ledger"],
    &["Space"],
    &["Latency"],
    &["Throughput"],
    &["Every sample"],
    &["Machine and manifest"],
    &["Raw data"],
];

/// What every run has, whatever came of it.
const ALWAYS: [&str; 3] = ["The answer", "Machine and manifest", "Raw data"];

fn parts_in_order(visit: &Visit) -> Checked {
    let place =
        |heading: &String| PARTS.iter().position(|names| names.iter().any(|name| heading.starts_with(name)));
    let places: Vec<usize> = visit.headings.iter().filter_map(place).collect();
    let has = |name: &&str| visit.headings.iter().any(|heading| heading.starts_with(*name));
    match places.is_sorted_by(|one, next| one < next) && ALWAYS.iter().all(has) {
        true => Ok(()),
        false => Err(format!("the headings are {:?}", visit.headings)),
    }
}

/// Each sheet is an object of its own. Source: ISO 32000-1, 7.7.3.3.
fn printed(visit: &Visit) -> Checked {
    let sheets = visit.pdf.windows(11).filter(|bytes| bytes == b"/Type /Page").count();
    let groups = visit.pdf.windows(12).filter(|bytes| bytes == b"/Type /Pages").count();
    match visit.pdf.starts_with(b"%PDF-") && sheets > groups {
        true => Ok(()),
        false => Err(format!("{} bytes with {} sheets", visit.pdf.len(), sheets - groups)),
    }
}

/// All of the run, or, where that is too much for a page, all but its histograms and series.
fn download(visit: &Visit, subject: &Subject) -> Checked {
    let Content::Run(run, _) = &subject.content else { return Ok(()) };
    let run = &run.report;
    let Some(packed) = visit.download.as_deref() else { return without_download(visit, run) };
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).map_err(|error| error.to_string())?;
    let given: RunReport = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let stored = |run: &RunReport| serde_json::to_value(run).unwrap();
    let is_large = stored(run).to_string().len() > LARGE;
    match stored(&given) == stored(run) || (is_large && stored(&given) == stored(&lighter(run))) {
        true => Ok(()),
        false => Err(format!("{} bytes that are another run", text.len())),
    }
}

/// Where even the least of the run has no room, the page says how to get it.
fn without_download(visit: &Visit, run: &RunReport) -> Checked {
    let mut packed = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
    packed.write_all(json::text(&lighter(run)).unwrap().as_bytes()).unwrap();
    let with_link = visit.bytes + packed.finish().unwrap().len() * 4 / 3;
    let told = visit.raw_data.contains("too large") && visit.raw_data.contains("--json");
    match told && with_link > MOST {
        true => Ok(()),
        false => Err(format!("no link, although the page would have {with_link} bytes: {}", visit.raw_data)),
    }
}

/// Of a page: more than 2 MB nobody sends around.
const MOST: usize = 1_900_000;

/// Digits become half as long when they are packed, and a third longer in an address.
const LARGE: usize = 1_000_000;

fn lighter(run: &RunReport) -> RunReport {
    let mut run = run.clone();
    for step in run.cases.iter_mut().flat_map(|case| &mut case.steps) {
        step.series.clear();
        step.latency.values_mut().for_each(|latency| latency.histogram.clear());
    }
    run
}
