// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What analysis decides and a policy carries out.
//!
//! Policies and analyses never meet; they agree on the meaning of these parameters
//! because both read them here.

use crate::batch_cost::{BatchCost, RequestCharges};
use crate::batch_table::BatchTable;
use crate::contracts::Contracts;
use crate::names::RegulatorName;
use crate::parameters::Parameters;
use crate::task::Task;
use crate::units::Duration;
use crate::workload::Workload;

/// The parameters of a run, the same for analysis, simulator and engine.
///
/// # Invariants
/// - `1 <= batch_max <= depth`, and `batch_max <= table.batch_max()`.
/// - `best_effort_fill <= batch_max`.
/// - `best_effort_depth <= depth`.
/// - `queued_max >= 1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// K: how many requests the device accepts at once.
    pub depth: u32,
    /// z: the most requests of one batch.
    pub batch_max: u32,
    /// beta: a batch may be filled up to this many requests with best effort (`docs/theory/dual-queue-fifo.md` section 5).
    pub best_effort_fill: u32,
    /// Z and what goes with it, where batches are limited by cost as well; none where only z
    /// limits them.
    pub batch_cost: Option<BatchCost>,
    /// How many requests of best effort may be on the device at once, for policies that limit
    /// it apart.
    pub best_effort_depth: u32,
    /// How many requests of one class a policy holds before it answers `Full`.
    pub queued_max: u32,
    /// The tasks that were proved together.
    pub tasks: Vec<Task>,
    /// What the device was measured to need.
    pub table: BatchTable,
    /// What else it was measured to keep.
    pub contracts: Contracts,
    /// What batches are held against instead of `table`, where the proof charges requests apart.
    pub charges: Option<RequestCharges>,
    /// What is wrapped round the policy, the outermost first.
    pub regulators: Vec<RegulatorName>,
    /// What the workload says of policies and regulators.
    pub parameters: Parameters,
}

impl Plan {
    /// A queue bound that no well-behaved workload reaches, at 8 MiB of request names.
    pub const QUEUED_MAX_DEFAULT: u32 = 1 << 20;

    /// The plan of a workload of which nothing was decided yet: batches as large as the table
    /// goes, no best effort in them, and apart from them as much of it as the drive accepts.
    pub fn of(workload: &Workload) -> Self {
        Self {
            depth: workload.depth,
            batch_max: workload.table.batch_max(),
            best_effort_fill: 0,
            batch_cost: None,
            best_effort_depth: workload.depth,
            queued_max: Self::QUEUED_MAX_DEFAULT,
            tasks: workload.tasks.clone(),
            table: workload.table.clone(),
            contracts: workload.contracts.clone(),
            charges: None,
            regulators: workload.regulators.clone(),
            parameters: workload.parameters.clone(),
        }
    }

    /// E: all real-time requests that the tasks can release together.
    pub fn real_time_requests(&self) -> u64 {
        self.tasks.iter().map(|task| u64::from(task.requests)).sum()
    }

    /// The most real-time requests that are released and not complete at once while every job
    /// of every task is complete by its deadline: `sum e_i ceil(d_i / p_i)`, which is E where
    /// no deadline exceeds its period.
    pub fn real_time_pending_max(&self) -> u64 {
        let pending_max = |task: &Task| {
            let jobs = task.deadline.ns().div_ceil(task.period.ns());
            // A bound that exceeds all that can be counted is never reached.
            jobs.saturating_mul(u64::from(task.requests))
        };
        self.tasks.iter().map(pending_max).fold(0, u64::saturating_add)
    }

    /// The shortest relative deadline of all tasks.
    pub fn deadline_min(&self) -> Option<Duration> {
        self.tasks.iter().map(|task| task.deadline).min()
    }
}
