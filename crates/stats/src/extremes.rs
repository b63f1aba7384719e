// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Extreme values: estimates how long an unmeasured time can be if it comes from the same
//! distribution as the measured ones. The result is an estimate, never a bound.
//!
//! Two methods are applied: maxima of blocks of samples tend to a generalised extreme-value
//! distribution, and excesses over a high threshold tend to a generalised Pareto distribution. A
//! test checks whether the samples are close enough to that limit; if not, there is a reason
//! instead of an estimate. The dissertation's figure 7.7 shows the consequence of omitting the
//! test: a hard disk's times were longer than a fitted, untested Gumbel distribution predicted.
//!
//! Source: S. Coles, "An Introduction to Statistical Modeling of Extreme Values", 2001, chapters
//! 3 and 4; on execution times J. Hansen, S. Hissam, G. Moreno, "Statistical-based WCET
//! estimation and validation", 2009, which the dissertation applies in 7.4.2.

use std::fmt;

use rand::SeedableRng as _;
use rand_pcg::Pcg64;
use tidegate_model::Duration;

use crate::float;

mod gev;
mod goodness;
mod gpd;
mod law;
mod range;
mod search;
mod sentences;
mod tail;

pub use gev::Gev;
pub use goodness::{Goodness, REPLICATES, SIGNIFICANCE};
pub use gpd::Gpd;
pub use range::RANGE_CONFIDENCE;
pub use tail::{BLOCKS_MIN, DISTINCT_MIN, EXCESSES_MIN, Fit, Fitted, LevelRange, Refusal, Tail};

/// The share by which the longer of two estimates must exceed the shorter for the two to disagree.
pub const DISAGREEMENT: f64 = 0.2;

/// The lowest default threshold, in ppm of the samples: it leaves the highest twentieth.
const THRESHOLD_PPM_MIN: u32 = 950_000;

/// The maximum number of excesses that the default threshold leaves. With more samples, a higher
/// threshold, which is nearer to the limit that the theory needs, is better than more excesses.
const EXCESSES_MAX: u64 = 1_000;

/// The parameters of the estimate of a tail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TailParams {
    /// The number of samples in a block; `None` for the square root of the number of samples. More
    /// samples then give both larger blocks, which the theory needs, and more blocks, which the fit
    /// needs.
    pub block: Option<u32>,
    /// The level of the threshold, in ppm of the samples; `None` for 95 %, or for a higher level
    /// that leaves at most 1,000 excesses.
    pub threshold_ppm: Option<u32>,
    /// The probability with which one sample exceeds the estimated time; `None` for one in the
    /// number of samples, see [`Tails::estimate`].
    pub exceedance: Option<f64>,
    /// The seed of the replicates that test the fits.
    pub seed: u64,
}

/// Chooses all parameters by the number of samples.
impl Default for TailParams {
    fn default() -> Self {
        Self { block: None, threshold_ppm: None, exceedance: None, seed: 0 }
    }
}

/// The results of both methods for the tail of some samples.
///
/// # Example
/// ```
/// use tidegate_stats::extremes::{TailParams, Tails};
/// use tidegate_model::Duration;
///
/// // Twenty samples say nothing about what is beyond them.
/// let times: Vec<_> = (1..=20).map(Duration::from_ms).collect();
/// let tails = Tails::estimate(&times, &TailParams::default());
/// assert!(tails.to_string().contains("no estimate"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tails {
    /// The estimate from the maxima of blocks.
    pub blocks: Tail,
    /// The estimate from the excesses over a threshold.
    pub excesses: Tail,
}

impl Tails {
    /// Returns whether both methods have too few values.
    pub fn is_too_few(&self) -> bool {
        let is_it = |tail: &Tail| matches!(tail, Tail::Refused(_, Refusal::TooFew { .. }));
        is_it(&self.blocks) && is_it(&self.excesses)
    }

    /// Estimates the tail of `times`, given in the order in which they were taken.
    ///
    /// The default level is one in n, as rare as the longest of n samples. Its range is the 95 %
    /// profile-likelihood range, calibrated by the replicates. It was checked on the seven built-in
    /// mechanical drives. With 100 sets of 1,000 single reads on each, the level that 1 in 1,000 of
    /// 2,000,000 reads exceeded was above 35 and below 15 of 1,347 ranges, so 96 % contained it.
    /// The point estimate alone was too low in 67 % of cases. With 16 sets of 10,000 reads on each
    /// of six drives, 166 of 180 ranges (92 %) contained the level of 1 in 10,000.
    ///
    /// Rarer levels are estimated only on request: an event rarer than one in n was probably not
    /// observed, and then no range computed from the samples contains its time. One of the drives
    /// occasionally retries a read: 1 in 10,000 of its reads takes longer than 14.4 ms, and 1 in
    /// 100,000 longer than 26 ms. Computed from 10,000 reads, the range of the latter was too low
    /// in 28 of 28 cases. On drives without this behaviour, ranges for one in 10 n are as good as
    /// those for one in n.
    ///
    /// For the level of 1 in 10,000, estimated from 1,000 reads, a simpler range (the quantiles of
    /// the replicates' levels) contained the level in only 322 of 480 cases, and the calibrated
    /// likelihood range in 456.
    ///
    /// # Assumptions
    /// Samples are independent and from one distribution: [`crate::drift`] and
    /// [`crate::independence`] detect some violations. Beyond the samples, both laws are valid only
    /// in the limit of large blocks and high thresholds; the goodness test sees only the samples.
    ///
    /// # Panics
    /// If the exceedance is not between 0 and 1, a block is empty, or the threshold is above a
    /// million ppm.
    ///
    /// # Complexity
    /// O(n log n), plus 200 fits each to about root n maxima and to at most 1,000 excesses, twice
    /// if a law fits: up to about 4 s.
    pub fn estimate(times: &[Duration], params: &TailParams) -> Self {
        let exceedance = params.exceedance.unwrap_or_else(|| default_exceedance(times.len()));
        assert!(0.0 < exceedance && exceedance < 1.0, "a probability must lie between 0 and 1");
        let block = params.block.unwrap_or_else(|| default_block(times.len()));
        let threshold_ppm =
            params.threshold_ppm.unwrap_or_else(|| default_threshold_ppm(times.len()));
        let mut random = Pcg64::seed_from_u64(params.seed);
        Self {
            blocks: tail::of_blocks(times, block, exceedance, &mut random),
            excesses: tail::of_excesses(times, threshold_ppm, exceedance, &mut random),
        }
    }

    /// Returns both estimates, the shorter first, if they differ by more than [`DISAGREEMENT`].
    pub fn disagreement(&self) -> Option<(Duration, Duration)> {
        let (blocks, excesses) = (self.blocks.level()?, self.excesses.level()?);
        let (shorter, longer) = (blocks.min(excesses), blocks.max(excesses));
        let is_apart = float::of(longer.ns()) > (1.0 + DISAGREEMENT) * float::of(shorter.ns());
        is_apart.then_some((shorter, longer))
    }
}

/// Returns the default exceedance: one in the number of samples, but at most one in two.
fn default_exceedance(samples: usize) -> f64 {
    1.0 / float::of_length(samples.max(2))
}

/// Returns the largest block size that leaves at least as many blocks as a block has samples; at
/// least one.
fn default_block(samples: usize) -> u32 {
    u32::try_from(samples.isqrt()).unwrap_or(u32::MAX).max(1)
}

/// Returns the level, in ppm, above which a twentieth of the samples or [`EXCESSES_MAX`] samples
/// remain, whichever is fewer.
fn default_threshold_ppm(samples: usize) -> u32 {
    let samples = u64::try_from(samples).expect("a length fits");
    let above_ppm = (EXCESSES_MAX * 1_000_000).checked_div(samples).unwrap_or(1_000_000);
    let above_ppm = u32::try_from(above_ppm.min(1_000_000)).expect("a million fits");
    THRESHOLD_PPM_MIN.max(1_000_000 - above_ppm)
}

/// Writes one sentence for each method, and one more if they disagree.
impl fmt::Display for Tails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.blocks, self.excesses)?;
        if let Some((shorter, longer)) = self.disagreement() {
            let (shorter, longer) = (sentences::told(shorter), sentences::told(longer));
            write!(f, "; the two estimates disagree ({shorter} and {longer}): trust neither")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_thresholds_suit_the_number_of_samples() {
        assert_eq!([0, 1, 1_000, 100_000].map(default_block), [1, 1, 31, 316]);
        let thresholds = [0, 1_000, 20_000, 100_000, 1_000_000].map(default_threshold_ppm);
        assert_eq!(thresholds, [950_000, 950_000, 950_000, 990_000, 999_000]);
    }
}
