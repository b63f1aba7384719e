// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The parameters that the analysis decides and a policy carries out.
//!
//! Policies and analyses do not depend on each other; they agree on the meaning of these parameters
//! because both read them here.

use crate::active_subset::ActiveSubset;
use crate::batch_cost::BatchCost;
use crate::batch_table::BatchTable;
use crate::best_effort_order::BestEffortOrder;
use crate::contracts::Contracts;
use crate::drive_limits::DriveLimits;
use crate::parameters::Parameters;
use crate::regulator::RegulatorName;
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
    /// K: the number of requests that the device accepts at the same time.
    pub depth: u32,
    /// z: the maximum number of requests in one batch.
    pub batch_max: u32,
    /// beta: best effort may fill a batch up to this many requests
    /// (`docs/theory/dual-queue-fifo.md` section 5).
    pub best_effort_fill: u32,
    /// Z and its charges, if batches are limited by cost as well; `None` if only z limits them.
    pub batch_cost: Option<BatchCost>,
    /// The maximum number of best-effort requests on the device at the same time, for policies that
    /// limit them separately.
    pub best_effort_depth: u32,
    /// The order in which best effort is served. A policy keeps the order that it was built with.
    pub best_effort_order: BestEffortOrder,
    /// The maximum number of requests of one class that a policy holds; with more it returns
    /// `Full`.
    pub queued_max: u32,
    /// The tasks that were proved together, as the policy sees them: behind the host, if its time
    /// is stated.
    pub tasks: Vec<Task>,
    /// The batch service times that the policy relies on: the device's times plus the margin and
    /// the host's time.
    pub table: BatchTable,
    /// The other contracts of the device that the policy relies on, also with the margin and the
    /// host's time.
    pub contracts: Contracts,
    /// The times that a run compares the device with.
    pub limits: DriveLimits,
    /// The times that `das` rests on, also with the margin.
    pub active_subset: ActiveSubset,
    /// The regulators around the policy, the outermost first.
    pub regulators: Vec<RegulatorName>,
    /// The parameters of policies and regulators from the workload.
    pub parameters: Parameters,
}

impl Plan {
    /// The default of `queued_max`: no well-behaved workload reaches it, and the ids of that many
    /// requests take 8 MiB.
    pub const QUEUED_MAX_DEFAULT: u32 = 1 << 20;

    /// Returns a workload's plan before any decision: batches as large as the table allows and
    /// without best effort, and as much separate best effort as the drive accepts.
    pub fn of(workload: &Workload) -> Self {
        let planned = workload.planned().into_owned();
        Self {
            depth: workload.depth,
            batch_max: workload.table.batch_max(),
            best_effort_fill: 0,
            batch_cost: None,
            best_effort_depth: workload.depth,
            best_effort_order: workload.best_effort_order_under(workload.policy),
            queued_max: Self::QUEUED_MAX_DEFAULT,
            active_subset: ActiveSubset::of(&planned),
            tasks: planned.tasks,
            table: planned.table,
            contracts: planned.contracts,
            limits: DriveLimits::of(workload, false),
            regulators: planned.regulators,
            parameters: planned.parameters,
        }
    }

    /// Returns E: the number of real-time requests that the tasks can release together.
    pub fn real_time_requests(&self) -> u64 {
        self.tasks.iter().map(|task| u64::from(task.requests)).sum()
    }

    /// Returns the maximum number of real-time requests that are released and incomplete at the
    /// same time, while every job of every task is complete by its deadline: `sum e_i ceil(d_i /
    /// p_i)`, or fewer if a task limits its outstanding jobs. This is E if no deadline exceeds its
    /// period.
    pub fn real_time_pending_max(&self) -> u64 {
        // Saturation is safe: no queue reaches a bound that a u64 cannot hold.
        let pending_max = |task: &Task| task.requests_pending_max(task.deadline);
        self.tasks.iter().map(pending_max).fold(0, u64::saturating_add)
    }

    /// Returns the shortest relative deadline of all tasks; `None` without tasks.
    pub fn deadline_min(&self) -> Option<Duration> {
        self.tasks.iter().map(|task| task.deadline).min()
    }
}
