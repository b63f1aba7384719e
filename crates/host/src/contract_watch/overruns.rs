// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The counts of overruns, and the clocks with which the watches find them.

use tidegate_model::{BatchTable, Duration, Time};

/// Counts the times that a drive contract applied, and the times that the drive broke it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overruns {
    /// The number of times that the contract applied.
    pub observed: u64,
    /// The number of times that the drive broke the contract.
    pub overruns: u64,
    /// The number of these overruns that the verdict tolerates.
    pub tolerated: u64,
    /// The largest overrun.
    pub max: Duration,
    /// The sum of all overruns.
    pub sum: Duration,
}

impl Overruns {
    /// Returns whether an overrun was longer than the verdict tolerates.
    pub fn has_void(&self) -> bool {
        self.overruns > self.tolerated
    }

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
    /// The longest overrun that voids no proof.
    tolerated: Duration,
    /// The overrun recorded so far.
    late: Duration,
}

impl Clock {
    /// Starts a clock at `now`; `overruns` counts it. A time above `time_max` is an overrun, and up
    /// to `tolerated_max` it voids no proof.
    pub(super) fn start(
        now: Time,
        (time_max, tolerated_max): (Duration, Duration),
        overruns: &mut Overruns,
    ) -> Self {
        overruns.observed += 1;
        let tolerated = tolerated_max.checked_sub(time_max).unwrap_or_default();
        Self { started: now, time_max, tolerated, late: Duration::ZERO }
    }

    /// Records the overrun at `now`; called while the observed activity lasts and when it ends.
    pub(super) fn check(&mut self, now: Time, overruns: &mut Overruns) {
        let late = now.since(self.started).checked_sub(self.time_max).unwrap_or_default();
        if late > self.late {
            let was_tolerated = !self.late.is_zero() && self.late <= self.tolerated;
            overruns.overruns += u64::from(self.late.is_zero());
            overruns.tolerated += u64::from(late <= self.tolerated);
            overruns.tolerated -= u64::from(was_tolerated);
            overruns.note(late - self.late, late);
            self.late = late;
        }
    }
}

/// Compares the time that requests stay in flight with a table of times by their number.
#[derive(Debug, PartialEq)]
pub(super) struct TableWatch {
    table: BatchTable,
    /// For each number of requests, the longest time that voids no proof.
    tolerated: BatchTable,
    pub(super) in_flight_count: u32,
    /// The clock of the requests in flight, if they can be compared.
    clock: Option<Clock>,
    overruns: Overruns,
}

impl TableWatch {
    pub(super) fn new(table: BatchTable, tolerated: BatchTable) -> Self {
        Self { table, tolerated, in_flight_count: 0, clock: None, overruns: Overruns::default() }
    }

    pub(super) fn overruns(&self) -> Overruns {
        self.overruns
    }

    /// Records the overrun of the requests in flight at `now`.
    pub(super) fn check(&mut self, now: Time) {
        if let Some(clock) = &mut self.clock {
            clock.check(now, &mut self.overruns);
        }
    }

    /// Starts a clock for `count` requests, unless the table does not cover them. `count` is `None`
    /// if the requests in flight cannot be compared.
    pub(super) fn restart(&mut self, now: Time, count: Option<u32>) {
        let covered = count.filter(|&count| count <= self.table.batch_max());
        self.clock = covered.map(|count| {
            let limits = (self.table.time_max(count), self.tolerated.time_max(count));
            Clock::start(now, limits, &mut self.overruns)
        });
    }

    /// Records the completion of one of the requests in flight.
    pub(super) fn complete(&mut self, now: Time) {
        self.check(now);
        self.in_flight_count -= 1;
        if self.in_flight_count == 0 {
            self.clock = None;
        }
    }
}
