//! `fsduel verify` on recorded runs. None of it needs root.
#![expect(clippy::unwrap_used, reason = "a test that cannot get its input has to fail")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

/// Exit code, standard output and standard error of `fsduel verify RUN --against FACTS MORE`.
fn verify(run: &Path, against: &Path, more: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fsduel"));
    command.arg("verify").arg(run).arg("--against").arg(against).args(more).env_clear();
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/recorded/linux-magazin-2010-quick.json")
}

/// The recorded run, changed, at a path in `folder`.
fn changed(folder: &TempDir, change: impl FnOnce(&mut Value)) -> PathBuf {
    let mut run: Value = serde_json::from_str(&fs::read_to_string(recorded()).unwrap()).unwrap();
    change(&mut run);
    let path = folder.path().join("changed.json");
    fs::write(&path, run.to_string()).unwrap();
    path
}

/// A folder with facts of the recorded run in `name`.
fn accepted(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let (code, told, wrong) = verify(&recorded(), &path, &["--accept"]);
    assert_eq!((code, wrong.as_str()), (0, ""));
    assert!(told.starts_with("made ") && told.contains("12 steps on btrfs, ext4, xfs"), "{told}");
    (folder, path)
}

#[test]
fn accepted_facts_agree_and_accepting_again_changes_nothing() {
    for name in ["facts.json", "facts.snap"] {
        let (_folder, path) = accepted(name);
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.starts_with("---\n"), name.ends_with(".snap"), "{text}");
        let (code, told, _) = verify(&recorded(), &path, &[]);
        assert_eq!(code, 0);
        assert!(told.starts_with("ok: 12 steps on btrfs, ext4, xfs ("), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        assert_eq!(verify(&recorded(), &path, &["--quiet"]), (0, String::new(), String::new()));
        assert_eq!(verify(&recorded(), &path, &["--accept", "--quiet"]), (0, String::new(), String::new()));
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_place_that_cannot_be_written_is_a_mistake_of_the_caller() {
    let place = "/no/such/folder/file.json";
    let run = recorded();
    let all: [&[&std::ffi::OsStr]; 2] = [
        &["verify".as_ref(), run.as_ref(), "--against".as_ref(), place.as_ref(), "--accept".as_ref()],
        &["compare".as_ref(), run.as_ref(), run.as_ref(), "--json".as_ref(), place.as_ref()],
    ];
    for arguments in all {
        let output = Command::new(env!("CARGO_BIN_EXE_fsduel")).args(arguments).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{told}");
        assert!(told.contains(place) && told.contains("next: give a folder that exists"), "{told}");
    }
}

#[test]
fn one_changed_count_exits_with_3_and_names_the_field() {
    let (_folder, path) = accepted("facts.json");
    let mut golden: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let count = golden.pointer_mut("/configurations/ext4/steps/small-files/facts/files_created_count");
    *count.unwrap() = json!(9998);
    fs::write(&path, golden.to_string()).unwrap();
    let (code, told, _) = verify(&recorded(), &path, &["--quiet"]);
    assert_eq!(code, 3);
    assert!(told.contains("\n  ext4.small-files.files_created_count: golden 9998, got 9999\n"), "{told}");
    assert!(told.contains("\n-        \"files_created_count\": 9998,\n"), "{told}");
    assert!(told.contains("\n+        \"files_created_count\": 9999,\n"), "{told}");
    let signs = told.lines().filter(|line| line.starts_with(['-', '+']) && line.contains('"'));
    assert_eq!(signs.count(), 2, "one line changed: {told}");

    let (code, told, _) = verify(&recorded(), &path, &["--accept"]);
    assert_eq!(code, 0);
    assert!(told.starts_with("accepted into ") && told.contains("9998"), "{told}");
    assert_eq!(verify(&recorded(), &path, &[]).0, 0);
}

#[test]
fn a_header_stays_as_it_was() {
    let (_folder, path) = accepted("facts.snap");
    let text = fs::read_to_string(&path).unwrap();
    let header = "---\nsource: tests/mine.rs\ndescription: by hand\n---\n";
    let at = text[4..].find("---\n").unwrap() + 8;
    fs::write(&path, format!("{header}{}", text[at..].replace("9999", "9998"))).unwrap();
    assert_eq!(verify(&recorded(), &path, &["--accept"]).0, 0);
    assert_eq!(fs::read_to_string(&path).unwrap(), format!("{header}{}", &text[at..]));
}

#[test]
fn other_work_exits_with_2_and_nothing_in_common_with_4() {
    let (folder, path) = accepted("facts.json");
    let seed = changed(&folder, |run| run["suite"]["resolved"]["seed"] = json!("1"));
    let (code, _, wrong) = verify(&seed, &path, &[]);
    assert_eq!(code, 2);
    assert!(wrong.contains("run.seed: golden 2010, got 1") && wrong.contains("\n  next: "), "{wrong}");
    let renamed = changed(&folder, |run| {
        for case in run["cases"].as_array_mut().unwrap() {
            case["configuration"]["id"] = json!("other");
        }
    });
    let (code, _, wrong) = verify(&renamed, &path, &[]);
    assert_eq!(code, 4);
    assert!(wrong.contains("btrfs, ext4, xfs, the run is of other"), "{wrong}");
}

#[test]
fn a_run_that_did_not_pass_differs_and_is_never_accepted() {
    for (status, wanted) in [("failed", 5), ("invalid", 7), ("error", 1), ("not_run", 69)] {
        let (folder, path) = accepted("facts.json");
        let text = fs::read_to_string(&path).unwrap();
        let bad = changed(&folder, |run| run["cases"][1]["status"] = json!(status));
        let (code, told, _) = verify(&bad, &path, &[]);
        assert_eq!(code, 3);
        assert!(told.contains(&format!("\n  ext4.status: golden passed, got {status}\n")), "{told}");
        let (code, _, wrong) = verify(&bad, &path, &["--accept"]);
        assert_eq!(code, wanted, "{wrong}");
        assert!(wrong.contains("1 of 3 cases did not pass"), "{wrong}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn files_that_are_no_facts_exit_with_2_and_name_the_file() {
    let (folder, path) = accepted("facts.json");
    let text = fs::read_to_string(&path).unwrap();
    for (bad, wanted) in
        [(&text[..100], "cut short"), ("no JSON", "line 1"), ("{\"schema_version\": 9}", "is 9")]
    {
        fs::write(&path, bad).unwrap();
        for more in [&[][..], &["--accept"]] {
            let (code, _, wrong) = verify(&recorded(), &path, more);
            assert_eq!(code, 2);
            assert!(wrong.contains("facts.json") && wrong.contains(wanted), "{wrong}");
            assert!(wrong.contains("\n  next: "), "{wrong}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), bad, "a file that is not understood stays");
    }
    let (code, _, wrong) = verify(&recorded(), &folder.path().join("missing.json"), &[]);
    assert_eq!(code, 2);
    assert!(wrong.contains("--accept to make it"), "{wrong}");
}

/// What a run stores can be asked for: a gate, a claim and the list of metrics know the same keys.
#[test]
fn every_documented_metric_of_a_step_can_stand_in_a_claim() {
    let fsduel =
        |arguments: &[&str]| Command::new(env!("CARGO_BIN_EXE_fsduel")).args(arguments).output().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let suite = folder.path().join("suite.toml");
    let listed = String::from_utf8(fsduel(&["list", "metrics"]).stdout).unwrap();
    assert!(listed.contains("synced_s") && listed.contains("recovered_s"), "{listed}");
    for key in ["synced_s", "recovered_s", "second_file_size_bytes"] {
        let text = format!(
            "[suite]\nname = \"mine\"\ntitle = \"Mine\"\n[defaults]\nsize = \"512MiB\"\n\
             [[filesystem]]\nname = \"ext4\"\n[[step]]\nname = \"fill\"\nworkload = \"fill-until-enospc\"\n\
             [[claim]]\nid = \"a\"\ntext = \"A\"\nholds = \"fill.{key}[ext4] > 0\"\n"
        );
        fs::write(&suite, text).unwrap();
        let output = fsduel(&["run", suite.to_str().unwrap(), "--dry-run"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!told.contains("unknown metric"), "{key}: {told}");
    }
}
