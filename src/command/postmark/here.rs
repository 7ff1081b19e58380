//! Without `--fs`: in the locations of the configuration, or in the current directory.

use std::path::Path;

use fsduel_harness::Result;
use fsduel_harness::result::RunReport;

use crate::cli::{PostmarkArguments, Results};
use crate::command::report::write_all;
use crate::command::run::{check_destinations, json_is_stdout, store_json};
use crate::destination::ReportTo;
use crate::exit;
use crate::parts::directory::{self, Run};
use crate::parts::postmark::{Action, ReportStyle, Script};
use crate::parts::{self, Sequence};
use crate::progress::{self, Progress};

use super::{NAME, print, put};

/// Do every run, or only plan it.
pub fn run(arguments: &PostmarkArguments, script: &Script, runs: &[Run]) -> Result<u8> {
    let results = &arguments.shared.results;
    check_destinations(results, &[NAME])?;
    let title = format!("PostMark, {}", arguments.config.display());
    match results.dry_run {
        true => plan(results, script, runs, &title),
        false => work(results, script, runs, &title),
    }
}

/// Counts and figures of every run; no file is touched.
pub fn plan(results: &Results, script: &Script, runs: &[Run], title: &str) -> Result<u8> {
    let mut sequence = Sequence::plan_only(title, parts::argv());
    let mut runs = runs.iter();
    for action in &script.actions {
        match (action, is_shown(results)) {
            (Action::Run { settings, .. }, shown) => {
                runs.next().map_or(Ok(()), |run| sequence.plan(run))?;
                if shown {
                    print(&report(settings.report, &sequence.last())?)?;
                }
            }
            (Action::Show { text, aside, .. }, true) => print(&format!("{text}{aside}"))?,
            (Action::Show { .. }, false) => {}
        }
    }
    progress::line("dry run: no file was touched, so there are no times");
    finish(results, &sequence.finish(&mut |_| {}))?;
    Ok(exit::OK)
}

fn work(results: &Results, script: &Script, runs: &[Run], title: &str) -> Result<u8> {
    runs.iter().try_for_each(|run| directory::check(&run.settings))?;
    let mut sequence = Sequence::begin(title, parts::argv(), first_place(runs))?;
    if results.quiet {
        sequence = sequence.without_progress();
    }
    let mut progress = Progress::start(results.quiet, false, None);
    let mut runs = runs.iter();
    for action in &script.actions {
        if !sequence.goes_on() || parts::signal().is_some() {
            break;
        }
        let run = matches!(action, Action::Run { .. }).then(|| runs.next()).flatten();
        let ended = run.map_or(Ok(true), |run| sequence.run(run, &mut |event| progress.tell(&event)))?;
        let mut shown = Ok(());
        if ended {
            progress::above(|| shown = show(results, action, &sequence));
        }
        shown?;
    }
    let report = sequence.finish(&mut |event| progress.tell(&event));
    drop(progress);
    if results.quiet {
        report.cases.iter().filter_map(|case| case.reason.as_ref()).for_each(|reason| {
            progress::line(&format!("error: {}", reason.text));
        });
    }
    finish(results, &report)?;
    Ok(exit::code(&report, exit::Asked { signal: parts::signal(), ..exit::Asked::default() }))
}

fn first_place(runs: &[Run]) -> &Path {
    let locations = runs.first().map(|run| run.settings.locations.as_slice()).unwrap_or_default();
    locations.first().map_or(Path::new("."), |location| Path::new(&location.path))
}

/// What an action shows, once it is done.
fn show(results: &Results, action: &Action, sequence: &Sequence) -> Result<()> {
    match action {
        Action::Show { .. } => show_settings(results, action),
        Action::Run { settings, report_to } => {
            let text = report(settings.report, &sequence.last())?;
            put(&text, report_to.as_deref(), is_shown(results))
        }
    }
}

/// `show`: the settings, as PostMark prints them.
pub fn show_settings(results: &Results, action: &Action) -> Result<()> {
    let Action::Show { text, aside, to } = action else { return Ok(()) };
    put(text, to.as_deref(), !json_is_stdout(results))?;
    match aside.is_empty() || json_is_stdout(results) {
        true => Ok(()),
        false => print(aside),
    }
}

/// Whether reports in the style of the configuration are shown: nothing else is asked for.
fn is_shown(results: &Results) -> bool {
    results.reports.is_empty() && !json_is_stdout(results)
}

/// PostMark's report in the style that the configuration chose.
pub fn report(style: ReportStyle, report: &RunReport) -> Result<String> {
    let format = match style {
        ReportStyle::Verbose => "postmark",
        ReportStyle::Terse => "postmark-terse",
    };
    let mut bytes = vec![];
    parts::write_report(format, report, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Store the report, and write it in the formats that were asked for.
fn finish(results: &Results, report: &RunReport) -> Result<()> {
    store_json(results, report, NAME)?;
    let finished = report.cases.iter().any(|case| !case.steps.is_empty());
    let mut reports = results.reports.clone();
    // There is no report of PostMark where none of its runs ended.
    reports.retain(|to| finished || !to.format.starts_with(NAME));
    if json_is_stdout(results) {
        reports.insert(0, ReportTo { format: "json".into(), path: None });
    }
    write_all(report, &reports)
}
