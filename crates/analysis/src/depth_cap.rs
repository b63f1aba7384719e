// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Keeps fewer best-effort requests on the drive than a policy's proof allows: `best_effort_depth`
//! in the workload file.
//!
//! A proof that allows a depth allows every smaller one, because a policy may always send best
//! effort later than the proof requires. A host that orders best effort itself gains little from a
//! deep queue on the drive, and each request there delays real time.

use tidegate_model::{DepthChoice, DispatchMode, PolicyName, Workload};

use crate::SporadicTask;
use crate::expected::{Beside, Rate, real_time};

/// `auto` forgoes less than `1 / FORGONE` of the best expected throughput.
const FORGONE: u128 = 100;

/// Returns the largest number of best-effort requests that the workload file lets this policy keep
/// on the drive, or in one batch, beside these tasks; `None` if the file sets no limit, if the
/// limit does not concern the policy, or if `auto` cannot predict throughput.
///
/// # Bound
/// Proves nothing. With `auto`, the limit is the least depth at which best effort's expected
/// throughput beside the tasks exceeds 99 % of the highest expected at any depth
/// ([`crate::expected_best_effort`]).
///
/// # Complexity
/// O(K) for the drive's depth K, O(K^2) for policies that send batches.
pub(crate) fn best_effort_limit(
    workload: &Workload,
    policy: PolicyName,
    tasks: &[SporadicTask],
) -> Option<u32> {
    let facts = policy.facts();
    let is_limited = match facts.dispatch {
        DispatchMode::Batches | DispatchMode::BestEffortDepth => {
            facts.best_effort.has_order() && facts.theorem.is_ok()
        }
        DispatchMode::OneAtATime | DispatchMode::UpToDepth => false,
    };
    match workload.best_effort_depth {
        DepthChoice::AtMost(depth) if is_limited => Some(depth.get()),
        DepthChoice::Auto if is_limited => sufficient_depth(workload, policy, tasks),
        DepthChoice::Proven | DepthChoice::AtMost(_) | DepthChoice::Auto => None,
    }
}

/// Returns the limit on the best-effort fill of batches. The limit of `dqf` holds for every policy
/// that sends batches, because all of them serve best effort in the same order.
pub(crate) fn fill_limit(workload: &Workload, tasks: &[SporadicTask]) -> u32 {
    best_effort_limit(workload, PolicyName::Dqf, tasks).unwrap_or(u32::MAX)
}

fn sufficient_depth(
    workload: &Workload,
    policy: PolicyName,
    tasks: &[SporadicTask],
) -> Option<u32> {
    let beside = Beside::of(workload, policy, tasks.len())?;
    let real_time = real_time(tasks.iter().map(|task| (task.requests, task.period)))?;
    let units: u64 = tasks.iter().map(|task| u64::from(task.requests)).sum();
    let units = u32::try_from(units).unwrap_or(u32::MAX);
    let flow = |depth: u32| match policy.facts().dispatch {
        DispatchMode::Batches => beside.in_batches(depth, depth.max(units)),
        DispatchMode::BestEffortDepth | DispatchMode::OneAtATime | DispatchMode::UpToDepth => {
            beside.at_depth(depth)
        }
    };
    let rates = (1..=workload.depth).map_while(|depth| Some((depth, flow(depth)?)));
    let rates: Vec<(u32, Rate)> =
        rates.map(|(depth, flow)| (depth, flow.best_effort_beside(real_time))).collect();
    let best = rates.iter().map(|&(_, rate)| rate).max().filter(|&best| best > 0)?;
    let suffices = |&&(_, rate): &&(u32, Rate)| rate * FORGONE > best * (FORGONE - 1);
    rates.iter().find(suffices).map(|&(depth, _)| depth)
}
