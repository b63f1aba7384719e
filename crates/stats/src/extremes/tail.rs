// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Estimates a tail, or gives the reason why there is no estimate.
//!
//! ```text
//! samples -> enough? -> distinct? -> fit -> shape? -> end beyond all samples? -> test -> range -> Fitted
//!               |           |         |       |                |                   |
//!               +-----------+---------+-------+----------------+-------------------+-> Refused
//! ```

use std::collections::BTreeSet;

use rand_pcg::Pcg64;
use tidegate_model::Duration;

use crate::extremes::goodness::{self, Goodness, Replicate};
use crate::extremes::law::{Law, SHAPE_MIN, stretched};
use crate::extremes::{Gev, Gpd, range};
use crate::float;
use crate::order_statistics::quantile;

/// The smallest number of maxima to which a law is fitted: each of the three parameters needs ten.
pub const BLOCKS_MIN: u32 = 30;

/// The smallest number of excesses to which a law is fitted: with fewer, the uncertainty of the
/// shape exceeds 0.2.
pub const EXCESSES_MIN: u32 = 30;

/// The smallest number of distinct values to which a law is fitted; at least half of all values
/// must also be distinct. The laws are continuous, but the times of a coarse clock or a rounding
/// drive are not.
pub const DISTINCT_MIN: u32 = 20;

/// A shape this close to -1 means that the search stopped at the limit of its range.
const EDGE: f64 = 0.01;

/// The result of one of the two methods for a tail.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub enum Tail {
    /// A law fits; its figures are estimates.
    Fitted(Fit),
    /// There is no estimate.
    Refused(Fitted, Refusal),
}

/// The data to which a law is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitted {
    /// The maxima of blocks; an incomplete last block is omitted.
    Blocks {
        /// The number of samples in a block.
        block: u32,
        /// The number of blocks.
        count: u32,
    },
    /// The excesses over a threshold.
    Excesses {
        /// The level of the threshold, in ppm of the samples.
        threshold_ppm: u32,
        /// The threshold.
        threshold: Duration,
        /// The number of samples above the threshold.
        count: u32,
    },
}

/// A law that fits, and its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The data to which it is fitted.
    pub fitted: Fitted,
    /// The number of all samples.
    pub samples: u32,
    /// The location of the law in ns: mu for maxima, the threshold for excesses.
    pub location: f64,
    /// sigma, in ns.
    pub scale: f64,
    /// xi: if below 0, the tail ends; if above 0, the tail is heavy.
    pub shape: f64,
    /// How well the law fits.
    pub goodness: Goodness,
    /// The probability with which a sample exceeds the estimated time.
    pub exceedance: f64,
    /// The range of the estimated time; `None` if it cannot be determined.
    pub range: Option<LevelRange>,
}

/// The range of an estimate due to sampling error. It contains the true level in 95 % of cases if
/// the samples follow the law, and says nothing about other samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelRange {
    /// The lower end, rounded down.
    pub low: Duration,
    /// The upper end, rounded up; `None` if there is none, or no [`Duration`] can represent it.
    pub high: Option<Duration>,
}

/// The reason why there is no estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// There are too few maxima or excesses.
    TooFew {
        /// The number of maxima or excesses.
        count: u32,
        /// The number that is needed.
        needed: u32,
    },
    /// Too many samples are equal.
    TooFewDistinct {
        /// The number of distinct values.
        distinct: u32,
        /// The number of values.
        count: u32,
    },
    /// The search found no parameters of the law.
    NoFit,
    /// The likelihood grows without bound as the end of the tail approaches the longest time.
    NoLikeliest {
        /// The xi at which the search stopped.
        shape: f64,
    },
    /// The tail is so heavy that its mean is infinite.
    NoMean {
        /// xi.
        shape: f64,
    },
    /// A measured time is beyond the end of the fitted tail.
    BeyondEnd {
        /// The longest measured time.
        highest: Duration,
        /// The end of the fitted tail.
        end: Duration,
    },
    /// The samples do not follow the law.
    PoorFit(Goodness),
}

impl Refusal {
    /// Returns the identifier for programs.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TooFew { .. } => "too_few",
            Self::TooFewDistinct { .. } => "too_few_distinct",
            Self::NoFit => "no_fit",
            Self::NoLikeliest { .. } => "no_likeliest",
            Self::NoMean { .. } => "no_mean",
            Self::BeyondEnd { .. } => "beyond_end",
            Self::PoorFit(_) => "poor_fit",
        }
    }
}

impl Tail {
    /// Returns the time that a sample is estimated to exceed with the requested probability.
    pub fn level(&self) -> Option<Duration> {
        match self {
            Self::Fitted(fit) => fit.level(fit.exceedance),
            Self::Refused(..) => None,
        }
    }
}

impl Fit {
    /// Returns the time that one sample is estimated to exceed with probability `exceedance`,
    /// rounded up. `None` if it is outside the fitted tail, or no [`Duration`] can represent it.
    ///
    /// # Equation
    /// Maxima of m samples: `G(x) = (1 - p)^m`. Excesses of a share s over u:
    /// `1 - H(x - u) = p / s`.
    ///
    /// # Panics
    /// If the probability is not between 0 and 1.
    pub fn level(&self, exceedance: f64) -> Option<Duration> {
        assert!(0.0 < exceedance && exceedance < 1.0, "a probability must lie between 0 and 1");
        let level =
            self.location + self.scale * stretched(self.reduced_of(exceedance)?, self.shape);
        float::duration_ceil(level)
    }

    /// Returns the reduced variable of the time that one sample exceeds with probability
    /// `exceedance`; `None` if it is outside the fitted tail.
    fn reduced_of(&self, exceedance: f64) -> Option<f64> {
        match self.fitted {
            Fitted::Blocks { block, .. } => {
                let is_in_tail = exceedance * f64::from(block) <= 1.0;
                is_in_tail.then(|| Gev::reduced_of(exceedance, block))
            }
            Fitted::Excesses { count, .. } => {
                let share = f64::from(count) / f64::from(self.samples);
                let beyond = exceedance / share;
                (beyond < 1.0).then(|| -beyond.ln())
            }
        }
    }

    /// Returns the range of the estimated time. `law` describes the excesses, or the maxima
    /// themselves.
    fn range<L: Law>(
        &self,
        law: &L,
        values: &[f64],
        replicates: &[Replicate<L>],
    ) -> Option<LevelRange> {
        let origin = self.location - law.location();
        let reduced = self.reduced_of(self.exceedance)?;
        let (low, high) = range::of(law, values, replicates, reduced)?;
        let low = float::duration_ceil((origin + low).floor())?;
        let high = high.and_then(|high| float::duration_ceil(origin + high));
        Some(LevelRange { low, high })
    }

    /// Returns the estimated end point of the tail, rounded up; `None` if the tail has no end.
    pub fn end_point(&self) -> Option<Duration> {
        let end = match self.fitted {
            Fitted::Blocks { .. } => self.gev().end_point(),
            Fitted::Excesses { .. } => self.gpd().end_point().map(|end| self.location + end),
        };
        float::duration_ceil(end?)
    }

    fn gev(&self) -> Gev {
        Gev { location: self.location, scale: self.scale, shape: self.shape }
    }

    fn gpd(&self) -> Gpd {
        Gpd { scale: self.scale, shape: self.shape }
    }

    /// Returns a reason to refuse the fit that follows from its parameters, if there is one.
    fn implausible(&self, highest: Duration) -> Option<Refusal> {
        if self.shape < SHAPE_MIN + EDGE {
            return Some(Refusal::NoLikeliest { shape: self.shape });
        }
        if self.shape >= 1.0 {
            return Some(Refusal::NoMean { shape: self.shape });
        }
        let end = self.end_point().filter(|&end| end < highest)?;
        Some(Refusal::BeyondEnd { highest, end })
    }
}

/// Estimates the tail from the maxima of blocks of `block` samples, in the order in which they were
/// taken.
pub(super) fn of_blocks(
    times: &[Duration],
    block: u32,
    exceedance: f64,
    random: &mut Pcg64,
) -> Tail {
    let length = usize::try_from(block).expect("a block fits");
    let maxima = times.chunks_exact(length).filter_map(|block| block.iter().max().copied());
    let mut maxima: Vec<Duration> = maxima.collect();
    maxima.sort_unstable();
    let fitted = Fitted::Blocks { block, count: count(&maxima) };
    let values: Vec<f64> = maxima.iter().map(|time| float::of(time.ns())).collect();
    let attempt = Attempt { times, fitted, exceedance, needed: BLOCKS_MIN };
    attempt.tail(&maxima, &values, random, |law: &Gev| (law.location, law.scale, law.shape))
}

/// Estimates the tail from the excesses over the quantile `threshold_ppm`.
pub(super) fn of_excesses(
    times: &[Duration],
    threshold_ppm: u32,
    exceedance: f64,
    random: &mut Pcg64,
) -> Tail {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let threshold =
        if sorted.is_empty() { Duration::default() } else { quantile(&sorted, threshold_ppm) };
    let above = &sorted[sorted.partition_point(|&time| time <= threshold)..];
    let fitted = Fitted::Excesses { threshold_ppm, threshold, count: count(above) };
    let values: Vec<f64> = above.iter().map(|&time| float::of((time - threshold).ns())).collect();
    let attempt = Attempt { times, fitted, exceedance, needed: EXCESSES_MIN };
    let location = float::of(threshold.ns());
    attempt.tail(above, &values, random, |law: &Gpd| (location, law.scale, law.shape))
}

/// The input for one of the two methods.
struct Attempt<'a> {
    times: &'a [Duration],
    fitted: Fitted,
    exceedance: f64,
    needed: u32,
}

impl Attempt<'_> {
    /// Runs the steps in the diagram at the top. `extremes` and `values` hold the same values, in
    /// ascending order.
    fn tail<L: Law>(
        &self,
        extremes: &[Duration],
        values: &[f64],
        random: &mut Pcg64,
        parameters: impl Fn(&L) -> (f64, f64, f64),
    ) -> Tail {
        let refused = |refusal| Tail::Refused(self.fitted, refusal);
        if let Some(refusal) = self.unfit(extremes) {
            return refused(refusal);
        }
        let Some(law) = L::fitted(values) else { return refused(Refusal::NoFit) };
        let (location, scale, shape) = parameters(&law);
        let mut fit = Fit {
            fitted: self.fitted,
            samples: count(self.times),
            location,
            scale,
            shape,
            // A placeholder: the assessment takes longest, so it comes last.
            goodness: Goodness { statistic: 0.0, p: 1.0 },
            exceedance: self.exceedance,
            range: None,
        };
        let highest = self.times.iter().max().copied().unwrap_or_default();
        if let Some(refusal) = fit.implausible(highest) {
            return refused(refusal);
        }
        let replicates = goodness::replicates(&law, values.len(), random);
        fit.goodness = goodness::assess(&law, values, &replicates);
        if fit.goodness.is_poor() {
            return refused(Refusal::PoorFit(fit.goodness));
        }
        fit.range = fit.range(&law, values, &replicates);
        Tail::Fitted(fit)
    }

    /// Returns a reason for refusal that needs no fit, if there is one.
    fn unfit(&self, extremes: &[Duration]) -> Option<Refusal> {
        let (count, needed) = (count(extremes), self.needed);
        if count < needed {
            return Some(Refusal::TooFew { count, needed });
        }
        let distinct = u32::try_from(extremes.iter().collect::<BTreeSet<_>>().len()).ok()?;
        let is_discrete = distinct < DISTINCT_MIN || distinct < count.div_ceil(2);
        is_discrete.then_some(Refusal::TooFewDistinct { distinct, count })
    }
}

/// Returns the number of samples; no measurement has more than 2^32.
fn count(times: &[Duration]) -> u32 {
    u32::try_from(times.len()).expect("fewer samples than 2^32")
}
