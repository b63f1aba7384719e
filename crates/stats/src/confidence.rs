// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The conclusions that a given number of samples allows about the longest service time.
//!
//! All of k independent samples are at or below the quantile q with probability `q^k`. So their
//! maximum is above q with confidence `c = 1 - q^k`: with more samples, it exceeds a higher
//! quantile with the same confidence. This does not bound how much longer the longest time can be;
//! only a proven bound of the device does.

use crate::float::{ceil, of as float};

mod quantile;

pub use quantile::{UpperQuantile, quantile_at_most};

/// The confidence used everywhere.
pub const CONFIDENCE: f64 = 0.99;

/// The share of a normal distribution within four standard deviations of its mean, as given by the
/// source.
///
/// # Source
/// Stanovich, dissertation, 7.4.2. This is the two-sided share. The text means service times no
/// longer than the mean plus four standard deviations: that share is 99.996833 %, which needs twice
/// as many samples (145,404).
pub const FOUR_SIGMA: f64 = 0.999_936_66;

/// The share of a normal distribution below its mean plus four standard deviations.
pub const FOUR_SIGMA_ABOVE: f64 = 0.999_968_328_758;

/// Returns the number of samples that are needed so that at least one is above the quantile
/// `quantile` with confidence `confidence`.
///
/// # Equation
/// `k = log(1 - c) / log(q)`, rounded up: 99 % at [`FOUR_SIGMA`] gives 72,703.26, so
/// 72,704 as in the source.
///
/// # Source
/// Stanovich, dissertation, equation 7.4.2.2.
///
/// # Assumptions
/// Samples are independent; [`crate::independence`] tests this.
///
/// # Panics
/// If `confidence` or `quantile` is not between 0 and 1.
///
/// # Example
/// ```
/// use tidegate_stats::confidence::{CONFIDENCE, FOUR_SIGMA, samples_needed};
///
/// assert_eq!(samples_needed(CONFIDENCE, FOUR_SIGMA), 72_704);
/// ```
pub fn samples_needed(confidence: f64, quantile: f64) -> u64 {
    assert!(0.0 < confidence && confidence < 1.0, "a confidence must lie between 0 and 1");
    assert!(0.0 < quantile && quantile < 1.0, "a quantile must lie between 0 and 1");
    ceil((1.0 - confidence).ln() / quantile.ln())
}

/// Returns the quantile that the maximum of `samples` samples exceeds with confidence
/// `confidence`.
///
/// # Equation
/// `q = (1 - c)^(1 / n)`, the converse of [`samples_needed`].
///
/// # Panics
/// If there are no samples or `confidence` is not between 0 and 1.
pub fn quantile_exceeded(samples: u32, confidence: f64) -> f64 {
    assert!(samples > 0, "at least one sample is needed");
    assert!(0.0 < confidence && confidence < 1.0, "a confidence must lie between 0 and 1");
    (1.0 - confidence).powf(1.0 / f64::from(samples))
}

/// The number 1 in parts per billion.
const WHOLE_PPB: u32 = 1_000_000_000;

/// The largest sample count for which exceedances are computed. No measurement is that long, but
/// a file can claim any number.
const SAMPLES_MAX: u64 = 10_000_000;

/// Returns an upper bound on the probability that a time exceeds a measured quantile, in parts
/// per billion, rounded up; `None` for more than 10,000,000 samples.
///
/// The measured quantile is the sample of rank `k = ceil(level * n)`, see
/// [`crate::order_statistics::quantile`]. The bound is wrong with probability at most
/// `doubt_ppb`.
///
/// # Equation
/// The least epsilon with `P(Bin(n, epsilon) <= n - k) <= doubt`. The sample lies above the true
/// quantile q unless k samples lie below q. So it lies above q with probability at least
/// `P(Bin(n, q) <= k - 1)`, for every distribution, and is then exceeded with probability at most
/// `1 - q`.
///
/// # Source
/// C. Clopper and E. Pearson, "The use of confidence or fiducial limits illustrated in the case
/// of the binomial", 1934. The result is the larger epsilon of n and n + 1 samples: a measurement
/// that was stopped has one more sample of some batches, and epsilon is not monotone in n.
///
/// # Assumptions
/// Samples are independent; [`crate::independence`] tests this.
///
/// # Panics
/// If there are no samples, the level exceeds a million or the doubt is not between 0 and 1.
///
/// # Complexity
/// 60 sums of O(n - k) terms: 30 each for n and n + 1 samples.
pub fn exceedance_ppb(samples: u64, level_ppm: u32, doubt_ppb: u32) -> Option<u32> {
    assert!(samples > 0, "at least one sample is needed");
    assert!(level_ppm <= 1_000_000, "a level must be at most a million ppm");
    assert!(0 < doubt_ppb && doubt_ppb < WHOLE_PPB, "a doubt must lie between 0 and 1");
    if samples > SAMPLES_MAX {
        return None;
    }
    let of_count = |count: u64| {
        let rank = (count * u64::from(level_ppm)).div_ceil(1_000_000).max(1);
        exceedance_of_rank(count, count - rank, doubt_ppb)
    };
    Some(of_count(samples).max(of_count(samples + 1)))
}

/// Returns the epsilon of [`exceedance_ppb`], in parts per billion, for exactly `samples` samples:
/// the bound for the sample that `above` of them exceed.
///
/// Bisection works because the probability falls as epsilon grows.
pub fn exceedance_of_rank(samples: u64, above: u64, doubt_ppb: u32) -> u32 {
    // The error of the logarithm's sum is below one part in a million, so the search allows for it.
    let wanted = (f64::from(doubt_ppb) / f64::from(WHOLE_PPB)).ln() - 1e-6;
    let (mut too_small, mut enough) = (0, WHOLE_PPB);
    while too_small + 1 < enough {
        let middle = too_small + (enough - too_small) / 2;
        let share = f64::from(middle) / f64::from(WHOLE_PPB);
        if ln_at_most(samples, above, share) <= wanted {
            enough = middle;
        } else {
            too_small = middle;
        }
    }
    enough
}

/// Returns `ln P(Bin(n, share) <= above)`. Sums logarithms because the terms underflow.
fn ln_at_most(samples: u64, above: u64, share: f64) -> f64 {
    let odds = share.ln() - (-share).ln_1p();
    let mut term = float(samples) * (-share).ln_1p();
    let mut sum = term;
    for index in 0..above {
        term += (float(samples - index) / float(index + 1)).ln() + odds;
        let (large, small) = if sum > term { (sum, term) } else { (term, sum) };
        sum = large + (small - large).exp().ln_1p();
    }
    sum
}

/// Returns a sentence for readers about what `samples` samples of each table entry show.
///
/// The sentence holds for each entry separately. The maxima of all m entries together are above a
/// quantile with the same confidence only for the lower quantile `q = ((1 - c) / m)^(1 / n)`: for
/// 32 entries and 1,000 samples, 99.19 % instead of 99.54 %.
///
/// # Panics
/// If there are no samples.
pub fn statement(samples: u32) -> String {
    let quantile = percent_floor(quantile_exceeded(samples, CONFIDENCE));
    format!(
        "with 99 % confidence, the maximum of an entry's {samples} independent samples lies above \
         the entry's {quantile} % quantile: for each entry by itself, not for all at once"
    )
}

/// Formats a share below 1 in per cent, rounded down, with at least two digits and enough of them
/// to stay below 100 %.
fn percent_floor(share: f64) -> String {
    let missing = 100.0 - 100.0 * share;
    let (mut digits, mut scale) = (2, 100.0);
    while missing * scale < 10.0 && digits < 12 {
        digits += 1;
        scale *= 10.0;
    }
    format!("{:.digits$}", (share * 100.0 * scale).floor() / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_sigma_at_99_percent_needs_72_704_samples() {
        assert_eq!(samples_needed(CONFIDENCE, FOUR_SIGMA), 72_704);
    }

    /// One-sided, above four standard deviations: 1 - 3.167e-5.
    #[test]
    fn one_sided_four_sigma_needs_twice_as_many() {
        assert_eq!(samples_needed(CONFIDENCE, FOUR_SIGMA_ABOVE), 145_404);
    }

    #[test]
    fn a_thousand_samples_exceed_the_99_54_percent_quantile() {
        let quantile = quantile_exceeded(1000, CONFIDENCE);
        assert!((0.9954..0.9955).contains(&quantile), "{quantile}");
        assert!(statement(1000).contains("99.54 %"), "{}", statement(1000));
    }

    #[test]
    fn the_statement_for_72_704_samples_is_four_sigma() {
        assert!(quantile_exceeded(72_704, CONFIDENCE) >= FOUR_SIGMA);
        assert!(quantile_exceeded(72_703, CONFIDENCE) < FOUR_SIGMA);
        assert!(statement(72_704).contains("99.9936 %"), "{}", statement(72_704));
    }

    #[test]
    fn shares_are_rounded_down() {
        assert_eq!(percent_floor(0.5), "50.00");
        assert_eq!(percent_floor(0.989_999), "98.99");
        assert_eq!(percent_floor(0.998_59), "99.85");
        assert_eq!(percent_floor(0.999_936_69), "99.9936");
        assert!(statement(1).contains(" 1.00 %"), "{}", statement(1));
    }

    /// Computed by hand: the largest of n samples is exceeded with probability 1 - doubt^(1/n); for
    /// n = 10 and 1 % that is 1 - 0.01^0.1 = 0.369043. One sample: 0.99.
    #[test]
    fn the_largest_of_few_samples_is_exceeded_as_by_hand() {
        let doubt = 10_000_000;
        let of_ten = exceedance_of_rank(10, 0, doubt);
        assert!((369_042_000..369_044_000).contains(&of_ten), "{of_ten}");
        let of_one = exceedance_of_rank(1, 0, doubt);
        assert!((990_000_000..990_000_020).contains(&of_one), "{of_one}");
        // For the smaller of two samples: (1 - e)^2 + 2 e (1 - e) = 1 - e^2 = 0.01, so e =
        // 0.99498743.
        let smaller = exceedance_of_rank(2, 1, doubt);
        assert!((994_987_430..994_987_480).contains(&smaller), "{smaller}");
        // The median of 4 samples is rank 2, with two above; of 5 samples, rank 3 with two above.
        // The larger epsilon of both counts.
        assert_eq!(
            exceedance_ppb(4, 500_000, doubt),
            Some(exceedance_of_rank(4, 2, doubt).max(exceedance_of_rank(5, 2, doubt)))
        );
    }

    /// More samples or more doubt lower the bound, and a lower rank raises it. The bound is never
    /// below the share beyond the level.
    #[test]
    fn exceedances_are_monotone_and_never_below_the_level() {
        let doubt = 10_000_000;
        assert!(exceedance_of_rank(200, 2, doubt) < exceedance_of_rank(100, 2, doubt));
        assert!(exceedance_of_rank(100, 2, 2 * doubt) < exceedance_of_rank(100, 2, doubt));
        assert!(exceedance_of_rank(100, 2, doubt) < exceedance_of_rank(100, 3, doubt));
        for samples in [1, 10, 999, 1_000, 10_000, 100_000] {
            for (level_ppm, beyond_ppb) in [(990_000, 10_000_000), (999_000, 1_000_000)] {
                let exceedance = exceedance_ppb(samples, level_ppm, doubt).unwrap();
                assert!(exceedance > beyond_ppb, "{samples} {level_ppm}: {exceedance}");
            }
        }
        // Ten of 10,000 samples are above p99.9. A Poisson variable with mean 20.14 is at most ten
        // with probability 1 %.
        let usual = exceedance_ppb(10_000, 999_000, doubt).unwrap();
        assert!((2_000_000..2_020_000).contains(&usual), "{usual}");
        assert_eq!(exceedance_ppb(u64::MAX, 999_000, doubt), None);
    }

    /// Goal: the claim is correct at least as often as it states. Method: samples x of a uniform
    /// distribution, which are exceeded with probability 1 - x. Canary: a tenth of the claim fails
    /// nearly always.
    #[test]
    fn the_claim_holds_as_often_as_it_says() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_pcg::Pcg64::seed_from_u64(7);
        let doubt = 50_000_000;
        let claim = f64::from(exceedance_ppb(200, 990_000, doubt).unwrap()) / 1e9;
        let (mut wrong, mut wrong_canary) = (0, 0);
        for _ in 0..2_000 {
            let mut samples: Vec<f64> = (0..200).map(|_| random.random_range(0.0..1.0)).collect();
            samples.sort_unstable_by(f64::total_cmp);
            let exceeded = 1.0 - samples[197];
            wrong += u32::from(exceeded > claim);
            wrong_canary += u32::from(exceeded > claim / 10.0);
        }
        // 5 % of 2,000 are 100, with a standard deviation of 10.
        assert!(wrong <= 140, "{wrong} of 2,000 claims are wrong");
        assert!(wrong_canary > 1_000, "a claim ten times too bold survived: {wrong_canary}");
    }

    proptest::proptest! {
        /// The number of samples that is needed is also sufficient, for every confidence and
        /// quantile.
        #[test]
        fn needed_samples_are_just_sufficient(
            confidence in 0.01..0.9999_f64,
            samples in 2_u32..200_000,
        ) {
            let quantile = quantile_exceeded(samples, confidence);
            let needed = samples_needed(confidence, quantile);
            // The roundings of the two floats can differ in the last place.
            assert!(needed.abs_diff(u64::from(samples)) <= 1, "{needed} {samples}");
        }
    }
}
