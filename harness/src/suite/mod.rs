//! Suites: TOML files, resolved into what is run.
//!
//! A suite is data that other people write, so it is read strictly: a key that nobody knows, a
//! wrong unit or a name that does not exist is refused with file, line and a caret, because a
//! misspelt `count` would otherwise measure something else. What a suite gives can be changed by
//! a scale (part of the suite), by `--set`, and by the options of the command line, in this order;
//! all end in one tree that one reader checks.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use crate::case::{Backend, DirectIo, Store};
use crate::claim::ClaimSpec;
use crate::compare::Repeat;
use crate::error::{Error, Result};
use crate::result::{Configuration, Reference, SuiteInfo};
use crate::units::{Bytes, Seed};
use crate::workload::StepSpec;

mod check;
mod command;
mod defaults;
mod document;
mod figure;
mod kernels;
mod keys;
mod model;
mod overrides;
mod place;
mod reference;
mod resolve;
mod spec;

pub use crate::result::ONLY_SCALE;
pub use defaults::{
    DEFAULT_BLOCK_SIZE, DEFAULT_SEED, DEFAULT_SIZE, DEFAULT_STORE, parse_direct_io, parse_store,
};

pub use kernels::kernel_ids;

use document::{Data, Node, Place, Source, Table};
use model::{Head, Model};

/// What this program knows; passed in, so that suites do not depend on the tables of parts.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// Names of file systems.
    pub filesystems: &'a [&'a str],
    /// Those of them that are taken where nothing names any.
    pub common: &'a [&'a str],
    /// Names that people may ask for, and why there is nothing of that name.
    pub left_out: &'a [(&'a str, &'a str)],
    /// Workloads with the keys of their parameters.
    pub workloads: &'a [KnownWorkload],
    /// Keys of the metrics of a step. Facts are known here.
    pub metrics: &'a [&'a str],
    /// Keys of the metrics of a whole case.
    pub case_metrics: &'a [&'a str],
}

/// A workload and the keys of its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownWorkload {
    /// As suites write it.
    pub name: String,
    /// As suites write them.
    pub parameters: Vec<String>,
}

/// What the command line (and `FSDUEL_*`) asks for; nothing leaves it to the suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// `--fs`, each as given.
    pub filesystems: Vec<String>,
    /// `--size`.
    pub size: Option<Bytes>,
    /// `--block-size`.
    pub block_size: Option<Bytes>,
    /// `--scale`.
    pub scale: Option<String>,
    /// `--set`, each as given.
    pub set: Vec<String>,
    /// `--mkfs-options`, each as given.
    pub mkfs_options: Vec<String>,
    /// `--seed`.
    pub seed: Option<u64>,
    /// `--repeat`.
    pub repeat: Option<Repeat>,
    /// `--budget`.
    pub budget: Option<Duration>,
    /// `--timeout`.
    pub timeout: Option<Duration>,
    /// `--store`.
    pub store: Option<String>,
    /// `--direct-io`.
    pub direct_io: Option<DirectIo>,
    /// `--preallocate`.
    pub preallocate: Option<bool>,
    /// `--overcommit`.
    pub overcommit: Option<bool>,
    /// `--memory`.
    pub memory: Option<Bytes>,
    /// `--backend`.
    pub backend: Option<Backend>,
    /// `--kernel`, each as given.
    pub kernels: Vec<String>,
    /// `--kernel-options`.
    pub kernel_options: Option<String>,
    /// `--device`. A suite cannot give it: what is on the disk is lost.
    pub device: Option<PathBuf>,
    /// `--wipe`.
    pub wipe: bool,
    /// `--require-all`.
    pub require_all: bool,
    /// `--strict`.
    pub strict: bool,
}

/// A kernel that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelChoice {
    /// What its configurations are called after, as `6.1` in `btrfs@6.1`; from its release where nobody
    /// says.
    pub id: Option<String>,
    /// `host`, the path of a kernel, or that of a Debian package.
    pub path: String,
}

/// What is run, with every choice made.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// For the report; `resolved` in it holds every option.
    pub info: SuiteInfo,
    /// What is compared; the first is the baseline.
    pub configurations: Vec<Configuration>,
    /// The file systems were named by `--fs`, so one that cannot run is an error.
    pub named: bool,
    /// One that only the suite names and that cannot run is an error, too.
    pub require_all: bool,
    /// A machine that disturbs the measurement is an error.
    pub strict: bool,
    /// Steps, in order.
    pub steps: Vec<StepSpec>,
    /// Size of the image.
    pub image_size: Bytes,
    /// Block size of all file systems.
    pub block_size: Bytes,
    /// Decides every name, size, byte and order.
    pub seed: Seed,
    /// Where the images are.
    pub store: Store,
    /// Whether the loop device bypasses the host's page cache.
    pub direct_io: DirectIo,
    /// Allocate the whole image first.
    pub preallocate: bool,
    /// Go on although the store may fill up.
    pub overcommit: bool,
    /// What the work may use: of this machine, or all that a virtual machine has.
    pub memory: Option<Bytes>,
    /// Where cases run, as asked for.
    pub backend: Backend,
    /// Kernels of virtual machines. Configurations name them by their place in this list (their
    /// `environment`); empty where nothing was said.
    pub kernels: Vec<KernelChoice>,
    /// Added to the command line of each kernel that is booted.
    pub kernel_options: Option<String>,
    /// A whole disk to use in place of images.
    pub device: Option<PathBuf>,
    /// Use it even where there is a file system on it.
    pub wipe: bool,
    /// Measured blocks.
    pub repeat: Repeat,
    /// No block begins that would not end within it.
    pub budget: Option<Duration>,
    /// Of one step.
    pub timeout: Option<Duration>,
    /// What the source says follows.
    pub claims: Vec<ClaimSpec>,
    /// Figures that the source printed.
    pub references: Vec<Reference>,
    /// Where the steps were written, for errors that a workload finds.
    pub places: Places,
}

/// Where the steps of a suite were written.
#[derive(Clone, Debug)]
pub struct Places {
    source: Source,
    steps: Vec<(String, Place)>,
}

impl Places {
    /// `error`, with the place where `step` was written.
    #[must_use]
    pub fn explain(&self, step: &str, error: Error) -> Error {
        match self.steps.iter().find(|(name, _)| name == step) {
            Some((_, place)) => keys::explain(&self.source, place, &error),
            None => error,
        }
    }
}

/// A suite that was read.
#[derive(Clone, Debug)]
pub struct Suite {
    source: Source,
    root: Table,
    head: Head,
    scales: Vec<String>,
    /// What asks for it on the command line, after `fsduel`.
    called: Vec<String>,
    /// What ends that command line.
    trailing: Vec<String>,
    /// Where the paths of its kernels begin; nothing for one without a file.
    folder: Option<PathBuf>,
    /// The step of a suite without a file; a lone key of `--set` is its parameter.
    only_step: Option<String>,
}

impl Suite {
    /// Read the text of a suite; `file` names it in messages.
    ///
    /// # Errors
    ///
    /// It is not TOML, has an unknown key, a value of a wrong kind or unit, or lacks one; in any
    /// of its scales.
    pub fn parse(file: &str, text: &str) -> Result<Self> {
        let source = Source::new(file, text);
        let root = source.parse()?;
        let called = words(&["run", file]);
        let folder = Path::new(file).parent().map(Path::to_path_buf);
        Ok(Self { folder, ..Self::new(source, root, called, None)? })
    }

    /// Read the text of a suite that is asked for by its name; `file` names it in messages.
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn built_in(name: &str, file: &str, text: &str) -> Result<Self> {
        Ok(Self { called: words(&["run", name]), folder: None, ..Self::parse(file, text)? })
    }

    /// A suite of one step, in place of a file.
    ///
    /// # Errors
    ///
    /// `workload` cannot be a name. Whether it is one is found when the suite is resolved.
    pub fn of_workload(workload: &str) -> Result<Self> {
        let step = StepSpec {
            name: workload.to_owned(),
            workload: workload.to_owned(),
            parameters: Value::Null,
            allow_limit: false,
        };
        Self::of_steps(&["run", "--workload", workload], workload, &[step])
    }

    /// A suite of these steps, in place of a file. `called` is what asks for it on the command
    /// line, after `fsduel`; a lone key of `--set` is a parameter of the first step.
    ///
    /// # Errors
    ///
    /// A name cannot be one. Whether a workload is one is found when the suite is resolved.
    pub fn of_steps(called: &[&str], title: &str, steps: &[StepSpec]) -> Result<Self> {
        let name = steps.first().map(|step| step.name.clone()).unwrap_or_default();
        // Only what is not always there helps to find a mistake.
        let option = called.strip_prefix(&["run"]).unwrap_or(called).join(" ");
        let place = Place::Option(option.clone());
        let head = json!({ "name": name, "title": title });
        let root = json!({ "suite": head, "step": steps.iter().map(table_of).collect::<Vec<_>>() });
        match Node::from_json(&root, &place).data {
            Data::Table(root) => Self::new(Source::new(&option, ""), root, words(called), Some(name)),
            _ => Err(Error::new("build a suite that is no table")),
        }
    }

    /// The words that end its command line, behind `--`.
    #[must_use]
    pub fn followed_by(self, words: &[String]) -> Self {
        Self { trailing: words.to_vec(), ..self }
    }

    fn new(source: Source, root: Table, called: Vec<String>, only_step: Option<String>) -> Result<Self> {
        let head = Model::read(&source, &root)?.head;
        let mut scales = overrides::scales(&source, &root)?;
        for name in &scales {
            let mut scaled = root.clone();
            overrides::apply_scale(&source, &mut scaled, name)?;
            Model::read(&source, &scaled)?;
        }
        check_scales(&source, &head, &scales)?;
        scales.insert(0, head.base_scale.clone().unwrap_or_else(|| ONLY_SCALE.into()));
        Ok(Self { source, root, head, scales, called, trailing: vec![], folder: None, only_step })
    }

    /// Name in the file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.head.name
    }

    /// Title in the file; the name where there is none.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.head.title
    }

    /// The scale that runs where none is asked for, if there are several.
    #[must_use]
    pub fn default_scale(&self) -> Option<&str> {
        self.head.default_scale.as_deref().filter(|_| self.scales.len() > 1)
    }

    /// Names of its scales; the first is that of the values below no scale.
    #[must_use]
    pub fn scales(&self) -> &[String] {
        &self.scales
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A step as a suite writes it.
fn table_of(step: &StepSpec) -> Value {
    let mut table = step.parameters.as_object().cloned().unwrap_or_default();
    table.insert("name".into(), step.name.as_str().into());
    table.insert("workload".into(), step.workload.as_str().into());
    table.insert("allow-limit".into(), step.allow_limit.into());
    Value::Object(table)
}

/// Names of scales must tell which values are meant.
fn check_scales(source: &Source, head: &Head, scales: &[String]) -> Result<()> {
    let base = head.base_scale.as_deref();
    let problem = match &head.default_scale {
        None if !scales.is_empty() => "several scales need `default-scale`".to_owned(),
        _ if !scales.is_empty() && base.is_none() => "several scales need `base-scale`".to_owned(),
        _ if base.is_some_and(|base| scales.iter().any(|name| name == base)) => {
            "`base-scale` names the values outside of scales; a scale has the same name".to_owned()
        }
        Some(name) if base != Some(name) && !scales.contains(name) => {
            crate::names::unknown("scale", name, scales.iter().map(String::as_str).chain(base))
        }
        _ => return Ok(()),
    };
    Err(source.error(&head.place, &problem))
}

#[cfg(test)]
mod tests;
