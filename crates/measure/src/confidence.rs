// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What a number of samples allows to say about the longest service time.
//!
//! Of k independent samples all lie at or below the quantile q with probability `q^k`. So
//! with confidence `c = 1 - q^k` the maximum lies above it: the more samples, the higher
//! the quantile that the maximum is known to exceed. Nothing here says how much longer the
//! longest time can be; only a bound that was proven for the device does.

/// The confidence that is asked for everywhere.
pub const CONFIDENCE: f64 = 0.99;

/// The share of a normal distribution within four standard deviations, as the source has it.
///
/// # Source
/// Stanovich, dissertation, 7.4.2. It is the two-sided share; of the service times below
/// four standard deviations above the mean, which the text speaks of, there are 99.996833 %,
/// and twice as many samples would be needed (145,404).
pub const FOUR_SIGMA: f64 = 0.999_936_66;

/// The number of samples of which at least one lies above the quantile `quantile`, with
/// confidence `confidence`.
///
/// # Equation
/// `k = log(1 - c) / log(q)`, rounded up: 99 % at [`FOUR_SIGMA`] gives 72,703.26, so
/// 72,704 as in the source.
///
/// # Source
/// Stanovich, dissertation, equation 7.4.2.2.
///
/// # Assumptions
/// Samples are independent. Nothing checks that.
///
/// # Panics
/// When `confidence` or `quantile` is not between 0 and 1.
///
/// # Example
/// ```
/// use measure::confidence::{CONFIDENCE, FOUR_SIGMA, samples_needed};
///
/// assert_eq!(samples_needed(CONFIDENCE, FOUR_SIGMA), 72_704);
/// ```
pub fn samples_needed(confidence: f64, quantile: f64) -> u64 {
    assert!(0.0 < confidence && confidence < 1.0, "a confidence lies between 0 and 1");
    assert!(0.0 < quantile && quantile < 1.0, "a quantile lies between 0 and 1");
    ceil((1.0 - confidence).ln() / quantile.ln())
}

/// The quantile above which the maximum of `samples` samples lies with confidence
/// `confidence`.
///
/// # Equation
/// `q = (1 - c)^(1 / n)`, the converse of [`samples_needed`].
///
/// # Panics
/// When there are no samples or `confidence` is not between 0 and 1.
pub fn quantile_exceeded(samples: u32, confidence: f64) -> f64 {
    assert!(samples > 0, "no samples say nothing");
    assert!(0.0 < confidence && confidence < 1.0, "a confidence lies between 0 and 1");
    (1.0 - confidence).powf(1.0 / f64::from(samples))
}

/// What `samples` samples allow to say, as a sentence for people.
///
/// # Panics
/// When there are no samples.
pub fn statement(samples: u32) -> String {
    let quantile = percent_floor(quantile_exceeded(samples, CONFIDENCE));
    format!(
        "with 99 % confidence the maximum of {samples} independent samples lies above the \
         {quantile} % quantile"
    )
}

/// A share below 1 in per cent, rounded down, with one more digit than it takes to see
/// that it is below 100 %, two at least.
fn percent_floor(share: f64) -> String {
    let missing = 100.0 - 100.0 * share;
    let (mut digits, mut scale) = (2, 100.0);
    while missing * scale < 10.0 && digits < 12 {
        digits += 1;
        scale *= 10.0;
    }
    format!("{:.digits$}", (share * 100.0 * scale).floor() / scale)
}

/// A float of moderate size as the next integer above.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "it was rounded up and is positive; beyond 2^64 the cast saturates, which no one can measure"
)]
fn ceil(value: f64) -> u64 {
    value.ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_sigma_at_99_percent_needs_72_704_samples() {
        assert_eq!(samples_needed(CONFIDENCE, FOUR_SIGMA), 72_704);
    }

    /// Above four standard deviations on one side only: 1 - 3.167e-5.
    #[test]
    fn one_sided_four_sigma_needs_twice_as_many() {
        assert_eq!(samples_needed(CONFIDENCE, 0.999_968_328_758), 145_404);
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

    proptest::proptest! {
        /// Needed and sufficient are the same number, for every confidence and quantile.
        #[test]
        fn needed_samples_are_just_sufficient(
            confidence in 0.01..0.9999_f64,
            samples in 2_u32..200_000,
        ) {
            let quantile = quantile_exceeded(samples, confidence);
            let needed = samples_needed(confidence, quantile);
            // The two roundings of a float may differ in the last place.
            assert!(needed.abs_diff(u64::from(samples)) <= 1, "{needed} {samples}");
        }
    }
}
