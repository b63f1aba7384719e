// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `rtio-slots`: nothing is promised, and why.

use tidegate_model::Workload;

use crate::drain::Drain;

/// Drives on which the rule misses deadlines are easy to make: `tidegate_soundness::black_box`.
pub(crate) const NOT_SAFE: &str = "reserved slots do not follow from the drain table: a real-time request that takes \
     its slot late restarts the drain of those on the drive already, and deadlines can be missed (RTAS'08 \
     section 5 is preliminary); use gated-drain, or, on a device that serves one request at a time without \
     preemption, (o+u) b(1) in place of drain(o+u)";

/// The largest be with `drain(be + n) <= ` the shortest relative deadline.
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
