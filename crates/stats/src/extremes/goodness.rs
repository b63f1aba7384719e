// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests whether samples are likely to come from the law that was fitted to them.

use rand::RngExt as _;
use rand_pcg::Pcg64;

use crate::extremes::law::Law;
use crate::float;

/// The smallest share of the sample sets drawn from the fitted law that must fit worse than the
/// measured samples: with less than 5 %, the fit is refused. This also refuses 5 % of correct laws,
/// which errs on the safe side.
pub const SIGNIFICANCE: f64 = 0.05;

/// The number of sample sets that are drawn from the fitted law and fitted again. It gives p in
/// steps of half a per cent.
pub const REPLICATES: u32 = 199;

/// The number of possible draws. Draws are odd multiples of 2^-54, so they are strictly between 0
/// and 1.
const STEPS: u64 = 1 << 53;

/// How well a law fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goodness {
    /// Anderson and Darling's A squared: 0 is a perfect fit.
    pub statistic: f64,
    /// The share of sample sets drawn from the law that fit no better; a small share means a poor
    /// fit.
    pub p: f64,
}

impl Goodness {
    /// Returns whether the law is refused.
    pub fn is_poor(&self) -> bool {
        self.p < SIGNIFICANCE
    }
}

/// A sample set drawn from a law, of the original size, and the law fitted to it.
#[derive(Debug, Clone)]
pub(crate) struct Replicate<L> {
    /// The samples, ascending.
    pub(crate) sorted: Vec<f64>,
    /// The fitted law; `None` if none was found.
    pub(crate) law: Option<L>,
}

/// Draws [`REPLICATES`] sample sets of this size from `law`.
pub(crate) fn replicates<L: Law>(law: &L, count: usize, random: &mut Pcg64) -> Vec<Replicate<L>> {
    let replicate = |_| {
        let mut sorted: Vec<f64> = (0..count).map(|_| draw(law, random)).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Replicate { law: L::fitted(&sorted), sorted }
    };
    (0..REPLICATES).map(replicate).collect()
}

/// Compares samples with the law fitted to them.
///
/// # Equation
/// `A^2 = -n - 1/n sum (2 i - 1) (ln F(x_(i)) + ln(1 - F(x_(n + 1 - i))))`, which weights the tails
/// more heavily than the Kolmogorov-Smirnov or Cramer-von Mises statistic.
/// `p = (1 + #{A*^2 >= A^2}) / (1 + R)` over R replicates: sample sets of the fitted law, of the
/// same size and fitted in the same way. Tabulated critical values do not apply, because the
/// parameters come from the samples themselves.
///
/// # Source
/// T. Anderson and D. Darling, "A test of goodness of fit", 1954; W. Stute, W. Gonzales
/// Manteiga, M. Presedo Quindimil, "Bootstrap based goodness-of-fit-tests", 1993.
///
/// # Shape
/// `sorted` is ascending, `law` is fitted to it, and `replicates` are drawn from `law`.
///
/// # Complexity
/// O(n) for each replicate.
pub(crate) fn assess<L: Law>(law: &L, sorted: &[f64], replicates: &[Replicate<L>]) -> Goodness {
    let statistic = anderson_darling(law, sorted);
    let is_no_better = |replicate: &&Replicate<L>| {
        // A replicate that cannot be fitted does not count in favour of the law.
        let fitted = replicate.law.as_ref();
        fitted.is_some_and(|law| anderson_darling(law, &replicate.sorted) >= statistic)
    };
    let no_better = float::of_length(replicates.iter().filter(is_no_better).count());
    Goodness { statistic, p: (1.0 + no_better) / (1.0 + float::of_length(replicates.len())) }
}

/// Draws one sample of a law.
pub(crate) fn draw(law: &impl Law, random: &mut Pcg64) -> f64 {
    let step = random.random_range(0..STEPS);
    law.quantile((float::of(step) + 0.5) / float::of(STEPS))
}

fn anderson_darling(law: &impl Law, sorted: &[f64]) -> f64 {
    let count = float::of_length(sorted.len());
    let terms = sorted.iter().zip(sorted.iter().rev()).enumerate();
    let sum: f64 = terms
        .map(|(index, (&low, &high))| {
            (2.0 * float::of_length(index) + 1.0) * (law.ln_below(low) + law.ln_above(high))
        })
        .sum();
    -count - sum / count
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;
    use crate::extremes::Gpd;

    /// Two excesses of the exponential law with F = 1/4 and 3/4, by hand:
    /// -2 - 1/2 (2 ln(1/4) + 3 (2 ln(3/4))) = -2 + 1.386294 + 0.863046 = 0.249341.
    #[test]
    fn the_statistic_is_as_by_hand() {
        let law = Gpd { scale: 1.0, shape: 0.0 };
        let samples = [-(0.75_f64.ln()), -(0.25_f64.ln())];
        let statistic = anderson_darling(&law, &samples);
        assert!((statistic - 0.249_340).abs() < 1e-5, "{statistic}");
    }

    /// Goal: a correct law is refused no more often than the significance states. Method: 100
    /// sample sets of a law, each fitted and assessed; 5 refusals are expected, with a standard
    /// deviation of 2.2.
    #[test]
    fn a_right_law_is_seldom_refused() {
        let law = Gpd { scale: 1.0, shape: -0.2 };
        let mut random = Pcg64::seed_from_u64(11);
        let refused = |random: &mut Pcg64| {
            let mut samples: Vec<f64> = (0..60).map(|_| draw(&law, random)).collect();
            samples.sort_unstable_by(f64::total_cmp);
            let fitted = Gpd::fitted(&samples).expect("a fit");
            let replicates = replicates(&fitted, samples.len(), random);
            assess(&fitted, &samples, &replicates).is_poor()
        };
        let count = (0..100).filter(|_| refused(&mut random)).count();
        assert!((1..=12).contains(&count), "{count} of 100");
    }
}
