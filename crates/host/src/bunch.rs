// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Arrivals that hurt: all bunched tasks of a workload begin together, at one instant or just after
//! it, then arrive as early as allowed, then are silent until the next bunch.
//!
//! ```text
//!   a  |  |  |  |          |  |  |  |
//!   b  |     |              |     |
//!   c   |       |          |       |
//!      bunch                bunch             --> time
//! ```
//!
//! Half of the tasks of a bunch begin at its instant. The others begin 1 ns later, when a policy has
//! just sent what the first ones brought, or up to one longest batch later. That is the worst case of
//! Theorem 2 (`docs/theory/dual-queue-fifo.md`): a set of tasks is in flight when all others arrive.

use tidegate_model::{Arrivals, Duration, Random, Task, TaskIndex, Time};

use crate::delay::up_to;
use crate::params::HostParams;

/// The bunches of one task.
///
/// # Invariants
/// A task arrives at least a period after its last job: a bunch begins two of the longest periods,
/// and the latest beginning, after the bunch before.
#[derive(Debug)]
pub(crate) struct Bunch {
    /// The time from one bunch to the next, the same for all tasks.
    spacing: Duration,
    /// How much later than the longest jitter's task it arrives, so that the policy sees both together.
    lead: Duration,
    /// How late it may begin.
    late_max: Duration,
    random: Random,
    /// The instant of the current bunch.
    start: Time,
    is_at_start: bool,
}

impl Bunch {
    /// The first stream of random numbers; a source draws all else from its own streams.
    const STREAM: u64 = 1 << 44;

    pub(crate) fn of(task: &Task, index: TaskIndex, params: &HostParams) -> Self {
        let workload = params.workload;
        let bunched = || workload.tasks.iter().filter(|it| it.arrivals == Arrivals::Bunched);
        let period_max = bunched().map(|it| it.period).max().unwrap_or(task.period);
        let jitter_max = bunched().map(|it| it.jitter).max().unwrap_or(task.jitter);
        let late_max = workload.table.time_max(workload.table.batch_max());
        Self {
            spacing: period_max * 2 + late_max,
            lead: jitter_max - task.jitter,
            late_max,
            random: Random::new(params.seed, Self::STREAM + u64::from(index.0)),
            start: Time::ZERO,
            is_at_start: true,
        }
    }

    /// Returns whether the last instant that it gave begins a bunch.
    pub(crate) const fn is_at_start(&self) -> bool {
        self.is_at_start
    }

    /// Returns the instant of the first job.
    pub(crate) fn first(&mut self) -> Time {
        self.start + self.lead + self.late()
    }

    /// Returns the instant of the next job after one at `at`; `None` beyond the end of time.
    pub(crate) fn next(&mut self, at: Time, period: Duration) -> Option<Time> {
        let next_start = self.start.checked_add(self.spacing)?;
        let soonest = at.checked_add(period)?;
        // The next bunch must not find it within a period of its last job.
        self.is_at_start = soonest.checked_add(period)? > next_start.checked_add(self.lead)?;
        if !self.is_at_start {
            return Some(soonest);
        }
        self.start = next_start;
        next_start.checked_add(self.lead)?.checked_add(self.late())
    }

    fn late(&mut self) -> Duration {
        match self.random.below(4) {
            0 | 1 => Duration::ZERO,
            2 => Duration::from_ns(1),
            _ => up_to(self.late_max, &mut self.random),
        }
    }
}
