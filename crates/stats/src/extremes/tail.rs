// SPDX-License-Identifier: Apache-2.0 OR MIT
//! An estimate of a tail, or the reason why there is none.
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

/// Fewer maxima than this are not fitted: three parameters take ten each.
pub const BLOCKS_MIN: u32 = 30;

/// Fewer excesses than this are not fitted: below, the shape is known to no better than 0.2.
pub const EXCESSES_MIN: u32 = 30;

/// Fewer different values than this, or fewer than half of all, are not fitted: the laws are
/// continuous, and a clock or a drive that rounds is not.
pub const DISTINCT_MIN: u32 = 20;

/// A shape so near to -1 was stopped by the edge of the search.
const EDGE: f64 = 0.01;

/// What one of the two ways says about a tail.
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use]
pub enum Tail {
    /// A law fits. What it says is an estimate.
    Fitted(Fit),
    /// There is no estimate.
    Refused(Fitted, Refusal),
}

/// To what a law is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fitted {
    /// To the maxima of blocks of so many samples; an incomplete last one is left out.
    Blocks {
        /// Samples in a block.
        block: u32,
        /// How many blocks there are.
        count: u32,
    },
    /// To excesses.
    Excesses {
        /// The quantile that is the threshold, in ppm.
        threshold_ppm: u32,
        /// The threshold.
        threshold: Duration,
        /// How many samples exceed it.
        count: u32,
    },
}

/// A law that fits, and what it says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// To what.
    pub fitted: Fitted,
    /// Of how many samples.
    pub samples: u32,
    /// mu for maxima, the threshold for excesses, in ns.
    pub location: f64,
    /// sigma, in ns.
    pub scale: f64,
    /// xi: below 0 the tail ends, above 0 it is heavy.
    pub shape: f64,
    /// How well it fits.
    pub goodness: Goodness,
    /// The probability for which a time is told.
    pub exceedance: f64,
    /// Between which times that one lies; `None` where that cannot be told.
    pub range: Option<LevelRange>,
}

/// Between which times an estimate lies, for the error of a sample: in 95 % of cases if the
/// samples follow the law. That they do not is no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LevelRange {
    /// Rounded down.
    pub low: Duration,
    /// Rounded up; `None` where there is no end, or no [`Duration`] holds it.
    pub high: Option<Duration>,
}

/// Why there is no estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Refusal {
    /// Too few maxima or excesses.
    TooFew {
        /// How many there are.
        count: u32,
        /// How many are needed.
        needed: u32,
    },
    /// Many times are the same.
    TooFewDistinct {
        /// How many different values there are.
        distinct: u32,
        /// Of how many.
        count: u32,
    },
    /// No parameters were found.
    NoFit,
    /// The likelihood grows without end as the end of the tail nears the longest time.
    NoLikeliest {
        /// xi where the search was stopped.
        shape: f64,
    },
    /// The tail is so heavy that not even its mean is finite.
    NoMean {
        /// xi.
        shape: f64,
    },
    /// A time that was measured is beyond the end of the fitted tail.
    BeyondEnd {
        /// The longest time.
        highest: Duration,
        /// The end.
        end: Duration,
    },
    /// The samples do not look like the law.
    PoorFit(Goodness),
}

impl Tail {
    /// The time that a sample is estimated to exceed with the probability asked for.
    pub fn level(&self) -> Option<Duration> {
        match self {
            Self::Fitted(fit) => fit.level(fit.exceedance),
            Self::Refused(..) => None,
        }
    }
}

impl Fit {
    /// The time that one sample is estimated to exceed with probability `exceedance`, rounded
    /// up; `None` where that is not in the tail that was fitted, or no [`Duration`] holds it.
    ///
    /// # Equation
    /// Maxima of m: `G(x) = (1 - p)^m`. Excesses of a share s over u: `1 - H(x - u) = p / s`.
    ///
    /// # Panics
    /// When the probability does not lie between 0 and 1.
    pub fn level(&self, exceedance: f64) -> Option<Duration> {
        assert!(0.0 < exceedance && exceedance < 1.0, "a probability lies between 0 and 1");
        let level =
            self.location + self.scale * stretched(self.reduced_of(exceedance)?, self.shape);
        float::duration_ceil(level)
    }

    /// The reduced variable of that time.
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

    /// The range of the time that is told. `law` is of excesses, or of maxima themselves.
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

    /// Where the tail is estimated to end, rounded up; `None` where it does not.
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

    /// The reasons that can be seen without the test.
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

/// By the maxima of blocks of `block` samples, in the order in which they were taken.
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

/// By the excesses over the quantile `threshold_ppm`.
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

/// What one way starts from.
struct Attempt<'a> {
    times: &'a [Duration],
    fitted: Fitted,
    exceedance: f64,
    needed: u32,
}

impl Attempt<'_> {
    /// The whole way, drawn above. `extremes` and `values` are the same, ascending.
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
            // Until it is assessed, which takes longest and so comes last.
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

    /// The reasons that can be seen without a fit.
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

/// How many samples there are; more than 2^32 of them nobody measures.
fn count(times: &[Duration]) -> u32 {
    u32::try_from(times.len()).expect("fewer samples than 2^32")
}
