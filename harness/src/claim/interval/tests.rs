use super::*;

/// Pairs with these logarithms of left to right.
fn logs(logs: &[f64]) -> Pairs {
    logs.iter().map(|log| (7.0 * log.exp(), 7.0)).collect()
}

/// Mean -0.2, standard deviation 0.1; t for 2 degrees is 4.3027, so the half width is 0.2484.
const THREE: [f64; 3] = [-0.1, -0.2, -0.3];
/// Mean -0.2, standard error 0.040825; t for 3 degrees is 3.1824, so the half width is 0.1299.
const FOUR: [f64; 4] = [-0.1, -0.2, -0.3, -0.2];

fn open(outcome: &Outcome) -> &Open {
    match outcome {
        Outcome::Open(open) if open.len() == 1 => &open[0],
        other => panic!("{other:?} is not one open comparison"),
    }
}

#[test]
fn the_whole_interval_on_one_side_decides_and_no_less() {
    let table = [
        (&FOUR[..], "<", Some(true)),
        (&FOUR[..], "<=", Some(true)),
        (&FOUR[..], ">", Some(false)),
        (&FOUR[..], ">=", Some(false)),
        (&THREE[..], "<", None),
        (&THREE[..], "<=", None),
        (&THREE[..], ">", None),
        (&THREE[..], ">=", None),
    ];
    for (values, sign, expected) in table {
        let found = match compare(&logs(values), sign) {
            Outcome::Open(_) => None,
            outcome => Some(outcome == Outcome::Holds),
        };
        assert_eq!(found, expected, "{values:?} {sign}");
    }
}

#[test]
fn the_interval_is_that_of_students_t_and_says_how_many_blocks_would_do() {
    let outcome = compare(&logs(&THREE), "<");
    let Spread::Ratio([low, high]) = open(&outcome).spread else { panic!("{outcome:?}") };
    assert!((low - (-0.2 - 0.248_414_f64).exp()).abs() < 1e-6, "{low}");
    assert!((high - (-0.2 + 0.248_414_f64).exp()).abs() < 1e-6, "{high}");
    // With four blocks the half width is 3.1824 * 0.1 / 2 = 0.159, which is below 0.2.
    assert_eq!(open(&outcome).needed, Some(4));
    assert_eq!(
        outcome.reason().unwrap(),
        "the ratio of left to right is only known to lie in [0.639, 1.05] (n=3), which does not decide; \
         about 4 blocks would"
    );
}

#[test]
fn within_so_many_percent_holds_inside_both_limits_and_fails_outside_of_one() {
    // The interval is [0.7190, 0.9323].
    let word = |percent| near(&logs(&FOUR), percent).verdict();
    assert_eq!(word(30.0), ClaimVerdict::Holds);
    assert_eq!(word(200.0), ClaimVerdict::Holds);
    assert_eq!(word(20.0), ClaimVerdict::NotResolved);
    assert_eq!(word(5.0), ClaimVerdict::DoesNotHold);
    let above = near(&logs(&FOUR.map(|log| -log)), 5.0);
    assert_eq!(above, Outcome::DoesNotHold);
    // So noisy that both limits lie in it: one comparison, told with its own interval.
    let outcome = near(&logs(&THREE), 10.0);
    let Spread::Ratio([low, _]) = open(&outcome).spread else { panic!("{outcome:?}") };
    assert!((low - 0.639).abs() < 1e-3, "{low}");
}

#[test]
fn figures_that_do_not_scatter_are_compared_as_they_are() {
    let same = |left, right| vec![(left, right); 6];
    assert_eq!(compare(&same(0.3, 0.1 * 3.0), "<"), Outcome::Holds);
    assert_eq!(compare(&same(1.0, 1.0), "<"), Outcome::DoesNotHold);
    assert_eq!(compare(&same(1.0, 1.0), "<="), Outcome::Holds);
    assert_eq!(near(&same(105.0, 100.0), 5.0), Outcome::Holds);
    assert_eq!(near(&same(1000.0, 1000.0), 0.0), Outcome::Holds);
    assert_eq!(near(&same(106.0, 100.0), 5.0), Outcome::DoesNotHold);
}

#[test]
fn figures_without_a_logarithm_are_judged_by_their_difference() {
    // Differences -1, -2, -3: mean -2, half width 4.3027 / sqrt(3) = 2.484.
    let pairs = vec![(-1.0, 0.0), (-1.0, 1.0), (0.0, 3.0)];
    let outcome = compare(&pairs, "<");
    let Spread::Difference([low, high]) = open(&outcome).spread else { panic!("{outcome:?}") };
    assert!((low + 4.484).abs() < 1e-3 && (high - 0.484).abs() < 1e-3, "{low} {high}");
    let clear = vec![(-5.0, 0.0), (-5.1, 0.0), (-4.9, 0.0)];
    assert_eq!(compare(&clear, "<"), Outcome::Holds);
    assert_eq!(compare(&clear, ">="), Outcome::DoesNotHold);
    assert_eq!(near(&[(-100.0, -101.0), (-101.0, -100.0), (-100.0, -100.5)].to_vec(), 5.0), Outcome::Holds);
}

#[test]
fn one_part_that_does_not_hold_decides_and_an_open_one_keeps_the_rest_open() {
    let open = || compare(&logs(&THREE), "<");
    assert_eq!(open().and(Outcome::DoesNotHold), Outcome::DoesNotHold);
    assert_eq!(Outcome::Holds.and(open()).verdict(), ClaimVerdict::NotResolved);
    let both = open().and(compare(&logs(&[-0.01, 0.3, -0.3]), "<"));
    let reason = both.reason().unwrap();
    assert!(reason.starts_with("2 comparisons are open; in the one that is hardest"), "{reason}");
    assert!(reason.ends_with("even 1000 blocks would not"), "{reason}");
}

#[test]
fn equal_means_are_never_decided_by_more_blocks() {
    let outcome = compare(&logs(&[-0.1, 0.1, -0.2, 0.2]), "<");
    assert_eq!(open(&outcome).needed, None);
}
