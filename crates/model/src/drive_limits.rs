// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The times that a run compares the drive's times with: the drive's tables, and the times that the
//! verdict tolerates.
//!
//! ```text
//!   measured            tolerated
//!   ---|--------------------|----------->  time of a batch
//!      within the table     an overrun that voids no proof    an overrun that voids the proof
//! ```

use crate::batch_cost::RequestCharges;
use crate::batch_table::BatchTable;
use crate::contracts::DriveContract;
use crate::request::Request;
use crate::slowdown::Slowdown;
use crate::units::Duration;
use crate::workload::Workload;

/// The longest times of batches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchTimes {
    /// The batch table b(i).
    pub table: BatchTable,
    /// A and the charges of requests, which replace `table` if the proof charges each request its
    /// own cost.
    pub charges: Option<RequestCharges>,
}

impl BatchTimes {
    /// Returns the longest time of a batch; `None` if the table or the costs do not cover it.
    ///
    /// # Panics
    /// If the batch has more than 2^32 requests.
    pub fn time_max(&self, batch: &[Request]) -> Option<Duration> {
        let Some(charges) = &self.charges else {
            let count = u32::try_from(batch.len()).expect("at most the depth");
            return (count <= self.table.batch_max()).then(|| self.table.time_max(count));
        };
        batch.iter().try_fold(charges.positioning_max, |sum, request| {
            sum.checked_add(charges.of_request(request.op, request.size)?)
        })
    }
}

/// The longest times of a drive under each of its contracts; `None` for a contract that was not
/// measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveTimes {
    /// The longest times of batches.
    pub batches: BatchTimes,
    /// The drain times drain(q), for q requests in flight.
    pub drain: Option<BatchTable>,
    /// The longest time of one request on the drive.
    pub starvation_max: Option<Duration>,
    /// The longest times of requests with the drive's own priority.
    pub priority: Option<BatchTable>,
}

impl DriveTimes {
    /// Returns the times of a workload's tables; with `by_costs`, batches are timed by the costs of
    /// their requests.
    pub fn of(workload: &Workload, by_costs: bool) -> Self {
        let charges = RequestCharges::of_workload(workload).filter(|_| by_costs);
        let contracts = &workload.contracts;
        Self {
            batches: BatchTimes { table: workload.table.clone(), charges },
            drain: contracts.drain.clone(),
            starvation_max: contracts.starvation_max,
            priority: contracts.priority.clone(),
        }
    }
}

/// The times that a run compares the drive with.
///
/// # Invariants
/// No time of `tolerated` is below the same time of `measured`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DriveLimits {
    /// The times of the drive's tables, plus the host's time if it is stated. A longer time is an
    /// overrun.
    pub measured: DriveTimes,
    /// The times up to which an overrun voids no proof.
    pub tolerated: DriveTimes,
}

impl DriveLimits {
    /// Returns the limits of a workload: its margin is tolerated, and nothing more.
    pub fn of(workload: &Workload, by_costs: bool) -> Self {
        Self::tolerating(workload, by_costs, DriveContract::Batches, Duration::ZERO)
    }

    /// Returns the limits of a workload whose verdict still holds if, beyond the margin, each time
    /// of this contract is longer by `added`.
    pub fn tolerating(
        workload: &Workload,
        by_costs: bool,
        contract: DriveContract,
        added: Duration,
    ) -> Self {
        let slowed = Slowdown::by(added).of_contract(&workload.planned(), contract);
        Self {
            measured: DriveTimes::of(&workload.behind_host(), by_costs),
            tolerated: DriveTimes::of(&slowed, by_costs),
        }
    }

    /// Returns limits of batches alone, without tolerance.
    pub fn of_table(table: BatchTable) -> Self {
        let batches = BatchTimes { table, charges: None };
        let times = DriveTimes { batches, drain: None, starvation_max: None, priority: None };
        Self { measured: times.clone(), tolerated: times }
    }
}
