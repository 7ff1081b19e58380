//! The reports of both programs on the same configurations, line by line.

use std::fs;
use std::process::Command;

use libtest_mimic::Trial;

use super::{POSTMARK, figures, folder, printed};
use crate::lab::Lab;
use crate::trial;

/// What each is about, and its commands.
const CONFIGURATIONS: [(&str, &str); 5] = [
    ("defaults", "run\nquit\n"),
    (
        "several_places_with_weights_and_subdirectories",
        "set location a 3\nset location +b 1\nset location +d 2\nset subdirectories 6\nset number 200\n\
         set transactions 400\nrun\nquit\n",
    ),
    (
        "no_buffering_and_odd_blocks",
        "set buffering false\nset read 700\nset write 333\nset size 1 5000\nset number 300\n\
         set transactions 900\nset seed 7\nrun\nquit\n",
    ),
    (
        "blocks_larger_than_the_buffer",
        "set read 10000\nset write 10000\nset size 500 30000\nset number 100\nset transactions 300\n\
         set location a\nrun\nquit\n",
    ),
    (
        "a_full_table_and_no_reads",
        "set bias create 10\nset bias read 0\nset number 50\nset transactions 500\nset subdirectories 3\n\
         run\nquit\n",
    ),
];

/// Three runs in one configuration, with other settings each.
const SESSION: &str = "set number 100\nset transactions 200\nrun\nset size 100 300\nset seed 3\n\
                       set location b\nrun\nset bias read 10\nset location +a 2\nrun\nquit\n";

pub fn trials() -> Vec<Trial> {
    let of = |(name, commands): (&str, &'static str)| {
        let name = format!("postmark::{name}_have_the_report_of_the_real_program");
        trial(name, vec![POSTMARK], move || same_figures(commands, 1))
    };
    let mut trials: Vec<_> = CONFIGURATIONS.map(of).into();
    let name = "postmark::runs_of_one_configuration_have_the_reports_of_the_real_program";
    trials.push(trial(name.into(), vec![POSTMARK], || same_figures(SESSION, 3)));
    let name = "postmark::a_terse_report_is_that_of_the_real_program";
    trials.push(trial(name.into(), vec![POSTMARK], terse));
    trials
}

/// What the real program and ours print.
fn both(commands: &str) -> [String; 2] {
    let lab = Lab::new();
    let [theirs, ours] = ["theirs", "ours"].map(|name| folder(&lab, name, commands));
    let printed = [
        printed(Command::new("postmark").arg("c"), &theirs),
        printed(&mut lab.fsduel(["postmark", "c"]), &ours),
    ];
    for place in ["a", "b", "d"] {
        assert_eq!(fs::read_dir(ours.join(place)).unwrap().count(), 0, "left in {place}");
    }
    assert_eq!(fs::read_dir(&ours).unwrap().count(), 4, "c, a, b and d");
    printed
}

fn same_figures(commands: &str, runs: usize) {
    let [theirs, ours] = both(commands).map(|text| figures(&text));
    assert_eq!(theirs.len(), 10 * runs, "{theirs:?}");
    assert_eq!(ours, theirs);
}

/// The figures are rates. Of those whose time is printed too, the counts must agree.
fn terse() {
    let [theirs, ours] =
        both("set report terse\nset subdirectories 4\nrun\nquit\n").map(|text| counts(&text));
    assert_eq!(ours, theirs);
}

/// Places of the rates that are by the total time, and of those by the time of the transactions.
const BY_TOTAL: [usize; 4] = [3, 8, 11, 12];
const BY_TRANSACTIONS: [usize; 5] = [2, 5, 6, 7, 10];

/// Rates times seconds, of the line that is numbers only.
fn counts(text: &str) -> Vec<f64> {
    let numbers = |line: &str| -> Option<Vec<f64>> {
        line.split(' ').map(|word| word.parse().ok()).collect::<Option<_>>()
    };
    let line = text.lines().find_map(numbers).unwrap();
    assert_eq!(line.len(), 13, "{text}");
    let times =
        |places: &[usize], seconds: f64| places.iter().map(|at| (line[*at] * seconds).round()).collect();
    let [total, transactions]: [Vec<f64>; 2] = [times(&BY_TOTAL, line[0]), times(&BY_TRANSACTIONS, line[1])];
    assert!(total.iter().chain(&transactions).all(|count| *count > 0.0), "{text}");
    [total, transactions].concat()
}
