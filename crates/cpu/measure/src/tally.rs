// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The longest stolen times of a whole measurement.

use tidegate_cpu_model::StolenPoint;
use tidegate_model::Duration;

use super::trace::Trace;

/// The data so far, for each length of interval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    points: Vec<StolenPoint>,
    /// The number of intervals of the longest length in all traces, counted end to end.
    trials: u64,
    stretches: u64,
    /// The length of the longest trace: no longer interval was measured.
    longest: Duration,
    measured: Duration,
    stolen: Duration,
    gaps: u64,
    gap_max: Duration,
    wake_up_max: Duration,
    /// Copies of the points at two numbers of traces: the largest power of two that is at most half
    /// of the present number, and the next power of two.
    earlier: [Vec<StolenPoint>; 2],
}

/// The increase of the maxima from the earlier to the later part of a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growth {
    /// The number of lengths at which more time was stolen later than before.
    pub lengths: usize,
    /// The largest increase.
    pub most: Duration,
    /// The interval length with the largest increase.
    pub interval: Duration,
}

impl Tally {
    /// Creates an empty tally for intervals of these lengths, shortest first.
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
            earlier: [Vec::new(), Vec::new()],
        }
    }

    /// Adds a trace that began when the thread was due to wake up. Takes O(lengths x gaps).
    pub fn add(&mut self, trace: &Trace) {
        for point in &mut self.points {
            if let Some(stolen) = trace.stolen_max(point.interval) {
                point.stolen_max = point.stolen_max.max(stolen);
            }
        }
        let longest = self.points.last().map_or(1, |point| point.interval.ns());
        self.trials += trace.length().ns() / longest.max(1);
        self.stretches += 1;
        if self.stretches.is_power_of_two() {
            self.earlier.swap(0, 1);
            self.earlier[1].clone_from(&self.points);
        }
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

    /// Returns the longest measured stolen time for each interval length. Lengths longer than every
    /// trace are omitted.
    pub fn points(&self) -> &[StolenPoint] {
        &self.points[..self.points.partition_point(|point| point.interval <= self.longest)]
    }

    /// Returns the increase since an instant between a quarter and a half of the measurement;
    /// `None` if there was none, or with fewer than two traces.
    ///
    /// A measured maximum bounds only what was measured. If a repetition of the measurement
    /// increases it, the next repetition may increase it too.
    pub fn growth(&self) -> Option<Growth> {
        // The first copy is the right one for any number of traces. The second was made after more
        // than half of them; if their number is a power of two, after all of them, and the first
        // after half.
        let added = self.points.iter().zip(&self.earlier[0]).filter_map(|(now, then)| {
            let more = now.stolen_max - then.stolen_max;
            (!more.is_zero()).then_some((more, now.interval))
        });
        let lengths = added.clone().count();
        let (most, interval) = added.max()?;
        Some(Growth { lengths, most, interval })
    }

    /// Returns the number of interval lengths that are longer than every trace.
    pub fn unseen(&self) -> usize {
        self.points.len() - self.points().len()
    }

    /// Returns the number of intervals of the longest length that fit into the traces end to end.
    /// Every shorter length has at least this number of trials.
    pub fn trials(&self) -> u64 {
        self.trials
    }

    /// Returns the number of traces so far.
    pub fn stretches(&self) -> u64 {
        self.stretches
    }

    /// Returns the total length of all traces.
    pub fn measured(&self) -> Duration {
        self.measured
    }

    /// Returns the time stolen in all traces.
    pub fn stolen(&self) -> Duration {
        self.stolen
    }

    /// Returns the number of gaps.
    pub fn gaps(&self) -> u64 {
        self.gaps
    }

    /// Returns the longest gap while the thread ran, the maximum that `oslat` reports.
    pub fn gap_max(&self) -> Duration {
        self.gap_max
    }

    /// Returns the longest delay of the thread after its timer, the maximum that `cyclictest`
    /// reports.
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

    /// Goal: an increase in the second half of a measurement is reported, and an increase in the
    /// first half is not.
    #[test]
    fn later_traces_that_add_are_growth() {
        let ns = Duration::from_ns;
        let mut tally = Tally::new(&[ns(5), ns(20)]);
        tally.add(&stretch(100, &[(103, 105)], 140));
        assert_eq!(tally.growth(), None, "one trace has no halves");
        tally.add(&stretch(200, &[(203, 205)], 240));
        tally.add(&stretch(300, &[(303, 305)], 340));
        tally.add(&stretch(400, &[(403, 405)], 440));
        assert_eq!(tally.growth(), None);
        tally.add(&stretch(500, &[(503, 504), (510, 512)], 540));
        let growth = Growth { lengths: 1, most: ns(1), interval: ns(20) };
        assert_eq!(tally.growth(), Some(growth));
    }

    /// A length that was not measured is not reported as a length without stolen time.
    #[test]
    fn unseen_lengths_have_no_point() {
        let ns = Duration::from_ns;
        let mut tally = Tally::new(&[ns(5), ns(20), ns(21)]);
        assert_eq!((tally.points().len(), tally.unseen()), (0, 3));
        tally.add(&stretch(100, &[(104, 108)], 120));
        assert_eq!((tally.points().len(), tally.unseen()), (2, 1));
    }
}
