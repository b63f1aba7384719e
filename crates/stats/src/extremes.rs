// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Extreme values: how long a time that was not measured may be, if it comes from the same
//! distribution as those that were. An estimate, never a bound.
//!
//! Two ways lead there and both are taken: the maxima of blocks of samples tend to a generalised
//! extreme-value distribution, the excesses over a high threshold to a generalised Pareto
//! distribution. Whether they have come near enough is tested; where they have not, there is no
//! estimate but a reason. The dissertation shows in figure 7.7 what happens without: the
//! times of a hard disk were longer than a Gumbel distribution, fitted and not tested, foretold.
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

/// Two estimates differ by a lot when the longer is longer by more than a fifth.
pub const DISAGREEMENT: f64 = 0.2;

/// The least threshold that is chosen by itself, in ppm of the samples: the highest twentieth.
const THRESHOLD_PPM_MIN: u32 = 950_000;

/// The most excesses that are used when the threshold is chosen by itself: beyond that a higher
/// threshold, nearer to what the theory needs, serves better than more of them.
const EXCESSES_MAX: u64 = 1_000;

/// How a tail is estimated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TailParams {
    /// Samples in a block; `None` for the root of their number, so that with more samples both
    /// the blocks grow, which the theory needs, and their number, which the fit needs.
    pub block: Option<u32>,
    /// The quantile that is the threshold, in ppm; `None` for 95 %, or a higher one of which no
    /// more than 1,000 samples are excesses.
    pub threshold_ppm: Option<u32>,
    /// A time is told that one sample exceeds with this probability; `None` for one in the
    /// number of samples, see [`Tails::estimate`].
    pub exceedance: Option<f64>,
    /// Of the replicates by which the fits are tested.
    pub seed: u64,
}

/// All as suits the number of samples.
impl Default for TailParams {
    fn default() -> Self {
        Self { block: None, threshold_ppm: None, exceedance: None, seed: 0 }
    }
}

/// What both ways say about the tail of some samples.
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
    /// By the maxima of blocks.
    pub blocks: Tail,
    /// By the excesses over a threshold.
    pub excesses: Tail,
}

impl Tails {
    /// Whether there are too few samples for either law to be tried.
    pub fn is_too_few(&self) -> bool {
        let is_it = |tail: &Tail| matches!(tail, Tail::Refused(_, Refusal::TooFew { .. }));
        is_it(&self.blocks) && is_it(&self.excesses)
    }

    /// Estimates the tail of `times`, which stand in the order in which they were taken.
    ///
    /// The level that is told is one in n, as rare as the longest of n samples, with a range of
    /// 95 % by profile likelihood, calibrated by the replicates. From 1,000 single reads each,
    /// 100 times, of the seven mechanical drives that are built in, the level that 1 in 1,000 of
    /// 2,000,000 reads exceeded lay above 35 and below 15 of 1,347 ranges: 96 % hold it. The
    /// level alone was too low in 67 %. From 10,000 reads each, 16 times, of six of them, 166 of
    /// 180 ranges held the level of 1 in 10,000: 92 %.
    ///
    /// No rarer level is told unless it is asked for: what is rarer than one in n was probably
    /// never seen, and no range that is computed from the samples holds it. One of the drives
    /// reads again now and then: 1 in 10,000 of its reads takes longer than 14.4 ms, 1 in 100,000
    /// longer than 26 ms. From 10,000 reads the range of the latter ended too low in 28 of 28
    /// cases. On drives without such a habit ranges for 10 n hold as well as for n.
    ///
    /// The quantiles of the levels of the replicates, a simpler range, held 1 in 10,000 from
    /// 1,000 reads in only 322 of 480 cases, where the calibrated likelihood held it in 456.
    ///
    /// # Assumptions
    /// Samples are independent and of one distribution: [`crate::drift`] and
    /// [`crate::independence`] look for some ways in which they are not. What both laws say
    /// beyond the samples holds in the limit of large blocks and high thresholds; the test of
    /// the fit sees only the samples.
    ///
    /// # Panics
    /// When the exceedance does not lie between 0 and 1, a block is empty or the threshold is
    /// above a million ppm.
    ///
    /// # Complexity
    /// O(n log n), and 200 fits each to about root n maxima and to at most 1,000 excesses, twice
    /// where a law fits: up to about 4 s.
    pub fn estimate(times: &[Duration], params: &TailParams) -> Self {
        let exceedance = params.exceedance.unwrap_or_else(|| default_exceedance(times.len()));
        assert!(0.0 < exceedance && exceedance < 1.0, "a probability lies between 0 and 1");
        let block = params.block.unwrap_or_else(|| default_block(times.len()));
        let threshold_ppm =
            params.threshold_ppm.unwrap_or_else(|| default_threshold_ppm(times.len()));
        let mut random = Pcg64::seed_from_u64(params.seed);
        Self {
            blocks: tail::of_blocks(times, block, exceedance, &mut random),
            excesses: tail::of_excesses(times, threshold_ppm, exceedance, &mut random),
        }
    }

    /// The two times, the shorter first, where both ways give one and they differ by more than
    /// [`DISAGREEMENT`].
    pub fn disagreement(&self) -> Option<(Duration, Duration)> {
        let (blocks, excesses) = (self.blocks.level()?, self.excesses.level()?);
        let (shorter, longer) = (blocks.min(excesses), blocks.max(excesses));
        let is_apart = float::of(longer.ns()) > (1.0 + DISAGREEMENT) * float::of(shorter.ns());
        is_apart.then_some((shorter, longer))
    }
}

/// As rare as the longest of the samples; of one alone there is no tail.
fn default_exceedance(samples: usize) -> f64 {
    1.0 / float::of_length(samples.max(2))
}

/// The largest block of which there are as many as samples in it; one at least.
fn default_block(samples: usize) -> u32 {
    u32::try_from(samples.isqrt()).unwrap_or(u32::MAX).max(1)
}

/// The quantile above which there is a twentieth of the samples, or [`EXCESSES_MAX`] of them.
fn default_threshold_ppm(samples: usize) -> u32 {
    let samples = u64::try_from(samples).expect("a length fits");
    let above_ppm = (EXCESSES_MAX * 1_000_000).checked_div(samples).unwrap_or(1_000_000);
    let above_ppm = u32::try_from(above_ppm.min(1_000_000)).expect("a million fits");
    THRESHOLD_PPM_MIN.max(1_000_000 - above_ppm)
}

/// One sentence for each way, and one more where they disagree.
impl fmt::Display for Tails {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.blocks, self.excesses)?;
        if let Some((shorter, longer)) = self.disagreement() {
            let (shorter, longer) = (sentences::told(shorter), sentences::told(longer));
            write!(f, "; the two disagree ({shorter} and {longer}): trust neither")?;
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
