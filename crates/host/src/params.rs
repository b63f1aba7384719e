// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parameters of a run, besides its policy and its backend.

use tidegate_model::{
    Arrivals, BestEffort, Bytes, Duration, HostTime, Task, TaskIndex, Time, Workload,
};
use tidegate_stats::Memory;

use crate::bunch;
use crate::ledger::Ledger;

/// The length of a run, in released jobs or in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// Every task releases this many jobs; best effort is released until the last of them is
    /// released. In a workload without tasks, every load releases this many jobs.
    Jobs(u64),
    /// Sources release only before this much time has passed.
    Duration(Duration),
}

/// The parameters of a run.
#[derive(Debug, Clone, Copy)]
pub struct HostParams<'a> {
    /// The tasks and loads that release requests.
    pub workload: &'a Workload,
    /// The length of the run.
    pub length: Length,
    /// The seed of all random numbers of the workload.
    pub seed: u64,
    /// The drive's size, or the assumed size: requests lie within it.
    pub capacity: Bytes,
    /// The maximum number of requests that are released and not complete. If there are more, the
    /// run ends as overloaded.
    pub outstanding_max: u32,
    /// When the run allocates its memory.
    pub memory: Memory,
    /// The delays that a simulated host adds to releases and replies; `None` on a real host, which
    /// has its own.
    pub delays: Option<HostTime>,
    /// Soft tasks that report a miss after every job, late or not. They test how a policy treats
    /// false reports; other tasks report only real misses.
    pub cheats: &'a [TaskIndex],
}

impl<'a> HostParams<'a> {
    /// The capacity of a drive whose file does not state it.
    pub const CAPACITY_DEFAULT: Bytes = Bytes::from_kib(64 << 20);

    /// Makes the parameters of a run with seed 0, the default capacity, and the largest possible
    /// limit on outstanding requests.
    pub const fn new(workload: &'a Workload, length: Length) -> Self {
        Self {
            workload,
            length,
            seed: 0,
            capacity: Self::CAPACITY_DEFAULT,
            outstanding_max: Ledger::OUTSTANDING_MAX,
            memory: Memory::AsNeeded,
            delays: None,
            cheats: &[],
        }
    }

    /// Returns a number of outstanding requests that a workload within the device's capacity rarely
    /// exceeds: two jobs of each task, and the outstanding requests of closed loops.
    ///
    /// # Panics
    /// Never: the number is at most `outstanding_max`.
    pub fn expected_outstanding(&self) -> usize {
        let tasks = self.workload.tasks.iter().map(|task| 2 * u64::from(task.requests));
        let depth = u64::from(self.workload.depth);
        let most = |load: &BestEffort| load.intensity.requests_max().unwrap_or(depth);
        let loads = self.workload.best_effort.iter().map(most);
        let all = tasks.chain(loads).chain([depth]);
        let expected = all.fold(0, u64::saturating_add);
        let expected = expected.min(u64::from(self.outstanding_max));
        usize::try_from(expected).expect("2^32 at most")
    }

    /// Returns whether best effort ends with the last release of a task.
    pub(crate) fn is_led_by_tasks(&self) -> bool {
        matches!(self.length, Length::Jobs(_)) && !self.workload.tasks.is_empty()
    }
}

/// Returns the first task whose last job can come after the end of time, 584 years; no such run can
/// be simulated or executed.
pub fn task_beyond_time(workload: &Workload, length: Length) -> Option<&Task> {
    let Length::Jobs(jobs) = length else { return None };
    workload.tasks.iter().find(|task| last_seen(task, workload, jobs).is_none())
}

/// Returns the latest instant at which a policy may see the last of `jobs` jobs; `None` if it is
/// beyond the end of time.
fn last_seen(task: &Task, workload: &Workload, jobs: u64) -> Option<Time> {
    let (first, gap_max) = match task.arrivals {
        Arrivals::Periodic => (task.offset, task.period),
        Arrivals::Sporadic { extra_max } => (task.offset, task.period.checked_add(extra_max)?),
        Arrivals::Bunched => bunch::reach(task, workload),
        // Completions determine the task's arrivals; one arrival per deadline is the best estimate.
        Arrivals::OnCompletion => (task.offset, task.deadline),
    };
    let last = first.checked_add(gap_max.checked_mul(jobs.saturating_sub(1))?)?;
    let late_max = task.jitter.checked_add(workload.host.time().release)?;
    Time::ZERO.checked_add(last.checked_add(late_max)?)
}
