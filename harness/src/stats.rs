//! Statistics of small samples: medians, means with Student's t interval, and Holm's correction.
//!
//! Own code, since a library would bring linear algebra along for two formulas. Probabilities are
//! held against an independent implementation in the tests. Nothing here knows what is compared.

/// The middle; between the two middle ones of an even number. `None` of no value.
#[must_use]
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = *values.get((values.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

/// A mean, and how well it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The estimate.
    pub mean: f64,
    /// Its standard error; 0 where nothing scatters.
    pub error: f64,
    /// Degrees of freedom of the error, above 0.
    pub freedom: f64,
}

impl Mean {
    /// Of one sample; `None` for fewer than two values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        Moments::of(values).map(|sample| sample.mean())
    }

    /// Of the difference `a - b` of independent samples, with variances of their own; `None` for
    /// fewer than two values on a side.
    #[must_use]
    pub fn difference(a: &[f64], b: &[f64]) -> Option<Self> {
        Some(Moments::of(a)?.minus(&Moments::of(b)?))
    }

    /// The two-sided interval that holds the true mean with probability `level`.
    #[must_use]
    pub fn interval(&self, level: f64) -> [f64; 2] {
        let half = t_quantile(f64::midpoint(1.0, level), self.freedom) * self.error;
        [self.mean - half, self.mean + half]
    }

    /// How likely a mean so far from 0 is, were the true one 0: two-sided.
    #[must_use]
    pub fn p_value(&self) -> f64 {
        match (self.mean == 0.0, self.error == 0.0) {
            (true, _) => 1.0,
            (false, true) => 0.0,
            (false, false) => 2.0 * t_cdf(-(self.mean / self.error).abs(), self.freedom),
        }
    }
}

/// What is kept of a sample of two values or more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// Mean of the values.
    pub mean: f64,
    /// Standard deviation; exactly 0 where all values are equal.
    pub deviation: f64,
    /// Number of values, at least 2.
    pub count: u32,
}

impl Moments {
    /// Of a sample; `None` for fewer than two values. Values are scaled to 1 first, so that no
    /// square of them overflows or vanishes.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        let [first, _, ..] = values else { return None };
        let count = u32::try_from(values.len()).ok()?;
        if values.iter().all(|value| value == first) {
            return Some(Self { mean: *first, deviation: 0.0, count });
        }
        let (scale, n) = (values.iter().fold(0.0_f64, |most, value| most.max(value.abs())), f64::from(count));
        let mean = values.iter().map(|value| value / scale).sum::<f64>() / n;
        let squares = values.iter().map(|value| (value / scale - mean).powi(2)).sum::<f64>();
        Some(Self { mean: mean * scale, deviation: (squares / (n - 1.0)).sqrt() * scale, count })
    }

    /// The mean, and how well it is known.
    #[must_use]
    pub fn mean(&self) -> Mean {
        Mean { mean: self.mean, error: self.error(), freedom: f64::from(self.count) - 1.0 }
    }

    /// The difference of two means, each with a variance of its own. Source: Welch, Biometrika 34
    /// (1947); the degrees of freedom are Satterthwaite's.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Mean {
        let error = self.error().hypot(other.error());
        let share = |side: &Self| (side.error() / error).powi(4) / (f64::from(side.count) - 1.0);
        let freedom = match error > 0.0 {
            true => 1.0 / (share(self) + share(other)),
            false => f64::from(self.count) + f64::from(other.count) - 2.0,
        };
        Mean { mean: self.mean - other.mean, error, freedom }
    }

    fn error(&self) -> f64 {
        self.deviation / f64::from(self.count).sqrt()
    }
}

/// Probabilities after Holm's correction for so many questions at once, in the order given: each
/// may be compared with the level that all together are to keep. Source: Holm, Scandinavian Journal
/// of Statistics 6 (1979).
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let (mut adjusted, mut least) = (vec![1.0; p.len()], 0.0_f64);
    for (at, left) in order.iter().zip((1..=p.len()).rev()) {
        let factor = u32::try_from(left).map_or(f64::INFINITY, f64::from);
        least = least.max(p[*at] * factor).min(1.0);
        adjusted[*at] = least;
    }
    adjusted
}

/// The value below which Student's t lies with probability `p`, for 0 < p < 1. It is sought in the
/// lower tail, where small probabilities keep their digits.
#[must_use]
pub fn t_quantile(p: f64, freedom: f64) -> f64 {
    if p > 0.5 {
        return -t_quantile(1.0 - p, freedom);
    }
    let (mut near, mut far) = (0.0, -1.0);
    while t_cdf(far, freedom) > p && far > -1e300 {
        (near, far) = (far, far * 2.0);
    }
    loop {
        let middle = f64::midpoint(near, far);
        if middle == near || middle == far {
            return middle;
        }
        if t_cdf(middle, freedom) > p { near = middle } else { far = middle }
    }
}

/// The probability that Student's t lies below `t`. Source: Abramowitz and Stegun, 26.7.1.
#[must_use]
pub fn t_cdf(t: f64, freedom: f64) -> f64 {
    let outside = beta(freedom / (freedom + t * t), freedom / 2.0, 0.5);
    if t > 0.0 { 1.0 - outside / 2.0 } else { outside / 2.0 }
}

/// The regularised incomplete beta function. Source: DLMF 8.17, with the continued fraction 8.17.22.
fn beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    // The fraction converges fast below the mean of the distribution; above it, by symmetry.
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta(1.0 - x, b, a);
    }
    let front = ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (1.0 - x).ln();
    front.exp() / (a * fraction(x, a, b))
}

/// 1 over the continued fraction of the incomplete beta function, by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    let term = |n: u32| {
        let m = f64::from(n / 2);
        match n % 2 {
            0 => m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            _ => -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        }
    };
    let (mut value, mut up, mut down) = (1.0, 1.0, 0.0);
    for n in 1..500 {
        down = 1.0 / (1.0 + term(n) * down);
        up = 1.0 + term(n) / up;
        value *= up * down;
        if (up * down - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function for x > 0. Source: Stirling's series, DLMF 5.11.1; smaller x
/// by recurrence, where the series is not yet good.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0_f64);
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5))
        - 1.0 / (1680.0 * x.powi(7));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_are_those_of_the_printed_table() {
        for (p, freedom, t) in [(0.975, 1.0, 12.706), (0.975, 4.0, 2.776), (0.995, 11.0, 3.106)] {
            assert!((t_quantile(p, freedom) - t).abs() < 5e-4, "{p} {freedom}");
            assert!((t_quantile(1.0 - p, freedom) + t).abs() < 5e-4, "{p} {freedom}");
        }
    }

    use statrs::distribution::{ContinuousCDF, StudentsT};

    const FREEDOMS: [f64; 8] = [1.0, 1.5, 2.0, 3.0, 7.3, 11.0, 40.0, 1000.0];

    fn close(a: f64, b: f64, relative: f64) -> bool {
        (a - b).abs() <= relative * b.abs()
    }

    #[test]
    fn probabilities_are_those_of_an_independent_library() {
        for freedom in FREEDOMS {
            let other = StudentsT::new(0.0, 1.0, freedom).unwrap();
            for t in [0.0, 0.001, 0.3, 1.0, 1.96, 2.5, 4.0, 7.0, 20.0, 300.0, 1e5] {
                let (below, theirs) = (t_cdf(-t, freedom), other.cdf(-t));
                assert!(close(below, theirs, 1e-9) || theirs < 1e-290, "{freedom} {t}: {below} {theirs}");
                assert!(close(t_cdf(t, freedom), other.cdf(t), 1e-10), "{freedom} {t}");
            }
        }
    }

    #[test]
    fn quantiles_lead_back_to_their_probabilities_even_in_far_tails() {
        for freedom in FREEDOMS {
            let other = StudentsT::new(0.0, 1.0, freedom).unwrap();
            for p in [1e-12, 1e-9, 1e-6, 1e-3, 0.0125, 0.025, 0.1, 0.3, 0.4999] {
                let t = t_quantile(p, freedom);
                assert!(close(other.cdf(t), p, 1e-9), "{freedom} {p}: {t}");
                assert!(close(t_quantile(1.0 - p, freedom), -t, 1e-3), "{freedom} {p}");
            }
            assert!(t_quantile(0.5, freedom).abs() < 1e-300);
        }
    }

    /// What R prints for `t.test(a, b)`. Source: Rosetta Code, "Welch's t-test".
    #[test]
    fn a_published_example_of_welchs_test_comes_out_as_printed() {
        let a = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4];
        let b = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 20.5, 24.4];
        let found = Mean::difference(&a, &b).unwrap();
        let [low, high] = found.interval(0.95);
        // The quantiles of that R have eight digits.
        for (found, printed, digits) in [
            (found.mean / found.error, -2.455_356_398_286_01, 1e-12),
            (found.freedom, 24.988_529_290_230_9, 1e-12),
            (found.p_value(), 0.021_378_001_462_867, 1e-12),
            (low, -3.984_096_254_053_68, 1e-7),
            (high, -0.349_237_079_279_662, 1e-7),
        ] {
            assert!(close(found, printed, digits), "{found} {printed}");
        }
    }

    #[test]
    fn probabilities_with_a_closed_form_agree_with_it() {
        for t in [-30.0_f64, -2.0, -0.5, 0.0, 1.0, 7.0] {
            assert!(close(t_cdf(t, 1.0), 0.5 + t.atan() / std::f64::consts::PI, 1e-12), "{t}");
            assert!(close(t_cdf(t, 2.0), 0.5 + t / (2.0 * (2.0 + t * t).sqrt()), 1e-12), "{t}");
        }
    }

    #[test]
    fn the_mean_and_its_interval_are_those_computed_by_hand() {
        // Mean 3, variance 2.5, standard error sqrt 0.5; t(0.975, 4) = 2.776445 in the printed table.
        let found = Mean::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let [low, high] = found.interval(0.95);
        assert!((low - (3.0 - 2.776_445 * 0.5_f64.sqrt())).abs() < 1e-6);
        assert!((high - (3.0 + 2.776_445 * 0.5_f64.sqrt())).abs() < 1e-6);
        let theirs = 2.0 * StudentsT::new(0.0, 1.0, 4.0).unwrap().cdf(-3.0 / 0.5_f64.sqrt());
        assert!(close(found.p_value(), theirs, 1e-9));
    }

    #[test]
    fn holms_correction_multiplies_by_what_is_left_and_never_falls() {
        // By hand, in order: 4 * 0.005, 3 * 0.01, 2 * 0.03, and 0.04 held at 0.06.
        let found = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (found, by_hand) in found.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - by_hand).abs() < 1e-15, "{found} {by_hand}");
        }
        assert_eq!(holm(&[]), Vec::<f64>::new());
        assert_eq!(holm(&[0.7, 0.7, 0.0]), [1.0, 1.0, 0.0]);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(vec![9.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(vec![]), None);
    }

    #[test]
    fn values_without_spread_huge_or_tiny_ones_give_numbers() {
        let samples: [&[f64]; 6] = [
            &[2.0, 2.0, 2.0],
            &[0.0, 0.0],
            &[1e300, 2e300, 1.5e300],
            &[1e-300, 2e-300],
            &[-700.0, 700.0, 1e-12],
            &[0.1, 0.1 + 1e-17],
        ];
        for a in samples {
            for b in samples {
                let means = [Mean::of(a).unwrap(), Mean::difference(a, b).unwrap()];
                for mean in means {
                    let [low, high] = mean.interval(0.95);
                    assert!(low <= mean.mean && mean.mean <= high, "{a:?} {b:?} {mean:?}");
                    assert!((0.0..=1.0).contains(&mean.p_value()), "{a:?} {b:?} {mean:?}");
                    assert!(mean.freedom > 0.0, "{a:?} {b:?} {mean:?}");
                }
            }
        }
        assert!(Mean::of(&[1e-300, 2e-300]).unwrap().error > 0.0);
        assert_eq!(Mean::of(&[2.0; 3]).unwrap().p_value(), 0.0);
        assert_eq!(Mean::of(&[0.0; 3]).unwrap().p_value(), 1.0);
        assert_eq!(Mean::of(&[1.0]), None);
        assert_eq!(Mean::difference(&[1.0], &[1.0, 2.0]), None);
    }
}
