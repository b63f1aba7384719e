// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The system that an analysis takes: sporadic tasks on one device with a batch table.

use tidegate_model::{BatchTable, Duration, Workload};

use crate::Tasks;

/// A task under analysis: (e, p, d).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SporadicTask {
    /// p: the least time between two releases; not zero.
    pub period: Duration,
    /// e: the requests that a job releases together; not zero.
    pub requests: u32,
    /// d: the longest response time allowed.
    pub deadline: Duration,
}

/// Tasks that share a device under a batching policy.
///
/// # Invariants
/// - `1 <= batch_max <= table.batch_max()` and `best_effort_fill <= batch_max`.
/// - Every task has `period > 0` and `requests > 0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct System {
    /// The tasks; results are in the same order.
    pub tasks: Tasks,
    /// b(i): the longest time of a batch of i requests.
    pub table: BatchTable,
    /// z: the largest number of requests in a batch.
    pub batch_max: u32,
    /// beta: best effort fills batches up to this many requests; 0 = no best effort.
    pub best_effort_fill: u32,
}

impl System {
    /// Returns E: all requests that can be released together.
    pub fn requests_sum(&self) -> u64 {
        self.tasks.iter().map(|task| u64::from(task.requests)).sum()
    }
}

impl System {
    /// Returns the longest time in ns of a batch with `real_time` real-time requests:
    /// b(max(j, beta)).
    ///
    /// Without best effort a batch without requests costs nothing; with best effort it costs
    /// b(beta) (`docs/theory/dual-queue-fifo.md` section 5).
    pub(crate) fn batch_time_ns(&self, real_time: u32) -> u64 {
        self.table.time_max(real_time.max(self.best_effort_fill)).ns()
    }

    /// Returns [`Self::batch_time_ns`] for a count of at most z.
    pub(crate) fn batch_time_of_ns(&self, real_time: u64) -> u64 {
        self.batch_time_ns(u32::try_from(real_time).expect("a batch has at most z"))
    }
}

/// Returns whether the workload has best effort.
pub(crate) fn is_shared(workload: &Workload) -> bool {
    !workload.best_effort.is_empty()
}

/// Returns the tasks on a device that serves one request at a time.
pub(crate) fn single(workload: &Workload, tasks: &Tasks) -> System {
    let table = workload.table.clone();
    System { tasks: tasks.clone(), table, batch_max: 1, best_effort_fill: 0 }
}
