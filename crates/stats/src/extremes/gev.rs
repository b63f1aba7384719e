// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The generalised extreme-value distribution: the limit of the maxima of blocks.

use crate::extremes::law::{
    Law, l_moments, likeliest, ln_complement, ln_likelihood, reduced, stretched,
};

/// Euler's constant, the mean of the standard Gumbel distribution.
const EULER: f64 = 0.577_215_664_901_532_9;

/// A generalised extreme-value distribution.
///
/// # Equation
/// `G(x) = exp(-(1 + xi (x - mu) / sigma)^(-1 / xi))`, and `exp(-e^(-(x - mu) / sigma))` for
/// xi = 0, Gumbel's.
///
/// The sign of the shape follows Coles: a tail with xi < 0 ends (Weibull), one with xi > 0 is heavy
/// (Frechet). scipy's `genextreme` has `c = -xi`.
///
/// # Source
/// S. Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, equation 3.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gev {
    /// mu, in the unit of the samples.
    pub location: f64,
    /// sigma, in the unit of the samples, above 0.
    pub scale: f64,
    /// xi, without a unit.
    pub shape: f64,
}

impl Gev {
    /// Returns the distribution under which `maxima` are likeliest. `None` if there is none: with
    /// fewer than three maxima, or if all are equal.
    ///
    /// The search starts at the distribution with the same L-moments and ends in the nearest
    /// maximum of the likelihood with xi > -1; below -1, the likelihood has no maximum.
    ///
    /// # Source
    /// Start: J. Hosking, J. Wallis, E. Wood, "Estimation of the generalized extreme-value
    /// distribution by the method of probability-weighted moments", 1985, with their
    /// approximation of the shape.
    ///
    /// # Assumptions
    /// Maxima are independent and from one such distribution.
    ///
    /// # Complexity
    /// O(n log n) and about 150 evaluations of the likelihood.
    pub fn fit(maxima: &[f64]) -> Option<Self> {
        let mut sorted = maxima.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Self::fitted(&sorted)
    }

    /// Returns the logarithm of the likelihood of `samples`.
    pub fn ln_likelihood(&self, samples: &[f64]) -> f64 {
        ln_likelihood(self, samples)
    }

    /// Returns the end point of the tail; `None` for xi >= 0, because the tail then has no end.
    pub fn end_point(&self) -> Option<f64> {
        (self.shape < 0.0).then(|| self.location - self.scale / self.shape)
    }

    /// Returns the value that one sample exceeds with probability `exceedance`, if this is the
    /// distribution of the maxima of `block` samples: the x with `G(x) = (1 - p)^block`.
    pub fn level(&self, exceedance: f64, block: u32) -> f64 {
        self.location + self.scale * stretched(Self::reduced_of(exceedance, block), self.shape)
    }

    /// Returns the reduced variable of the level that one sample exceeds with probability
    /// `exceedance`, where a maximum is taken over `block` samples.
    pub(crate) fn reduced_of(exceedance: f64, block: u32) -> f64 {
        -(-f64::from(block) * (-exceedance).ln_1p()).ln()
    }

    fn reduced(&self, x: f64) -> f64 {
        reduced((x - self.location) / self.scale, self.shape)
    }

    /// Returns the distribution with these L-moments.
    fn of_moments([mean, l_scale, skewness]: [f64; 3]) -> Self {
        let two = std::f64::consts::LN_2;
        let c = 2.0 / (3.0 + skewness) - two / 3.0_f64.ln();
        let k = 7.8590 * c + 2.9554 * c * c;
        if k.abs() < 1e-6 {
            return Self::gumbel(mean, l_scale / two);
        }
        let gamma = libm::tgamma(1.0 + k);
        let scale = l_scale * k / (gamma * (1.0 - (-k * two).exp()));
        Self { location: mean - scale * (1.0 - gamma) / k, scale, shape: -k }
    }

    /// Returns Gumbel's distribution with this mean and scale.
    fn gumbel(mean: f64, scale: f64) -> Self {
        Self { location: mean - EULER * scale, scale, shape: 0.0 }
    }
}

impl Law for Gev {
    /// Fits in units in which the samples have mean 0 and L-scale 1.
    fn fitted(sorted: &[f64]) -> Option<Self> {
        if sorted.len() < 3 {
            return None;
        }
        // Subtract the least sample, so that long, nearly equal times lose no precision.
        let origin = sorted[0];
        let offsets: Vec<f64> = sorted.iter().map(|x| x - origin).collect();
        let [mean, l_scale, skewness] = l_moments(&offsets);
        if l_scale <= 0.0 || !l_scale.is_finite() {
            return None;
        }
        let units: Vec<f64> = offsets.iter().map(|offset| (offset - mean) / l_scale).collect();
        let variables = |law: Self| [law.location, law.scale.ln(), law.shape];
        let starts = [
            variables(Self::of_moments([0.0, 1.0, skewness])),
            variables(Self::gumbel(0.0, 1.0 / std::f64::consts::LN_2)),
        ];
        let law_of = |&[location, ln_scale, shape]: &[f64; 3]| Self {
            location,
            scale: ln_scale.exp(),
            shape,
        };
        let found = law_of(&likeliest(&units, &starts, law_of)?);
        Some(Self {
            location: origin + mean + found.location * l_scale,
            scale: found.scale * l_scale,
            shape: found.shape,
        })
    }

    /// Fits only scale and shape, because the location follows from them: `mu = x - sigma
    /// y(reduced)`. The search can start at Gumbel's law, shape 0, because it makes all samples
    /// possible.
    fn likeliest_through(&self, sorted: &[f64], reduced: f64, x: f64) -> Option<Self> {
        let law_of = |&[ln_scale, shape]: &[f64; 2]| {
            let scale = self.scale * ln_scale.exp();
            Self { location: x - scale * stretched(reduced, shape), scale, shape }
        };
        let starts = [self.shape, self.shape / 2.0, 0.0].map(|shape| [0.0, shape]);
        likeliest(sorted, &starts, law_of).map(|found| law_of(&found))
    }

    fn location(&self) -> f64 {
        self.location
    }

    fn scale(&self) -> f64 {
        self.scale
    }

    fn shape(&self) -> f64 {
        self.shape
    }

    fn ln_density(&self, x: f64) -> f64 {
        let z = self.reduced(x);
        if !z.is_finite() {
            return f64::NEG_INFINITY;
        }
        -self.scale.ln() - (1.0 + self.shape) * z - (-z).exp()
    }

    fn ln_below(&self, x: f64) -> f64 {
        -(-self.reduced(x)).exp()
    }

    fn ln_above(&self, x: f64) -> f64 {
        ln_complement(self.ln_below(x))
    }

    fn quantile(&self, share: f64) -> f64 {
        self.location + self.scale * stretched(-(-share.ln()).ln(), self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// xi = 1/2 at x = 2: 1 + xi x = 2, G = exp(-2^-2), g = 2^-3 exp(-1/4). Gumbel at 0: 1/e.
    #[test]
    fn probabilities_are_as_by_hand() {
        let heavy = Gev { location: 0.0, scale: 1.0, shape: 0.5 };
        assert!((heavy.ln_below(2.0) + 0.25).abs() < 1e-12);
        assert!((heavy.ln_density(2.0) - (0.125_f64.ln() - 0.25)).abs() < 1e-12);
        assert!((heavy.ln_above(2.0) - (1.0 - (-0.25_f64).exp()).ln()).abs() < 1e-12);
        assert!(heavy.ln_density(-2.5).is_infinite(), "below the support, which begins at -2");
        let gumbel = Gev::gumbel(EULER, 1.0);
        assert!((gumbel.ln_below(0.0) + 1.0).abs() < 1e-12);
    }

    /// With xi = -1/2, the tail ends 2 scales above the location.
    #[test]
    fn bounded_tails_end_and_quantiles_invert() {
        let bounded = Gev { location: 7.0, scale: 1.5, shape: -0.5 };
        assert_eq!(bounded.end_point(), Some(10.0));
        assert_eq!(Gev { shape: 0.0, ..bounded }.end_point(), None);
        for share in [0.01, 0.5, 0.999] {
            let below = bounded.ln_below(bounded.quantile(share)).exp();
            assert!((below - share).abs() < 1e-9, "{below} {share}");
        }
    }

    /// The L-moments of Gumbel's law are known: mean, ln 2 and ln(9/8) / ln 2.
    #[test]
    fn moments_of_gumbel_give_gumbel_back() {
        let two = std::f64::consts::LN_2;
        let law = Gev::of_moments([EULER, two, 1.125_f64.ln() / two]);
        assert!(law.shape.abs() < 1e-3, "{law:?}");
        assert!((law.scale - 1.0).abs() < 1e-2 && law.location.abs() < 1e-2, "{law:?}");
    }

    #[test]
    fn too_little_is_not_fitted() {
        assert_eq!(Gev::fit(&[1.0, 2.0]), None);
        assert_eq!(Gev::fit(&[3.0; 40]), None);
    }
}
