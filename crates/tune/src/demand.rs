// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The needs of a proved workload.

use tidegate_model::{Bytes, Duration, Intensity, Op, Workload};

/// The most requests of one source that can hold a place in the scheduler while the program's plug
/// keeps them back (the kernel's `BLK_MAX_REQUEST_COUNT`).
const PLUGGED_MAX: u64 = 32;

/// The needs of a proved workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Demand {
    /// The device's queue depth at which it is proved.
    pub depth: u32,
    /// The places that its requests can take in the scheduler.
    pub places: u64,
    /// The size of its largest request.
    pub size_max: Bytes,
    /// Whether any of its tasks writes.
    pub has_write_contract: bool,
}

impl Demand {
    /// Returns the needs of a workload whose tasks respond within these bounds at `depth`. For a
    /// load without a limit, the number of places exceeds what any scheduler has.
    pub fn of(workload: &Workload, responses: &[Duration], depth: u32) -> Self {
        let of_tasks = workload.tasks.iter().zip(responses).map(|(task, response)| {
            let jobs = response.ns() / task.period.ns() + 1;
            jobs.saturating_mul(u64::from(task.requests))
        });
        let of_loads = workload.best_effort.iter().map(|load| match load.intensity {
            Intensity::Outstanding(outstanding) | Intensity::Paced { outstanding, .. } => {
                u64::from(outstanding)
            }
            Intensity::Rate(_) => u64::MAX,
        });
        let places = of_tasks
            .chain(of_loads)
            // Saturation is safe: the sum is compared with what the kernel has.
            .fold(0, |sum: u64, places| sum.saturating_add(places).saturating_add(PLUGGED_MAX));
        Self {
            depth,
            places,
            size_max: workload.size_max(),
            has_write_contract: workload.tasks.iter().any(|task| task.op == Op::Write),
        }
    }
}
