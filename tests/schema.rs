//! The JSON Schema of stored runs (`fixtures/schema`): it is that of today's types, every recorded
//! run is valid by it, and what is wrong is not. None of it needs root.
#![expect(clippy::unwrap_used, reason = "a test that cannot get its input has to fail")]

use std::path::{Path, PathBuf};

use fsduel_harness::report::json;
use jsonschema::Validator;
use serde_json::{Value, json};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn path() -> PathBuf {
    fixtures().join("schema/run-report.schema.json")
}

/// Of today's types: another test writes the file.
fn schema() -> Value {
    serde_json::from_str(&json::schema().unwrap()).unwrap()
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&schema()).unwrap()
}

/// Of the lines after the first in a `.partial.jsonl`.
fn validator_of_a_case() -> Validator {
    let case = json!({ "$ref": "#/$defs/CaseResult", "$defs": schema()["$defs"] });
    jsonschema::draft202012::new(&case).unwrap()
}

/// A sentence for each thing that is wrong, with its place.
fn wrong(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Names of the recorded runs, and what is stored.
fn recorded() -> Vec<(String, Value)> {
    let files = std::fs::read_dir(fixtures().join("recorded")).unwrap().map(|entry| entry.unwrap().path());
    let runs = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
    let stored = |path: &Path| serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    runs.map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), stored(&path))).collect()
}

#[test]
fn the_stored_schema_is_that_of_todays_types() {
    let today = json::schema().unwrap();
    if std::env::var("INSTA_UPDATE").as_deref() == Ok("always") {
        std::fs::write(path(), &today).unwrap();
    }
    let stored = std::fs::read_to_string(path()).unwrap_or_default();
    let differs = stored.lines().zip(today.lines()).position(|(stored, today)| stored != today);
    assert!(
        stored == today,
        "{} is out of date from line {} on: INSTA_UPDATE=always cargo test --test schema writes it anew",
        path().display(),
        differs.unwrap_or_else(|| stored.lines().count()) + 1
    );
}

#[test]
fn the_schema_is_one_of_draft_2020_12_with_a_title_and_explains_every_field() {
    let schema = schema();
    jsonschema::draft202012::meta::validate(&schema).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["title"], "A run of fsduel");
    assert!(schema.get("$id").is_none());
    let types = schema["$defs"].as_object().unwrap().iter().map(|(name, of)| (name.as_str(), of));
    for (name, of) in types.chain([("RunReport", &schema)]) {
        for (field, what) in of["properties"].as_object().into_iter().flatten() {
            assert!(what["description"].is_string(), "{name}.{field} has no description");
        }
    }
}

#[test]
fn every_recorded_run_is_valid() {
    assert!(!recorded().is_empty());
    for (name, run) in recorded() {
        assert_eq!(wrong(&validator(), &run), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn every_line_of_a_run_that_did_not_end_is_valid() {
    for (name, mut head) in recorded() {
        let cases = std::mem::replace(&mut head["cases"], json!([]));
        assert_eq!(wrong(&validator(), &head), Vec::<String>::new(), "{name}");
        for case in cases.as_array().unwrap() {
            assert_eq!(wrong(&validator_of_a_case(), case), Vec::<String>::new(), "{name}");
        }
    }
}

/// The first recorded run with another value at `pointer`.
fn with(pointer: &str, value: Value) -> Value {
    let (_, mut run) = recorded().swap_remove(0);
    *run.pointer_mut(pointer).unwrap() = value;
    run
}

#[test]
fn a_wrong_value_is_refused_at_its_place() {
    for (pointer, value) in [
        ("/schema_version", json!(2)),
        ("/cases/0/status", json!("fine")),
        ("/cases/0/verify/fsck", json!("repaired")),
        ("/cases/0/block", json!(-1)),
        ("/cases/0/steps/0/facts/files_created_count", json!(-1)),
        ("/cases/0/steps/0/facts/payload_bytes", json!(1.5)),
        ("/cases/0/steps/0/metrics/synced_s", json!("0.4")),
        ("/cases/0/steps/0/metrics/synced_s", Value::Null),
        ("/cases/0/steps/0/ended", json!("early")),
        ("/manifest/cpus_count", json!("two")),
        ("/run_id", Value::Null),
        ("/cases", json!({})),
    ] {
        let told = wrong(&validator(), &with(pointer, value.clone()));
        assert!(told.iter().any(|told| told.contains(pointer)), "{value} at {pointer}: {told:?}");
    }
    let comparison = json!([{ "step": "s", "metric": "synced_s", "baseline": "a", "candidate": "b", "n": 3,
                              "ratio": 1.2, "verdict": "better" }]);
    assert!(!wrong(&validator(), &with("/comparisons", comparison)).is_empty());
}

#[test]
fn what_a_later_program_adds_is_no_fault() {
    let (_, mut run) = recorded().swap_remove(0);
    run["later"] = json!([1]);
    run["cases"][0]["steps"][0]["metrics"]["later_s"] = json!(0.5);
    assert_eq!(wrong(&validator(), &run), Vec::<String>::new());
}
