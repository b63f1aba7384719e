// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs an implementation through a case and checks the invariants.

use tidegate_cpu_model::{CpuTask, CpuWorkload};
use tidegate_cpu_servers::Server;
use tidegate_cpu_sim::{CpuParams, simulate_with};
use tidegate_model::Duration;

use crate::case::{Case, Outcome};
use crate::response::response_max;
use crate::watch::Watch;

/// Runs a server through a case. `is_recorded` keeps the calls and the execution, for diagrams.
///
/// # Panics
/// If the server has work and requests an alarm that is not in the future: the calls would never
/// end.
pub fn check(case: &Case, server: Box<dyn Server + '_>, is_recorded: bool) -> Outcome {
    let bounds = bounds(&case.workload);
    let mut workload = case.workload.clone();
    for (task, bound) in workload.tasks.iter_mut().zip(&bounds) {
        task.deadline = bound.unwrap_or(Duration::from_ns(u64::MAX / 4));
    }
    let mut watch = Watch::new(case, bounds, is_recorded);
    let params = CpuParams::new(&workload, case.duration, case.seed);
    let run = simulate_with(&params, vec![server], &mut watch);
    watch.into_outcome(&run)
}

/// Returns the response-time bound of each task below the server; `None` for other tasks, and where
/// there is no bound.
fn bounds(workload: &CpuWorkload) -> Vec<Option<Duration>> {
    let priority = workload.servers[0].priority;
    let bound = |(index, task): (usize, &CpuTask)| {
        if task.priority < priority { response_max(workload, index) } else { None }
    };
    workload.tasks.iter().enumerate().map(bound).collect()
}
