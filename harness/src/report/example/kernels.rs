//! Two file systems on two kernels, in virtual machines, six blocks each. The newer kernel makes files
//! in two thirds of the time. Its ratios and words were written by hand.

use super::{ran, report, step};
use crate::result::{
    CaseResult, Comparison, Environment, Estimate, Facts, RunReport, StepResult, Verdict, id_on, split_id,
};

const KERNELS: [(&str, &str); 2] = [("6.1", "6.1.0-51-amd64"), ("6.12", "6.12.95+deb13-amd64")];

/// Times of ext4 and btrfs on the older kernel, and on the newer one.
const SYNCED_S: [[f64; 2]; 2] = [[0.6, 0.9], [0.4, 0.6]];

/// Space, alike on both kernels.
const SPACE: [f64; 2] = [41_287_680.0, 655_360.0];

/// The run.
pub(in crate::report) fn kernels() -> RunReport {
    let mut run = report();
    run.environments = KERNELS.map(|(_, release)| environment(release)).into();
    let ids = KERNELS.into_iter().zip(0..).flat_map(|kernel| [("ext4", kernel), ("btrfs", kernel)]);
    let ids: Vec<_> = ids.collect();
    run.cases = (1..=6).flat_map(|block| ids.iter().map(move |one| (block, one)).map(case)).collect();
    run.comparisons = compared(&run);
    run.claims.clear();
    run
}

/// The same on an emulated processor.
pub(in crate::report) fn emulated() -> RunReport {
    let mut run = kernels();
    for there in &mut run.environments {
        (there.timings_comparable, there.accelerator) = (false, Some("tcg".into()));
    }
    for one in run.comparisons.iter_mut().filter(|one| one.metric == "synced_s") {
        one.estimate.verdict = None;
    }
    run
}

fn environment(release: &str) -> Environment {
    Environment {
        backend: "vm".into(),
        kernel: release.into(),
        timings_comparable: true,
        accelerator: Some("kvm".into()),
        memory_bytes: Some(1 << 30),
        ..Environment::default()
    }
}

/// A file system, a kernel with its release, and the place of that kernel.
type On<'a> = (&'a str, ((&'a str, &'a str), u32));

fn case((block, one): (u32, &On)) -> CaseResult {
    let (filesystem, ((kernel, _), environment)) = one;
    let at = usize::from(*filesystem == "btrfs");
    let seconds = SYNCED_S[*environment as usize][at] * (1.0 + f64::from(block % 3) / 100.0);
    let made = Facts { files_created_count: Some(9999), payload_bytes: Some(49_923), ..Facts::default() };
    let metrics = [("synced_s", seconds), ("space_used_bytes", SPACE[at])];
    let steps: Vec<StepResult> = vec![step("small-files", "many-small-files", made, &metrics)];
    let mut case = ran(filesystem, block, &[], steps);
    case.configuration.id = id_on(filesystem, Some(kernel));
    case.configuration.environment = *environment;
    case.block = block;
    case.id = case.configuration.case_id(block);
    case
}

/// Along one dimension at a time; with a word where there is more than one block.
pub(in crate::report) fn compared(run: &RunReport) -> Vec<Comparison> {
    let of = |id: &str| {
        let (filesystem, kernel) = split_id(id);
        let at = |known: &(&str, &str)| Some(known.0) == kernel;
        let at = KERNELS.iter().position(at).unwrap_or(0);
        (SYNCED_S[at][usize::from(filesystem == "btrfs")], SPACE[usize::from(filesystem == "btrfs")])
    };
    let n = u32::try_from(run.cases.len() / 4).unwrap_or(0);
    let one = |(baseline, candidate): (&str, &str), metric: &str, ratio: f64| {
        let verdict = match ratio {
            _ if n < 2 => Verdict::NotResolved,
            less if less < 0.95 => Verdict::Less,
            more if more > 1.05 => Verdict::More,
            _ => Verdict::NoDifference,
        };
        let ci95 =
            (n > 2).then_some(if metric == "synced_s" { [ratio * 0.98, ratio * 1.02] } else { [ratio; 2] });
        let estimate = Estimate { ratio: Some(ratio), ci95, n, verdict: Some(verdict), needed_count: None };
        Comparison {
            step: "small-files".into(),
            metric: metric.into(),
            baseline: baseline.into(),
            candidate: candidate.into(),
            estimate,
        }
    };
    let pairs = [
        ("ext4@6.1", "btrfs@6.1"),
        ("ext4@6.1", "ext4@6.12"),
        ("ext4@6.12", "btrfs@6.12"),
        ("btrfs@6.1", "btrfs@6.12"),
    ];
    let times = pairs.map(|pair| one(pair, "synced_s", of(pair.1).0 / of(pair.0).0));
    let space = pairs.map(|pair| one(pair, "space_used_bytes", of(pair.1).1 / of(pair.0).1));
    times.into_iter().chain(space).collect()
}
