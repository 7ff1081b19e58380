//! The one place where the program touches the tables and the runner of the library.
//!
//! Commands see plain rows, so that a changed table changes this file and nothing else.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use fsduel_harness::case::{Keep as KeepImage, Live};
use fsduel_harness::command::quoted;
use fsduel_harness::error::{Error, Result};
use fsduel_harness::measure::Metric;
use fsduel_harness::report::Style;
use fsduel_harness::require::{Missing, Requirement};
use fsduel_harness::result::{RunReport, partial};
use fsduel_harness::runner::{self, Asked};
use fsduel_harness::suite::{DEFAULT_STORE, Known, KnownWorkload, Options, Resolved, Suite, parse_store};
use fsduel_harness::sys::signal;
use fsduel_harness::units;
use fsduel_harness::vm::{Kernel, Qemu};
use fsduel_harness::{compare, fs, measure, report, worker, workload};

mod changes;
mod options;

use crate::builtin::SUITES;
use crate::cli::{DoctorArguments, ExecArguments, Keep, RunArguments, Shared, ShellArguments};
use crate::{describe, source};

pub use changes::{
    changes, gates, gates_of_changes, gates_of_run, same_work, something_to_compare, steps_of_gates,
    write_changes, write_changes_as_json,
};
pub use fsduel_harness::case::Store;
pub use fsduel_harness::compare::Repeat;
pub use fsduel_harness::compare::gate::Gate;
pub use fsduel_harness::facts;
pub use fsduel_harness::manifest::memory_available;
pub use fsduel_harness::require::check;
pub use fsduel_harness::runner::directory::{self, Sequence};
pub use fsduel_harness::runner::{Forecast, RunEvent, find_groups, free_needed, remove_group};
pub use fsduel_harness::scratch::{find_kept, find_ours, free, remove_kept, store_info};
pub use fsduel_harness::sys::caller;
pub use fsduel_harness::sys::counters::Done;
pub use fsduel_harness::sys::rooted::mode_in;
pub use fsduel_harness::units::Bytes;
pub use workload::{Parameter, StepSpec, postmark};

/// Be what a run has started this program as, if it has: a worker, or the inside of a virtual machine.
pub fn run_if_started_by_a_run() -> Option<i32> {
    fsduel_harness::guest::run_if_guest();
    worker::run_if_worker()
}

/// A name, and what it means.
pub struct Row {
    pub name: &'static str,
    pub meaning: String,
}

impl Row {
    fn new(name: &'static str, meaning: impl Into<String>) -> Self {
        Self { name, meaning: meaning.into() }
    }
}

/// A file system, and what the machine lacks for it.
pub struct FilesystemRow {
    pub name: &'static str,
    /// Nearly every kernel has it.
    pub common: bool,
    pub requirements: Vec<Requirement>,
    pub missing: Vec<Missing>,
}

/// What `fsduel doctor` looks at.
pub struct Wanted {
    pub filesystems: Vec<FilesystemRow>,
    pub store: Store,
    /// Size of an image, where a suite says it.
    pub image: Option<Bytes>,
}

/// What will run, and what it costs.
pub struct Plan {
    pub named: bool,
    pub require_all: bool,
    pub inner: runner::Plan,
}

pub fn suites() -> Vec<Row> {
    let title = |suite: &crate::builtin::Builtin| {
        let parsed = Suite::parse(suite.file, suite.text);
        parsed.map_or_else(|error| error.to_string(), |suite| titled(&suite))
    };
    SUITES.iter().map(|suite| Row::new(suite.name, title(suite))).collect()
}

/// The title, and the scales where there are several.
fn titled(suite: &Suite) -> String {
    match suite.default_scale() {
        None => suite.title().to_owned(),
        Some(default) => {
            format!("{} (scales: {}; default: {default})", suite.title(), suite.scales().join(", "))
        }
    }
}

pub fn filesystems() -> Vec<FilesystemRow> {
    let row = |filesystem: &&'static dyn fs::Filesystem| {
        let requirements = filesystem.requirements();
        let common = fs::common().iter().any(|one| one.name() == filesystem.name());
        FilesystemRow { name: filesystem.name(), common, missing: check(&requirements), requirements }
    };
    fs::ALL.iter().map(row).collect()
}

pub fn filesystem_names() -> Vec<&'static str> {
    fs::ALL.iter().map(|filesystem| filesystem.name()).collect()
}

/// What there is no row for, and why.
pub fn left_out() -> Vec<Row> {
    fs::LEFT_OUT.iter().map(|(name, why)| Row::new(name, *why)).collect()
}

/// QEMU's version, or what keeps it from being used.
pub fn qemu() -> Result<String> {
    Qemu::find().map(|found| format!("{} {}", found.program.display(), found.version))
}

/// Where the kernel of `--kernel host` is.
pub fn host_kernel() -> Result<String> {
    Kernel::host_image().map(|(image, _)| image.display().to_string())
}

pub fn workloads() -> &'static [workload::Row] {
    workload::ALL
}

pub fn metrics() -> Vec<Row> {
    measure::documented().map(|metric| Row::new(metric.key, metric.meaning)).collect()
}

pub fn formats() -> Vec<Row> {
    report::ALL.iter().map(|format| Row::new(format.name, format.meaning)).collect()
}

pub fn size(text: &str) -> Result<Bytes, String> {
    text.parse().map_err(one_line)
}

pub fn repeat(text: &str) -> Result<Repeat, String> {
    text.parse().map_err(one_line)
}

pub fn duration(text: &str) -> Result<Duration, String> {
    units::parse_duration(text).map_err(one_line)
}

/// An error with its next step on one line: clap puts it behind the value.
fn one_line(error: Error) -> String {
    match error.next_step() {
        Some(next) => format!("{error}; {next}"),
        None => error.to_string(),
    }
}

/// Write a report; as wide as the terminal where it goes to one.
pub fn write_report(format: &str, report: &RunReport, out: &mut dyn Write) -> Result<()> {
    let format = report::find(format)
        .ok_or_else(|| Error::usage(format!("write `{format}`")).next("see fsduel list formats"))?;
    (format.write)(report, out, &style())
}

fn style() -> Style {
    let asked = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let terminal = || std::io::stdout().is_terminal().then(terminal_width).flatten();
    Style { width: asked.or_else(terminal).unwrap_or(Style::default().width), ascii: false }
}

/// Columns of the terminal on standard output.
fn terminal_width() -> Option<u16> {
    terminal_size::terminal_size().map(|(width, _)| width.0)
}

/// A stored run; or what one that did not end has left.
pub fn read_report(text: &str) -> Result<RunReport> {
    if !partial::is_partial(text) {
        return report::json::read(text);
    }
    let mut run = partial::read(text, report::json::read)?;
    run.comparisons = compare::within(&run);
    Ok(run)
}

/// Understand a suite and plan it.
pub fn plan(arguments: &RunArguments, name: &str) -> Result<Plan> {
    let suite = match &arguments.workload {
        Some(workload) => Suite::of_workload(workload)?,
        None => find_suite(name)?,
    };
    let options = Options { scale: arguments.scale.clone(), ..options::of(&arguments.shared)? };
    plan_suite(&suite, &options, arguments.shared.results.keep, Asked::default())
}

/// Plan steps that no file holds. `called` is what asks for them, after `fsduel`.
pub fn plan_steps(called: &[&str], title: &str, steps: &[StepSpec], shared: &Shared) -> Result<Plan> {
    let suite = Suite::of_steps(called, title, steps)?;
    plan_suite(&suite, &options::of(shared)?, shared.results.keep, Asked::default())
}

/// Plan a command. `called` is what asks for it, after `fsduel` and before its words.
pub fn plan_command(
    called: &[String],
    step: &StepSpec,
    words: &[String],
    arguments: &ExecArguments,
) -> Result<Plan> {
    let called: Vec<&str> = called.iter().map(String::as_str).collect();
    let line = words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
    let title = format!("{}: {line}", step.name);
    let suite = Suite::of_steps(&called, &title, std::slice::from_ref(step))?.followed_by(words);
    let asked = Asked { keep_going: arguments.around.keep_going, live: Live::Seen, ..Asked::default() };
    let shared = &arguments.shared;
    plan_suite(&suite, &options::of(shared)?, shared.results.keep, asked)
}

/// Plan a shell.
pub fn plan_shell(step: &StepSpec, arguments: &ShellArguments) -> Result<Plan> {
    let suite = Suite::of_steps(&[&step.name], "a shell", std::slice::from_ref(step))?;
    let options = options::of_shell(arguments);
    let plan = plan_suite(&suite, &options, arguments.keep, Asked { live: Live::Shell, ..Asked::default() })?;
    match plan.inner.cases.len() {
        0 | 1 => Ok(plan),
        count => {
            Err(Error::usage(format!("start a shell in {count} file systems"))
                .next("name one of them with --fs"))
        }
    }
}

/// `asked` has what only some commands ask for.
fn plan_suite(suite: &Suite, options: &Options, keep: Option<Keep>, asked: Asked) -> Result<Plan> {
    let resolved = resolve(suite, options)?;
    let (named, require_all) = (resolved.named, resolved.require_all);
    let keep = match keep {
        None => KeepImage::Never,
        Some(Keep::All) => KeepImage::Always,
        Some(Keep::Failed) => KeepImage::Failed,
    };
    if let Some(disk) = resolved.device.as_ref().filter(|_| keep != KeepImage::Never) {
        return Err(Error::usage(format!(
            "keep an image of {}: there is none on a whole disk",
            disk.display()
        ))
        .next("leave out --keep; the disk itself has the last file system"));
    }
    if resolved.store == Store::Memory && keep != KeepImage::Never {
        return Err(Error::usage("keep images that are in memory").next("choose a folder with --store"));
    }
    Ok(Plan { named, require_all, inner: runner::plan(resolved, &Asked { argv: argv(), keep, ..asked })? })
}

/// The command line. A path may be no text; in a manifest it is shown as well as it can be.
pub fn argv() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// What a check of this machine has to look at: that of one suite, or everything.
pub fn wanted(arguments: &DoctorArguments) -> Result<Wanted> {
    let given = arguments.store.clone();
    let Some(name) = &arguments.suite else {
        let store = parse_store(given.as_deref().unwrap_or(DEFAULT_STORE));
        return Ok(Wanted { filesystems: filesystems(), store, image: None });
    };
    let options = Options { store: given, scale: arguments.scale.clone(), ..Options::default() };
    let resolved = resolve(&find_suite(name)?, &options)?;
    let mut rows = filesystems();
    rows.retain(|row| resolved.configurations.iter().any(|wanted| wanted.filesystem == row.name));
    Ok(Wanted { filesystems: rows, store: resolved.store, image: Some(resolved.image_size) })
}

fn resolve(suite: &Suite, options: &Options) -> Result<Resolved> {
    let filesystems = filesystem_names();
    let workloads: Vec<KnownWorkload> = workload::ALL.iter().map(known).collect();
    let keys = |metrics: &'static [Metric]| metrics.iter().map(|metric| metric.key);
    let of_a_step = measure::ALL.iter().map(|row| row.metrics()).chain([measure::OF_A_FILL]);
    let metrics: Vec<&str> = of_a_step.flat_map(keys).collect();
    let case_metrics: Vec<&str> = keys(measure::OF_A_CASE).collect();
    let common: Vec<&str> = fs::common().iter().map(|filesystem| filesystem.name()).collect();
    let known = Known {
        filesystems: &filesystems,
        common: &common,
        left_out: &fs::LEFT_OUT,
        workloads: &workloads,
        metrics: &metrics,
        case_metrics: &case_metrics,
    };
    suite.resolve(options, &known)
}

fn known(row: &workload::Row) -> KnownWorkload {
    let parameters = row.parameters.iter().map(|parameter| parameter.key.to_owned()).collect();
    KnownWorkload { name: row.name.to_owned(), parameters }
}

/// Far more than any suite has; and a file that never ends must not take all memory.
const SUITE_MAX: u64 = 1 << 20;

/// A file where the name looks like one, else a built-in suite.
fn find_suite(name: &str) -> Result<Suite> {
    if name.contains('/') || name.ends_with(".toml") {
        let text = source::read_text(Path::new(name), SUITE_MAX).map_err(|cause| {
            let error = Error::usage(format!("read the suite {name}")).because(cause);
            error.next("`fsduel list suites` tells those that are built in")
        })?;
        return Suite::parse(name, &text);
    }
    let suite = SUITES.iter().find(|suite| suite.name == name).ok_or_else(|| {
        Error::usage(format!("find a suite named `{name}`")).next(match name {
            "all" | "failed" => format!("with --keep, write --keep={name}"),
            _ => {
                let names: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
                format!("one of {}, or the path of a file that ends in .toml", names.join(", "))
            }
        })
    })?;
    Suite::built_in(suite.name, suite.file, suite.text)
}

impl Plan {
    pub fn suite(&self) -> &str {
        &self.inner.info.name
    }

    /// What a command prints is seen at once.
    pub fn is_live(&self) -> bool {
        self.inner.cases.iter().any(|case| case.live != Live::Nothing)
    }

    /// The same for each case; none where no case is planned.
    pub fn steps(&self) -> &[StepSpec] {
        self.inner.cases.first().map(|case| case.steps.as_slice()).unwrap_or_default()
    }

    /// What the run will cost, before it starts.
    pub fn costs(&self) -> String {
        let costs = &self.inner.costs;
        let most = if self.inner.repeat == Repeat::Auto { "at most " } else { "" };
        let needed = match self.inner.cases.first().map(|case| &case.store) {
            Some(Store::Disk(_)) => String::new(),
            _ => format!(", which needs {} of free space", costs.free_needed()),
        };
        // Of what a command takes and writes, no more is known than the image's size.
        let (beside, writes) = match self.steps().iter().any(|step| step.workload == "exec") {
            true => (" beside the command", format!("takes up to {} in", costs.disk_highest)),
            false => ("", format!("writes {most}about {} to", costs.written)),
        };
        format!(
            "{}: {most}{} {}, {most}about {}{beside}; {writes} {}{needed}",
            self.suite(),
            costs.cases,
            if costs.cases == 1 { "case" } else { "cases" },
            units::duration_text(Duration::from_secs(costs.time.as_secs())),
            self.inner.manifest.store.path,
        )
    }

    /// What makes the figures less trustworthy, as far as it is known before the start.
    pub fn warnings(&self) -> impl Iterator<Item = &str> {
        self.inner.manifest.warnings.iter().map(|warning| warning.text.as_str())
    }

    /// The cases with their commands, and the steps.
    pub fn describe(&self) -> String {
        describe::plan(&self.inner)
    }

    /// What is known of the time that it takes.
    pub fn forecast(&self) -> Forecast {
        Forecast::of(&self.inner)
    }

    pub fn admit(&self) -> Result<()> {
        self.inner.admit()
    }
}

pub fn run(plan: &Plan, tell: &mut dyn FnMut(RunEvent)) -> Result<RunReport> {
    runner::run(&plan.inner, tell)
}

/// The signal that asked this run to end.
pub fn signal() -> Option<u8> {
    signal::seen().and_then(|signal| u8::try_from(signal as i32).ok())
}
