// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The limits that a proved workload needs from the kernel.

use tidegate_model::{Bytes, Duration, Op, Workload};

/// The maximum number of requests of one source that occupy places in the scheduler while the
/// program's plug holds them back (the kernel's `BLK_MAX_REQUEST_COUNT`).
const PLUGGED_MAX: u64 = 32;

/// The limits that a proved workload needs from the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// The queue depth of the device that the proof assumes.
    pub depth: u32,
    /// The number of places in the scheduler that the workload's requests and all programs'
    /// buffered writes can take.
    pub places: u64,
    /// The size of its largest request.
    pub size_max: Bytes,
    /// Whether any of its tasks writes.
    pub has_write_contract: bool,
}

impl Demand {
    /// The number of times that the kernel allows `depth` (at least 2) buffered writes: once for
    /// writeback, once for writeback when memory is short, and once for discards.
    ///
    /// # Source
    /// `get_limit` and `get_rq_wait` in `block/blk-wbt.c`, `rq_depth_calc_max_depth` in
    /// `block/blk-rq-qos.c` of Linux 6.1 and 6.12.
    pub const WRITEBACK_SHARES: u64 = 3;

    /// Returns the demand of a workload whose tasks respond within these bounds at `depth`. For a
    /// load without a limit, the number of places exceeds that of any scheduler.
    pub fn of(workload: &Workload, responses: &[Duration], depth: u32) -> Self {
        let of_tasks = workload.tasks.iter().zip(responses).map(|(task, response)| {
            let jobs = response.ns() / task.period.ns() + 1;
            jobs.saturating_mul(u64::from(task.requests))
        });
        let of_loads = workload
            .best_effort
            .iter()
            .map(|load| load.intensity.requests_max().unwrap_or(u64::MAX));
        let places = of_tasks
            .chain(of_loads)
            // Saturation is safe, because the sum is only compared with the places that the kernel
            // has.
            .fold(Self::WRITEBACK_SHARES * u64::from(depth.max(2)), |sum: u64, places| {
                sum.saturating_add(places).saturating_add(PLUGGED_MAX)
            });
        Self {
            depth,
            places,
            size_max: workload.size_max(),
            has_write_contract: workload.tasks.iter().any(|task| task.op == Op::Write),
        }
    }
}
