// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Computes the best-effort depth of `rtio-slots`, which promises nothing.

use tidegate_model::Workload;

use crate::drain::Drain;

/// Returns the largest q for which `drain(q + n)` is at most the shortest relative deadline.
pub(crate) fn best_effort_depth(workload: &Workload) -> u32 {
    let Some(deadline_min) = workload.tasks.iter().map(|task| task.deadline).min() else {
        return workload.depth;
    };
    let Some(drain) = Drain::of(workload) else { return 0 };
    let slots: u64 = workload.tasks.iter().map(|task| u64::from(task.requests)).sum();
    let fits = |&count: &u32| {
        let all = u32::try_from(u64::from(count) + slots).ok();
        all.and_then(|all| drain.time(all)).is_some_and(|time| time <= deadline_min)
    };
    (1..=drain.count_max()).rev().find(fits).unwrap_or(0)
}
