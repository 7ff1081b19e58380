//! The page as a whole: well formed, closed to the outside, and safe whatever a stored run says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::*;
use crate::report::example;
use crate::result::{Latency, Status};

fn page(report: &RunReport) -> String {
    let mut bytes = vec![];
    write(report, &mut bytes, &Style::default()).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn everything() -> RunReport {
    let (changes, gates) = example::changes();
    RunReport { changes: Some(changes), gates, ..example::report() }
}

/// A start tag, and the text after it up to the next tag.
struct Element {
    name: String,
    attributes: BTreeMap<String, String>,
    text: String,
    /// The elements around it, the nearest last.
    within: Vec<String>,
}

/// Elements that have no end tag in HTML.
const VOID: [&str; 5] = ["meta", "link", "br", "hr", "img"];

/// Every element. Panics where a tag is not closed, not quoted, or closed in another order.
fn elements(html: &str) -> Vec<Element> {
    let mut open: Vec<String> = vec![];
    let mut all = vec![];
    let rest = html.strip_prefix("<!DOCTYPE html>").expect("the page has a document type");
    for piece in rest.split('<').skip(1) {
        let (tag, text) = piece.split_once('>').unwrap_or_else(|| panic!("not closed: <{piece}"));
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed in another order");
            continue;
        }
        let (tag, alone) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let element = Element {
            name: name.into(),
            attributes: quoted(attributes),
            text: text.into(),
            within: open.clone(),
        };
        if !alone && !VOID.contains(&name) {
            open.push(name.into());
        }
        all.push(element);
    }
    assert_eq!(open, Vec::<String>::new(), "not closed");
    all
}

fn quoted(text: &str) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (name, value) = rest.split_once("=\"").unwrap_or_else(|| panic!("not quoted: {rest}"));
        let (value, after) = value.split_once('"').unwrap_or_else(|| panic!("not quoted: {rest}"));
        assert!(name.chars().all(|sign| sign.is_ascii_alphanumeric() || "-:".contains(sign)), "{name:?}");
        assert!(all.insert(name.into(), value.into()).is_none(), "{name} twice");
        rest = after.trim_start();
    }
    all
}

fn named<'a>(all: &'a [Element], name: &str) -> Vec<&'a Element> {
    all.iter().filter(|element| element.name == name).collect()
}

#[test]
fn the_page_has_one_heading_of_the_first_order_and_every_table_says_what_it_is() {
    for report in [example::report(), example::repeated(), everything()] {
        let all = elements(&page(&report));
        for once in ["h1", "main", "nav", "title", "header"] {
            assert_eq!(named(&all, once).len(), 1, "{once}");
        }
        assert_eq!(named(&all, "html")[0].attributes["lang"], "en");
        let tables = named(&all, "table").len();
        assert!(tables > 3 && named(&all, "caption").len() == tables);
        assert!(named(&all, "th").iter().all(|heading| heading.attributes.contains_key("scope")));
        let boxed = |table: &&Element| table.within.last().is_some_and(|around| around == "div");
        assert!(named(&all, "table").iter().all(boxed));
        let sections = named(&all, "section").len();
        assert_eq!(named(&all, "h2").len(), sections);
    }
}

#[test]
fn every_entry_of_the_contents_leads_to_a_section() {
    let all = elements(&page(&everything()));
    let ids: Vec<&String> = all.iter().filter_map(|element| element.attributes.get("id")).collect();
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{ids:?}");
    let links = named(&all, "a").into_iter().filter_map(|link| link.attributes["href"].strip_prefix('#'));
    let links: Vec<&str> = links.collect();
    assert!(links.len() > ids.len() && links.iter().all(|link| ids.iter().any(|id| id == link)), "{links:?}");
}

#[test]
fn the_page_loads_nothing_and_runs_nothing() {
    for element in elements(&page(&everything())) {
        let runs = ["script", "iframe", "object", "embed", "base", "form", "foreignObject"];
        assert!(!runs.contains(&element.name.as_str()), "{}", element.name);
        for (name, value) in &element.attributes {
            assert!(!name.starts_with("on") && name != "srcset" && name != "action", "{name}");
            let inside = value.starts_with('#') || value.starts_with("data:");
            assert!(inside || !["href", "src", "xlink:href"].contains(&name.as_str()), "{name}={value}");
        }
    }
    let all = elements(&page(&everything()));
    let policy = named(&all, "meta").into_iter().find(|meta| meta.attributes.contains_key("http-equiv"));
    let content = &policy.unwrap().attributes["content"];
    assert!(content.starts_with("default-src 'none';") && !content.contains("script-src"), "{content}");
    let style = named(&all, "style")[0];
    assert!(!style.text.contains("url(") && !style.text.contains("@import"));
}

#[test]
fn the_answer_stands_before_everything_else() {
    let html = page(&example::repeated());
    let places = [
        "Did not pass",
        "1 invalid (xfs)",
        "btrfs slower than ext4",
        "<nav",
        "Did not pass</bdi></h2>",
        "Step by step</bdi></h2>",
    ];
    let places: Vec<_> = places.iter().map(|text| html.find(text).expect(text)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    assert_eq!(page(&everything()), page(&everything()));
}

const HOSTILE: &str = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>\u{202e}\u{0}\u{85}";

/// Put it before every text that the run can hold there, one place after the other, so that a place
/// where only certain words are allowed keeps its own.
fn poisoned(report: &RunReport) -> (RunReport, usize) {
    let mut value = serde_json::to_value(report).unwrap();
    let mut pointers = vec![];
    texts(&value, String::new(), &mut pointers);
    let mut count = 0;
    for pointer in pointers {
        let before = value.clone();
        let text = value.pointer_mut(&pointer).unwrap();
        *text = Value::from(format!("{HOSTILE}{}", text.as_str().unwrap()));
        match serde_json::from_value::<RunReport>(value.clone()) {
            Ok(_) => count += 1,
            Err(_) => value = before,
        }
    }
    for case in value["cases"].as_array_mut().unwrap() {
        keys(&mut case["ledger"]);
        for step in case["steps"].as_array_mut().unwrap() {
            keys(&mut step["latency"]);
        }
    }
    keys(&mut value["environments"][0]["tools"]);
    keys(&mut value["suite"]["resolved"]);
    (serde_json::from_value(value).unwrap(), count)
}

fn texts(value: &Value, pointer: String, all: &mut Vec<String>) {
    match value {
        Value::String(_) => all.push(pointer),
        Value::Array(list) => {
            list.iter().enumerate().for_each(|(at, value)| texts(value, format!("{pointer}/{at}"), all));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| texts(value, format!("{pointer}/{key}"), all));
        }
        _ => {}
    }
}

/// Keys that come from outside, too.
fn keys(value: &mut Value) {
    if let Some(fields) = value.as_object_mut() {
        *fields = std::mem::take(fields)
            .into_iter()
            .map(|(key, value)| (format!("{HOSTILE}{key}"), value))
            .collect();
    }
}

#[test]
fn no_text_of_a_run_becomes_a_part_of_the_page() {
    for report in [example::report(), example::repeated(), everything(), example::postmark()] {
        let (hostile, count) = poisoned(&report);
        assert!(count > 50, "{count}");
        let clean: BTreeSet<String> =
            elements(&page(&report)).into_iter().map(|element| element.name).collect();
        let html = page(&hostile);
        for element in elements(&html) {
            assert!(clean.contains(&element.name), "{}", element.name);
            assert!(!element.attributes.keys().any(|name| name.starts_with("on")));
        }
        assert!(html.contains("&lt;script&gt;alert"), "it is shown as text");
        assert!(!html.contains(['\u{202e}', '\u{0}', '\u{85}']));
    }
}

#[test]
fn a_run_without_figures_can_be_written() {
    let mut report = RunReport { environments: vec![], ..example::report() };
    report.cases.retain(|case| case.status == Status::NotRun);
    report.comparisons.clear();
    let html = page(&report);
    elements(&html);
    assert!(html.contains("Nothing ran") && html.contains("1 not run (reiserfs)"));
    report.cases.clear();
    let html = page(&report);
    elements(&html);
    assert!(html.contains("There are no cases."));
    report.manifest = crate::result::Manifest::default();
    report.suite = crate::result::SuiteInfo::default();
    elements(&page(&report));
}

#[test]
fn one_file_system_has_no_ratio_and_missing_metrics_are_no_zeros() {
    let mut report = example::report();
    report.cases.truncate(1);
    report.comparisons.clear();
    report.references.clear();
    report.claims.clear();
    let html = page(&report);
    assert!(html.contains("btrfs 668\u{a0}ms") && !html.contains("×1.62"));
    for step in report.cases.iter_mut().flat_map(|case| &mut case.steps) {
        step.metrics.0.clear();
        step.latency.clear();
    }
    let html = page(&report);
    elements(&html);
    assert!(!html.contains(">0 s<") && !html.contains(">0 B<") && !html.contains("668"));
}

/// 12 file systems, so many steps and blocks, each number of its own.
fn large(steps: usize, blocks: u32) -> RunReport {
    let mut report = example::repeated();
    let first = report.cases[0].clone();
    report.cases.clear();
    report.comparisons.clear();
    let latency = example::report().cases[0].steps[0].latency["create"].clone();
    for (block, at) in (0..blocks).flat_map(|block| (0..12_u32).map(move |at| (block + 1, at))) {
        let mut case = first.clone();
        case.configuration.id = format!("configuration-{at}");
        case.block = block;
        case.id = case.configuration.case_id(block);
        let numbered = |number: usize| {
            let mut step = case.steps[0].clone();
            step.name = format!("step-{number}");
            let mut state = u64::from(block * 7919 + at * 104_729) + number as u64 * 15_485_863;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                f64::from(u32::try_from(state >> 40).unwrap()) / 1e6
            };
            for key in [
                "synced_s",
                "kernel_cpu_s",
                "returned_s",
                "unmounted_s",
                "user_cpu_s",
                "device_written_bytes",
                "image_allocated_bytes",
            ] {
                step.metrics.set(key, next());
            }
            for kind in ["create", "write", "close"] {
                let histogram = (0..60).map(|_| format!("{:.0}:9 ", next() * 1e6)).collect();
                step.latency.insert(kind.into(), Latency { p99_s: next(), histogram, ..latency.clone() });
            }
            let series = crate::result::Series {
                name: "payload_bytes".into(),
                unit: "bytes".into(),
                t_s: (0..50).map(f64::from).collect(),
                value: (0..50).map(|_| next()).collect(),
            };
            step.series = vec![series];
            step
        };
        case.steps = (0..steps).map(numbered).collect();
        report.cases.push(case);
    }
    report
}

#[test]
fn the_page_of_a_large_run_stays_below_two_megabytes() {
    let html = page(&large(10, 30));
    assert!(html.len() < 2_000_000, "{}", html.len());
    assert!(html.contains("configuration-11") && html.contains("step-9"));
}

#[test]
fn where_charts_and_tables_fill_the_page_the_stored_run_is_left_out() {
    let html = page(&large(50, 1));
    elements(&html);
    assert!(html.contains("configuration-11") && html.contains("step-49"));
    assert!(html.contains("too large to be part of a page") && !html.contains("data:application"));
}

#[test]
fn labels_of_two_hundred_signs_and_from_right_to_left_stay_within_their_place() {
    let mut report = example::report();
    let label = "קבצים קטנים ".repeat(20);
    for case in &mut report.cases {
        case.configuration.id = format!("{label}{}", case.configuration.id);
    }
    report.suite.title = label.clone();
    let html = page(&report);
    elements(&html);
    assert!(html.contains(&format!("<h1><bdi>{label}</bdi></h1>")));
    assert!(html.contains("overflow-wrap: anywhere"));
}

#[test]
fn an_emulated_processor_is_told_beside_the_answer_and_takes_its_words() {
    let text = page(&example::emulated());
    assert!(text.contains("Times come from an emulated processor (TCG)") && !text.contains("faster"));
    let kernels = page(&example::kernels());
    assert!(kernels.contains("ext4 on 6.12 against 6.1 faster") && !kernels.contains("emulated"));
}

#[test]
fn below_the_title_are_the_kernels_that_had_the_file_systems() {
    let report = example::kernels();
    let told = about(&report);
    assert!(told.contains(&"Linux 6.1.0-51-amd64, 6.12.95+deb13-amd64".to_owned()), "{told:?}");
    assert!(!told.iter().any(|text| text.contains(&report.manifest.kernel)), "{told:?}");
    let here = RunReport { environments: vec![], ..example::report() };
    assert!(about(&here).contains(&format!("Linux {}", here.manifest.kernel)));
}
