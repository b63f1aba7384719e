// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Adversarial arrivals: all bunched tasks of a workload begin together, at one instant or just
//! after it, then arrive as early as allowed, then wait until all can begin again.
//!
//! ```text
//!   a  |  |  |  |          |  |  |  |
//!   b  |     |              |     |
//!   c   |       |          |       |
//!      bunch                bunch             --> time
//! ```
//!
//! In a third of the bunches all tasks begin at one instant. In another third some begin 1 ns
//! later, when the policy has just dispatched the first tasks' requests. In the last third some
//! begin later by up to the time of one batch, which may then be in flight. These are the worst
//! cases of Theorem 2 (`docs/theory/dual-queue-fifo.md`): a set of tasks is in flight when all
//! others arrive.
//!
//! Half of the bunches last for the longest period, a quarter for twice as long, an eighth for four
//! times as long, and so on, so that many bunches begin. One in 64 lasts as long as the run so far:
//! only a long bunch builds up a long busy interval and reveals that the drive cannot serve the
//! load.

use tidegate_model::{Arrivals, BatchTable, Duration, Random, Task, TaskIndex, Time, Workload};

use crate::delay::up_to;
use crate::params::HostParams;

/// The bunches of one task.
///
/// # Invariants
/// - A task arrives at least a period after its previous job: a bunch lasts for at least the
///   longest period plus the latest beginning.
/// - `common` is in the same state in all tasks of a workload, so they agree on every bunch.
#[derive(Debug)]
pub(crate) struct Bunch {
    period_max: Duration,
    table: BatchTable,
    /// The time by which this task arrives after the task with the longest jitter, so that the
    /// policy sees both together.
    lead: Duration,
    common: Random,
    random: Random,
    /// The longest time from the start of the current bunch until a task begins in it.
    late_max: Duration,
    /// The instant of the next bunch; `None` beyond the end of time.
    next_start: Option<Time>,
    is_at_start: bool,
}

impl Bunch {
    /// The first task's stream of random numbers for its own part of bunches; sources use other
    /// streams for everything else.
    const STREAM: u64 = 1 << 44;
    /// The stream of random numbers that all tasks share for bunches.
    const COMMON_STREAM: u64 = 1 << 45;

    /// The largest number of doublings of the longest period in a bunch's length. After that many,
    /// a bunch lasts as long as the run so far.
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

    /// Returns whether the instant that was returned last begins a bunch.
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
        // A job at `soonest` is still in this bunch if the task can arrive again when the next
        // begins.
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

/// Returns the latest instant of a bunched task's first job, counted from the start, and the
/// longest time between two of its jobs.
pub(crate) fn reach(task: &Task, workload: &Workload) -> (Duration, Duration) {
    let late_max = workload.table.time_max(workload.table.batch_max());
    let first = longest(workload, |it| it.jitter) - task.jitter + late_max;
    (first, task.period * 2 + late_max)
}

/// Returns the longest of these times among all bunched tasks.
fn longest(workload: &Workload, time: impl Fn(&Task) -> Duration) -> Duration {
    let bunched = workload.tasks.iter().filter(|task| task.arrivals == Arrivals::Bunched);
    bunched.map(time).max().expect("the task itself is bunched")
}
