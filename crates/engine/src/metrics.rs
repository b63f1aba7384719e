// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Distributions of times: exact least, greatest and mean, quantiles from a histogram.
//!
//! The histogram has its whole memory from the start, so that recording takes none. It
//! resolves three digits up to an hour; what is longer counts as an hour in quantiles, and
//! exactly in the mean and the maximum.

use hdrhistogram::Histogram;
use model::Duration;

/// The longest time that quantiles tell from longer ones.
const RESOLVED_MAX: Duration = Duration::from_ms(3_600_000);

/// Digits that quantiles resolve.
const DIGITS: u8 = 3;

/// Times that were recorded.
#[derive(Debug)]
pub(crate) struct Distribution {
    /// Counters of 32 bits: 4 billion equal times are more than a run has.
    histogram: Histogram<u32>,
    count: u64,
    sum_ns: u128,
    lowest: Duration,
    highest: Duration,
}

/// What is told of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// How many times were recorded.
    pub count: u64,
    /// The least, exactly.
    pub min: Duration,
    /// The mean, rounded down to a nanosecond.
    pub mean: Duration,
    /// The median, to three digits.
    pub p50: Duration,
    /// 99 % are at most this, to three digits.
    pub p99: Duration,
    /// 99.9 % are at most this, to three digits.
    pub p999: Duration,
    /// The greatest, exactly.
    pub max: Duration,
}

impl Distribution {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, RESOLVED_MAX.ns(), DIGITS);
        Self {
            histogram: histogram.expect("bounds and digits that the histogram allows"),
            count: 0,
            sum_ns: 0,
            lowest: Duration::MAX,
            highest: Duration::ZERO,
        }
    }

    /// Records one time.
    pub(crate) fn record(&mut self, time: Duration) {
        self.histogram.saturating_record(time.ns());
        self.count += 1;
        self.sum_ns += u128::from(time.ns());
        self.lowest = self.lowest.min(time);
        self.highest = self.highest.max(time);
    }

    /// What was recorded; `None` if nothing was.
    pub(crate) fn summary(&self) -> Option<Summary> {
        if self.count == 0 {
            return None;
        }
        let mean_ns = self.sum_ns / u128::from(self.count);
        Some(Summary {
            count: self.count,
            min: self.lowest,
            mean: Duration::from_ns(u64::try_from(mean_ns).expect("the mean of times of 64 bits")),
            p50: self.quantile(0.5),
            p99: self.quantile(0.99),
            p999: self.quantile(0.999),
            max: self.highest,
        })
    }

    /// The upper edge of the histogram's step, so that quantiles err to the long side, but
    /// never beyond what was seen.
    fn quantile(&self, share: f64) -> Duration {
        let edge = Duration::from_ns(self.histogram.value_at_quantile(share));
        edge.clamp(self.lowest, self.highest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_is_exact_at_the_ends_and_in_the_mean() {
        let mut distribution = Distribution::new();
        assert_eq!(distribution.summary(), None);
        for us in 1..=1000 {
            distribution.record(Duration::from_us(us));
        }
        distribution.record(Duration::from_ms(7_200_000));
        let summary = distribution.summary().unwrap();
        assert_eq!(summary.count, 1001);
        assert_eq!(
            (summary.min, summary.max),
            (Duration::from_us(1), Duration::from_ms(7_200_000))
        );
        assert_eq!(summary.mean.ns(), (500_500_000 + 7_200_000_000_000) / 1001);
        let near = |found: Duration, us: u64| found.ns().abs_diff(us * 1000) <= us;
        assert!(near(summary.p50, 501) && near(summary.p99, 991) && near(summary.p999, 1000));
    }
}
