// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What the watches count, and the clock by which they measure.

use tidegate_model::{Duration, Time};

/// How often a contract was held against what happened, and how often it was broken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overruns {
    /// How often it said something.
    pub observed: u64,
    /// How often that was exceeded.
    pub overruns: u64,
    /// The most by which it was.
    pub max: Duration,
    /// By how much in all.
    pub sum: Duration,
}

impl Overruns {
    /// Something was later by `by` than noted before, `late` in all.
    fn note(&mut self, by: Duration, late: Duration) {
        self.max = self.max.max(late);
        // What overlaps may add up to more than a clock counts: then it is more than enough.
        self.sum = self.sum.checked_add(by).unwrap_or(Duration::MAX);
    }
}

/// A time that runs against a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    started: Time,
    time_max: Duration,
    /// By how much it is known to be exceeded.
    late: Duration,
}

impl Clock {
    /// A clock that starts now; `overruns` counts it.
    pub(super) fn start(now: Time, time_max: Duration, overruns: &mut Overruns) -> Self {
        overruns.observed += 1;
        Self { started: now, time_max, late: Duration::ZERO }
    }

    /// What it runs for is not over yet, or is over just now.
    pub(super) fn check(&mut self, now: Time, overruns: &mut Overruns) {
        let late = now.since(self.started).checked_sub(self.time_max).unwrap_or_default();
        if late > self.late {
            overruns.overruns += u64::from(self.late.is_zero());
            overruns.note(late - self.late, late);
            self.late = late;
        }
    }
}
