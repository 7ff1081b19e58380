//! Every format of every kind of run: recorded, cut short, empty, failed, large, with figures
//! missing, and with hostile text in every place. None of it needs root.
//!
//! What reads a format in practice judges it: tidy the HTML, xmllint the XML, the csv crate the CSV.
//! Where one of the programs is missing its test says so and passes, save with
//! `FSDUEL_REQUIRE_ALL=1`.
#![expect(clippy::unwrap_used, reason = "a test that cannot get its input has to fail")]

mod shared;

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use fsduel_harness::command;
use fsduel_harness::error::Kind;
use fsduel_harness::report::{self, Format, Style, json};
use fsduel_harness::result::RunReport;

use shared::{HOSTILE, Named, hostile, odd, recorded, small};

/// All of them, made once.
static RUNS: LazyLock<Vec<Named>> = LazyLock::new(|| {
    let hostile = HOSTILE.iter().map(|kind| (kind.name.to_owned(), hostile(&small(), kind)));
    recorded().into_iter().chain(odd()).chain(hostile).collect()
});

/// What one text may hold in a comment on GitHub.
const COMMENT_MAX: usize = 65_536;

fn written(format: &Format, run: &RunReport) -> Result<String, fsduel_harness::Error> {
    let mut bytes = vec![];
    (format.write)(run, &mut bytes, &Style::default())?;
    Ok(String::from_utf8(bytes).unwrap())
}

/// Every run in the format of that name.
fn all(format: &str) -> impl Iterator<Item = (&'static str, &'static RunReport, String)> {
    let format = report::find(format).unwrap();
    RUNS.iter().map(|(name, run)| (name.as_str(), run, written(format, run).unwrap()))
}

/// What a program says of a text on its standard input; nothing where it is content.
fn judged(program: &str, arguments: &[&str], text: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let text = text.to_owned();
    // One that has seen enough no longer reads.
    let writer = std::thread::spawn(move || drop(input.write_all(text.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    (!output.status.success() || !said.is_empty()).then_some(said)
}

/// Whether a program is there.
fn has(program: &str, package: &str) -> bool {
    let is_there = command::find(program).is_some();
    let require_all = std::env::var("FSDUEL_REQUIRE_ALL").is_ok_and(|value| value == "1");
    assert!(is_there || !require_all, "{program} is missing: apt install {package}");
    if !is_there {
        eprintln!("not tested: {program} is missing: apt install {package}");
    }
    is_there
}

/// The first few of what was found.
fn none(found: &[String]) {
    let first: Vec<_> = found.iter().take(5).collect();
    assert!(found.is_empty(), "{} faults: {first:#?}", found.len());
}

#[test]
fn every_run_is_written_in_every_format_or_has_no_work_for_it() {
    for format in report::ALL {
        for (name, run) in RUNS.iter() {
            match written(format, run) {
                Ok(text) => assert!(text.ends_with('\n'), "{name} as {}", format.name),
                Err(error) => {
                    let of_postmark = format.name.starts_with("postmark");
                    assert!(of_postmark && error.kind() == Kind::Empty, "{name} as {}: {error}", format.name);
                }
            }
        }
    }
}

#[test]
fn what_a_killed_run_left_is_written_with_its_warning() {
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let path = folder.path().join("run.json.partial.jsonl");
    std::fs::write(&path, shared::partial_text(&small())).unwrap();
    for format in ["table", "html", "markdown", "junit"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fsduel"));
        let output = command.arg("report").arg(&path).args(["--report", format]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{format}: {}", String::from_utf8_lossy(&output.stderr));
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("the run did not end; 2 cases had finished"), "{format}: {text}");
    }
}

#[test]
fn tidy_is_content_with_the_html() {
    if !has("tidy", "tidy") {
        return;
    }
    let options = ["-q", "-e", "-utf8", "--drop-empty-elements", "no", "--show-info", "no"];
    // Tidy 5.6 is older than groups in `<dl>`. Source: WHATWG HTML, "The dl element".
    let without_groups = |text: &str| text.replace("<div><dt>", "<dt>").replace("</dd></div>", "</dd>");
    let judge = |(name, _, text): (_, _, String)| {
        judged("tidy", &options, &without_groups(&text)).map(|said| format!("{name}: {said}"))
    };
    none(&all("html").filter_map(judge).collect::<Vec<_>>());
}

#[test]
fn svg_and_junit_are_well_formed_xml() {
    if !has("xmllint", "libxml2-utils") {
        return;
    }
    for format in ["svg", "junit"] {
        let judge = |(name, _, text): (_, _, String)| {
            let said = judged("xmllint", &["--noout", "--nonet", "--huge", "-"], &text)?;
            Some(format!("{name} as {format}: {said}"))
        };
        none(&all(format).filter_map(judge).collect::<Vec<_>>());
    }
}

#[test]
fn every_row_of_csv_has_the_cells_of_the_first() {
    for (name, run, text) in all("csv") {
        let mut reader = csv::ReaderBuilder::new().flexible(false).from_reader(text.as_bytes());
        assert!(reader.headers().unwrap().len() > 4, "{name}");
        let rows = reader.records().inspect(|row| assert!(row.is_ok(), "{row:?}")).count();
        let has_figures = run.cases.iter().any(|case| case.counts() && !case.metrics.0.is_empty());
        assert!(rows > 0 || !has_figures, "{name}: no row");
        assert!(rows == 0 || !run.cases.is_empty(), "{name}: {rows} rows of nothing");
    }
}

#[test]
fn no_cell_of_csv_is_a_formula() {
    let (_, run) = RUNS.iter().find(|(name, _)| name == "formulas and tables").unwrap();
    let text = written(report::find("csv").unwrap(), run).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let rows: Vec<_> = reader.records().map(|row| row.unwrap()).collect();
    assert!(rows.iter().flatten().any(|cell| cell.contains("cmd|")), "the text is there: {text}");
    for cell in rows.iter().flatten().filter(|cell| cell.parse::<f64>().is_err()) {
        assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "a spreadsheet would compute {cell:?}");
    }
}

#[test]
fn markdown_is_short_enough_for_a_comment() {
    for (name, _, text) in all("markdown") {
        // GitHub counts characters; bytes are never fewer.
        assert!(text.len() < COMMENT_MAX, "{name}: {} bytes", text.len());
    }
}

#[test]
fn json_is_read_back_as_it_was() {
    let value = |run: &RunReport| serde_json::to_value(run).unwrap();
    for (name, run, text) in all("json") {
        assert!(value(&json::read(&text).unwrap()) == value(run), "{name}");
    }
}

/// Words with which programs tell that there is no number.
const NO_NUMBERS: [&str; 6] = ["NaN", "nan", "inf", "-inf", "null", "undefined"];

/// The text without what is packed, and without what a recorded command line or option says.
fn words(text: &str) -> Vec<String> {
    let is_packed = |word: &&str| word.len() > 1000;
    let shown: Vec<_> = text.split_whitespace().filter(|word| !is_packed(word)).collect();
    let part = |c: char| !(c.is_alphanumeric() || c == '-' || c == '_');
    shown.join(" ").split(part).map(str::to_owned).collect()
}

#[test]
fn what_is_no_number_is_shown_nowhere() {
    for format in ["table", "html", "svg", "csv", "markdown", "junit"] {
        for (name, _, text) in all(format) {
            let found: Vec<String> =
                words(&text).into_iter().filter(|word| NO_NUMBERS.contains(&word.as_str())).collect();
            assert!(found.is_empty(), "{name} as {format}: {found:?}");
        }
    }
}

/// Those that move the cursor, colour, ring, or turn the direction of what follows.
fn is_dangerous(sign: char) -> bool {
    let turns = matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
    (sign.is_control() && sign != '\n') || turns
}

#[test]
fn a_terminal_gets_no_control_character_and_no_change_of_direction() {
    for (name, _, text) in all("table") {
        let found: Vec<char> = text.chars().filter(|sign| is_dangerous(*sign)).collect();
        assert!(found.is_empty(), "{name}: {:?}", found.first());
    }
}

#[test]
fn a_pull_request_gets_no_control_character_and_no_html_from_outside() {
    for (name, _, text) in all("markdown") {
        let found: Vec<char> = text.chars().filter(|sign| is_dangerous(*sign)).collect();
        assert!(found.is_empty(), "{name}: {:?}", found.first());
        assert!(!text.contains("<img") && !text.contains("<script"), "{name}");
        assert!(!text.contains(" @everyone"), "{name}: someone would be called");
    }
}

#[test]
fn xml_has_no_character_that_it_forbids() {
    for format in ["svg", "junit", "html"] {
        for (name, _, text) in all(format) {
            let is_forbidden =
                |sign: &char| (sign.is_control() && !['\n', '\t'].contains(sign)) || *sign == '\u{fffe}';
            assert_eq!(text.chars().find(is_forbidden), None, "{name} as {format}");
        }
    }
}

#[test]
fn a_tool_finds_what_is_wrong() {
    if has("xmllint", "libxml2-utils") {
        assert!(judged("xmllint", &["--noout", "-"], "<svg><text>a & b</text></svg>").is_some());
        assert!(judged("xmllint", &["--noout", "-"], "<svg><text>a</text></svg>").is_none());
    }
    if has("tidy", "tidy") {
        let page = |body: &str| {
            format!(
                "<!DOCTYPE html><html lang=\"en\"><head><title>a</title></head><body>{body}</body></html>"
            )
        };
        assert!(judged("tidy", &["-q", "-e"], &page("<p><b>a</p>")).is_some());
        assert!(judged("tidy", &["-q", "-e"], &page("<p>a</p>")).is_none());
    }
}

/// What follows the program's name in the jobs of `fixtures/ci`, as words.
fn commands_of_jobs() -> Vec<Vec<String>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ci");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "yml"));
    let command = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        let (_, rest) = text.split_once("fsduel\" run ").or_else(|| text.split_once("fsduel run ")).unwrap();
        let is_ours = |line: &&str| line.trim_start().starts_with("--") || rest.starts_with(line);
        rest.lines().take_while(is_ours).flat_map(str::split_whitespace).map(str::to_owned).collect()
    };
    files.map(command).collect()
}

#[test]
fn the_jobs_for_ci_servers_are_understood_as_they_are_written() {
    let jobs = commands_of_jobs();
    assert_eq!(jobs.len(), 2);
    for words in jobs {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fsduel"));
        command.arg("run").args(&words).arg("--dry-run").current_dir(folder.path());
        let output = command.output().unwrap();
        assert!(words.len() > 6, "{words:?}");
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
