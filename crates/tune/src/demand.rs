// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The needs of a proved workload.

use tidegate_model::{Bytes, Duration, Op, Workload};

/// The most requests of one source that can hold a place in the scheduler while the program's plug
/// keeps them back (the kernel's `BLK_MAX_REQUEST_COUNT`).
const PLUGGED_MAX: u64 = 32;

/// The needs of a proved workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// The device's queue depth at which it is proved.
    pub depth: u32,
    /// The places that its requests can take in the scheduler, and buffered writes of all programs.
    pub places: u64,
    /// The size of its largest request.
    pub size_max: Bytes,
    /// Whether any of its tasks writes.
    pub has_write_contract: bool,
}

impl Demand {
    /// The kernel limits buffered writes to the depth, or 2 if that is more, three times: writeback,
    /// writeback for want of memory, and discards.
    ///
    /// # Source
    /// `get_limit` and `get_rq_wait` in `block/blk-wbt.c`, `rq_depth_calc_max_depth` in
    /// `block/blk-rq-qos.c` of Linux 6.1 and 6.12.
    pub const WRITEBACK_SHARES: u64 = 3;

    /// Returns the needs of a workload whose tasks respond within these bounds at `depth`. For a
    /// load without a limit, the number of places exceeds what any scheduler has.
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
            // Saturation is safe: the sum is compared with what the kernel has.
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
