// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parts that both extreme-value laws share: the reduced variable, L-moments, and the
//! maximum-likelihood fit from several starts.
//!
//! With the shape xi and the distance y in units of the scale, the reduced variable is
//! `z = ln(1 + xi y) / xi`, and y itself for xi = 0. Excesses over a threshold exceed y with
//! probability `e^-z`; maxima stay below it with probability `e^(-e^-z)`. For xi < 0 the tail
//! ends at y = -1 / xi; for xi = 0 it falls exponentially; for xi > 0 it falls like a power, more
//! slowly.

use crate::extremes::search::minimise;
use crate::float;

/// The shape at or below which the likelihood has no maximum: it grows without bound as the end of
/// the tail approaches the longest sample.
///
/// # Source
/// R. Smith, "Maximum likelihood estimation in a class of nonregular cases", 1985.
pub(crate) const SHAPE_MIN: f64 = -1.0;

/// The distance from 0 below which a shape counts as 0, because the difference is below the
/// rounding error of a float.
const SHAPE_ZERO: f64 = 1e-9;

/// A distribution with a shape that can be fitted to samples.
pub(crate) trait Law: Copy {
    /// Returns the law under which the samples are likeliest, or `None` if there is none. The
    /// search starts at the law with the same L-moments.
    ///
    /// # Shape
    /// `sorted` is ascending; excesses are above 0.
    fn fitted(sorted: &[f64]) -> Option<Self>;

    /// Returns the likeliest law among those that give `x` for the reduced variable `reduced`;
    /// `None` if no such law makes the samples possible. The search starts at `self`, the likeliest
    /// law of all.
    fn likeliest_through(&self, sorted: &[f64], reduced: f64, x: f64) -> Option<Self>;

    /// Returns the value whose reduced variable is 0.
    fn location(&self) -> f64;

    /// Returns sigma.
    fn scale(&self) -> f64;

    /// Returns xi.
    fn shape(&self) -> f64;

    /// Returns the logarithm of the density, minus infinity outside the support.
    fn ln_density(&self, x: f64) -> f64;

    /// Returns the logarithm of the probability of at most x.
    fn ln_below(&self, x: f64) -> f64;

    /// Returns the logarithm of the probability of more than x.
    fn ln_above(&self, x: f64) -> f64;

    /// Returns the value that is not exceeded with probability `share`, `0 < share < 1`.
    fn quantile(&self, share: f64) -> f64;
}

/// Returns z for a given y; infinite outside the support.
pub(crate) fn reduced(y: f64, shape: f64) -> f64 {
    if shape.abs() < SHAPE_ZERO {
        return y;
    }
    if shape * y <= -1.0 {
        return if shape < 0.0 { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    (shape * y).ln_1p() / shape
}

/// Returns y for a given z, the inverse of [`reduced`].
pub(crate) fn stretched(z: f64, shape: f64) -> f64 {
    if shape.abs() < SHAPE_ZERO { z } else { (shape * z).exp_m1() / shape }
}

/// Returns `ln(1 - e^x)` for x < 0.
pub(crate) fn ln_complement(x: f64) -> f64 {
    (-x.exp_m1()).ln()
}

/// Returns mean, L-scale and L-skewness. They are linear combinations of the samples, so extreme
/// samples weigh less than in a variance.
///
/// # Equation
/// With the probability-weighted moments `b_r = 1/n sum x_(j) C(j-1, r) / C(n-1, r)`:
/// `l1 = b0`, `l2 = 2 b1 - b0`, `l3 = 6 b2 - 6 b1 + b0`, skewness `l3 / l2`.
///
/// # Source
/// J. Hosking, "L-moments: analysis and estimation of distributions using linear combinations
/// of order statistics", 1990.
///
/// # Shape
/// `sorted` is ascending and has at least three samples.
pub(crate) fn l_moments(sorted: &[f64]) -> [f64; 3] {
    let count = float::of_length(sorted.len());
    let mut weighted = [0.0; 3];
    for (index, &x) in sorted.iter().enumerate() {
        let below = float::of_length(index);
        let first = below / (count - 1.0);
        weighted[0] += x;
        weighted[1] += x * first;
        weighted[2] += x * first * (below - 1.0) / (count - 2.0);
    }
    let [b0, b1, b2] = weighted.map(|sum| sum / count);
    let (l2, l3) = (2.0 * b1 - b0, 6.0 * b2 - 6.0 * b1 + b0);
    [b0, l2, l3 / l2]
}

/// Returns the sum of the logarithms of the densities.
pub(crate) fn ln_likelihood(law: &impl Law, samples: &[f64]) -> f64 {
    samples.iter().map(|&x| law.ln_density(x)).sum()
}

/// Returns the parameters that make the samples likeliest. The search begins at the first start
/// that makes the samples possible; `None` if no start does.
///
/// The variables are the law's parameters, with the shape last; all are of the order of 1.
pub(crate) fn likeliest<const N: usize, L: Law>(
    samples: &[f64],
    starts: &[[f64; N]],
    law_of: impl Fn(&[f64; N]) -> L,
) -> Option<[f64; N]> {
    let unlikelihood = |variables: &[f64; N]| {
        let within = variables[N - 1] > SHAPE_MIN;
        let sum = if within { -ln_likelihood(&law_of(variables), samples) } else { f64::INFINITY };
        if sum.is_nan() { f64::INFINITY } else { sum }
    };
    let start = starts.iter().find(|start| unlikelihood(start).is_finite())?;
    let found = minimise(unlikelihood, *start, 0.1);
    found.iter().all(|variable| variable.is_finite()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reduced_and_stretched_are_converse() {
        for shape in [-0.7, -0.1, -1e-12, 0.0, 1e-7, 0.3, 1.5] {
            for z in [-1.0, 0.0, 0.5, 4.0, 20.0] {
                let back = reduced(stretched(z, shape), shape);
                // Near a bounded end, y hardly depends on z, so rounding errors are magnified: by
                // e^14 for a shape of -0.7 and z = 20.
                assert!((back - z).abs() < 1e-6 * (1.0 + z.abs()), "{shape} {z} {back}");
            }
        }
        assert!(reduced(2.5, -0.5).is_infinite(), "beyond the end at 2");
    }

    /// 1, 2, 4 by hand: b0 = 7/3, b1 = (2/2 + 4) / 3 = 5/3, b2 = 4/3; l2 = 1,
    /// l3 = 8 - 10 + 7/3 = 1/3.
    #[test]
    fn l_moments_are_as_by_hand() {
        let [mean, scale, skewness] = l_moments(&[1.0, 2.0, 4.0]);
        let expected = [7.0 / 3.0, 1.0, 1.0 / 3.0];
        for (found, expected) in [mean, scale, skewness].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}
