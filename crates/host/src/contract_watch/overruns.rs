// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The overruns that the watches count, and the clock that they measure with.

use tidegate_model::{Duration, Time};

/// Counts how often a drive contract applied, and how often the drive broke it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overruns {
    /// How often the contract applied.
    pub observed: u64,
    /// How often the drive exceeded it.
    pub overruns: u64,
    /// The largest overrun.
    pub max: Duration,
    /// The sum of all overruns.
    pub sum: Duration,
}

impl Overruns {
    /// Records that an overrun has grown by `by` to `late`.
    fn note(&mut self, by: Duration, late: Duration) {
        self.max = self.max.max(late);
        // Overlapping overruns may sum up to more than a duration can hold; then the sum saturates.
        self.sum = self.sum.checked_add(by).unwrap_or(Duration::MAX);
    }
}

/// Measures an activity's time against a contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Clock {
    started: Time,
    time_max: Duration,
    /// The overrun recorded so far.
    late: Duration,
}

impl Clock {
    /// Starts a clock at `now`; `overruns` counts it.
    pub(super) fn start(now: Time, time_max: Duration, overruns: &mut Overruns) -> Self {
        overruns.observed += 1;
        Self { started: now, time_max, late: Duration::ZERO }
    }

    /// Records the overrun at `now`; called while the observed activity lasts and when it ends.
    pub(super) fn check(&mut self, now: Time, overruns: &mut Overruns) {
        let late = now.since(self.started).checked_sub(self.time_max).unwrap_or_default();
        if late > self.late {
            overruns.overruns += u64::from(self.late.is_zero());
            overruns.note(late - self.late, late);
            self.late = late;
        }
    }
}
