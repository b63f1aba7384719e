// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Response times counted in classes, exactly and for as long as a service runs.
//!
//! Beside `Distribution`, whose quantiles are fine and whose counters have 32 bits: classes that
//! never change can be added up over days and over services.

use tidegate_model::Duration;

/// The longest time of each class but the last, which has none.
const LIMITS_US: [u64; 16] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 2_500_000, 5_000_000, 10_000_000,
];

/// See the module's text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResponseCounts {
    counts: [u64; LIMITS_US.len() + 1],
    sum: Duration,
}

impl ResponseCounts {
    /// Takes note of a time.
    pub fn record(&mut self, time: Duration) {
        let class = LIMITS_US.partition_point(|&us| Duration::from_us(us) < time);
        self.counts[class] += 1;
        // Saturating: 584 years of waiting, and a sum that stands still breaks nothing.
        self.sum = Duration::from_ns(self.sum.ns().saturating_add(time.ns()));
    }

    /// How many were recorded.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// All of them together.
    pub fn sum(&self) -> Duration {
        self.sum
    }

    /// Each class: its longest time, none of the last, and how many fell into it and into no
    /// shorter one.
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
