//! The one comparison: a file against a run, leaf by leaf.
//!
//! Both sides are turned into the same JSON, with what the file cannot know left out on both, so
//! that the list of deviations and a text diff of the two always say the same.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Map, Value, json};

use super::{CaseFacts, Golden, VersionFacts, Work, outcome, value};
use crate::error::{Cannot, Error, Result};
use crate::result::{CaseResult, RunReport, Status};

/// One fact that is not as the file says.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation {
    /// As `ext4.small-files.files_created_count`; of a run with several blocks `ext4/2.small-files...`.
    pub path: String,
    /// As the file says; absent if it says nothing.
    pub golden: Option<Value>,
    /// As the run says.
    pub got: Option<Value>,
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: golden {}, got {}", self.path, plain(self.golden.as_ref()), plain(self.got.as_ref()))
    }
}

fn plain(value: Option<&Value>) -> String {
    match value {
        None => "nothing".into(),
        Some(Value::String(text)) if text.is_empty() => "\"\"".into(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A case that differs, as JSON on both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Differing {
    /// Id of the configuration, or of the case where there are several blocks.
    pub name: String,
    /// As the file says.
    pub golden: String,
    /// As the run says.
    pub got: String,
}

/// What came out of a comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// What is not as the file says.
    pub deviations: Vec<Deviation>,
    /// The first case of each configuration that ran and differs.
    pub differing: Vec<Differing>,
    /// What could not be compared, and why that is no difference.
    pub notes: Vec<String>,
    /// Ids of the configurations that were compared.
    pub configurations: Vec<String>,
    /// Steps that were compared, of all blocks.
    pub steps_count: usize,
    /// Facts that were compared, of all blocks.
    pub facts_count: usize,
}

/// Hold a run against known facts.
///
/// # Errors
///
/// The run did other work, or has no configuration of which the file has facts.
pub fn compare(golden: &Golden, report: &RunReport) -> Result<Compared> {
    same_work(&golden.work, &Work::of_run(report)?)?;
    let mut compared = Compared::default();
    let ids = report.configuration_ids();
    for id in &ids {
        if golden.configurations.contains_key(*id) {
            compared.configurations.push((*id).to_owned());
            compared.configuration(golden, report, id)?;
        } else {
            compared.note(format!("{id}: no facts of it; --accept adds them"));
        }
    }
    if compared.configurations.is_empty() {
        let known: Vec<&str> = golden.configurations.keys().map(String::as_str).collect();
        let both = format!("the facts are of {}, the run is of {}", list(&known), list(&ids));
        let error = Error::empty(format!("compare anything: {both}"));
        return Err(error.next("run one of those configurations, or add this one with --accept"));
    }
    for id in golden.configurations.keys().filter(|id| !ids.contains(&id.as_str())) {
        compared.note(format!("{id}: not in this run, not compared"));
    }
    Ok(compared)
}

fn list(ids: &[&str]) -> String {
    if ids.is_empty() { "nothing".into() } else { ids.join(", ") }
}

impl Compared {
    fn configuration(&mut self, golden: &Golden, report: &RunReport, id: &str) -> Result<()> {
        let cases: Vec<_> = report.cases.iter().filter(|case| case.configuration.id == id).collect();
        let before = self.differing.len();
        for case in &cases {
            let name = if cases.len() > 1 { case.id.as_str() } else { id };
            if case.status == Status::Passed {
                self.case(golden, report, case, name)?;
            } else {
                let (path, got) = (format!("{name}.status"), Some(outcome(case).into()));
                self.deviations.push(Deviation { path, golden: Some("passed".into()), got });
            }
        }
        self.differing.truncate(before + 1);
        Ok(())
    }

    fn case(&mut self, golden: &Golden, report: &RunReport, case: &CaseResult, name: &str) -> Result<()> {
        let mut facts = CaseFacts::of(report, case);
        let id = &case.configuration.id;
        let known = self.known(golden, id, &mut facts);
        let golden = side(&value(&golden.configurations.get(id))?, known, &facts.kernel);
        let got = side(&value(&facts.configuration)?, known.map(|_| &facts.version), &facts.kernel);
        let mut walk = Walk { name, parents: vec![], deviations: vec![], equal: 0 };
        walk.both(Some(&golden), Some(&got));
        self.steps_count += case.steps.len();
        self.facts_count += walk.equal + walk.deviations.len();
        if !walk.deviations.is_empty() {
            self.differing.push(Differing {
                name: name.into(),
                golden: pretty(&golden)?,
                got: pretty(&got)?,
            });
        }
        self.deviations.extend(walk.deviations);
        Ok(())
    }

    /// What the file has of the versions of this case. What it cannot have is taken out of `facts`.
    fn known<'a>(&mut self, golden: &'a Golden, id: &str, facts: &mut CaseFacts) -> Option<&'a VersionFacts> {
        let mkfs = facts.mkfs.as_deref()?;
        let Some(known) = golden.versioned.get(id).and_then(|versions| versions.get(mkfs)) else {
            self.note(format!("{id}: no facts for {mkfs}; --accept adds them"));
            return None;
        };
        let kernel = &facts.kernel;
        if !known.reached.contains_key(kernel) && facts.version.reached.remove(kernel).is_some() {
            self.note(format!("{id}: no facts for Linux {kernel}; --accept adds them"));
        }
        Some(known)
    }

    /// Once, however many blocks there are.
    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

/// A configuration with what its versions add.
fn side(configuration: &Value, version: Option<&VersionFacts>, kernel: &str) -> Value {
    let mut side = configuration.as_object().cloned().unwrap_or_default();
    if let Some(version) = version {
        side.insert("features".into(), json!(version.features));
        side.insert("ledger".into(), json!(version.ledger));
        let reached = version.reached.get(kernel);
        side.extend(reached.map(|reached| ("reached".to_owned(), json!(reached))));
    }
    side.into()
}

fn pretty(side: &Value) -> Result<String> {
    serde_json::to_string_pretty(side).cannot(|| "write facts as JSON".into())
}

/// A walk over two trees of JSON at once.
struct Walk<'a> {
    name: &'a str,
    parents: Vec<String>,
    deviations: Vec<Deviation>,
    equal: usize,
}

impl Walk<'_> {
    fn both(&mut self, golden: Option<&Value>, got: Option<&Value>) {
        let objects = (golden.and_then(Value::as_object), got.and_then(Value::as_object));
        if objects != (None, None) {
            let empty = Map::new();
            let (golden, got) = (objects.0.unwrap_or(&empty), objects.1.unwrap_or(&empty));
            for key in golden.keys().chain(got.keys()).collect::<BTreeSet<_>>() {
                self.parents.push(key.clone());
                self.both(golden.get(key), got.get(key));
                self.parents.pop();
            }
        } else if golden == got {
            self.equal += 1;
        } else {
            let (golden, got) = (golden.cloned(), got.cloned());
            self.deviations.push(Deviation { path: self.path(), golden, got });
        }
    }

    /// The keys above, without those that only group.
    fn path(&self) -> String {
        let keys: Vec<&str> = self.parents.iter().map(String::as_str).collect();
        let keys = match keys.as_slice() {
            ["steps", step, "facts", rest @ ..] => [&[*step], rest].concat(),
            ["steps" | "reached", rest @ ..] => rest.to_vec(),
            all => all.to_vec(),
        };
        [&[self.name], keys.as_slice()].concat().join(".")
    }
}

/// So many differences of the work are told; of two suites everything differs.
const TOLD: usize = 4;

/// Refuse facts of other work, with what differs.
fn same_work(golden: &Work, got: &Work) -> Result<()> {
    let mut walk = Walk { name: "run", parents: vec![], deviations: vec![], equal: 0 };
    if golden.suite == got.suite {
        walk.both(Some(&by_name(golden)?), Some(&by_name(got)?));
    } else {
        let suite = |work: &Work| json!({ "suite": work.suite });
        walk.both(Some(&suite(golden)), Some(&suite(got)));
    }
    if walk.deviations.is_empty() {
        return Ok(());
    }
    let mut told: Vec<String> = walk.deviations.iter().take(TOLD).map(Deviation::to_string).collect();
    if let Some(more) = walk.deviations.len().checked_sub(TOLD).filter(|more| *more > 0) {
        told.push(format!("and {more} more"));
    }
    Err(Error::usage(format!("compare facts of other work: {}", told.join("; ")))
        .next("give the facts of this work, or replace them with --accept"))
}

/// Work with its steps by name, so that what differs is named.
fn by_name(work: &Work) -> Result<Value> {
    let mut all = value(work)?;
    let steps = work.steps.iter().map(|step| Ok((step.name.clone(), value(step)?)));
    let steps: Map<String, Value> = steps.collect::<Result<_>>()?;
    let order: Vec<&str> = work.steps.iter().map(|step| step.name.as_str()).collect();
    all["order"] = json!(order);
    all["steps"] = steps.into();
    Ok(all)
}
