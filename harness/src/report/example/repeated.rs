//! The example with six blocks after one to warm up: the last is an outlier for all, one case was
//! disturbed, and one file system scatters too much for a word. Intervals were computed elsewhere.

use super::{ran, report, step};
use crate::result::{
    CaseResult, Change, Changes, ClaimResult, ClaimVerdict, Comparison, Estimate, Facts, GateResult,
    GateVerdict, Reason, RunReport, Status, StepResult, Verdict,
};

/// Block 0 is slow, as the first always is.
const NOISE: [(&str, [f64; 7]); 3] = [
    ("btrfs", [1.9, 1.01, 0.96, 1.03, 1.02, 1.0, 1.28]),
    ("ext4", [2.1, 1.0, 0.97, 1.02, 1.04, 0.99, 1.31]),
    ("xfs", [1.7, 1.2, 0.9, 1.0, 1.0, 0.93, 1.15]),
];

/// The run.
pub(in crate::report) fn repeated() -> RunReport {
    let mut run = report();
    let reiserfs = run.cases.pop().unwrap();
    let blocks = (0..7_u32).flat_map(|block| {
        let missing = CaseResult { id: format!("reiserfs/{block}"), block, ..reiserfs.clone() };
        // Every block in another order.
        let order = (0..3).map(move |at| (at + block as usize * 2) % 3);
        order.map(move |at| case(at, block)).chain([missing])
    });
    run.cases = blocks.collect();
    run.comparisons = COMPARISONS.iter().map(comparison).collect();
    run.references.clear();
    run.claims = vec![ClaimResult {
        verdict: ClaimVerdict::NotResolved,
        now: Some("small-files synced: xfs 430 ms, ext4 412 ms, ×1.02 [0.880, 1.19]".into()),
        reason: Some("the interval holds both answers".into()),
        ..run.claims[1].clone()
    }];
    run
}

fn case(at: usize, block: u32) -> CaseResult {
    let (id, noise) = NOISE[at];
    let noise = noise[block as usize];
    let mut case = ran(id, 1 + block * 3, &[], steps(at, noise));
    case.block = block;
    case.id = case.configuration.case_id(block);
    if (id, block) == ("xfs", 4) {
        case.status = Status::Invalid;
        let text = "the store filled up under the image".into();
        case.reason = Some(Reason { code: Reason::ENVIRONMENT.into(), text, next: None });
    }
    case
}

fn steps(at: usize, noise: f64) -> Vec<StepResult> {
    let made = Facts {
        files_created_count: Some(9999),
        directories_created_count: Some(0),
        payload_bytes: Some(49_923),
        ..Facts::default()
    };
    let removed = Facts { files_deleted_count: Some(9999), ..Facts::default() };
    let space = [655_360.0, 41_287_680.0, 45_088_768.0][at];
    let one = |name: &str, workload: &str, facts, [synced, space, cpu]: [f64; 3]| {
        let metrics =
            [("synced_s", synced * noise), ("space_used_bytes", space), ("kernel_cpu_s", cpu * noise)];
        step(name, workload, facts, &metrics)
    };
    vec![
        one(
            "small-files",
            "many-small-files",
            made,
            [[0.668, 0.412, 0.43][at], space, [0.31, 0.287, 0.301][at]],
        ),
        one(
            "list",
            "list",
            Facts::default(),
            [[0.0309, 0.0312, 0.0412][at], 0.0, [0.0212, 0.021, 0.025][at]],
        ),
        one("remove", "remove", removed, [[1.17, 1.62, 1.66][at], -space, [0.848, 0.559, 0.513][at]]),
    ]
}

type Row = (&'static str, &'static str, &'static str, [f64; 3], u32, Verdict, Option<u32>);

/// Step, metric, candidate; lower end, ratio, upper end.
const COMPARISONS: [Row; 18] = {
    use Verdict::{Less, More, NoDifference, NotResolved};
    [
        ("small-files", "synced_s", "btrfs", [1.5888, 1.6151, 1.6419], 6, More, None),
        ("small-files", "synced_s", "xfs", [0.8801, 1.0220, 1.1866], 5, NotResolved, Some(80)),
        ("small-files", "space_used_bytes", "btrfs", [0.0159, 0.0159, 0.0159], 6, Less, None),
        ("small-files", "space_used_bytes", "xfs", [1.0921, 1.0921, 1.0921], 5, More, None),
        ("small-files", "kernel_cpu_s", "btrfs", [1.0584, 1.0760, 1.0938], 6, More, None),
        ("small-files", "kernel_cpu_s", "xfs", [0.8844, 1.0270, 1.1924], 5, NotResolved, Some(118)),
        ("list", "synced_s", "btrfs", [0.9705, 0.9866, 1.0029], 6, NoDifference, None),
        ("list", "synced_s", "xfs", [1.1136, 1.2930, 1.5014], 5, NotResolved, Some(9)),
        ("list", "space_used_bytes", "btrfs", [0.0; 3], 6, NoDifference, None),
        ("list", "space_used_bytes", "xfs", [0.0; 3], 5, NoDifference, None),
        ("list", "kernel_cpu_s", "btrfs", [0.9892, 1.0056, 1.0223], 6, NoDifference, None),
        ("list", "kernel_cpu_s", "xfs", [1.0039, 1.1657, 1.3535], 5, NotResolved, Some(8)),
        ("remove", "synced_s", "btrfs", [0.7077, 0.7194, 0.7314], 6, Less, None),
        ("remove", "synced_s", "xfs", [0.8641, 1.0034, 1.1650], 5, NotResolved, Some(29)),
        ("remove", "space_used_bytes", "btrfs", [0.0159, 0.0159, 0.0159], 6, Less, None),
        ("remove", "space_used_bytes", "xfs", [1.0921, 1.0921, 1.0921], 5, More, None),
        ("remove", "kernel_cpu_s", "btrfs", [1.4865, 1.5111, 1.5362], 6, More, None),
        ("remove", "kernel_cpu_s", "xfs", [0.7739, 0.8986, 1.0434], 5, NotResolved, Some(18)),
    ]
};

/// Without a ratio where it is 0.
fn estimate([low, ratio, high]: [f64; 3], n: u32, verdict: Verdict, needed_count: Option<u32>) -> Estimate {
    let known = ratio > 0.0;
    let (ratio, ci95) = (known.then_some(ratio), known.then_some([low, high]));
    Estimate { ratio, ci95, n, verdict: Some(verdict), needed_count }
}

fn comparison((step, metric, candidate, ratios, n, verdict, needed): &Row) -> Comparison {
    Comparison {
        step: (*step).into(),
        metric: (*metric).into(),
        baseline: "ext4".into(),
        candidate: (*candidate).into(),
        estimate: estimate(*ratios, *n, *verdict, *needed),
    }
}

/// Against a run of another kernel, which made files more slowly on one file system.
pub(in crate::report) fn changes() -> (Changes, Vec<GateResult>) {
    let one = |configuration: &str, step: &str, metric: &str, [old, new]: [f64; 2], estimate| Change {
        configuration: configuration.into(),
        step: Some(step.into()),
        metric: metric.into(),
        old: Some(old),
        new: Some(new),
        estimate,
    };
    let slower = estimate([1.22, 1.31, 1.40], 6, Verdict::More, None);
    let same = estimate([1.0, 1.0, 1.0], 6, Verdict::NoDifference, None);
    let open = estimate([0.95, 1.03, 1.12], 6, Verdict::NotResolved, Some(18));
    let zero = estimate([0.0; 3], 6, Verdict::NoDifference, None);
    let rate = Estimate { verdict: None, ..slower };
    let changes = vec![
        one("ext4", "small-files", "synced_s", [0.412, 0.54], slower),
        one("ext4", "small-files", "space_used_bytes", [41_287_680.0; 2], same),
        one("ext4", "list", "space_used_bytes", [0.0; 2], zero),
        one("ext4", "small-files", "operations_per_s", [72_808.0, 55_550.0], rate),
        one("ext4", "remove", "space_used_bytes", [-41_287_680.0; 2], same),
        one("btrfs", "small-files", "synced_s", [0.668, 0.688], open),
    ];
    let gate = |gate: &str, configuration: &str, estimate, outcome| GateResult {
        gate: gate.into(),
        step: Some("small-files".into()),
        configuration: configuration.into(),
        against: BASE.into(),
        estimate,
        outcome,
    };
    let gates = vec![
        gate("synced_s<=1.05", "btrfs", open, GateVerdict::Undecided),
        gate("synced_s<=1.05", "ext4", slower, GateVerdict::Broken),
        gate("space_used_bytes<=1.02", "ext4", same, GateVerdict::Holds),
        gate("kernel_cpu_s<=1.1", "btrfs", open, GateVerdict::Undecided),
    ];
    let differences =
        vec!["the kernel was 6.17.2 and is 6.18.44".into(), "e2fsprogs was 1.46.5 and is 1.47.0".into()];
    let run = |run_id: &str| run_id.to_owned();
    let changes = Changes {
        base_run_id: run(BASE),
        new_run_id: run(&report().run_id),
        paired: false,
        differences,
        changes,
    };
    (changes, gates)
}

const BASE: &str = "0a0c7f0a-0000-4000-8000-000000000000";
