// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Distributions of times with exact count, extremes and mean, and with quantiles to three digits.
//!
//! # Memory
//! ```text
//!   AsNeeded    up to 64 times    at most 512 bytes: the times themselves
//!               more              4 KiB for each doubling of the longest above 1 us:
//!                                 80 KiB up to 0.5 s, 130 KiB up to an hour
//!   Beforehand                    132 KiB at once, and recording takes none
//! ```
//! A hundred thousand tasks with a few jobs each need little more memory than their names.

use hdrhistogram::Histogram;
use tidegate_model::Duration;

/// The choice of when a run allocates its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// Allocates during the run, only as much as it needs.
    AsNeeded,
    /// Allocates before the first release, so that nothing is allocated while deadlines pass.
    /// Allocation can still occur if more requests are outstanding than in any workload that the
    /// device can serve.
    Beforehand,
}

/// The number of digits that quantiles resolve.
const DIGITS: u8 = 3;

/// The longest time that quantiles resolve if memory is allocated beforehand: one hour.
const RESOLVED_MAX: Duration = Duration::from_ms(3_600_000);

/// The largest number of times that are kept individually; with more, a histogram replaces them.
const FEW_MAX: usize = 64;

/// A distribution of recorded times.
#[derive(Debug, Clone, PartialEq)]
pub struct Distribution {
    count: u64,
    lowest: Duration,
    highest: Duration,
    sum_ns: u128,
    times: Times,
}

/// The data from which quantiles are computed.
#[derive(Debug, Clone, PartialEq)]
enum Times {
    Few(Vec<u64>),
    /// A histogram with 32-bit counters: no run records 4 billion equal times.
    Many(Histogram<u32>),
}

impl Times {
    fn record(&mut self, ns: u64) {
        match self {
            Self::Few(few) if few.len() < FEW_MAX => few.push(ns),
            Self::Few(few) => {
                few.push(ns);
                *self = Self::Many(histogram_of(few));
            }
            Self::Many(histogram) => count_in(histogram, ns),
        }
    }
}

/// Returns a histogram of these times that grows as needed.
fn histogram_of(times: &[u64]) -> Histogram<u32> {
    let mut histogram = Histogram::new(DIGITS).expect("digits that the histogram allows");
    for &ns in times {
        count_in(&mut histogram, ns);
    }
    histogram
}

/// Counts a time. A histogram of fixed size counts any longer time as the longest that it resolves.
fn count_in(histogram: &mut Histogram<u32>, ns: u64) {
    if histogram.record(ns).is_err() {
        histogram.saturating_record(ns);
    }
}

fn quantile_in(histogram: &Histogram<u32>, share_ppm: u32) -> Duration {
    Duration::from_ns(histogram.value_at_quantile(f64::from(share_ppm) / 1_000_000.0))
}

impl Distribution {
    /// Creates an empty distribution.
    ///
    /// # Panics
    /// Never: the histogram allows its constant bounds.
    pub fn new(memory: Memory) -> Self {
        let times = match memory {
            Memory::AsNeeded => Times::Few(Vec::new()),
            Memory::Beforehand => Times::Many(
                Histogram::new_with_bounds(1, RESOLVED_MAX.ns(), DIGITS)
                    .expect("bounds and digits that the histogram allows"),
            ),
        };
        Self { count: 0, lowest: Duration::MAX, highest: Duration::ZERO, sum_ns: 0, times }
    }

    /// Records a time.
    pub fn record(&mut self, time: Duration) {
        self.count += 1;
        self.lowest = self.lowest.min(time);
        self.highest = self.highest.max(time);
        self.sum_ns += u128::from(time.ns());
        self.times.record(time.ns());
    }

    /// Returns the number of recorded times.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the shortest time, exactly.
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.lowest)
    }

    /// Returns the longest time, exactly.
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.highest)
    }

    /// Returns the mean, rounded down to whole nanoseconds.
    ///
    /// # Panics
    /// Never: the mean is at most the longest time.
    pub fn mean(&self) -> Option<Duration> {
        let mean_ns = self.sum_ns.checked_div(u128::from(self.count))?;
        Some(Duration::from_ns(u64::try_from(mean_ns).expect("at most the longest")))
    }

    /// Returns the time that `share_ppm` parts per million of the times did not exceed. It is
    /// rounded up to three digits, but never beyond the exact extremes.
    pub fn quantile(&self, share_ppm: u32) -> Option<Duration> {
        let edge = match &self.times {
            Times::Few(few) => quantile_in(&histogram_of(few), share_ppm),
            Times::Many(histogram) => quantile_in(histogram, share_ppm),
        };
        Some(edge.clamp(self.min()?, self.max()?))
    }

    /// Returns the recorded times as steps in ascending order. A step is a time and the number of
    /// recorded times that are above the previous step and do not exceed this one. The times are
    /// rounded up to three digits, except the last, which is exactly the longest time.
    pub fn steps(&self) -> Vec<(Duration, u64)> {
        let whole;
        let histogram = match &self.times {
            Times::Few(few) => {
                whole = histogram_of(few);
                &whole
            }
            Times::Many(histogram) => histogram,
        };
        let step =
            |value: u64, count| (Duration::from_ns(histogram.highest_equivalent(value)), count);
        let recorded = histogram.iter_recorded();
        let mut steps: Vec<_> = recorded
            .map(|it| step(it.value_iterated_to(), it.count_since_last_iteration()))
            .collect();
        if let Some((last, _)) = steps.last_mut() {
            *last = self.highest;
        }
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_count_every_time_at_or_above_it() {
        for memory in [Memory::AsNeeded, Memory::Beforehand] {
            let mut distribution = Distribution::new(memory);
            assert_eq!(distribution.steps(), []);
            let mut times = Vec::new();
            for index in 1..=300_u64 {
                times.push(Duration::from_ns(index * index * 7_919));
                distribution.record(times[times.len() - 1]);
                let steps = distribution.steps();
                assert!(steps.is_sorted_by(|a, b| a.0 < b.0));
                assert_eq!(steps.last().unwrap().0, times[times.len() - 1]);
                let mut up_to = 0;
                for &(edge, count) in &steps {
                    up_to += count;
                    let not_above = times.iter().filter(|&&time| time <= edge).count() as u64;
                    assert_eq!(up_to, not_above, "at {edge}");
                }
                assert_eq!(up_to, index);
            }
        }
    }

    #[test]
    fn a_time_beyond_the_resolution_is_the_last_step() {
        let mut distribution = Distribution::new(Memory::Beforehand);
        let beyond = RESOLVED_MAX.checked_mul(3).unwrap();
        distribution.record(Duration::from_ms(1));
        distribution.record(beyond);
        assert_eq!(distribution.steps().last(), Some(&(beyond, 1)));
    }

    #[test]
    fn figures_are_exact_at_the_ends_and_in_the_mean() {
        for memory in [Memory::AsNeeded, Memory::Beforehand] {
            let mut distribution = Distribution::new(memory);
            assert_eq!(distribution.max(), None);
            assert_eq!(distribution.quantile(500_000), None);
            for us in 1..=1000 {
                distribution.record(Duration::from_us(us));
            }
            distribution.record(Duration::from_ms(7_200_000));
            assert_eq!(distribution.count(), 1001);
            let extremes = (distribution.min().unwrap(), distribution.max().unwrap());
            assert_eq!(extremes, (Duration::from_us(1), Duration::from_ms(7_200_000)));
            let mean_ns = distribution.mean().unwrap().ns();
            assert_eq!(mean_ns, (500_500_000 + 7_200_000_000_000) / 1001);
            for (share_ppm, us) in [(500_000, 501), (990_000, 991), (999_000, 1000)] {
                let found = distribution.quantile(share_ppm).unwrap();
                assert!(found.ns().abs_diff(us * 1000) <= us, "{memory:?} {share_ppm}: {found}");
            }
        }
    }

    /// Goal: figures do not depend on when memory is allocated. Method: records exactly as many
    /// times as are kept individually, and then one more.
    #[test]
    fn quantiles_do_not_depend_on_when_memory_is_taken() {
        for count in [1, 2, 7, 64, 65, 200] {
            let both = [Memory::AsNeeded, Memory::Beforehand].map(|memory| {
                let mut distribution = Distribution::new(memory);
                for step in 0..count {
                    distribution.record(Duration::from_ns(1 + step * step * 7_919));
                }
                [1, 500_000, 990_000, 999_000, 1_000_000].map(|ppm| distribution.quantile(ppm))
            });
            assert_eq!(both[0], both[1], "{count} times");
        }
    }
}
