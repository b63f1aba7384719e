// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Measured points as a limit: at most y stolen in any window of length L, for each point (L, y).
//!
//! Number the stolen ns from 0. A window from ns n - y to ns n contains y + 1 of them, so it is
//! longer than L: `x(n) >= x(n - y) + L`, where x(n) is the instant at which ns n is stolen.
//! Windows longer than the longest point are bounded by their parts.

use std::collections::VecDeque;

use tidegate_cpu_model::StolenPoint;
use tidegate_model::{Duration, Time};

/// An interval of uninterrupted stealing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stretch {
    /// The number of the interval's first stolen ns.
    first: u64,
    at: u64,
    length: u64,
}

/// The state of the points.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Staircase {
    points: Vec<StolenPoint>,
    longest: u64,
    /// The stolen intervals in order of time. Intervals that no later window of the longest length
    /// can contain are dropped.
    stretches: VecDeque<Stretch>,
    stolen: u64,
}

impl Staircase {
    /// Creates the state for nondecreasing points at ascending lengths.
    pub(super) fn new(points: Vec<StolenPoint>) -> Self {
        let longest = points.last().map_or(0, |point| point.interval.ns());
        Self { points, longest, stretches: VecDeque::new(), stolen: 0 }
    }

    /// Returns the instant at which the stolen ns of this number was stolen; `None` if its interval
    /// was dropped or it was never stolen.
    fn stolen_at(&self, number: u64) -> Option<u64> {
        let after = self.stretches.partition_point(|stretch| stretch.first <= number);
        let stretch = self.stretches.get(after.checked_sub(1)?)?;
        (number < stretch.first + stretch.length).then(|| stretch.at + number - stretch.first)
    }

    pub(super) fn next(&self, from: Time) -> Time {
        let of_point = |point: &StolenPoint| {
            let (interval, most) = (point.interval.ns(), point.stolen_max.ns());
            if most == 0 {
                return u64::MAX;
            }
            let before = self.stolen.checked_sub(most).and_then(|number| self.stolen_at(number));
            before.map_or(0, |at| at + interval)
        };
        let earliest = self.points.iter().map(of_point).max().unwrap_or(u64::MAX);
        Time::from_ns(earliest).max(from)
    }

    pub(super) fn available(&self, now: Time) -> Duration {
        if self.next(now) > now {
            return Duration::ZERO;
        }
        let of_point = |point: &StolenPoint| self.available_by(point, now.ns());
        Duration::from_ns(self.points.iter().map(of_point).min().unwrap_or(0))
    }

    /// Returns the time, in nanoseconds, that one point (L, y) allows to be stolen from `now` on:
    /// the largest q such that, for every i < q, ns `stolen + i - y` was stolen at least L before
    /// `now + i`.
    fn available_by(&self, point: &StolenPoint, now: u64) -> u64 {
        let (interval, most) = (point.interval.ns(), point.stolen_max.ns());
        if most == interval {
            return u64::MAX;
        }
        let reached = |stretch: &Stretch| {
            let step = (stretch.first + most).checked_sub(self.stolen)?;
            (stretch.at + interval > now + step).then_some(step)
        };
        // At most y is allowed: from i = y on, ns `stolen + i - y` belongs to the new piece itself.
        self.stretches.iter().filter_map(reached).min().unwrap_or(most).min(most)
    }

    pub(super) fn take(&mut self, now: Time, stolen: Duration) {
        self.stretches.push_back(Stretch { first: self.stolen, at: now.ns(), length: stolen.ns() });
        self.stolen += stolen.ns();
        let reach = (now + stolen).ns().saturating_sub(self.longest);
        while self.stretches.front().is_some_and(|first| first.at + first.length <= reach) {
            self.stretches.pop_front();
        }
    }

    pub(super) fn recovery(&self) -> Duration {
        Duration::from_ns(self.longest)
    }
}
