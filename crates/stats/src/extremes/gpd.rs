// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The generalised Pareto distribution: the limit of the excesses over a high threshold.

use crate::extremes::law::{
    Law, l_moments, likeliest, ln_complement, ln_likelihood, reduced, stretched,
};

/// A generalised Pareto distribution of excesses over a threshold.
///
/// # Equation
/// `H(x) = 1 - (1 + xi x / sigma)^(-1 / xi)` for excesses x > 0, and `1 - e^(-x / sigma)` for
/// xi = 0.
///
/// The sign of the shape follows Coles: a tail with xi < 0 ends, one with xi > 0 is heavy; the mean
/// is finite for xi < 1. scipy's `genpareto` has `c = xi`.
///
/// # Source
/// S. Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, equation 4.2;
/// J. Pickands, "Statistical inference using extreme order statistics", 1975.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gpd {
    /// sigma, in the unit of the samples, above 0.
    pub scale: f64,
    /// xi, without a unit.
    pub shape: f64,
}

impl Gpd {
    /// Returns the distribution under which `excesses` are likeliest. `None` if there is none: with
    /// fewer than three excesses, if one is not above 0, or if all are equal.
    ///
    /// The search starts at the distribution with the same L-moments and ends in the nearest
    /// maximum of the likelihood with xi > -1; below -1, the likelihood has no maximum.
    ///
    /// # Source
    /// Start: J. Hosking and J. Wallis, "Parameter and quantile estimation for the generalized
    /// Pareto distribution", 1987: `xi = 2 - l1 / l2`, `sigma = (1 - xi) l1`.
    ///
    /// # Assumptions
    /// Excesses are independent and from one such distribution.
    ///
    /// # Complexity
    /// O(n log n) and about 100 evaluations of the likelihood.
    pub fn fit(excesses: &[f64]) -> Option<Self> {
        let mut sorted = excesses.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Self::fitted(&sorted)
    }

    /// Returns the logarithm of the likelihood of `excesses`.
    pub fn ln_likelihood(&self, excesses: &[f64]) -> f64 {
        ln_likelihood(self, excesses)
    }

    /// Returns the longest possible excess; `None` for xi >= 0, because there is no longest one.
    pub fn end_point(&self) -> Option<f64> {
        (self.shape < 0.0).then(|| -self.scale / self.shape)
    }

    /// Returns the excess that is exceeded with probability `exceedance`: the x with
    /// `1 - H(x) = p`.
    pub fn level(&self, exceedance: f64) -> f64 {
        self.scale * stretched(-exceedance.ln(), self.shape)
    }

    fn reduced(&self, excess: f64) -> f64 {
        reduced(excess / self.scale, self.shape)
    }
}

impl Law for Gpd {
    /// Fits in units of the mean excess.
    fn fitted(sorted: &[f64]) -> Option<Self> {
        if sorted.len() < 3 || sorted[0] <= 0.0 {
            return None;
        }
        let [mean, l_scale, _] = l_moments(sorted);
        if l_scale <= 0.0 || !mean.is_finite() {
            return None;
        }
        let units: Vec<f64> = sorted.iter().map(|excess| excess / mean).collect();
        let shape = 2.0 - mean / l_scale;
        let starts = [[(1.0 - shape).ln(), shape], [0.0, 0.0]];
        let law_of = |&[ln_scale, shape]: &[f64; 2]| Self { scale: ln_scale.exp(), shape };
        let found = law_of(&likeliest(&units, &starts, law_of)?);
        Some(Self { scale: found.scale * mean, shape: found.shape })
    }

    /// Fits only the shape, because the scale follows from it: `sigma = x / y(reduced)`. The search
    /// can start at the exponential law, shape 0, because it makes all samples possible.
    fn likeliest_through(&self, sorted: &[f64], reduced: f64, x: f64) -> Option<Self> {
        if x <= 0.0 {
            return None;
        }
        let law_of = |&[shape]: &[f64; 1]| Self { scale: x / stretched(reduced, shape), shape };
        let starts = [self.shape, self.shape / 2.0, 0.0].map(|shape| [shape]);
        likeliest(sorted, &starts, law_of).map(|found| law_of(&found))
    }

    fn location(&self) -> f64 {
        0.0
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn shape(&self) -> f64 {
        self.shape
    }

    fn ln_density(&self, x: f64) -> f64 {
        let z = self.reduced(x);
        if x < 0.0 || !z.is_finite() {
            return f64::NEG_INFINITY;
        }
        -self.scale.ln() - (1.0 + self.shape) * z
    }

    fn ln_below(&self, x: f64) -> f64 {
        ln_complement(self.ln_above(x))
    }

    fn ln_above(&self, x: f64) -> f64 {
        -self.reduced(x)
    }

    fn quantile(&self, share: f64) -> f64 {
        self.scale * stretched(-(-share).ln_1p(), self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// xi = 1/2 at x = 2: 1 + xi x = 2, 1 - H = 2^-2, h = 2^-3.
    #[test]
    fn probabilities_are_as_by_hand() {
        let heavy = Gpd { scale: 1.0, shape: 0.5 };
        assert!((heavy.ln_above(2.0) - 0.25_f64.ln()).abs() < 1e-12);
        assert!((heavy.ln_below(2.0) - 0.75_f64.ln()).abs() < 1e-12);
        assert!((heavy.ln_density(2.0) - 0.125_f64.ln()).abs() < 1e-12);
        assert!((heavy.level(0.25) - 2.0).abs() < 1e-12);
        assert!((heavy.quantile(0.75) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn bounded_tails_end() {
        let bounded = Gpd { scale: 3.0, shape: -0.5 };
        assert_eq!(bounded.end_point(), Some(6.0));
        assert!(bounded.ln_density(6.5).is_infinite());
        assert_eq!(Gpd { shape: 0.0, ..bounded }.end_point(), None);
    }

    #[test]
    fn too_little_is_not_fitted() {
        assert_eq!(Gpd::fit(&[1.0, 2.0]), None);
        assert_eq!(Gpd::fit(&[0.0, 1.0, 2.0]), None, "no excess is zero");
        assert_eq!(Gpd::fit(&[3.0; 40]), None);
    }
}
