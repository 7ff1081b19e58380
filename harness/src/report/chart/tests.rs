//! Charts as a reader of XML finds them: every text in its room, and none on another.

use std::collections::BTreeMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use unicode_width::UnicodeWidthStr;

use super::*;
use crate::report::{Style, example, find};
use crate::result::{CaseResult, Figure, Panel, Reason, Series, Status};

/// A text, where it is drawn.
#[derive(Debug)]
struct Text {
    shown: String,
    x: [f64; 2],
    y: [f64; 2],
}

type Attributes = BTreeMap<String, String>;

fn attributes(element: &BytesStart) -> Attributes {
    let pair = |attribute: quick_xml::events::attributes::Attribute| {
        let key = String::from_utf8(attribute.key.as_ref().to_vec()).unwrap();
        (key, String::from_utf8(attribute.value.to_vec()).unwrap())
    };
    element.attributes().map(|attribute| pair(attribute.unwrap())).collect()
}

fn number(attributes: &Attributes, key: &str) -> f64 {
    attributes[key].parse().unwrap_or_else(|_| panic!("{key} of {attributes:?}"))
}

/// As far as an element and those within it are moved.
fn moved(attributes: &Attributes) -> [f64; 2] {
    let Some(transform) = attributes.get("transform") else { return [0.0; 2] };
    let numbers = transform.strip_prefix("translate(").unwrap().strip_suffix(')').unwrap();
    let numbers: Vec<f64> = numbers.split(' ').map(|number| number.parse().unwrap()).collect();
    [numbers[0], numbers[1]]
}

/// Every text of a picture; what is no XML is an error.
fn texts(xml: &str) -> Vec<Text> {
    let mut reader = Reader::from_str(xml);
    let (mut groups, mut found) = (vec![[0.0; 2]], vec![]);
    let mut open: Option<(Attributes, String)> = None;
    let mut in_title = false;
    loop {
        match reader.read_event().unwrap() {
            Event::Start(element) => match element.name().as_ref() {
                b"g" => groups.push(moved(&attributes(&element))),
                b"text" => open = Some((attributes(&element), String::new())),
                b"title" => in_title = true,
                _ => {}
            },
            Event::End(element) => match element.name().as_ref() {
                b"g" => assert!(groups.pop().is_some()),
                b"text" => {
                    found.extend(open.take().map(|(attributes, shown)| placed(&attributes, shown, &groups)))
                }
                b"title" => in_title = false,
                _ => {}
            },
            Event::Text(text) if !in_title => {
                if let Some((_, shown)) = &mut open {
                    shown.push_str(std::str::from_utf8(&text).unwrap());
                }
            }
            // An escaped sign is as wide as one letter.
            Event::GeneralRef(_) if !in_title => {
                if let Some((_, shown)) = &mut open {
                    shown.push('&');
                }
            }
            Event::Eof => return found,
            _ => {}
        }
    }
}

/// By the estimate, or the width that it is held to.
fn placed(attributes: &Attributes, shown: String, groups: &[[f64; 2]]) -> Text {
    let size = number(attributes, "font-size");
    assert!(size >= 11.0, "{shown}");
    #[expect(clippy::cast_precision_loss, reason = "short")]
    let estimate = shown.width() as f64 * 0.62 * size;
    let width =
        if attributes.contains_key("textLength") { number(attributes, "textLength") } else { estimate };
    let by = groups.iter().fold([0.0; 2], |sum, by| [sum[0] + by[0], sum[1] + by[1]]);
    let (x, y) = (number(attributes, "x") + by[0], number(attributes, "y") + by[1]);
    let left = if attributes.contains_key("text-anchor") { x - width } else { x };
    Text { shown, x: [left, left + width], y: [y - size, y + 0.25 * size] }
}

/// What one decimal may cost.
const NEARLY: f64 = 0.2;

fn assert_apart(texts: &[Text], [width, height]: [f64; 2]) {
    for (at, one) in texts.iter().enumerate() {
        let inside = one.x[0] >= -NEARLY && one.x[1] <= width + NEARLY;
        assert!(
            inside && one.y[0] >= 0.0 && one.y[1] <= height,
            "`{}` leaves {width} × {height}: {one:?}",
            one.shown
        );
        // Those below are drawn later, those far below cannot meet it.
        for other in texts[at + 1..].iter().take(400) {
            let meet = |a: [f64; 2], b: [f64; 2]| a[0] + NEARLY < b[1] && b[0] + NEARLY < a[1];
            assert!(!(meet(one.x, other.x) && meet(one.y, other.y)), "{one:?} meets {other:?}");
        }
    }
}

fn all(report: &RunReport) -> Vec<Chart> {
    let of_step = |step: &crate::result::StepResult| {
        super::step(report, &step.name).into_iter().chain(series(report, &step.name)).collect::<Vec<_>>()
    };
    let charts = report.steps().into_iter().flat_map(of_step);
    figure(report).into_iter().chain(overview(report)).chain(charts).collect()
}

fn picture(report: &RunReport) -> String {
    let mut written = vec![];
    (find("svg").unwrap().write)(report, &mut written, &Style::default()).unwrap();
    String::from_utf8(written).unwrap()
}

/// That every chart and the whole picture can be read, and how many charts there are.
fn checked(report: &RunReport) -> usize {
    let charts = all(report);
    for chart in &charts {
        assert_apart(&texts(&chart.body), [chart.width, chart.height]);
        assert!(chart.text.starts_with(&chart.title), "{}", chart.text);
        assert!(chart.text.contains("n = "), "{}", chart.text);
        assert!(chart.text.contains("interval"), "{}", chart.text);
    }
    let picture = picture(report);
    let view = picture.split("viewBox=\"0 0 ").nth(1).unwrap().split('"').next().unwrap();
    let (width, height) = view.split_once(' ').unwrap();
    assert_apart(&texts(&picture), [width.parse().unwrap(), height.parse().unwrap()]);
    charts.len()
}

/// With the figure of the article, and bytes over the time of its fill.
fn with_figure() -> RunReport {
    let mut report = example::report();
    let panel = |step: &str, metric: &str, title: &str| Panel {
        step: step.into(),
        metric: metric.into(),
        title: title.into(),
    };
    let figure = Figure {
        title: "Small files and one large".into(),
        source: Some("figure 1".into()),
        panels: vec![
            panel("small-files", "space_used_bytes", "Small files: space used"),
            panel("fill", "file_size_bytes", "Large file: size reached"),
        ],
    };
    report.suite.figures = vec![figure];
    for (at, case) in report.cases.iter_mut().enumerate() {
        for step in case.steps.iter_mut().filter(|step| step.name == "fill") {
            step.series = vec![filling([2e8, 4e8][at % 2])];
        }
    }
    report
}

/// So many bytes per second, and half of it later.
fn filling(per_s: f64) -> Series {
    Series {
        name: "payload_bytes".into(),
        unit: "bytes".into(),
        t_s: vec![0.0, 1.0, 2.0, 3.0, 4.0],
        value: vec![0.0, per_s, per_s * 2.0, per_s * 2.5, per_s * 3.0],
    }
}

/// So many configurations and steps, with all of the ids made by `name`.
fn large(configurations: usize, steps: usize, name: fn(&str, usize) -> String) -> RunReport {
    let mut report = with_figure();
    report.comparisons.clear();
    report.suite.resolved = serde_json::Value::Null;
    let (files, mut fill) = (report.cases[0].steps[0].clone(), report.cases[0].steps[1].clone());
    fill.name = name("fill", 0);
    let case = |at: usize| {
        let mut case = report.cases[0].clone();
        case.configuration.id = name("fs", at);
        case.id = case.configuration.case_id(1);
        let step = |of: usize| crate::result::StepResult { name: name("step", of), ..files.clone() };
        case.steps = (0..steps).map(step).chain([fill.clone()]).collect();
        case
    };
    report.cases = (0..configurations).map(case).collect();
    report
}

#[test]
fn texts_of_the_examples_are_apart_and_inside() {
    assert_eq!(checked(&with_figure()), 2 + 2 + 3 + 3 + 1, "figure, overview, small files, fill, its rate");
    // Nothing is used by a step that only reads.
    assert_eq!(checked(&example::repeated()), 2 + 3 + 2 + 3);
}

#[test]
fn a_report_of_one_configuration_or_none_can_be_drawn() {
    let mut report = with_figure();
    report.cases.truncate(1);
    report.comparisons.clear();
    assert_eq!(checked(&report), 2 + 3 + 3 + 1, "no overview: nothing is compared");
    report.cases.clear();
    assert_eq!(checked(&report), 0);
    assert!(picture(&report).contains("there is nothing to draw"));
}

#[test]
fn of_one_step_there_is_nothing_to_look_over() {
    let mut report = example::repeated();
    assert!(!overview(&report).is_empty());
    report.cases.iter_mut().for_each(|case| case.steps.truncate(1));
    assert!(overview(&report).is_empty());
}

#[test]
fn what_was_not_verified_is_not_drawn() {
    let mut report = with_figure();
    for case in &mut report.cases {
        case.status = Status::Failed;
        case.reason = Some(Reason { code: Reason::DAMAGE.into(), text: "a byte differs".into(), next: None });
    }
    assert_eq!(checked(&report), 0);
    let picture = picture(&report);
    assert!(!picture.contains("<circle") && picture.contains("a byte differs"), "{picture}");
}

#[test]
fn a_figure_that_is_missing_is_absent_and_never_0() {
    let mut report = with_figure();
    let ext4 = report.cases.iter_mut().find(|case| case.configuration.id == "ext4").unwrap();
    ext4.steps[0].metrics.0.remove("synced_s");
    let chart = &step(&report, "small-files")[0];
    assert!(
        chart.text.contains("ext4: -;") && chart.text.contains("btrfs: 668\u{a0}ms, n = 1;"),
        "{}",
        chart.text
    );
    assert_eq!(chart.body.matches("<circle").count(), 2, "btrfs and xfs");
    report.cases.iter_mut().for_each(|case| case.steps.iter_mut().for_each(|step| step.metrics.0.clear()));
    assert_eq!(checked(&report), 1 + 1, "the size reached is a fact, its course a series");
}

#[test]
fn twelve_file_systems_in_fifty_steps_have_room() {
    let report = large(12, 50, |what, at| format!("{what}-{at}"));
    assert_eq!(checked(&report), 11 * 4 + 50 * 3 + 3 + 1, "51 steps at a glance are four sheets");
}

/// Between the margins of A4, below a heading.
const SHEET: f64 = 1000.0;

#[test]
fn no_chart_is_higher_than_a_sheet_and_no_row_is_lost() {
    let mut repeated = example::repeated();
    let base = repeated.cases.iter().filter(|case| case.configuration.id == "btrfs").cloned();
    let base: Vec<CaseResult> = base.collect();
    for at in 2..40 {
        repeated.cases.extend(base.iter().cloned().map(|mut case| {
            case.configuration.id = format!("btrfs#{at}");
            case.id = case.configuration.case_id(case.block);
            case
        }));
    }
    repeated.comparisons = crate::compare::within(&repeated);
    for report in [&repeated, &large(12, 50, |what, at| format!("{what}-{at}"))] {
        checked(report);
        let highest = all(report).iter().map(|chart| chart.height).fold(0.0, f64::max);
        assert!(highest < SHEET, "{highest}");
    }
    let charts = step(&repeated, "small-files");
    let of_time = charts.iter().filter(|chart| chart.title.starts_with("small-files: time until synced"));
    let texts: Vec<_> = of_time.flat_map(|chart| texts(&chart.body)).map(|text| text.shown).collect();
    for id in repeated.configuration_ids() {
        let times = texts.iter().filter(|text| *text == id).count();
        let is_baseline = id == repeated.configuration_ids()[0];
        let judged = repeated
            .comparisons
            .iter()
            .any(|one| one.candidate == id && one.step == "small-files" && one.estimate.ci95.is_some());
        assert_eq!(times, 1 + usize::from(judged && !is_baseline), "{id}");
    }
    assert!(
        charts.iter().any(|chart| chart.title.contains("ratio to") && chart.title.ends_with("part 1 of 3"))
    );
}

#[test]
fn names_from_outside_are_text_in_their_room() {
    let hostile: [fn(&str, usize) -> String; 4] = [
        |what, at| format!("{what}{at}<script>alert('1')</script>&amp;\"{}", "W".repeat(200)),
        |what, at| format!("\u{202e}{what}{at}\u{0}\u{1b}[2J\n\u{2066}مرحبا بالعالم"),
        |what, at| format!("{}{what}{at}", "漢字".repeat(40)),
        |what, at| format!("{what}{at}{}", "\u{301}".repeat(200)),
    ];
    for name in hostile {
        let mut report = large(9, 1, name);
        report.suite.title = name("title", 0);
        report.suite.figures[0].panels[0] =
            Panel { step: name("step", 0), metric: "synced_s".into(), title: name("panel", 0) };
        report.manifest.started_at = name("date", 0);
        assert_eq!(checked(&report), 1 + 8 + 3 + 3 + 1);
        let picture = picture(&report);
        assert!(
            !picture.contains("<script") && !picture.contains(['\u{202e}', '\u{2066}', '\u{0}', '\u{1b}'])
        );
    }
}

#[test]
fn a_dot_stands_for_every_block_that_counts_and_an_interval_for_the_ratio() {
    let charts = step(&example::repeated(), "small-files");
    let time = &charts[0];
    // Six blocks of each, of xfs one that was disturbed; and a dot for each of two ratios.
    assert_eq!(time.body.matches("<circle").count(), 6 + 6 + 5 + 2, "{}", time.body);
    let text = time.text.replace('\u{a0}', " ");
    assert!(text.contains("btrfs: 678 ms, ×1.62 slower, 95 % interval [1.59, 1.64], n = 6"), "{text}");
    assert!(text.contains("xfs: 430 ms, ×1.02 not resolved, 95 % interval [0.880, 1.19], n = 5"), "{text}");
    assert!(text.contains("reiserfs: not run"), "{text}");
}

#[test]
fn a_line_of_rates_is_drawn_for_the_block_of_the_median_time() {
    let mut report = with_figure();
    let of_ext4 = |report: &RunReport, block: u32, synced: f64, per_s: f64| -> CaseResult {
        let mut case = report.cases.iter().find(|case| case.configuration.id == "ext4").unwrap().clone();
        case.block = block;
        case.steps[1].metrics.set("synced_s", synced);
        case.steps[1].series = vec![filling(per_s)];
        case
    };
    let more = [(2, 1.0, 9e8), (3, 9.0, 1e6), (4, 2.5, 3e8)].map(|(b, s, r)| of_ext4(&report, b, s, r));
    report.cases.extend(more);
    let text = series(&report, "fill").unwrap().text;
    // Times are 1.0, 2.2, 2.5 and 9.0: the second.
    assert!(text.contains("ext4: 200 MB/s to 400 MB/s over 4.00 s"), "{text}");
    assert!(series(&report, "small-files").is_none());
}

#[test]
fn a_chart_looks_like_this() {
    let chart = &step(&example::repeated(), "small-files")[0];
    insta::assert_snapshot!(format!("{}\n{}\n\n{}", chart.title, chart.text, chart.body));
}
