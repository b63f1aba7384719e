// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts response times in fixed classes: exactly, and for services that run for any length of
//! time.
//!
//! `Distribution` has fine quantiles but 32-bit counters. Fixed classes can be summed over days and
//! over services.

use tidegate_model::Duration;

/// The upper limit of each class in microseconds; the last class has no limit.
const LIMITS_US: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];

/// Response times, counted in classes, and their sum.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResponseCounts {
    counts: [u64; LIMITS_US.len() + 1],
    sum: Duration,
}

impl ResponseCounts {
    /// Counts a response time.
    pub fn record(&mut self, time: Duration) {
        let class = LIMITS_US.partition_point(|&us| Duration::from_us(us) < time);
        self.counts[class] += 1;
        // The sum saturates after 584 years of response time, which does no harm.
        self.sum = Duration::from_ns(self.sum.ns().saturating_add(time.ns()));
    }

    /// Returns the number of response times.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the sum of all response times.
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// Returns each class: its upper limit (`None` for the last), and the number of response times
    /// above the previous class's limit that do not exceed this one.
    pub fn classes(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        let limits = LIMITS_US.iter().map(|&us| Some(Duration::from_us(us))).chain([None]);
        limits.zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_falls_into_the_first_class_that_holds_it() {
        let mut counts = ResponseCounts::default();
        for us in [0, 100, 250, 251, 10_000_000, 10_000_001] {
            counts.record(Duration::from_us(us));
        }
        counts.record(Duration::from_ns(100_001));
        let filled: Vec<_> = counts.classes().filter(|(_, count)| *count > 0).collect();
        let at = |us| Some(Duration::from_us(us));
        let expected = [(at(100), 2), (at(250), 2), (at(500), 1), (at(10_000_000), 1), (None, 1)];
        assert_eq!(filled, expected);
        assert_eq!((counts.count(), counts.sum().ns()), (7, 20_000_702_001));
    }
}
