// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A task with the cost of its requests, for the analyses that charge each request its own cost.

use tidegate_model::{Duration, Op};

use crate::SporadicTask;

/// A task whose requests have one operation and one cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MixedTask {
    /// The task's requests per job, period and deadline: e, p and d.
    pub task: SporadicTask,
    /// c: the largest cost that one of the task's requests adds to a batch.
    pub request_max: Duration,
    /// The operation of the task's requests: read or write.
    pub op: Op,
}
