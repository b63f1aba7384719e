// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The gaps in an interval during which a thread wanted the processor for itself, and the longest
//! time that windows of one length lost to the gaps.

use tidegate_model::{Duration, Time};

/// Time that was taken from the thread, between two consecutive readings of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gap {
    /// The last reading before the gap.
    pub begin: Time,
    /// The first reading after the gap.
    pub end: Time,
}

/// The gaps of one interval, up to a fixed number.
///
/// # Invariants
/// Gaps are sorted and disjoint, none is empty, and all are within the interval.
#[derive(Debug)]
pub struct Trace {
    begin: Time,
    end: Time,
    gaps: Vec<Gap>,
    /// For each gap, the sum of all gaps before it; the additional last element is the sum of all
    /// gaps.
    before: Vec<Duration>,
}

impl Trace {
    /// Creates a trace with room for `gaps` gaps, which never allocates afterwards.
    pub fn with_room(gaps: usize) -> Self {
        let mut trace = Self {
            begin: Time::ZERO,
            end: Time::ZERO,
            // Written once here, because memory that was never touched would cause page faults
            // later.
            gaps: vec![Gap { begin: Time::ZERO, end: Time::ZERO }; gaps],
            before: vec![Duration::ZERO; gaps + 1],
        };
        trace.restart(Time::ZERO);
        trace
    }

    /// Clears the trace for a new interval.
    pub fn restart(&mut self, begin: Time) {
        (self.begin, self.end) = (begin, begin);
        self.gaps.clear();
        self.before.clear();
        self.before.push(Duration::ZERO);
    }

    /// Records a gap; returns whether there is room for more.
    ///
    /// # Panics
    /// If the gap begins before the last one ended, or is empty.
    pub fn push(&mut self, gap: Gap) -> bool {
        assert!(gap.begin >= self.end && gap.begin < gap.end, "gaps must be in order");
        self.end = gap.end;
        let stolen = self.stolen() + gap.end.since(gap.begin);
        match self.gaps.last_mut() {
            Some(last) if last.end == gap.begin => {
                last.end = gap.end;
                self.before.pop();
            }
            _ => self.gaps.push(gap),
        }
        self.before.push(stolen);
        self.gaps.len() < self.gaps.capacity()
    }

    /// Ends the interval at `end`, which must not be before the end of its last gap.
    pub fn finish(&mut self, end: Time) {
        self.end = self.end.max(end);
    }

    /// Returns the start of the interval.
    pub fn begin(&self) -> Time {
        self.begin
    }

    /// Returns the length of the interval.
    pub fn length(&self) -> Duration {
        self.end.since(self.begin)
    }

    /// Returns the sum of all gaps.
    pub fn stolen(&self) -> Duration {
        self.before.last().copied().unwrap_or_default()
    }

    /// Returns all gaps in order.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// Returns the longest time stolen in any window of this length within the interval, at any
    /// phase; `None` if the interval is shorter than the window.
    ///
    /// As a window moves later, its loss grows while a gap enters at its end and no gap leaves at
    /// its start. So the most is lost in a window that begins with a gap, ends with one, or touches
    /// an end of the interval, and only these windows are examined. Takes O(gaps).
    pub fn stolen_max(&self, length: Duration) -> Option<Duration> {
        if length > self.length() {
            return None;
        }
        let last_begin = Time::from_ns(self.end.ns() - length.ns());
        let mut most = self.stolen_until(self.begin + length);
        most = most.max(self.stolen() - self.stolen_until(last_begin));
        let mut ends = Cursor(0);
        let starting = self.gaps.iter().take_while(|gap| gap.begin <= last_begin);
        for (gap, before) in starting.zip(&self.before) {
            most = most.max(self.stolen_at(&mut ends, gap.begin + length) - *before);
        }
        let mut begins = Cursor(0);
        let first_end = self.begin + length;
        let ending = self.gaps.iter().zip(&self.before[1..]);
        for (gap, until) in ending.filter(|(gap, _)| gap.end >= first_end) {
            let begin = Time::from_ns(gap.end.ns() - length.ns());
            most = most.max(*until - self.stolen_at(&mut begins, begin));
        }
        Some(most)
    }

    /// Returns the time stolen from the start of the interval to an instant.
    fn stolen_until(&self, at: Time) -> Duration {
        let mut cursor = Cursor(self.gaps.partition_point(|gap| gap.end <= at));
        self.stolen_at(&mut cursor, at)
    }

    /// Returns the time stolen from the start to an instant that never decreases from call to call.
    fn stolen_at(&self, cursor: &mut Cursor, at: Time) -> Duration {
        while self.gaps.get(cursor.0).is_some_and(|gap| gap.end <= at) {
            cursor.0 += 1;
        }
        let cut = self.gaps.get(cursor.0).map_or(Duration::ZERO, |gap| at.since(gap.begin));
        self.before[cursor.0] + cut
    }
}

/// The first gap that ends after the examined instant.
struct Cursor(usize);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn trace(gaps: &[(u64, u64)], end: u64) -> Trace {
        let mut trace = Trace::with_room(gaps.len() + 1);
        trace.restart(Time::ZERO);
        for &(begin, end) in gaps {
            trace.push(Gap { begin: Time::from_ns(begin), end: Time::from_ns(end) });
        }
        trace.finish(Time::from_ns(end));
        trace
    }

    fn most(trace: &Trace, length: u64) -> Option<u64> {
        trace.stolen_max(Duration::from_ns(length)).map(Duration::ns)
    }

    /// A task takes 2 in every 10: inequality 5.3.0.5 is met with equality for every length.
    #[test]
    fn a_periodic_task_is_seen_as_the_refined_bound_says() {
        let gaps: Vec<_> = (0..20).map(|job| (job * 10 + 3, job * 10 + 5)).collect();
        let trace = trace(&gaps, 200);
        for length in 1..=100 {
            let refined = length / 10 * 2 + (length % 10).min(2);
            assert_eq!(most(&trace, length), Some(refined), "{length}");
        }
    }

    #[test]
    fn no_window_is_longer_than_the_stretch() {
        let trace = trace(&[(0, 3)], 10);
        assert_eq!([10, 11].map(|length| most(&trace, length)), [Some(3), None]);
        assert_eq!(trace.length(), Duration::from_ns(10));
    }

    #[test]
    fn gaps_that_touch_are_one_and_room_has_an_end() {
        let mut trace = Trace::with_room(2);
        trace.restart(Time::ZERO);
        let mut push =
            |begin, end| trace.push(Gap { begin: Time::from_ns(begin), end: Time::from_ns(end) });
        assert!(push(1, 2) && push(2, 4));
        assert!(!push(6, 7), "full");
        assert_eq!(trace.gaps().len(), 2);
        assert_eq!(trace.stolen(), Duration::from_ns(4));
    }

    proptest! {
        /// Canary for the choice of windows: a second method tries every start, ns by ns.
        #[test]
        fn no_window_of_any_phase_loses_more(
            pieces in prop::collection::vec((0_u64..12, 1_u64..9), 0..12), rest in 1_u64..12,
        ) {
            let (mut gaps, mut at) = (Vec::new(), 0);
            for (own, stolen) in pieces {
                gaps.push((at + own, at + own + stolen));
                at += own + stolen;
            }
            let trace = trace(&gaps, at + rest);
            let is_stolen = |at: u64| gaps.iter().any(|&(begin, end)| (begin..end).contains(&at));
            for length in 1..=at + rest {
                let lost = |begin: u64| (begin..begin + length).filter(|&at| is_stolen(at)).count();
                let expected = (0..=at + rest - length).map(lost).max().map(|lost| lost as u64);
                prop_assert_eq!(most(&trace, length), expected, "length {}", length);
            }
        }
    }
}
