//! How often a verdict is wrong, and how often it comes: by simulation, with stated seeds and counts.
//!
//! A run of three configurations that are all the same (A/A), two steps and three metrics makes
//! twelve headline comparisons. The promise: of 100 such runs at most 5 have any winner, whatever
//! the noise does, for six and twelve blocks and for `auto`, which looks up to six times. And a
//! configuration that is 20 % slower is found in at least 80 of 100 with twelve blocks at a
//! coefficient of variation of 10 %.
#![expect(clippy::unwrap_used, reason = "a test that cannot get its input has to fail")]

use fsduel_harness::compare::{Repeat, resolved, within};
use fsduel_harness::result::{
    CaseResult, Checked, Comparison, Configuration, EndedWord, Facts, HEADLINE, Manifest, Metrics, RunReport,
    Status, StepResult, SuiteInfo, Verdict,
};
use rand::rngs::ChaCha12Rng;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

const RUNS: u64 = 100;
const STEPS: [&str; 2] = ["small-files", "fill"];

/// Ids of configurations that are all the same.
const SAME: [&str; 3] = ["a", "a#2", "a#3"];

/// What the noise does to the logarithm of a figure.
#[derive(Clone, Copy)]
enum Noise {
    /// Normal, with this coefficient of variation.
    Normal(f64),
    /// Normal (10 %), while everything gets slower by half over the run.
    Drift,
    /// Normal (10 %), and from some case in the middle half of the run on all is slower by 40 %.
    Jump,
    /// Normal (5 %), and one case in twenty takes twice as long.
    Outliers,
    /// Normal (3 %), and every other case, by chance, takes four times as long: the disk is busy.
    TwoStates,
    /// Normal (10 %), and blocks that are fast or slow (20 %) as the block before was.
    Blocks,
    /// Cases (14.5 %) that are fast or slow as the case before was.
    Cases,
    /// Drawn from figures of real runs.
    Recorded,
}

/// The correlation of neighbours in [`Noise::Blocks`] and [`Noise::Cases`].
const CORRELATION: f64 = 0.8;

impl Noise {
    /// Factors of one figure in the order in which cases run, `width` in each block.
    fn factors(self, cases: usize, width: usize, random: &mut ChaCha12Rng) -> Vec<f64> {
        let jump = cases / 4 + random.random_range(0..=cases / 2);
        let series = recorded();
        let series = &series[random.random_range(0..series.len())];
        let (mut block, mut case) = (normal(random), normal(random));
        let one = |at: usize| {
            if at.is_multiple_of(width) {
                block = next(block, random);
            }
            case = next(case, random);
            let share = as_f64(at) / as_f64(cases);
            let plain = |cv: f64, random: &mut ChaCha12Rng| (deviation(cv) * normal(random)).exp();
            match self {
                Self::Normal(cv) => plain(cv, random),
                Self::Drift => plain(0.10, random) * (1.0 + 0.5 * share),
                Self::Jump => plain(0.10, random) * if at < jump { 1.0 } else { 1.4 },
                Self::Outliers => plain(0.05, random) * if random.random_bool(0.05) { 2.0 } else { 1.0 },
                Self::TwoStates => plain(0.03, random) * if random.random_bool(0.5) { 4.0 } else { 1.0 },
                Self::Blocks => plain(0.10, random) * (deviation(0.20) * block).exp(),
                Self::Cases => (deviation(0.145) * case).exp(),
                Self::Recorded => series[random.random_range(0..series.len())],
            }
        };
        (0..cases).map(one).collect()
    }
}

/// Of logarithms that are normal.
fn deviation(cv: f64) -> f64 {
    cv.powi(2).ln_1p().sqrt()
}

/// A step of an autoregressive process of variance 1.
fn next(value: f64, random: &mut ChaCha12Rng) -> f64 {
    CORRELATION * value + (1.0 - CORRELATION.powi(2)).sqrt() * normal(random)
}

/// Source: Box and Muller, Annals of Mathematical Statistics 29 (1958).
fn normal(random: &mut ChaCha12Rng) -> f64 {
    let (radius, angle): (f64, f64) = (1.0 - random.random::<f64>(), random.random());
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

fn as_f64(count: usize) -> f64 {
    u32::try_from(count).map(f64::from).unwrap()
}

/// Series of `fixtures/noise/series.json`, each a metric of a step in 24 runs, as factors of its mean.
fn recorded() -> Vec<Vec<f64>> {
    let file: Value = serde_json::from_str(include_str!("../../fixtures/noise/series.json")).unwrap();
    let steps = file["steps"].as_object().unwrap().values();
    let series = steps.flat_map(|step| step.as_object().unwrap().values());
    let factors = |series: &Value| {
        let values: Vec<f64> = serde_json::from_value(series.clone()).unwrap();
        let mean = values.iter().sum::<f64>() / as_f64(values.len());
        values.into_iter().map(|value| value / mean).collect()
    };
    series.map(factors).collect()
}

/// One run, of which more and more blocks are seen.
struct Run {
    report: RunReport,
    all: Vec<CaseResult>,
}

impl Run {
    /// `slower(configuration, comparison)` is the true factor of a figure, and `steps` and
    /// `metrics` say how many figures there are.
    fn new(
        ids: &[&str],
        (steps, metrics): (usize, usize),
        repeat: Repeat,
        noise: Noise,
        slower: impl Fn(usize, usize) -> f64,
        random: &mut ChaCha12Rng,
    ) -> Self {
        let blocks = repeat.blocks();
        let order: Vec<(u32, usize)> =
            (1..=blocks).flat_map(|block| shuffled(ids.len(), random).map(move |id| (block, id))).collect();
        let figures = steps * metrics;
        let noise: Vec<_> = (0..figures).map(|_| noise.factors(order.len(), ids.len(), random)).collect();
        let case = |(at, (block, id)): (usize, &(u32, usize))| {
            let figure = |index: usize| noise[index][at] * slower(*id, index);
            let values: Vec<f64> = (0..figures).map(figure).collect();
            case(ids[*id], *block, u32::try_from(at).unwrap() + 1, values.chunks(metrics))
        };
        Self { report: empty(ids, repeat), all: order.iter().enumerate().map(case).collect() }
    }

    /// What is known after so many blocks.
    fn after(&mut self, blocks: u32) -> Vec<Comparison> {
        self.report.cases = self.all.iter().filter(|case| case.block <= blocks).cloned().collect();
        within(&self.report)
    }

    /// What is known when it stops.
    fn end(mut self, repeat: Repeat) -> Vec<Comparison> {
        match repeat {
            Repeat::Times(times) => self.after(times),
            Repeat::Auto => {
                let mut last = vec![];
                for look in Repeat::LOOKS {
                    last = self.after(look);
                    if resolved(&self.report) {
                        break;
                    }
                }
                last
            }
        }
    }
}

/// The order of a block.
fn shuffled(count: usize, random: &mut ChaCha12Rng) -> impl Iterator<Item = usize> + use<> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, random.random_range(0..=last));
    }
    order.into_iter()
}

fn empty(ids: &[&str], repeat: Repeat) -> RunReport {
    let configurations: Vec<_> = ids.iter().map(|id| json!({"id": id})).collect();
    let resolved = json!({"configurations": configurations, "repeat": repeat});
    let suite = SuiteInfo { resolved, ..SuiteInfo::default() };
    RunReport::of("simulated".into(), Manifest::default(), suite)
}

fn case<'a>(id: &str, block: u32, order: u32, steps: impl Iterator<Item = &'a [f64]>) -> CaseResult {
    let configuration = Configuration {
        id: id.into(),
        filesystem: "ext4".into(),
        mount_options: String::new(),
        mkfs_options: vec![],
        block_size_bytes: 4096,
        environment: 0,
    };
    let steps = STEPS.iter().zip(steps).map(|(name, values)| step(name, values)).collect();
    CaseResult { status: Status::Passed, steps, ..CaseResult::of(configuration, block, order) }
}

fn step(name: &str, values: &[f64]) -> StepResult {
    StepResult {
        name: name.into(),
        workload: "many-small-files".into(),
        started_s: 0.0,
        ended: EndedWord::Completed,
        limit: None,
        facts: Facts::default(),
        metrics: Metrics(HEADLINE.iter().zip(values).map(|(key, value)| ((*key).into(), *value)).collect()),
        latency: Default::default(),
        series: vec![],
        errnos: vec![],
        read_back: Checked::Clean,
        command: None,
    }
}

fn winner(comparison: &&Comparison) -> bool {
    matches!(comparison.estimate.verdict, Some(Verdict::Less | Verdict::More))
}

/// In how many of [`RUNS`] runs each figure was found to be more, where `slower` says what is true.
fn found(
    (steps, metrics): (usize, usize),
    (times, cv): (u32, f64),
    slower: impl Fn(usize) -> f64 + Copy,
    word: Verdict,
    seed: u64,
) -> Vec<usize> {
    let (mut random, repeat) = (ChaCha12Rng::seed_from_u64(seed), Repeat::Times(times));
    // Of a run of 12, three configurations; of one figure, two.
    let ids = if steps * metrics > 1 { &SAME[..] } else { &SAME[..2] };
    let mut counts = vec![0; steps * metrics * (ids.len() - 1)];
    for _ in 0..RUNS {
        let truth = |id: usize, figure: usize| {
            if id == 0 { 1.0 } else { slower(figure * (ids.len() - 1) + id - 1) }
        };
        let run = Run::new(ids, (steps, metrics), repeat, Noise::Normal(cv), truth, &mut random);
        for (count, comparison) in counts.iter_mut().zip(run.end(repeat)) {
            *count += usize::from(comparison.estimate.verdict == Some(word));
        }
    }
    counts
}

/// 85 of 100 in the long run. One hundred of one figure scatters by 4, so that four are made.
#[test]
fn a_fifth_slower_is_found_where_one_figure_is_compared() {
    for (slower, word) in [(1.2, Verdict::More), (1.0 / 1.2, Verdict::Less)] {
        let hundreds = (200..204).map(|seed| found((1, 1), (12, 0.10), |_| slower, word, seed)[0]);
        let counts: Vec<usize> = hundreds.collect();
        assert!(counts.iter().sum::<usize>() >= 80 * counts.len(), "{word:?}: {counts:?}");
    }
}

/// On average over the twelve: 83 of 100 in the long run.
#[test]
fn a_fifth_slower_is_found_where_twelve_figures_are() {
    let counts = found((2, 3), (12, 0.10), |_| 1.2, Verdict::More, 22);
    assert_eq!(counts.len(), 12);
    assert!(counts.iter().sum::<usize>() >= 80 * counts.len(), "{counts:?}");
}

/// The price of asking twelve questions: 67 of 100 in the long run. 20 blocks find it again.
#[test]
fn a_fifth_slower_in_one_of_twelve_figures_needs_more_blocks() {
    let one = |times: u32, seed: u64| {
        let slower = |comparison: usize| if comparison == 0 { 1.2 } else { 1.0 };
        found((2, 3), (times, 0.10), slower, Verdict::More, seed)[0]
    };
    let (twelve, twenty) = (one(12, 23), one(20, 24));
    assert!((50..80).contains(&twelve), "{twelve}");
    assert!(twenty >= 80, "{twenty}");
}

#[test]
fn no_difference_is_found_where_the_noise_is_small() {
    let counts = found((2, 3), (6, 0.02), |_| 1.0, Verdict::NoDifference, 25);
    assert!(counts.iter().all(|count| *count >= 80), "{counts:?}");
}

/// Of [`RUNS`] runs of equal configurations at most 5 have a winner.
fn assert_hardly_any_winner(noise: Noise, seed: u64) {
    let mut random = ChaCha12Rng::seed_from_u64(seed);
    for repeat in [Repeat::Times(6), Repeat::Times(12), Repeat::Auto] {
        let run = |_: &u64| {
            let run = Run::new(&SAME, (2, 3), repeat, noise, |_, _| 1.0, &mut random);
            let comparisons = run.end(repeat);
            assert_eq!(comparisons.len(), 12);
            comparisons.iter().any(|comparison| winner(&comparison))
        };
        let wrong = (0..RUNS).filter(run).count();
        assert!(wrong <= 5, "--repeat {repeat}: {wrong} of {RUNS} have a winner");
    }
}

#[test]
fn normal_noise_of_5_percent_makes_no_winner() {
    assert_hardly_any_winner(Noise::Normal(0.05), 1);
}

#[test]
fn normal_noise_of_10_percent_makes_no_winner() {
    assert_hardly_any_winner(Noise::Normal(0.10), 2);
}

#[test]
fn normal_noise_of_14_5_percent_makes_no_winner() {
    assert_hardly_any_winner(Noise::Normal(0.145), 3);
}

#[test]
fn a_drift_over_the_run_makes_no_winner() {
    assert_hardly_any_winner(Noise::Drift, 4);
}

#[test]
fn a_jump_within_the_run_makes_no_winner() {
    assert_hardly_any_winner(Noise::Jump, 5);
}

#[test]
fn outliers_make_no_winner() {
    assert_hardly_any_winner(Noise::Outliers, 6);
}

#[test]
fn a_disk_that_is_busy_half_of_the_time_makes_no_winner() {
    assert_hardly_any_winner(Noise::TwoStates, 10);
}

#[test]
fn blocks_that_resemble_their_neighbours_make_no_winner() {
    assert_hardly_any_winner(Noise::Blocks, 7);
}

#[test]
fn cases_that_resemble_their_neighbours_make_no_winner() {
    assert_hardly_any_winner(Noise::Cases, 8);
}

#[test]
fn recorded_noise_makes_no_winner() {
    assert_hardly_any_winner(Noise::Recorded, 9);
}
