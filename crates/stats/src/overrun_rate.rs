// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The rate at which times can exceed a table whose entries are maxima of a finite number of
//! samples.
//!
//! All results are computed with integers and rounded to the safe side: probabilities up, intervals
//! down.

use tidegate_model::Duration;

/// The number 1 in parts per 10^12.
pub const WHOLE_PPT: u64 = 1_000_000_000_000;

/// The number 1 in parts per million.
const WHOLE_PPM: u32 = 1_000_000;

/// The largest number of samples that counts: no measurement has more, but a file can claim any
/// number.
const SAMPLES_MAX: u64 = 1 << 40;

/// The entries of a table that later times are compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entries {
    /// One entry.
    One,
    /// Any mixture of entries, such as batches of different sizes.
    Mixture,
}

/// Returns an upper bound on the probability that a time exceeds its entry of the table, in parts
/// per 10^12, rounded up by at most one part. The bound is wrong with probability at most
/// `doubt_ppm`. For a mixture, it bounds the mean of the entries' probabilities, for any weights.
///
/// # Equation
/// With n samples per entry and doubt a:
/// - one entry: `p = 1 - a^(1/n)`, the least p with `(1 - p)^n <= a`;
/// - a mixture: `p = 1 - a^(1/n) n / (n + 1)`, about `(1 + ln(1/a)) / n` instead of `ln(1/a) / n`.
///
/// # Source
/// One entry: the maximum of n samples lies below the quantile q with probability at most `q^n`
/// (Stanovich, dissertation, equation 7.4.2.2). A mixture: own derivation,
/// `docs/theory/tolerance.md` section 28.
///
/// # Assumptions
/// The samples of an entry are independent, and the times in question come from the same
/// distribution. Samples of different entries may depend on each other. The weights of the mixture
/// do not depend on the samples.
///
/// # Panics
/// If there are no samples, or the doubt is not between 0 and 1.
///
/// # Complexity
/// 40 powers.
///
/// # Example
/// ```
/// use tidegate_stats::overrun_rate::{Entries, exceedance_ppt};
///
/// // 1 - 0.01^(1/1000) = 0.004594582648...
/// assert_eq!(exceedance_ppt(1_000, 10_000, Entries::One), 4_594_582_649);
/// ```
pub fn exceedance_ppt(samples: u64, doubt_ppm: u32, entries: Entries) -> u64 {
    assert!(samples > 0, "at least one sample is needed");
    assert!(0 < doubt_ppm && doubt_ppm < WHOLE_PPM, "a doubt must lie between 0 and 1");
    let samples = samples.min(SAMPLES_MAX);
    let doubt = share_floor(u64::from(doubt_ppm), u64::from(WHOLE_PPM));
    let is_enough = |ppt: u64| {
        let kept = share_ceil(WHOLE_PPT - ppt, WHOLE_PPT);
        let base = match entries {
            Entries::One => Some(kept),
            Entries::Mixture => {
                let more = kept * (u128::from(samples) + 1);
                let base = more.div_ceil(u128::from(samples));
                (base <= ONE).then_some(base)
            }
        };
        base.is_some_and(|base| power_ceil(base, samples) <= doubt)
    };
    let (mut too_small, mut enough) = (0, WHOLE_PPT);
    while too_small + 1 < enough {
        let middle = too_small + (enough - too_small) / 2;
        if is_enough(middle) {
            enough = middle;
        } else {
            too_small = middle;
        }
    }
    enough
}

/// Returns a lower bound on the mean time between two overruns if `times_per_megasecond` times are
/// compared with the table in 10^6 seconds; rounded down. `None` if none are compared.
///
/// # Panics
/// If the exceedance is 0.
pub fn interval(exceedance_ppt: u64, times_per_megasecond: u128) -> Option<Duration> {
    /// The number of nanoseconds in 10^6 seconds.
    const MEGASECOND_NS: u128 = 1_000_000_000_000_000;
    assert!(exceedance_ppt > 0, "an exceedance is never known to be 0");
    let rate = u128::from(exceedance_ppt).checked_mul(times_per_megasecond)?;
    // 10^27 fits into 128 bits.
    let ns = (MEGASECOND_NS * u128::from(WHOLE_PPT)).checked_div(rate)?;
    Some(Duration::from_ns(u64::try_from(ns).unwrap_or(u64::MAX)))
}

/// The number 1 in fixed-point arithmetic with 62 fractional bits.
const ONE: u128 = 1 << 62;

fn share_ceil(part: u64, whole: u64) -> u128 {
    (u128::from(part) << 62).div_ceil(u128::from(whole))
}

fn share_floor(part: u64, whole: u64) -> u128 {
    (u128::from(part) << 62) / u128::from(whole)
}

/// Returns an upper bound of `base^exponent` for a base of at most one, by repeated squaring. Each
/// product is rounded up.
fn power_ceil(mut base: u128, mut exponent: u64) -> u128 {
    let product = |a: u128, b: u128| (a * b).div_ceil(ONE);
    let mut power = ONE;
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = product(power, base);
        }
        base = product(base, base);
        exponent /= 2;
    }
    power
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;

    const DOUBT_PPM: u32 = 10_000;

    /// Computed by hand: 1 - 0.01^(1/2) = 0.9; a mixture with one sample: 1 - 0.01 / 2 = 0.995;
    /// with two: 1
    /// - 0.1 * 2/3. If the value is exact, rounding adds one part in 10^12.
    #[test]
    fn few_samples_as_by_hand() {
        let one = |samples| exceedance_ppt(samples, DOUBT_PPM, Entries::One);
        let mixture = |samples| exceedance_ppt(samples, DOUBT_PPM, Entries::Mixture);
        assert_eq!((one(1), one(2)), (990_000_000_001, 900_000_000_001));
        assert_eq!((mixture(1), mixture(2)), (995_000_000_001, 933_333_333_334));
    }

    /// The result is the value of the equation rounded up, compared with floats.
    #[test]
    fn the_bound_is_the_equation_rounded_up() {
        for samples in [3, 10, 100, 999, 1_000, 10_000, 72_704, 1_000_000_u32] {
            let n = f64::from(samples);
            let root = 0.01_f64.ln() / n;
            let exact = [-root.exp_m1(), -(root - (1.0 / n).ln_1p()).exp_m1()];
            for (entries, exact) in [Entries::One, Entries::Mixture].into_iter().zip(exact) {
                let ppt = exceedance_ppt(samples.into(), DOUBT_PPM, entries);
                let found = crate::float::of(ppt) / 1e12;
                assert!((found - exact).abs() <= 2e-12, "{samples} {entries:?}: {found} {exact}");
                assert!(found >= exact - 1e-15, "{samples} {entries:?}: rounded down");
            }
        }
    }

    #[test]
    fn more_samples_or_more_doubt_lower_the_bound() {
        for entries in [Entries::One, Entries::Mixture] {
            let of = |samples, doubt| exceedance_ppt(samples, doubt, entries);
            assert!(of(1_001, DOUBT_PPM) < of(1_000, DOUBT_PPM));
            assert!(of(1_000, 2 * DOUBT_PPM) < of(1_000, DOUBT_PPM));
            assert!(of(u64::MAX, DOUBT_PPM) >= 1);
        }
        let of = |entries| exceedance_ppt(1_000, DOUBT_PPM, entries);
        assert!(of(Entries::One) < of(Entries::Mixture));
    }

    #[test]
    fn intervals_are_rounded_down() {
        // At 120 times a second, an overrun rate of one in 1,000 means one every 8.333.. s.
        let interval_of = |rate| interval(1_000_000_000, rate);
        assert_eq!(interval_of(120_000_000), Some(Duration::from_ns(8_333_333_333)));
        assert_eq!(interval_of(0), None);
        assert_eq!(interval(1, 1), Some(Duration::MAX));
    }

    /// Goal: the claims are correct at least as often as they state, for one entry and for a
    /// mixture. Method: n samples of uniform distributions, whose maximum m is exceeded with
    /// probability 1 - m; mixtures of two and of eight entries. Canary: a quarter of the claim
    /// fails far more often.
    #[test]
    fn the_claims_hold_as_often_as_they_say() {
        const TRIALS: u32 = 4_000;
        let mut random = rand_pcg::Pcg64::seed_from_u64(28);
        for (entries, count) in [(Entries::One, 1), (Entries::Mixture, 2), (Entries::Mixture, 8)] {
            let samples = 40;
            let ppt = exceedance_ppt(samples, 50_000, entries);
            let claim = crate::float::of(ppt) / 1e12;
            let (mut wrong, mut wrong_canary) = (0, 0);
            for _ in 0..TRIALS {
                let exceeded: f64 = (0..count)
                    .map(|_| {
                        let times = (0..samples).map(|_| random.random_range(0.0..1.0_f64));
                        1.0 - times.fold(0.0, f64::max)
                    })
                    .sum();
                let mean = exceeded / f64::from(count);
                wrong += u32::from(mean > claim);
                wrong_canary += u32::from(mean > claim / 4.0);
            }
            // 5 % of 4,000 are 200, with a standard deviation of 14.
            assert!(wrong <= 256, "{entries:?} of {count}: {wrong} of {TRIALS} claims are wrong");
            assert!(wrong_canary > 400, "{entries:?} of {count}: {wrong_canary}");
        }
    }

    /// Goal: shows that the weights of a mixture must not depend on the samples. Method: the worst
    /// of 32 entries, chosen after seeing the samples, exceeds the claim far too often.
    #[test]
    fn weights_that_know_the_samples_are_not_covered() {
        let mut random = rand_pcg::Pcg64::seed_from_u64(29);
        let claim = crate::float::of(exceedance_ppt(40, 50_000, Entries::Mixture)) / 1e12;
        let worst = |random: &mut rand_pcg::Pcg64| {
            let max = |random: &mut rand_pcg::Pcg64| {
                (0..40).map(|_| random.random_range(0.0..1.0_f64)).fold(0.0, f64::max)
            };
            (0..32).map(|_| 1.0 - max(random)).fold(0.0, f64::max)
        };
        let wrong = (0..1_000).filter(|_| worst(&mut random) > claim).count();
        assert!(wrong > 200, "the assumption about weights does not matter: {wrong}");
    }
}
