//! A run before its start: every case, what cannot run and why, and what it will cost.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::case::{CaseSpec, Keep, Live, Store};
use crate::claim::ClaimSpec;
use crate::compare::Repeat;
use crate::error::{Error, Result};
use crate::fs::{self, Filesystem, KernelVersion};
use crate::guard::Demand;
use crate::manifest;
use crate::require::{self, Missing, Requirement};
use crate::result::{Configuration, Manifest, Reason, Reference, RunReport, StoreInfo, SuiteInfo};
use crate::scratch;
use crate::suite::Resolved;
use crate::sys::caller::caller;
use crate::sys::signal;
use crate::units::{Bytes, Seed};
use crate::vm::Kernel;

use super::blocks::Schedule;
use super::costs::Costs;
use super::only_ours;
use super::place::Where;
use super::preflight::{self, Work};
use super::{disk, memory};

/// A run before its start.
#[derive(Debug)]
pub struct Plan {
    /// Random, the same for all cases.
    pub run_id: String,
    /// The machine, and how the run was asked for.
    pub manifest: Manifest,
    /// What will be run.
    pub info: SuiteInfo,
    /// The cases of the first measured block, in the order of the suite, also those that cannot run;
    /// every block is made of these.
    pub cases: Vec<CaseSpec>,
    /// By configuration: why it cannot run here.
    pub not_run: BTreeMap<String, Reason>,
    /// A command that fails does not end the run.
    pub keep_going: bool,
    /// A warning about the machine keeps it from starting.
    pub strict: bool,
    /// Measured blocks.
    pub repeat: Repeat,
    /// No block begins that would not end within it.
    pub budget: Option<Duration>,
    /// Limit of one step.
    pub timeout: Option<Duration>,
    /// What it will cost.
    pub costs: Costs,
    pub(super) place: Where,
    /// Use a disk although something is on it.
    wipe: bool,
    pub(super) seed: Seed,
    pub(super) claims: Vec<ClaimSpec>,
    pub(super) references: Vec<Reference>,
}

/// What is asked for beside the suite.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The command line, for the manifest.
    pub argv: Vec<String>,
    /// Whether images stay.
    pub keep: Keep,
    /// A command that fails does not end the run.
    pub keep_going: bool,
    /// What a command has of the caller, where it runs only once.
    pub live: Live,
}

/// Plan a run, and refuse one that cannot work here.
///
/// # Errors
///
/// The suite is wrong, or a plan cannot fit on a file system that could otherwise run; or a signal
/// came meanwhile.
pub fn plan(mut resolved: Resolved, asked: &Asked) -> Result<Plan> {
    // Tools run from here on, and are not to outlive a Ctrl-C.
    signal::stop_on(&signal::ENDING)?;
    let run_id = manifest::run_id();
    let place = Where::choose(&resolved)?;
    resolved.name_kernels(&place.releases());
    disk::plan(&mut resolved)?;
    preflight::roots(&resolved, &place)?;
    let store = store_info(&resolved.store)?;
    let (mut not_run, mut cases, mut works) = (BTreeMap::new(), vec![], vec![]);
    for (order, configuration) in (1..).zip(&resolved.configurations) {
        let filesystem = by_name(configuration)?;
        only_ours::check(configuration)?;
        let work = Work::of(&resolved, configuration, filesystem)?;
        let case = case_of(&resolved, configuration, order, &run_id, asked);
        match cannot_run(filesystem, &resolved, place.kernel(configuration.environment)) {
            Some(reason) => {
                not_run.insert(configuration.id.clone(), reason);
            }
            None => {
                preflight::fits(filesystem, &work, &case.mkfs_options(), resolved.image_size)?;
                works.push(work);
            }
        }
        cases.push(case);
    }
    goes_on()?;
    let blocks = Schedule::most(resolved.repeat);
    let costs = place.costs(Costs::of(&works, resolved.image_size, resolved.preallocate)).repeated(blocks);
    let written = works.iter().map(|work| work.written).max().unwrap_or_default();
    let demand = Demand { written, image: costs.free_needed() };
    Ok(Plan {
        manifest: manifest::gather(store, resolved.seed, asked.argv.clone(), demand),
        run_id,
        info: resolved.info,
        cases,
        not_run,
        keep_going: asked.keep_going,
        strict: resolved.strict,
        repeat: resolved.repeat,
        budget: resolved.budget,
        timeout: resolved.timeout,
        costs,
        place,
        wipe: resolved.wipe,
        seed: resolved.seed,
        claims: resolved.claims,
        references: resolved.references,
    })
}

fn goes_on() -> Result<()> {
    match signal::seen() {
        None => Ok(()),
        Some(signal) => Err(Error::stopped(format!("plan the run: it was ended by {signal}"))),
    }
}

impl Plan {
    /// The report of the run before it has a case.
    #[must_use]
    pub fn head(&self) -> RunReport {
        super::head(self)
    }

    /// Cases of all blocks, and those that cannot run; `auto` may need fewer.
    #[must_use]
    pub fn cases_at_most(&self) -> u32 {
        let count = |cases: usize| u32::try_from(cases).unwrap_or(u32::MAX);
        let running = count(self.cases.len() - self.not_run.len());
        running.saturating_mul(Schedule::most(self.repeat)).saturating_add(count(self.not_run.len()))
    }

    /// Refuse to start where this machine cannot run any case, where it would disturb a strict run, or
    /// where the store is too small.
    ///
    /// # Errors
    ///
    /// Root, loop devices or QEMU are missing; a warning of a strict run; or the store is too small, with the
    /// numbers.
    pub fn admit(&self) -> Result<()> {
        self.place.admit()?;
        self.refuse_warnings()?;
        let Some(case) = self.cases.first() else { return Ok(()) };
        if let Where::Host = self.place {
            memory::check(case.memory)?;
            disk::admit(case, self.wipe)?;
        }
        let disk = matches!(case.store, Store::Disk(_));
        if disk || case.overcommit || self.not_run.len() == self.cases.len() {
            return Ok(());
        }
        let free = Bytes(self.manifest.store.free_bytes);
        let need = self.costs.free_needed();
        if need <= free {
            return Ok(());
        }
        Err(Error::unavailable(format!(
            "keep an image in {}: it needs {need} of free space, {free} are free",
            self.manifest.store.path
        ))
        .next("another place with --store, a smaller --size, or --overcommit to try all the same"))
    }

    fn refuse_warnings(&self) -> Result<()> {
        let warnings = &self.manifest.warnings;
        if !self.strict || warnings.is_empty() {
            return Ok(());
        }
        let texts: Vec<&str> = warnings.iter().map(|warning| warning.text.as_str()).collect();
        Err(Error::environment("start a strict run on this machine")
            .because(texts.join("; "))
            .next("put an end to what disturbs, or leave out --strict and read the warnings in the report"))
    }
}

/// All that is missing, in one error.
fn all_missing(doing: &str, missing: &[Missing]) -> Error {
    let texts: Vec<&str> = missing.iter().map(|missing| missing.text.as_str()).collect();
    Error::unavailable(doing).because(texts.join("; "))
}

fn by_name(configuration: &Configuration) -> Result<&'static dyn Filesystem> {
    fs::by_name(&configuration.filesystem)
        .ok_or_else(|| Error::usage(format!("find a file system named {}", configuration.filesystem)))
}

/// What a file system lacks: on this machine, or where another kernel mounts it.
fn lacks(filesystem: &dyn Filesystem, kernel: Option<&Kernel>) -> Vec<Missing> {
    let mut requirements = filesystem.requirements();
    let Some(kernel) = kernel else { return require::check(&requirements) };
    requirements.retain(|requirement| matches!(requirement, Requirement::Tool { .. }));
    kernel.lacks(filesystem.name()).into_iter().chain(require::check(&requirements)).collect()
}

/// Why a file system cannot run here; none of it is a fault of the plan.
fn cannot_run(filesystem: &dyn Filesystem, resolved: &Resolved, kernel: Option<&Kernel>) -> Option<Reason> {
    let missing = lacks(filesystem, kernel);
    if let Some(first) = missing.first() {
        let error = all_missing(&format!("run {}", filesystem.name()), &missing).next(first.next.clone());
        return Some(Reason { code: Reason::MISSING.into(), ..Reason::from(&error) });
    }
    let version = kernel.map_or_else(KernelVersion::here, |kernel| KernelVersion::of(&kernel.release));
    let sizes = filesystem.block_sizes(version);
    if !sizes.contains(&resolved.block_size) {
        let known: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        return Some(Reason {
            code: Reason::BLOCK_SIZE.into(),
            text: format!(
                "cannot mount {} with a block size of {} on this kernel; it can have {}",
                filesystem.name(),
                resolved.block_size,
                known.join(", ")
            ),
            next: Some("one of these with --block-size; all file systems of a run have the same".into()),
        });
    }
    let least = filesystem.min_size();
    (resolved.image_size < least).then(|| Reason {
        code: Reason::IMAGE_SIZE.into(),
        text: format!("cannot make {} on {}; it needs {least}", filesystem.name(), resolved.image_size),
        next: Some(format!("--size {least} or more")),
    })
}

/// One configuration in the first block.
fn case_of(
    resolved: &Resolved,
    configuration: &Configuration,
    order: u32,
    run_id: &str,
    asked: &Asked,
) -> CaseSpec {
    let once = resolved.configurations.len() == 1 && resolved.repeat.blocks() == 1;
    CaseSpec {
        run_id: run_id.to_owned(),
        configuration: configuration.clone(),
        block: 1,
        order,
        image_size: resolved.image_size,
        logical_block_size: scratch::logical_block_size(resolved.block_size),
        store: resolved.store.clone(),
        direct_io: resolved.direct_io,
        preallocate: resolved.preallocate,
        overcommit: resolved.overcommit,
        keep: asked.keep,
        memory: resolved.memory,
        quiet: resolved.repeat.blocks() > 1,
        user: caller(),
        environment: vec![],
        live: if once { asked.live } else { Live::Nothing },
        seed: resolved.seed,
        steps: resolved.steps.clone(),
    }
}

fn store_info(store: &Store) -> Result<StoreInfo> {
    let (path, filesystem, free) = match store {
        Store::Directory(folder) => {
            let state = scratch::store_info(folder)?;
            (folder.display().to_string(), state.filesystem, state.free)
        }
        Store::Disk(disk) => {
            (disk.display().to_string(), StoreInfo::DISK.into(), scratch::disk::look(disk)?.1)
        }
        Store::Memory => ("memory".into(), "memory".into(), manifest::memory_available()),
    };
    Ok(StoreInfo { path, filesystem, free_bytes: free.0 })
}
