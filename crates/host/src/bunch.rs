// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Arrivals that hurt: all bunched tasks of a workload begin together, at one instant or just after
//! it, then arrive as early as allowed, then wait until all can begin again.
//!
//! ```text
//!   a  |  |  |  |          |  |  |  |
//!   b  |     |              |     |
//!   c   |       |          |       |
//!      bunch                bunch             --> time
//! ```
//!
//! In a third of the bunches all tasks begin at one instant. In another third some begin 1 ns later,
//! when a policy has just sent what the first ones brought. In the last third others begin up to one
//! batch later, which may be in flight then. These are the worst cases of Theorem 2
//! (`docs/theory/dual-queue-fifo.md`): a set of tasks is in flight when all others arrive.
//!
//! Half of the bunches last for one of the longest periods, a quarter for two, and so on, so that
//! many bunches begin. One in 64 lasts as long as the run so far. A long busy interval builds up only
//! in a long bunch, and only there more load than the drive can serve shows.

use tidegate_model::{Arrivals, BatchTable, Duration, Random, Task, TaskIndex, Time, Workload};

use crate::delay::up_to;
use crate::params::HostParams;

/// The bunches of one task.
///
/// # Invariants
/// - A task arrives at least a period after its last job: a bunch lasts for at least the longest
///   period and the latest beginning.
/// - `common` is in the same state in all tasks of a workload, so they agree on every bunch.
#[derive(Debug)]
pub(crate) struct Bunch {
    period_max: Duration,
    table: BatchTable,
    /// How much later than the longest jitter's task it arrives, so that the policy sees both together.
    lead: Duration,
    common: Random,
    random: Random,
    /// The latest beginning in the current bunch.
    late_max: Duration,
    /// The instant of the next bunch; `None` beyond the end of time.
    next_start: Option<Time>,
    is_at_start: bool,
}

impl Bunch {
    /// The first stream of random numbers; a source draws all else from its own streams.
    const STREAM: u64 = 1 << 44;
    const COMMON_STREAM: u64 = 1 << 45;

    /// A bunch of 2^6 periods would last as long as the run so far instead.
    const DOUBLINGS_MAX: u32 = 6;

    pub(crate) fn of(task: &Task, index: TaskIndex, params: &HostParams) -> Self {
        let workload = params.workload;
        Self {
            period_max: longest(workload, |it| it.period),
            table: workload.table.clone(),
            lead: longest(workload, |it| it.jitter) - task.jitter,
            common: Random::new(params.seed, Self::COMMON_STREAM),
            random: Random::new(params.seed, Self::STREAM + u64::from(index.0)),
            late_max: Duration::ZERO,
            next_start: Some(Time::ZERO),
            is_at_start: true,
        }
    }

    /// Returns whether the last instant that it gave begins a bunch.
    pub(crate) const fn is_at_start(&self) -> bool {
        self.is_at_start
    }

    /// Returns the instant of the first job.
    pub(crate) fn first(&mut self) -> Time {
        self.begin(Time::ZERO).expect("files state short periods")
    }

    /// Returns the instant of the next job after one at `at`; `None` beyond the end of time.
    pub(crate) fn next(&mut self, at: Time, period: Duration) -> Option<Time> {
        let soonest = at.checked_add(period)?;
        // The next bunch must not find it within a period of its last job.
        let is_within = |start: &Time| {
            let begins = start.checked_add(self.lead);
            begins.is_none_or(|begins| soonest.checked_add(period).is_some_and(|it| it <= begins))
        };
        let next_start = self.next_start.filter(|start| !is_within(start));
        self.is_at_start = next_start.is_some();
        next_start.map_or(Some(soonest), |start| self.begin(start))
    }

    /// Begins the bunch at `start`; returns the instant of the task's first job in it.
    fn begin(&mut self, start: Time) -> Option<Time> {
        self.late_max = match self.common.below(3) {
            0 => Duration::ZERO,
            1 => Duration::from_ns(1),
            _ => {
                let batch = 1 + self.common.below(u64::from(self.table.batch_max()));
                self.table.time_max(u32::try_from(batch).expect("at most the largest batch"))
            }
        };
        let doublings = self.common.bits().trailing_zeros();
        let least = self.period_max + self.late_max;
        let lasts = if doublings < Self::DOUBLINGS_MAX {
            self.period_max.checked_mul(1 << doublings).map(|periods| periods + self.late_max)
        } else {
            Some(least.max(start.since(Time::ZERO)))
        };
        self.next_start = lasts.and_then(|lasts| start.checked_add(lasts));
        start.checked_add(self.lead)?.checked_add(self.late())
    }

    fn late(&mut self) -> Duration {
        match self.random.below(3) {
            0 => Duration::ZERO,
            1 => self.late_max.min(Duration::from_ns(1)),
            _ => up_to(self.late_max, &mut self.random),
        }
    }
}

/// Returns the latest instant of a bunched task's first job, counted from the start, and the longest
/// time between two of its jobs.
pub(crate) fn reach(task: &Task, workload: &Workload) -> (Duration, Duration) {
    let late_max = workload.table.time_max(workload.table.batch_max());
    let first = longest(workload, |it| it.jitter) - task.jitter + late_max;
    (first, task.period * 2 + late_max)
}

/// Returns the longest of these times of all bunched tasks.
fn longest(workload: &Workload, time: impl Fn(&Task) -> Duration) -> Duration {
    let bunched = workload.tasks.iter().filter(|task| task.arrivals == Arrivals::Bunched);
    bunched.map(time).max().expect("the task itself is bunched")
}
