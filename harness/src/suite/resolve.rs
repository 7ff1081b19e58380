//! A suite with the options of the command line: what is run.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use super::check::{self, Nameable};
use super::command::command;
use super::defaults::{
    DEFAULT_BLOCK_SIZE, DEFAULT_SEED, DEFAULT_SIZE, DEFAULT_STORE, Defaults, checked_block_size,
    checked_budget, checked_timeout, parse_store,
};
use super::document::{Data, Entry, Node, Place, Table};
use super::model::{Filesystem, Model, Step};
use super::{KernelChoice, Known, Options, Places, Resolved, Suite, kernels, overrides, place, spec};
use crate::case::{Backend, DirectIo, Store};
use crate::compare::Repeat;
use crate::error::{Error, Result};
use crate::names::unknown;
use crate::result::{Configuration, SuiteInfo};
use crate::units::{Bytes, Seed};
use crate::workload::StepSpec;

impl Suite {
    /// Decide everything: command line over suite, `--set` over a scale over `[defaults]`.
    ///
    /// # Errors
    ///
    /// A name that nobody knows, an option of a wrong form, options that contradict each other, or (of kind [`Empty`](crate::error::Kind::Empty)) no step or no file system.
    pub fn resolve(&self, options: &Options, known: &Known) -> Result<Resolved> {
        let scale = self.scale(options)?;
        for name in &self.scales {
            check::selection(&self.source, &Model::read(&self.source, &self.at_scale(name)?)?, known)?;
        }
        let mut root = self.at_scale(&scale)?;
        let own = Model::read(&self.source, &root)?;
        Nameable::new(&self.source, &own, &self.scales, known).check(&own)?;
        self.select(&mut root, options, known, !own.filesystems.is_empty())?;
        for given in &options.set {
            overrides::apply_set(&self.source, &mut root, given, self.only_step.as_deref())?;
        }
        let mut model = Model::read(&self.source, &root)?;
        check::selection(&self.source, &model, known)?;
        self.check_not_empty(&model)?;
        replace_mkfs_options(&mut model.filesystems, &options.mkfs_options)?;
        self.resolved(model, options, scale)
    }

    fn at_scale(&self, name: &str) -> Result<Table> {
        let mut root = self.root.clone();
        overrides::apply_scale(&self.source, &mut root, name)?;
        Ok(root)
    }

    fn scale(&self, options: &Options) -> Result<String> {
        let default = || self.head.default_scale.clone().unwrap_or_else(|| self.scales[0].clone());
        let name = options.scale.clone().unwrap_or_else(default);
        if self.scales.contains(&name) {
            return Ok(name);
        }
        let known = self.scales.iter().map(String::as_str);
        let place = Place::Option(format!("--scale {name}"));
        Err(self.source.error(&place, &unknown("scale", &name, known)))
    }

    /// `--fs` in place of the suite's list; the common ones where there is neither.
    fn select(&self, root: &mut Table, options: &Options, known: &Known, has_own: bool) -> Result<()> {
        let nodes = match (options.filesystems.is_empty(), has_own) {
            (false, _) => spec::filesystems(&options.filesystems)?,
            (true, true) => return Ok(()),
            (true, false) => spec::filesystems(&[known.common.join(",")])?,
        };
        let place = Place::Option("--fs".into());
        let node = Node { place: place.clone(), data: Data::List(nodes) };
        root.set(Entry { key: "filesystem".into(), place, node });
        Ok(())
    }

    fn check_not_empty(&self, model: &Model) -> Result<()> {
        let name = self.name();
        if model.steps.is_empty() {
            return Err(Error::empty(format!("run suite {name}: it has no step"))
                .next("add a [[step]], or take --workload NAME"));
        }
        if model.filesystems.is_empty() {
            return Err(Error::empty(format!("run suite {name}: no file system is selected"))
                .next("name one with --fs, or leave --fs out"));
        }
        Ok(())
    }

    fn resolved(&self, model: Model, options: &Options, scale: String) -> Result<Resolved> {
        let kernels = kernels::chosen(&options.kernels, model.kernels, self.folder.as_deref());
        let choices = Choices::of(&model.defaults, options, kernels)?;
        let steps: Vec<_> = model.steps.iter().map(step).collect();
        let block_size = u32::try_from(choices.block_size.0).unwrap_or(u32::MAX);
        let configurations: Vec<_> =
            model.filesystems.into_iter().map(|filesystem| configuration(filesystem, block_size)).collect();
        let configurations = kernels::crossed(configurations, &choices.kernels);
        let mut resolved = choices.json(&configurations, &steps);
        resolved["base_scale"] = self.scales[0].as_str().into();
        resolved["command"] = command(self, options, &scale, &choices).into();
        let info = SuiteInfo {
            name: model.head.name,
            title: model.head.title,
            scale,
            source: model.head.source,
            figures: model.figures.into_iter().map(|(figure, _)| figure).collect(),
            resolved,
        };
        Ok(Resolved {
            info,
            configurations,
            named: !options.filesystems.is_empty(),
            require_all: choices.require_all,
            strict: choices.strict,
            image_size: choices.size,
            block_size: choices.block_size,
            seed: choices.seed,
            store: choices.store,
            direct_io: choices.direct_io,
            preallocate: choices.preallocate,
            overcommit: choices.overcommit,
            memory: choices.memory,
            kernel_options: choices.kernel_options,
            backend: choices.backend,
            kernels: choices.kernels,
            device: options.device.clone(),
            wipe: options.wipe,
            repeat: choices.repeat,
            budget: choices.budget,
            timeout: choices.timeout,
            claims: model.claims.into_iter().map(|(claim, _)| claim).collect(),
            references: model.references.into_iter().map(|(reference, _)| reference).collect(),
            places: Places {
                source: self.source.clone(),
                steps: model.steps.into_iter().map(|step| (step.name, step.node.place)).collect(),
            },
            steps,
        })
    }
}

fn step(step: &Step) -> StepSpec {
    let parameters = step.parameters.0.iter().map(|entry| (entry.key.clone(), entry.node.json())).collect();
    StepSpec {
        name: step.name.clone(),
        workload: step.workload.clone(),
        parameters: Value::Object(parameters),
        allow_limit: step.allow_limit,
    }
}

fn configuration(filesystem: Filesystem, block_size_bytes: u32) -> Configuration {
    Configuration {
        id: filesystem.id,
        filesystem: filesystem.name,
        mount_options: filesystem.mount,
        mkfs_options: filesystem.mkfs,
        block_size_bytes,
        environment: 0,
    }
}

/// Options for one id, or for all configurations of one file system, in place of the suite's:
/// `mkfs.xfs` refuses an option that is given twice. Several for the same name add up.
fn replace_mkfs_options(filesystems: &mut [Filesystem], given: &[String]) -> Result<()> {
    let named = |filesystem: &Filesystem, name: &str| filesystem.id == name || filesystem.name == name;
    let options = given.iter().map(|given| spec::mkfs_options(given)).collect::<Result<Vec<_>>>()?;
    for ((name, _), given) in options.iter().zip(given) {
        if !filesystems.iter().any(|filesystem| named(filesystem, name)) {
            let known = filesystems.iter().map(|filesystem| filesystem.id.as_str());
            return Err(Error::usage(format!("use `--mkfs-options {given}`")).because(unknown(
                "file system",
                name,
                known,
            )));
        }
    }
    for filesystem in filesystems {
        let mine = options.iter().filter(|(name, _)| named(filesystem, name));
        let words: Vec<_> = mine.flat_map(|(_, words)| words.clone()).collect();
        if options.iter().any(|(name, _)| named(filesystem, name)) {
            filesystem.mkfs = words;
        }
    }
    Ok(())
}

/// Every option with its value.
pub(super) struct Choices {
    pub(super) size: Bytes,
    pub(super) block_size: Bytes,
    pub(super) seed: Seed,
    pub(super) store: Store,
    pub(super) direct_io: DirectIo,
    pub(super) preallocate: bool,
    pub(super) overcommit: bool,
    pub(super) memory: Option<Bytes>,
    pub(super) kernel_options: Option<String>,
    pub(super) backend: Backend,
    pub(super) kernels: Vec<KernelChoice>,
    pub(super) device: Option<PathBuf>,
    pub(super) require_all: bool,
    pub(super) strict: bool,
    pub(super) repeat: Repeat,
    pub(super) budget: Option<Duration>,
    timeout: Option<Duration>,
}

impl Choices {
    fn of(suite: &Defaults, line: &Options, kernels: Vec<KernelChoice>) -> Result<Self> {
        let block_size = line.block_size.or(suite.block_size).unwrap_or(DEFAULT_BLOCK_SIZE);
        let choices = Self {
            size: line.size.or(suite.size).unwrap_or(DEFAULT_SIZE),
            block_size: checked_block_size(block_size)?,
            seed: line.seed.or(suite.seed).map_or(DEFAULT_SEED, Seed),
            store: match &line.device {
                Some(disk) => Store::Disk(disk.clone()),
                None => {
                    parse_store(line.store.as_deref().or(suite.store.as_deref()).unwrap_or(DEFAULT_STORE))
                }
            },
            direct_io: line.direct_io.or(suite.direct_io).unwrap_or_default(),
            preallocate: line.device.is_none() && line.preallocate.or(suite.preallocate).unwrap_or(false),
            overcommit: line.overcommit.or(suite.overcommit).unwrap_or(false),
            memory: line.memory.or(suite.memory),
            kernel_options: line.kernel_options.clone().or_else(|| suite.kernel_options.clone()),
            backend: match line.backend.or(suite.backend).unwrap_or_default() {
                // A kernel can only be booted in one.
                Backend::Auto if !kernels.is_empty() || line.kernel_options.is_some() => Backend::Vm,
                backend => backend,
            },
            kernels,
            device: line.device.clone(),
            require_all: line.require_all || suite.require_all.unwrap_or(false),
            strict: line.strict || suite.strict.unwrap_or(false),
            repeat: line.repeat.or(suite.repeat).unwrap_or_default(),
            budget: line.budget.map(checked_budget).transpose()?.or(suite.budget),
            timeout: line.timeout.map(checked_timeout).transpose()?.or(suite.timeout),
        };
        choices.check_size()?;
        place::check(&choices, line)?;
        Ok(choices)
    }

    fn check_size(&self) -> Result<()> {
        if self.size.0 > 0 && self.size.0.is_multiple_of(self.block_size.0) {
            return Ok(());
        }
        Err(Error::usage(format!("make an image of {} bytes", self.size.0))
            .because(format!("it is not a whole number of blocks of {}", self.block_size))
            .next("take a multiple of the block size, such as 2GiB"))
    }

    fn json(&self, configurations: &[Configuration], steps: &[StepSpec]) -> Value {
        json!({
            "size_bytes": self.size,
            "block_size_bytes": self.block_size,
            "seed": self.seed.0.to_string(),
            "store": match &self.store {
                Store::Memory => "memory".into(),
                Store::Directory(place) | Store::Disk(place) => place.to_string_lossy(),
            },
            "direct_io": self.direct_io,
            "preallocate": self.preallocate,
            "overcommit": self.overcommit,
            "memory_bytes": self.memory,
            "kernel_options": self.kernel_options,
            "backend": self.backend,
            "kernels": kernels::listed(&self.kernels),
            "require_all": self.require_all,
            "strict": self.strict,
            "repeat": self.repeat,
            "budget_s": self.budget.map(|budget| budget.as_secs_f64()),
            "timeout_s": self.timeout.map(|timeout| timeout.as_secs_f64()),
            "configurations": configurations,
            "steps": steps,
        })
    }
}
