// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tasks in batches limited by cost.

use tidegate_model::Duration;

use crate::mixed_task::MixedTask;

/// Tasks that share a device in batches limited by cost.
///
/// # Invariants
/// - No request costs more than `cost_max`; `best_effort_fill <= cost_max`.
/// - `batch_max >= 1`, and the costs hold for batches of `batch_max` requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostLimitedSystem {
    /// The tasks.
    pub tasks: Vec<MixedTask>,
    /// A: the largest positioning time, charged once per batch.
    pub positioning_max: Duration,
    /// z: the largest number of requests in a batch.
    pub batch_max: u32,
    /// Z: the largest total cost of the requests of one batch.
    pub cost_max: Duration,
    /// F: if a batch leaves no task's request behind, best effort fills it up to this total cost;
    /// 0 = no best effort.
    pub best_effort_fill: Duration,
}
