// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What an analysis is about: sporadic tasks on one device with a batch table.

use tidegate_model::{BatchTable, Duration};

/// A task under analysis: (e, p, d).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SporadicTask {
    /// Least time between two releases, p; not zero.
    pub period: Duration,
    /// Requests that a job releases together, e; not zero.
    pub requests: u32,
    /// Longest response time allowed, d.
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
    pub tasks: Vec<SporadicTask>,
    /// b(i).
    pub table: BatchTable,
    /// z: the most requests of one batch.
    pub batch_max: u32,
    /// beta: batches are filled up to this many requests with best effort; 0 = none aboard.
    pub best_effort_fill: u32,
}

impl System {
    /// E: all requests that can be released together.
    pub fn requests_sum(&self) -> u64 {
        self.tasks.iter().map(|task| u64::from(task.requests)).sum()
    }
}

impl System {
    /// What a batch with so many real-time requests may cost, in ns: b(max(j, beta)).
    ///
    /// Without best effort a batch of none costs nothing; with it, b(beta) (`docs/theory/dual-queue-fifo.md` section 5).
    pub(crate) fn batch_time_ns(&self, real_time: u32) -> u64 {
        self.table.time_max(real_time.max(self.best_effort_fill)).ns()
    }

    /// [`Self::batch_time_ns`] for a count that is known to be at most z.
    pub(crate) fn batch_time_of_ns(&self, real_time: u64) -> u64 {
        self.batch_time_ns(u32::try_from(real_time).expect("a batch has at most z"))
    }
}
