//! Statistics of small samples: means with Student's t interval, and Holm's correction.
//!
//! Own code, since a library would bring linear algebra along for two formulas. Probabilities are
//! held against an independent implementation in the tests. Nothing here knows what is compared.

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
        let (mean, variance, n) = moments(values)?;
        Some(Self { mean, error: (variance / n).sqrt(), freedom: n - 1.0 })
    }

    /// Of the difference `a - b` of independent samples, with variances of their own. Source: Welch,
    /// Biometrika 34 (1947); the degrees of freedom are Satterthwaite's.
    #[must_use]
    pub fn difference(a: &[f64], b: &[f64]) -> Option<Self> {
        let ((mean_a, variance_a, n_a), (mean_b, variance_b, n_b)) = (moments(a)?, moments(b)?);
        let (part_a, part_b) = (variance_a / n_a, variance_b / n_b);
        let error = (part_a + part_b).sqrt();
        let weighed = part_a.powi(2) / (n_a - 1.0) + part_b.powi(2) / (n_b - 1.0);
        let freedom = if weighed > 0.0 { error.powi(4) / weighed } else { n_a + n_b - 2.0 };
        Some(Self { mean: mean_a - mean_b, error, freedom })
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

/// Mean, variance and count. Values that are all equal have a variance of exactly 0.
fn moments(values: &[f64]) -> Option<(f64, f64, f64)> {
    let [first, _, ..] = values else { return None };
    let n = u32::try_from(values.len()).ok().map(f64::from)?;
    if values.iter().all(|value| value == first) {
        return Some((*first, 0.0, n));
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    Some((mean, squares / (n - 1.0), n))
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

/// The value below which Student's t lies with probability `p`, for 0 < p < 1.
#[must_use]
pub fn t_quantile(p: f64, freedom: f64) -> f64 {
    if p < 0.5 {
        return -t_quantile(1.0 - p, freedom);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while t_cdf(high, freedom) < p && high < 1e300 {
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if t_cdf(middle, freedom) < p { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
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
    if x < 15.0 {
        return ln_gamma(x + 1.0) - x.ln();
    }
    let series = 1.0 / (12.0 * x) - 1.0 / (360.0 * x.powi(3)) + 1.0 / (1260.0 * x.powi(5));
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
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
}
