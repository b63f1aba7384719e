// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Soft guarantees of dual-queue FIFO: a shorter bound that a job exceeds with at most a stated
//! probability, from a table b_q that each batch exceeds with probability at most epsilon.
//!
//! A job can be late only if a batch among those it depends on was longer than b_q. These batches
//! depend on the batch times themselves: a long batch is more likely than a short one to be in
//! flight at a job's release. So "two batches, hence 2 epsilon" is WRONG: a device that serves most
//! batches in no time, and one in a thousand in a second, is found busy half the time. The proof
//! therefore counts the jobs that may have led such a batch, which are known in advance.

use tidegate_model::{BatchTable, Duration, Slowdown, Workload};

use crate::dqf::{self, Demand, backlog, window_batches};
use crate::search::HORIZON_NS;
use crate::shaping::sporadic;
use crate::{Assessment, System};

/// The number one, in parts per billion.
const WHOLE_PPB: u128 = 1_000_000_000;

/// A response time that a job exceeds with at most a stated probability.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SoftPromise {
    /// The response time that a job exceeds with at most the probability `miss_ppb_max`.
    pub response_max: Duration,
    /// An upper bound on the probability that a job takes longer than `response_max`, in parts per
    /// billion; at most 1,000,000,000.
    pub miss_ppb_max: u64,
}

/// Returns the soft promise to every task under the z and beta of `assessment`. A batch exceeds
/// `table` with a probability of at most `exceedance_ppb`. `None` if nothing can be promised.
///
/// # Bound
/// `P(response > R_q) <= min(1, M epsilon)`. The oldest real-time request of a batch leads it. A
/// job leads at most `ceil(e_i / z)` batches: requests released together are adjacent in the queue,
/// and a batch that is not full leaves none behind. M sums this number over the jobs that may have
/// led a batch on which the job in question depends.
/// - If every hard bound R_i is below its period, no task has two jobs pending, whatever times
///   within the hard table the batches take. A job then depends on the batch in flight at its
///   release and the L that follow: `R_q = max over y of bt(y) + (L - 1) b_q(z) + bt(last)`, as in
///   A_k of Theorem 1 (for E <= z, the two batches of Theorem 2). Their leaders were released at
///   most R_i before the job: one job of each task, `M = sum ceil(e_i / z)`.
/// - Otherwise, with a hard busy-interval bound H: `R_q = b(s) + L b_q(z)`, Lemma 9.2.4 as in
///   [`dqf::busy_interval`]. The lemma's window began less than H before the job. The batch in
///   flight then was led by a job at most R older, where R is the largest hard bound: `M = sum
///   (floor((H + R) / p_i) + 1) ceil(e_i / z)`.
///
/// A batch of best effort alone has no leader whose release is known in advance. It is charged by
/// the hard table, `bt(0) = b(beta)`; all others are charged b_q.
///
/// # Source
/// Own derivation, `docs/theory/soft-bounds.md` section 13; the idea is the dissertation's,
/// section 10.3. Proof of the count: for a request u fixed in advance, "u leads a batch and that
/// batch is longer than b_q" has probability at most epsilon, because the batch is formed before
/// its time is known; the union bound needs no independence.
///
/// # Assumptions
/// The drive stays within its hard table. Given all that came before, a batch exceeds b_q with a
/// probability of at most epsilon, as the measured ones did: so positions must not decide the order
/// of requests, because batches would then differ from the measured ones. Releases do not depend on
/// batch times: a task that waits for its own jobs (`outstanding`) gets no promise.
///
/// # Complexity
/// As [`dqf::busy_interval`], or O(E log n).
pub fn soft_promise(
    workload: &Workload,
    assessment: &Assessment,
    table: &BatchTable,
    exceedance_ppb: u64,
) -> Option<SoftPromise> {
    let waits = workload.tasks.iter().any(|task| task.outstanding_max.is_some());
    let is_by_count = assessment.batch_cost.is_none();
    let theorem = assessment.policy.facts().theorem;
    let has_soft_form = theorem.is_ok_and(|theorem| theorem.facts().has_soft_form);
    let is_known = has_soft_form && is_by_count && workload.regulators.is_empty();
    if waits
        || !is_known
        || assessment.serves_by_position(workload)
        || table.batch_max() < assessment.batch_max
    {
        return None;
    }
    let planned = workload.planned();
    let system = System {
        tasks: sporadic(&planned.tasks),
        table: Slowdown::by(workload.host_in_batch()).of_table(table),
        batch_max: assessment.batch_max,
        best_effort_fill: assessment.best_effort_fill,
    };
    let hard = System { table: planned.table.clone(), ..system.clone() };
    let bounds = assessment.tasks.iter().map(|task| task.response_max);
    let at_policy = bounds.zip(workload.around_policy());
    let at_policy = at_policy.map(|(bound, around)| bound?.0.checked_sub(around));
    let responses: Option<Vec<Duration>> = at_policy.collect();
    let (response_ns, leaders) = promise(&system, &hard, &responses?)?;
    let miss = (leaders * u128::from(exceedance_ppb)).min(WHOLE_PPB);
    // One promise for all tasks, so the longest time around the policy counts.
    let around = workload.around_policy().max().unwrap_or_default();
    Some(SoftPromise {
        response_max: Duration::from_ns(response_ns).checked_add(around)?,
        miss_ppb_max: u64::try_from(miss).ok()?,
    })
}

/// Returns R_q in ns, and M, the number of batches on which a job can depend.
fn promise(soft: &System, hard: &System, responses: &[Duration]) -> Option<(u64, u128)> {
    let demand = soft.tasks.demand();
    // The longest time of a batch of best effort alone.
    let alone_ns = hard.batch_time_ns(0);
    let mut pairs = responses.iter().zip(&soft.tasks);
    if pairs.all(|(&response, task)| response < task.period) {
        return Some((by_backlog(soft, demand, alone_ns)?, leaders(soft, |_| 1)));
    }
    let batch_max = soft.batch_max;
    let full_ns = soft.table.time_max(batch_max).ns();
    let carry_ns = full_ns.max(alone_ns);
    let batches = window_batches(soft, |length_ns| demand.half_open(length_ns), 1, carry_ns)?;
    let response_ns = carry_ns.checked_add(batches.checked_mul(full_ns)?)?;
    let window = dqf::busy_interval(hard).ok()?.first()?.bound()?;
    let reach_ns = window.checked_add(*responses.iter().max()?)?.ns();
    let leaders = leaders(soft, |period_ns| reach_ns / period_ns + 1);
    (response_ns <= HORIZON_NS).then_some((response_ns, leaders))
}

/// Returns A_k of Theorem 1 for any task; a batch of best effort alone takes `alone_ns`.
fn by_backlog(soft: &System, demand: &Demand, alone_ns: u64) -> Option<u64> {
    let time_ns = |real_time: u64| match real_time {
        0 => alone_ns,
        _ => soft.batch_time_of_ns(real_time),
    };
    let (sum, batch_max) = (demand.requests_sum(), u64::from(soft.batch_max));
    // Every total below E leaves out some task, which may be the job's own.
    let last = batch_max.min(sum.checked_sub(1)?);
    let totals = demand.totals(last, None);
    let full = (batch_max <= last).then_some(batch_max);
    backlog::longest_ns(soft, demand, totals.iter().chain(full), time_ns)
}

/// Returns M: the number of batches that jobs may lead if a task of period p has `jobs(p)` of them.
fn leaders(system: &System, jobs: impl Fn(u64) -> u64) -> u128 {
    let of_task = |task: &crate::SporadicTask| {
        let each = task.requests.div_ceil(system.batch_max);
        u128::from(jobs(task.period.ns())) * u128::from(each)
    };
    system.tasks.iter().map(of_task).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SporadicTask;

    /// Goal: where a response exceeds a period, M counts every job that may lead a batch of the
    /// window or the batch in flight before it. Method: one task of 3 requests every 10 ns with
    /// z = 2, by hand.
    #[test]
    fn a_promise_beyond_a_period_counts_every_job_within_reach() {
        let period = Duration::from_ns(10);
        let of = |times_ns: [u64; 2]| System {
            tasks: vec![SporadicTask { requests: 3, period, deadline: period }].into(),
            table: BatchTable::new(&times_ns.map(Duration::from_ns)).expect("rising times"),
            batch_max: 2,
            best_effort_fill: 0,
        };
        // One job is released within the 8 ns of L = 2 hard batches, and L = 1 holds only 2 of its
        // 3 requests: H = (2 + 1) 4. For R = 19 a job led a batch if it was released at most
        // H + R = 31 before: floor(31 / 10) + 1 = 4 jobs, ceil(3 / 2) = 2 batches each. There are
        // also two soft batches, of 2 ns each: R_q = 2 + 2 * 2.
        let promised = promise(&of([1, 2]), &of([3, 4]), &[Duration::from_ns(19)]);
        assert_eq!(promised, Some((6, 4 * 2)));
    }
}
