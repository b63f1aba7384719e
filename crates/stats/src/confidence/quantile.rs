// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds a quantile of any distribution from its samples. This is the converse of
//! [`super::exceedance_ppb`], which fixes the sample and bounds its quantile.

use std::fmt;

use tidegate_model::Duration;

use super::ln_at_most;

/// A time that a quantile does not exceed, with a stated confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UpperQuantile {
    /// The level of the quantile, in ppm.
    pub level_ppm: u32,
    /// The confidence.
    pub confidence: f64,
    /// The time that the quantile does not exceed.
    pub time_max: Duration,
    /// The rank of the sample that took this time, 1 for the shortest.
    pub rank: u64,
    /// The number of samples.
    pub samples: u64,
}

/// Returns the shortest sample that the quantile `level_ppm` of the distribution does not exceed
/// with confidence `confidence`. `None` if not even the longest sample is enough;
/// [`super::samples_needed`] returns how many samples would be.
///
/// # Equation
/// The least rank r with `P(Bin(n, q) >= r) <= 1 - c`: the quantile lies above the sample of rank
/// r only if at least r samples lie below the quantile, each with probability at most q.
///
/// # Source
/// W. Thompson, "On confidence ranges for the median and other expectation distributions for
/// populations of unknown distribution form", 1936.
///
/// # Assumptions
/// Samples are independent and of one distribution; [`crate::independence`] and [`crate::drift`]
/// test this.
///
/// # Shape
/// `sorted` is in ascending order.
///
/// # Panics
/// If the level or the confidence is not between 0 and 1.
///
/// # Complexity
/// O(n log n).
///
/// # Example
/// ```
/// use tidegate_stats::confidence::quantile_at_most;
/// use tidegate_model::Duration;
///
/// let sorted: Vec<_> = (1..=1000).map(Duration::from_us).collect();
/// let upper = quantile_at_most(&sorted, 990_000, 0.99).expect("enough samples");
/// assert_eq!((upper.rank, upper.time_max), (998, Duration::from_us(998)));
/// assert_eq!(quantile_at_most(&sorted, 999_000, 0.99), None);
/// ```
pub fn quantile_at_most(
    sorted: &[Duration],
    level_ppm: u32,
    confidence: f64,
) -> Option<UpperQuantile> {
    assert!(0 < level_ppm && level_ppm < 1_000_000, "a quantile must lie between 0 and 1");
    assert!(0.0 < confidence && confidence < 1.0, "a confidence must lie between 0 and 1");
    let samples = u64::try_from(sorted.len()).expect("a length fits");
    let above = samples_above(samples, level_ppm, confidence)?;
    let rank = samples - above;
    let time_max = sorted[usize::try_from(rank - 1).expect("a rank is at most the length")];
    Some(UpperQuantile { level_ppm, confidence, time_max, rank, samples })
}

/// Returns the largest number of samples that can be above the chosen one; `None` if even the
/// longest sample is not enough.
///
/// # Equation
/// `P(Bin(n, q) >= n - a) = P(Bin(n, 1 - q) <= a)`, which grows with a.
fn samples_above(samples: u64, level_ppm: u32, confidence: f64) -> Option<u64> {
    let beyond = f64::from(1_000_000 - level_ppm) / 1e6;
    // The error of the logarithm's sum is below one part in a million, so the search allows for it.
    let wanted = (1.0 - confidence).ln() - 1e-6;
    let is_sure = |above: u64| ln_at_most(samples, above, beyond) <= wanted;
    if samples == 0 || !is_sure(0) {
        return None;
    }
    let (mut sure, mut unsure) = (0, samples);
    while sure + 1 < unsure {
        let middle = sure + (unsure - sure) / 2;
        if is_sure(middle) {
            sure = middle;
        } else {
            unsure = middle;
        }
    }
    Some(sure)
}

impl fmt::Display for UpperQuantile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beyond = f64::from(1_000_000 - self.level_ppm) / 10_000.0;
        write!(
            f,
            "with {} % confidence at most {beyond} % take longer than {} (rank {} of {} independent samples)",
            percent(self.confidence),
            self.time_max,
            self.rank,
            self.samples
        )
    }
}

/// Returns a share in per cent as it was given, without the digits that a float adds.
fn percent(share: f64) -> f64 {
    (share * 1e14).round() / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confidence::{CONFIDENCE, samples_needed};

    fn rank(samples: u64, level_ppm: u32, confidence: f64) -> Option<u64> {
        samples_above(samples, level_ppm, confidence).map(|above| samples - above)
    }

    /// Computed by hand: the median lies above the longest of 5 samples with probability 1/32 = 3.1
    /// %, and above the second longest with probability 6/32 = 18.75 %.
    #[test]
    fn ranks_of_five_samples_are_as_by_hand() {
        assert_eq!(rank(5, 500_000, 0.95), Some(5));
        assert_eq!(rank(5, 500_000, 0.97), None);
        assert_eq!(rank(5, 500_000, 0.81), Some(4));
        assert_eq!(rank(0, 500_000, 0.5), None);
    }

    /// With exactly the needed number of samples, the longest sample is the bound.
    #[test]
    fn the_longest_of_as_many_samples_as_needed_is_the_bound() {
        for (level_ppm, quantile) in [(990_000, 0.99), (999_000, 0.999), (500_000, 0.5)] {
            let needed = samples_needed(CONFIDENCE, quantile);
            assert_eq!(rank(needed, level_ppm, CONFIDENCE), Some(needed));
            assert_eq!(rank(needed - 1, level_ppm, CONFIDENCE), None);
        }
    }

    #[test]
    fn sentences_say_the_figures_as_given() {
        let sorted: Vec<_> = (1..=1000).map(Duration::from_us).collect();
        let upper = quantile_at_most(&sorted, 990_000, 0.99).expect("enough");
        assert_eq!(
            upper.to_string(),
            "with 99 % confidence at most 1 % take longer than 998us (rank 998 of 1000 \
             independent samples)"
        );
        let said = |confidence: f64| {
            quantile_at_most(&sorted, 500_000, confidence).expect("enough").to_string()
        };
        assert!(said(0.999).starts_with("with 99.9 % confidence"), "{}", said(0.999));
        assert!(said(0.57).starts_with("with 57 % confidence"), "{}", said(0.57));
    }

    /// Goal: the claim is correct at least as often as it states. Method: 2,000 sets of 300 samples
    /// of a uniform distribution, whose p95 is 0.95. Canary: the sample quantile itself, which is
    /// not an upper bound, fails in nearly half of the sets.
    #[test]
    fn the_claim_holds_as_often_as_it_says() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_pcg::Pcg64::seed_from_u64(5);
        let (mut wrong, mut wrong_canary) = (0, 0);
        for _ in 0..2_000 {
            let mut times: Vec<Duration> =
                (0..300).map(|_| Duration::from_ns(random.random_range(0..1_000_000))).collect();
            times.sort_unstable();
            let upper = quantile_at_most(&times, 950_000, 0.9).expect("enough");
            wrong += u32::from(upper.time_max.ns() < 950_000);
            let canary = crate::order_statistics::quantile(&times, 950_000);
            wrong_canary += u32::from(canary.ns() < 950_000);
        }
        // 10 % of 2,000 are 200, with a standard deviation of 13; ranks are integers, so fewer sets
        // fail.
        assert!(wrong <= 240, "{wrong} of 2,000 claims are wrong");
        assert!(wrong_canary > 700, "the sample quantile passed as a bound: {wrong_canary}");
    }
}
