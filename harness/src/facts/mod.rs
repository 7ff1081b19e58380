//! Facts of a run held against a file of known ones, exactly.
//!
//! A measurement has noise and is compared with an interval; a fact has none, so one wrong count is
//! a regression. That only works if everything in the file is decided by what the file names:
//!
//! * what the seed and the suite decide is the same on every machine: counts, bytes, tree hashes,
//!   the operations of PostMark, how a step ended and on which errno;
//! * what the tools decide (features, inode size, journal, profiles) is kept under the version line
//!   of mkfs;
//! * how far a step came that a limit of the file system ended, and the steps after it, is kept
//!   under that line and the kernel's series (`6.18`): it is the layout of the file system.
//!
//! The last was measured before it was taken for a fact: fills with zeroes on btrfs, ext4 and xfs,
//! with 512 MiB 13 times and with 2 GiB 7 times, on an ext4 disk and in memory, alone and beside
//! other runs, on one machine with Linux 6.18.44. Size, bytes and hash were the same every time,
//! spread 0. The count of calls was not: on xfs 1946 to 1955 of them wrote the same 2031955968
//! bytes, since near the end chunks are halved, now sooner, now later. So `at_count` is left out,
//! and with it the list of calls that failed, the sentence of the limit and its path.
//!
//! A version that a file does not know is no difference but a note.

mod compare;
mod file;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use compare::{Compared, Deviation, Differing, compare};
pub use file::{NEW_HEADER, Parsed, parse, text};

use crate::error::{Cannot, Error, Result};
use crate::result::{
    CaseResult, Checked, Configuration, EndedWord, Environment, RunReport, Status, StepResult, Which,
};
use crate::workload::StepSpec;

/// The version of the file that this program writes.
pub const SCHEMA_VERSION: u32 = 1;

/// The known facts of one work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Golden {
    /// See [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// What was run: facts of other work say nothing about it.
    pub work: Work,
    /// By id of the configuration: the same on every machine.
    pub configurations: BTreeMap<String, ConfigurationFacts>,
    /// By id of the configuration and version line of its mkfs.
    #[serde(default)]
    pub versioned: BTreeMap<String, BTreeMap<String, VersionFacts>>,
}

/// What decides the facts of a run, beside the configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// Name of the suite.
    pub suite: String,
    /// Its scale.
    pub scale: String,
    /// Decides every name, size, byte and order.
    pub seed: String,
    /// Size of the image.
    pub size_bytes: u64,
    /// The same for all file systems.
    pub block_size_bytes: u32,
    /// In order, as resolved.
    pub steps: Vec<StepSpec>,
}

/// What one file system came to, the same on every machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigurationFacts {
    /// As `mount -t` spells it.
    pub filesystem: String,
    /// As asked for.
    pub mount_options: String,
    /// Added to the mkfs command line.
    pub mkfs_options: Vec<String>,
    /// By name.
    pub steps: BTreeMap<String, StepFacts>,
}

/// What one step came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepFacts {
    /// Name of the workload.
    pub workload: String,
    /// Whether all of the work was done.
    pub ended: EndedWord,
    /// The limit that ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitFacts>,
    /// Facts by key, those that only PostMark counts among them.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub facts: Map<String, Value>,
    /// Whether what was read back is what was written.
    pub read_back: Checked,
}

/// Which limit ended a step. Where it was met is in [`VersionFacts::reached`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitFacts {
    /// Which limit.
    pub which: Which,
    /// Name of the errno; absent for a limit that the suite set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errno: Option<String>,
    /// The call that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// What one version of the tools makes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionFacts {
    /// In the tools' words.
    pub features: Vec<String>,
    /// Inode size, journal, profiles, ...
    pub ledger: BTreeMap<String, Value>,
    /// By series of the kernel and name of the step: how far a step came that a limit of the file
    /// system ended, and what the steps after it then found.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reached: BTreeMap<String, BTreeMap<String, Map<String, Value>>>,
}

/// The facts of one case, where each belongs.
struct CaseFacts {
    configuration: ConfigurationFacts,
    /// Absent where no mkfs ran, or its version is not known.
    mkfs: Option<String>,
    kernel: String,
    version: VersionFacts,
}

impl Golden {
    /// The facts of a run.
    ///
    /// # Errors
    ///
    /// A case did not pass, none ran, or two blocks of a configuration differ.
    pub fn of_run(report: &RunReport) -> Result<Self> {
        let mut golden = Self {
            schema_version: SCHEMA_VERSION,
            work: Work::of_run(report)?,
            configurations: BTreeMap::new(),
            versioned: BTreeMap::new(),
        };
        report.cases.iter().try_for_each(passed)?;
        for case in report.cases.iter().rev() {
            golden.add(&case.configuration.id, CaseFacts::of(report, case));
        }
        let again = compare(&golden, report)?;
        match again.deviations.first() {
            None => Ok(golden),
            Some(first) => Err(Error::damage(format!(
                "take the facts of this run: its blocks differ, {first}"
            ))
            .next(
                "run it again; what differs with the same seed is a fault of the file system or of fsduel",
            )),
        }
    }

    fn add(&mut self, id: &str, case: CaseFacts) {
        self.configurations.insert(id.into(), case.configuration);
        if let Some(mkfs) = case.mkfs {
            self.versioned.entry(id.into()).or_default().insert(mkfs, case.version);
        }
    }

    /// Take from `old` what this one does not have: configurations that did not run, and versions of
    /// the tools and the kernel that are elsewhere. Facts of other work are not taken.
    #[must_use]
    pub fn keeping(mut self, old: Self) -> Self {
        if old.work != self.work {
            return self;
        }
        for (id, versions) in old.versioned {
            let own = self.configurations.get(&id).map(ConfigurationFacts::options);
            let its = old.configurations.get(&id).map(ConfigurationFacts::options);
            if own.is_none() || own == its {
                keep_versions(self.versioned.entry(id).or_default(), versions);
            }
        }
        for (id, configuration) in old.configurations {
            self.configurations.entry(id).or_insert(configuration);
        }
        self
    }
}

fn keep_versions(own: &mut BTreeMap<String, VersionFacts>, old: BTreeMap<String, VersionFacts>) {
    for (mkfs, version) in old {
        let Some(known) = own.get_mut(&mkfs) else {
            own.insert(mkfs, version);
            continue;
        };
        for (kernel, reached) in version.reached {
            known.reached.entry(kernel).or_insert(reached);
        }
    }
}

fn passed(case: &CaseResult) -> Result<()> {
    match case.status {
        Status::Passed => Ok(()),
        _ => Err(Error::usage(format!("take the facts of {}: it is {}", case.id, outcome(case)))
            .next("give a run in which every case passed")),
    }
}

/// The status of a case, and why.
fn outcome(case: &CaseResult) -> String {
    let status = serde_json::to_value(case.status).unwrap_or_default();
    let status = status.as_str().unwrap_or_default().to_owned();
    match &case.reason {
        Some(reason) => format!("{status} ({})", reason.text),
        None => status,
    }
}

impl Work {
    /// The work of a run.
    ///
    /// # Errors
    ///
    /// The run does not tell all that decides its facts.
    pub fn of_run(report: &RunReport) -> Result<Self> {
        let resolved = Resolved::deserialize(&report.suite.resolved).map_err(|cause| {
            Error::usage("find the work of this run: its options are not complete")
                .because(cause)
                .next("give the file that `fsduel run --json PATH` wrote")
        })?;
        Ok(Self {
            suite: report.suite.name.clone(),
            scale: report.suite.scale.clone(),
            seed: resolved.seed,
            size_bytes: resolved.size_bytes,
            block_size_bytes: resolved.block_size_bytes,
            steps: resolved.steps,
        })
    }
}

/// What of the resolved options decides facts.
#[derive(Deserialize)]
struct Resolved {
    seed: String,
    size_bytes: u64,
    block_size_bytes: u32,
    steps: Vec<StepSpec>,
}

impl ConfigurationFacts {
    fn options(&self) -> (&str, &str, &[String]) {
        (&self.filesystem, &self.mount_options, &self.mkfs_options)
    }
}

impl CaseFacts {
    fn of(report: &RunReport, case: &CaseResult) -> Self {
        let Configuration { filesystem, mount_options, mkfs_options, .. } = case.configuration.clone();
        let (mut steps, mut reached, mut limited) = (BTreeMap::new(), BTreeMap::new(), false);
        for step in &case.steps {
            limited |= step.limit.as_ref().is_some_and(|limit| limit.errno.is_some());
            let (facts, far) = apart(step, limited);
            steps.insert(step.name.clone(), facts);
            if !far.is_empty() {
                reached.insert(step.name.clone(), far);
            }
        }
        let environment = environment(report, case);
        let tools = environment.map(|environment| &environment.tools);
        let mkfs = case.mkfs_command.first().and_then(|mkfs| tools?.get(mkfs)).cloned();
        let kernel = series(environment.map_or(&report.manifest.kernel, |environment| &environment.kernel));
        let reached = Some(reached).filter(|reached| !reached.is_empty());
        let reached = reached.map(|reached| (kernel.clone(), reached)).into_iter().collect();
        let (features, ledger) = (case.features.clone(), case.ledger.clone());
        Self {
            configuration: ConfigurationFacts { filesystem, mount_options, mkfs_options, steps },
            mkfs,
            kernel,
            version: VersionFacts { features, ledger, reached },
        }
    }
}

fn environment<'a>(report: &'a RunReport, case: &CaseResult) -> Option<&'a Environment> {
    report.environments.get(usize::try_from(case.configuration.environment).ok()?)
}

/// `6.18` of `6.18.44-1-amd64`. A stable kernel keeps its behaviour within a series.
fn series(release: &str) -> String {
    release.split(['.', '-']).take(2).collect::<Vec<_>>().join(".")
}

/// What is the same on every machine, and how far a step came after the file system's own limit.
fn apart(step: &StepResult, limited: bool) -> (StepFacts, Map<String, Value>) {
    let (mut facts, mut far) = (flat(step), Map::new());
    if limited {
        let (stays, goes) = facts.into_iter().partition(|(key, _)| key == "errno");
        (facts, far) = (stays, goes);
    }
    if let Some(limit) = &step.limit {
        let place = if limited { &mut far } else { &mut facts };
        place.insert("at_bytes".into(), limit.at_bytes.into());
    }
    let limit = step.limit.as_ref().map(|limit| LimitFacts {
        which: limit.which,
        errno: limit.errno.clone(),
        call: limit.call.clone(),
    });
    let workload = step.workload.clone();
    (StepFacts { workload, ended: step.ended, limit, facts, read_back: step.read_back }, far)
}

/// The facts of a step by key; what only PostMark counts stands beside the others.
fn flat(step: &StepResult) -> Map<String, Value> {
    let Ok(Value::Object(mut facts)) = serde_json::to_value(&step.facts) else { return Map::new() };
    if let Some(Value::Object(postmark)) = facts.remove("postmark") {
        for (key, value) in postmark {
            facts.entry(key).or_insert(value);
        }
    }
    facts
}

/// Plain data as JSON.
fn value(data: &impl Serialize) -> Result<Value> {
    serde_json::to_value(data).cannot(|| "write facts as JSON".into())
}
