//! The suites that come with the program.

use std::path::{Path, PathBuf};

use super::*;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name)
}

fn fixture(name: &str, options: &Options) -> Resolved {
    let file = folder(name).join("suite.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let suite = Suite::parse(&file.display().to_string(), &text).unwrap();
    assert_eq!(suite.name(), name);
    resolve(&suite, options).map_err(|error| error.to_string()).unwrap()
}

/// Names of the suites among the fixtures.
fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder("")).unwrap().map(|entry| entry.unwrap());
    let suites = entries.filter(|entry| entry.path().join("suite.toml").is_file());
    suites.map(|entry| entry.file_name().into_string().unwrap()).collect()
}

#[test]
fn every_suite_that_comes_with_the_program_resolves_at_every_scale() {
    assert!(names().len() >= 3, "{:?}", names());
    for name in names() {
        let text = std::fs::read_to_string(folder(&name).join("suite.toml")).unwrap();
        for scale in Suite::parse(&name, &text).unwrap().scales() {
            let options = Options { scale: Some(scale.clone()), ..Options::default() };
            assert!(!fixture(&name, &options).steps.is_empty());
        }
    }
}

#[test]
fn every_reference_number_names_its_source() {
    let mut checked = 0;
    for name in names() {
        let run = fixture(&name, &Options::default());
        if run.references.is_empty() && run.claims.is_empty() && run.info.figures.is_empty() {
            continue;
        }
        let source = std::fs::read_to_string(folder(&name).join("SOURCE.md")).unwrap();
        let row = |key: &str| {
            let start = format!("| `{key}` | ");
            source.lines().find(|line| line.starts_with(&start)).unwrap_or_else(|| panic!("{name}: {key}"))
        };
        for reference in &run.references {
            let key = format!("{}.{}[{}]", reference.step, reference.metric, reference.filesystem);
            let cells: Vec<_> = row(&key).split('|').map(str::trim).collect();
            assert_eq!(cells[2], reference.printed, "{key}");
            assert!(!cells[3].is_empty(), "{key}");
            checked += 1;
        }
        for figure in &run.info.figures {
            assert!(figure.source.is_some() && source.contains("\n## Figure\n"), "{name}: {}", figure.title);
        }
        for claim in &run.claims {
            assert!(row(&claim.id).len() > claim.id.len() + 20 && claim.source.is_some(), "{}", claim.id);
        }
    }
    assert!(checked >= 10, "only {checked}");
}

#[test]
fn the_article_of_2010_is_run_at_its_own_scale_or_a_tenth_of_it() {
    let full = fixture("linux-magazin-2010", &Options { scale: Some("full".into()), ..Options::default() });
    let quick = fixture("linux-magazin-2010", &Options::default());
    for (run, scale, size, count, recover) in
        [(&full, "full", 32, 99_999, false), (&quick, "quick", 2, 9_999, true)]
    {
        assert_eq!((run.info.scale.as_str(), run.image_size), (scale, Bytes::gib(size)));
        assert_eq!(run.steps[0].parameters["count"], count);
        assert_eq!(run.steps[1].parameters["count"], count);
        assert_eq!(run.steps[3].parameters["recover"], recover);
        assert_eq!(ids(run), ["btrfs", "ext4", "xfs"]);
    }
}

#[test]
fn smoke_has_every_workload_once() {
    let run = fixture("smoke", &Options::default());
    let mut used: Vec<_> = run.steps.iter().map(|step| step.workload.clone()).collect();
    let mut all: Vec<_> = workloads().into_iter().map(|workload| workload.name).collect();
    used.sort();
    all.sort();
    assert_eq!(used, all);
}
