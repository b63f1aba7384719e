// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds for dual-queue FIFO with batches limited by cost as well as by count.
//!
//! A batch takes at most `A + sum c`. It is the longest prefix of the queue that costs at most Z
//! and has at most z requests. A batch that leaves a request behind therefore holds z requests, or
//! would cost more than Z with the next request; this bounds the number of batches that a job waits
//! for. The proof and a worst case are in `docs/theory/requests-of-different-kinds.md` section 11.
//!
//! ```text
//!   release of J                     J's last request is in B_L
//!        |                                       |
//!   [ X .......][ B_1 cut ][ .. ][ B_(L-1) cut ][ B_L: the rest up to J | later releases ]
//! ```

mod batches;
mod choice;
mod system;

use crate::Verdict;
use crate::mixed_task::MixedTask;
use crate::search::{HORIZON_NS, verdict};

use batches::Requests;

pub(crate) use choice::{choose, holds_at, is_provable, unproved};
pub use system::CostLimitedSystem;

/// Returns a cost-based bound, the same for every task, for batches limited by cost.
///
/// # Bound
/// Let `C_i = e_i c_i` and `C = sum C_i`, and let c be the least cost of a request. Let L be the
/// largest number of batches needed for the requests up to a job's last one, and let W be L, plus
/// one if a batch may be in flight at the job's release.
///
/// If L = 1, `R = W A + F + max(C, F)`, as in Theorem 3. Otherwise
/// `R = W A + F + max(C + X, C - c + F)`, where X bounds the cost of those requests behind the job
/// in its last batch that exceed one job of each task. X is the least of
/// - `Z - c`, and the cost of the z - 1 costliest requests;
/// - `C - (Z + 1)`, or C minus the cost of the z + 1 cheapest requests if that is more and z < E;
/// - the sum of C_i over the tasks with `p_i <= R + (W - 1) A + F + C - c`; if these are all tasks,
///   one of them is left out.
///
/// The bound holds while R is below every period. The least fixed point is returned.
///
/// # Source
/// Own derivation, `docs/theory/requests-of-different-kinds.md` section 11. The dissertation counts
/// requests instead.
///
/// # Assumptions
/// No batch takes longer than A plus its requests' costs.
///
/// # Complexity
/// O(n log n + (E / z) k log E) with k different costs.
pub fn responses(system: &CostLimitedSystem) -> Vec<Verdict> {
    vec![verdict(response_ns(system)); system.tasks.len()]
}

/// Returns the bound of [`responses`] in ns.
pub(crate) fn response_ns(system: &CostLimitedSystem) -> Option<u64> {
    solve(system).map(|solution| solution.response_ns)
}

/// The bound and its number of batches.
struct Solution {
    /// W: the largest number of batches that a job waits for.
    batches: u64,
    /// R: the longest response time.
    response_ns: u64,
}

fn solve(system: &CostLimitedSystem) -> Option<Solution> {
    let period_min = system.tasks.iter().map(|mixed| mixed.task.period.ns()).min()?;
    let requests = Requests::of(system);
    let is_shared = !system.best_effort_fill.is_zero();
    let (all, least_ns) = (requests.count(), u128::from(requests.least_ns()));
    let queued_max = requests.batches_max(requests.sum_ns(), all)?;
    let batches = if is_shared {
        1 + queued_max
    } else if system.tasks.len() == 1 {
        // Nothing can be in flight at the release of the only task.
        queued_max
    } else {
        // If a batch is in flight at the release, at least one request is in it and not queued.
        queued_max.max(1 + requests.batches_max(requests.sum_ns() - least_ns, all - 1)?)
    };
    let wait = Wait { system, requests: &requests, batches };
    let response_ns = if queued_max == 1 { wait.in_one() } else { wait.in_several() };
    let response_ns = u64::try_from(response_ns).ok().filter(|&ns| ns <= HORIZON_NS)?;
    (response_ns < period_min).then_some(Solution { batches, response_ns })
}

/// A job's wait for a given number of batches; times in ns.
struct Wait<'a> {
    system: &'a CostLimitedSystem,
    requests: &'a Requests,
    /// W: the largest number of batches that a job waits for.
    batches: u64,
}

impl Wait<'_> {
    fn fill_ns(&self) -> u128 {
        u128::from(self.system.best_effort_fill.ns())
    }

    /// Returns `W A + F`.
    fn fixed_ns(&self) -> u128 {
        let positioning_ns = u128::from(self.system.positioning_max.ns());
        u128::from(self.batches) * positioning_ns + self.fill_ns()
    }

    /// Returns R if all queued requests fit in one batch.
    fn in_one(&self) -> u128 {
        self.fixed_ns() + self.requests.sum_ns().max(self.fill_ns())
    }

    /// Returns R if the queue can be cut into several batches.
    fn in_several(&self) -> u128 {
        let with = |joining_ns: u128| {
            let without_job = self.requests.sum_ns() - u128::from(self.requests.least_ns());
            let last = (self.requests.sum_ns() + joining_ns).max(without_job + self.fill_ns());
            (self.fixed_ns() + last).max(self.in_one())
        };
        let joining_max_ns = self.joining_max_ns();
        let mut by_period: Vec<(u64, u128)> = self.system.tasks.iter().map(job).collect();
        by_period.sort_unstable();
        let own_min_ns = by_period.iter().map(|&(_, ns)| ns).min().unwrap_or(0);
        let (mut again, mut again_ns) = (0, 0);
        loop {
            // If these are all tasks, one of them is the job's own task, which has no second job.
            let own_ns = if again == by_period.len() { own_min_ns } else { 0 };
            let response_ns = with(joining_max_ns.min(again_ns - own_ns));
            let latest_ns = response_ns + self.last_dispatch_ns();
            let Some(&(period_ns, job_ns)) = by_period.get(again) else { return response_ns };
            if u128::from(period_ns) > latest_ns {
                return response_ns;
            }
            (again, again_ns) = (again + 1, again_ns + job_ns);
        }
    }

    /// Returns the latest dispatch of the job's last batch, relative to its release.
    fn last_dispatch_ns(&self) -> u128 {
        let positioning_ns = u128::from(self.system.positioning_max.ns());
        let before_job = self.requests.sum_ns() - u128::from(self.requests.least_ns());
        u128::from(self.batches - 1) * positioning_ns + self.fill_ns() + before_job
    }

    /// Returns the largest cost of the requests behind the job in its last batch, whatever the
    /// periods.
    fn joining_max_ns(&self) -> u128 {
        let (cost_max_ns, count_max) =
            (u128::from(self.system.cost_max.ns()), u64::from(self.system.batch_max));
        let (sum_ns, least_ns) = (self.requests.sum_ns(), u128::from(self.requests.least_ns()));
        // The previous batch was cut by cost or by count, and the jobs in it are not in this one.
        let behind_cost_ns = sum_ns.saturating_sub(cost_max_ns + 1);
        let behind_count_ns = if self.requests.count() > count_max {
            sum_ns - self.requests.cheapest_ns(count_max + 1)
        } else {
            0
        };
        let besides_job_ns = cost_max_ns - least_ns;
        let costliest_ns = self.requests.costliest_ns(count_max - 1);
        behind_cost_ns.max(behind_count_ns).min(besides_job_ns).min(costliest_ns)
    }
}

/// Returns the period of a task and the cost of one of its jobs, both in ns.
fn job(mixed: &MixedTask) -> (u64, u128) {
    let requests = u128::from(mixed.task.requests);
    (mixed.task.period.ns(), requests * u128::from(mixed.request_max.ns()))
}
