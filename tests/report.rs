//! Every format of every recorded run (`fixtures/recorded`). None of it needs root.
#![expect(clippy::unwrap_used, reason = "a test that cannot get its input has to fail")]

use std::path::{Path, PathBuf};

use fsduel_harness::report::{self, Format, Style, json};
use fsduel_harness::result::RunReport;
use fsduel_harness::suite::{Known, KnownWorkload, Options, Resolved, Suite};
use fsduel_harness::{claim, fs, measure, workload};

const WIDTHS: [u16; 2] = [80, 120];

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

/// Names and texts of the recorded runs.
fn recorded() -> Vec<(String, String)> {
    let entries = std::fs::read_dir(fixtures().join("recorded")).unwrap().map(|entry| entry.unwrap().path());
    let runs = entries.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let name = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
    runs.map(|path| (name(&path), std::fs::read_to_string(&path).unwrap())).collect()
}

/// A built-in suite at a scale, with all that this program knows.
fn resolved(name: &str, scale: &str) -> Resolved {
    let text = std::fs::read_to_string(fixtures().join(name).join("suite.toml")).unwrap();
    let filesystems: Vec<&str> = fs::ALL.iter().map(|filesystem| filesystem.name()).collect();
    let keys = |metrics: &'static [measure::Metric]| metrics.iter().map(|metric| metric.key);
    let metrics: Vec<&str> = measure::ALL.iter().flat_map(|row| keys(row.metrics())).collect();
    let case_metrics: Vec<&str> = keys(measure::OF_A_CASE).collect();
    let known = |row: &workload::Row| KnownWorkload {
        name: row.name.into(),
        parameters: row.parameters.iter().map(|parameter| parameter.key.into()).collect(),
    };
    let workloads: Vec<KnownWorkload> = workload::ALL.iter().map(known).collect();
    let options = Options { scale: Some(scale.into()), ..Options::default() };
    let known = Known {
        filesystems: &filesystems,
        common: &[],
        left_out: &[],
        workloads: &workloads,
        metrics: &metrics,
        case_metrics: &case_metrics,
    };
    Suite::built_in(name, name, &text).unwrap().resolve(&options, &known).unwrap()
}

/// The run, with what follows from today's suite, where it is of one.
fn today(text: &str) -> RunReport {
    let mut run = json::read(text).unwrap();
    if !fixtures().join(&run.suite.name).is_dir() {
        return run;
    }
    let suite = resolved(&run.suite.name, &run.suite.scale);
    run.suite = suite.info;
    run.references = suite.references;
    run.claims = claim::evaluate(&suite.claims, &run.references, &run);
    run
}

fn written(format: &Format, run: &RunReport, width: u16) -> String {
    let mut bytes = vec![];
    (format.write)(run, &mut bytes, &Style { width, ascii: false }).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Formats for people to read, whose text is told line for line. Those for programs have thousands
/// of lines; schemas and readers of their own check them.
const READ: [&str; 4] = ["table", "markdown", "postmark", "postmark-terse"];

#[test]
fn every_recorded_run_is_written_in_every_format() {
    assert!(!recorded().is_empty());
    for (name, text) in recorded() {
        let run = today(&text);
        let postmark =
            run.cases.iter().flat_map(|case| &case.steps).any(|step| step.facts.postmark.is_some());
        // Those of PostMark refuse a run without its work.
        let fits = |format: &&Format| postmark || !format.name.starts_with("postmark");
        for format in report::ALL.iter().filter(fits) {
            let texts = WIDTHS.map(|width| written(format, &run, width));
            if !READ.contains(&format.name) {
                assert!(texts[0].ends_with('\n') && texts[0].len() > 1000, "{} of {name}", format.name);
            } else if texts[0] == texts[1] {
                insta::assert_snapshot!(format!("report-{name}-{}", format.name), texts[0]);
            } else {
                for (text, width) in texts.iter().zip(WIDTHS) {
                    insta::assert_snapshot!(format!("report-{name}-{}-{width}", format.name), text);
                }
            }
        }
    }
}

#[test]
fn a_recorded_run_is_stored_again_as_it_was() {
    let format = report::find("json").unwrap();
    for (name, text) in recorded() {
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let again = written(format, &json::read(&text).unwrap(), 80);
        assert!(value(&again) == value(&text), "{name}");
    }
}

#[test]
fn no_line_of_a_table_is_wider_than_the_terminal() {
    let table = report::find("table").unwrap();
    for (name, text) in recorded() {
        for width in [60, 80, 100, 120, 200] {
            let written = written(table, &today(&text), width);
            let wide = written.lines().find(|line| line.chars().count() > usize::from(width));
            assert_eq!(wide, None, "{name} at {width}");
        }
    }
}

#[test]
fn every_recorded_run_tells_the_command_that_made_it() {
    let readme = std::fs::read_to_string(fixtures().join("recorded/README.md")).unwrap();
    for (name, _) in recorded() {
        let row = readme.lines().find(|line| line.starts_with(&format!("| `{name}.json` | `fsduel ")));
        assert!(row.is_some(), "{name}");
    }
}

/// `INSTA_UPDATE=always` draws it anew.
#[test]
fn the_picture_of_the_readme_is_drawn_from_its_run() {
    let folder = fixtures().join("recorded");
    let run = json::read(&std::fs::read_to_string(folder.join("small-files.json")).unwrap()).unwrap();
    let drawn = written(report::find("svg").unwrap(), &run, 80);
    let picture = folder.join("small-files.svg");
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        std::fs::write(&picture, &drawn).unwrap();
    }
    assert!(std::fs::read_to_string(&picture).unwrap() == drawn, "draw it anew: INSTA_UPDATE=always");
    let readme = std::fs::read_to_string(fixtures().join("../README.md")).unwrap();
    assert!(readme.contains("](fixtures/recorded/small-files.svg)"));
}
