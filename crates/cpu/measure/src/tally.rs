// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The longest stolen times of a measurement, over all its stretches.

use tidegate_cpu_model::StolenPoint;
use tidegate_model::Duration;

use super::trace::Trace;

/// What stretches showed so far, for each length of interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    points: Vec<StolenPoint>,
    /// Intervals of the longest length, end to end.
    trials: u64,
    stretches: u64,
    /// The longest of them: no longer interval was seen.
    longest: Duration,
    measured: Duration,
    stolen: Duration,
    gaps: u64,
    gap_max: Duration,
    wake_up_max: Duration,
}

impl Tally {
    /// Nothing seen yet, of intervals of these lengths, shortest first.
    pub fn new(lengths: &[Duration]) -> Self {
        let point = |&interval: &Duration| StolenPoint { interval, stolen_max: Duration::ZERO };
        Self {
            points: lengths.iter().map(point).collect(),
            trials: 0,
            stretches: 0,
            longest: Duration::ZERO,
            measured: Duration::ZERO,
            stolen: Duration::ZERO,
            gaps: 0,
            gap_max: Duration::ZERO,
            wake_up_max: Duration::ZERO,
        }
    }

    /// Adds a stretch that began when the thread was to wake up. O(lengths x gaps).
    pub fn add(&mut self, trace: &Trace) {
        for point in &mut self.points {
            if let Some(stolen) = trace.stolen_max(point.interval) {
                point.stolen_max = point.stolen_max.max(stolen);
            }
        }
        let longest = self.points.last().map_or(1, |point| point.interval.ns());
        self.trials += trace.length().ns() / longest.max(1);
        self.stretches += 1;
        self.longest = self.longest.max(trace.length());
        self.measured += trace.length();
        self.stolen += trace.stolen();
        self.gaps += trace.gaps().len() as u64;
        for gap in trace.gaps() {
            let length = gap.end.since(gap.begin);
            if gap.begin == trace.begin() {
                self.wake_up_max = self.wake_up_max.max(length);
            } else {
                self.gap_max = self.gap_max.max(length);
            }
        }
    }

    /// The longest stolen time at each length, as measured; nothing of lengths that no stretch had
    /// room for.
    pub fn points(&self) -> &[StolenPoint] {
        &self.points[..self.points.partition_point(|point| point.interval <= self.longest)]
    }

    /// The lengths that no stretch had room for.
    pub fn unseen(&self) -> usize {
        self.points.len() - self.points().len()
    }

    /// How many intervals of the longest length fit into the stretches, end to end: the least
    /// number of trials of any length.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Stretches so far.
    pub fn stretches(&self) -> u64 {
        self.stretches
    }

    /// What all stretches sum to.
    pub fn measured(&self) -> Duration {
        self.measured
    }

    /// What was stolen in all of them together.
    pub fn stolen(&self) -> Duration {
        self.stolen
    }

    /// How many gaps.
    pub fn gaps(&self) -> u64 {
        self.gaps
    }

    /// The longest gap while the thread ran, what `oslat` calls its maximum.
    pub fn gap_max(&self) -> Duration {
        self.gap_max
    }

    /// The latest that the thread ran after its timer, what `cyclictest` calls its maximum.
    pub fn wake_up_max(&self) -> Duration {
        self.wake_up_max
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::Time;

    use super::super::trace::Gap;
    use super::*;

    fn stretch(begin: u64, gaps: &[(u64, u64)], end: u64) -> Trace {
        let mut trace = Trace::with_room(8);
        trace.restart(Time::from_ns(begin));
        for &(begin, end) in gaps {
            trace.push(Gap { begin: Time::from_ns(begin), end: Time::from_ns(end) });
        }
        trace.finish(Time::from_ns(end));
        trace
    }

    #[test]
    fn the_worst_stretch_stands_and_wake_ups_are_apart() {
        let ns = Duration::from_ns;
        let mut tally = Tally::new(&[ns(5), ns(20)]);
        tally.add(&stretch(100, &[(100, 107), (110, 112)], 140));
        tally.add(&stretch(200, &[(203, 206)], 220));
        let stolen: Vec<_> = tally.points().iter().map(|point| point.stolen_max).collect();
        assert_eq!(stolen, [ns(5), ns(9)]);
        assert_eq!((tally.trials(), tally.stretches(), tally.gaps()), (3, 2, 3));
        assert_eq!((tally.wake_up_max(), tally.gap_max()), (ns(7), ns(3)));
        assert_eq!((tally.measured(), tally.stolen()), (ns(60), ns(12)));
    }

    /// A length of which nothing was seen is not one of which nothing was stolen.
    #[test]
    fn what_was_never_seen_is_no_point() {
        let ns = Duration::from_ns;
        let mut tally = Tally::new(&[ns(5), ns(20), ns(21)]);
        assert_eq!((tally.points().len(), tally.unseen()), (0, 3));
        tally.add(&stretch(100, &[(104, 108)], 120));
        assert_eq!((tally.points().len(), tally.unseen()), (2, 1));
    }
}
