// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Response-time bounds of dual-queue EDF: batches of at most z of the earliest deadlines,
//! only to an idle device.
//!
//! [`tight`] is the one bound. Those of [`crate::dqf`] do not carry over: even its busy
//! interval rests on release order, in which a batch cannot be filled by requests of the
//! instant at which it is sent before those that waited.
//!
//! Dual-queue EDF pays only where E, the requests that the tasks can release together, exceeds the
//! device's queue. Up to there a batch takes whatever is pending, dual-queue EDF and FIFO
//! are the same scheduler, and the bound of the latter is exact. Beyond, urgent requests go
//! first, but a bound for each task that follows their order is looser than that of FIFO,
//! and deadlines must differ much before the order outweighs it.

mod step;

use crate::budget::Budget;
use crate::climb::{self, Responses};
use crate::dqf::busy_interval::window_batches;
use crate::dqf::{self, Demand};
use crate::edf::kinds;
use crate::search::{HORIZON_NS, verdict};
use crate::{Inapplicable, SporadicTask, System, Verdict};
use step::Step;

/// The response-time bound of each task under dual-queue EDF.
///
/// # Bound
/// Let R satisfy `F_k(R) <= R_k` for all k, least such R; `F_k` is the largest of
/// `b(s) + (L - 1) b(z) + b(B) - a` over the requests s of the batch in flight at first and
/// the release a of the job after it was sent, with
///
/// - `theta_i = b(s) + p_i - R_i`: a task in the carry-in releases again no sooner;
/// - `N(a, t) = sum over i != k of e_i (min(floor((a + d_k - d_i) / p_i), floor(t / p_i)) + 1)
///   + e_k (floor(a / p_k) + 1) - loss`, the requests due no later than the job's last that
///   are released by t, without those that the carry-in makes impossible (as in Theorem 1);
///   terms with `a + d_k < d_i` are 0;
/// - L the least x with `N(a, b(s) + (x - 1) b(z)) <= x z`: the job is in batch L at latest;
/// - `B = min(z, E - s)` for L = 1 and `min(z, E - z)` for L > 1 where all `R_i < p_i`, else
///   z: the last batch, with requests of later deadlines that fill it up.
///
/// Releases lie in the window of full batches: `a < t_X`, and the job is done by
/// `t_X + b(z)`, where `t_x = b(s) + (x - 1) b(z)` and X is the first x for which all tasks
/// together release at most x z requests in a closed window of length `t_x`. With best effort
/// aboard read `b(max(j, beta))` for `b(j)` in the first batch and in the last, s = 0
/// included.
///
/// Where z >= E and [`dqf::tight`] puts every response below its period, its bounds are
/// returned: no task has two jobs pending, every batch takes all that is queued, and order
/// means nothing. At or above the period that is not so, two jobs of a task can be queued,
/// more than z requests, and FIFO's bounds are not used.
///
/// # Source
/// Own derivation, after `docs/theory/dual-queue-fifo.md` section 3 (Theorem 1), deadlines in place of
/// releases. The window begins at the last instant up to the job's release at which nothing
/// due by its due is queued. Each batch sent in it before the job's last leaves such a
/// request behind, hence is full and holds such requests alone: later deadlines delay the
/// job in the carry-in and as fillers of its own last batch, nowhere else.
///
/// Best effort (Theorem 3) changes nothing of that: a batch is formed at the same instants,
/// from the same real-time requests, since best effort gets what room these leave. Full
/// batches have no room. What is counted are real-time requests, and only the costs of the
/// carry-in, which may be best effort alone, and of the last batch grow.
///
/// # Assumptions
/// All requests of a job are released in one step before any dispatch; b is monotone (the
/// table sees to it). Any deadlines, any order of equal ones.
///
/// # Errors
/// Never at present: where no bound exists the verdict says so.
///
/// # Complexity
/// O(z * offsets * L * k) for each of k different tasks and each of at most 64 rounds. A
/// round is given up after 2^26 terms of N, all of them after 2^29 (an eighth of that for more
/// than 128 tasks): no bound.
pub fn tight(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    Ok(tight_within(system, &Budget::of_tasks(system.tasks.len())))
}

/// [`tight`], at no more than this cost.
pub(crate) fn tight_within(system: &System, budget: &Budget) -> Vec<Verdict> {
    if let Some(verdicts) = as_fifo(system, budget) {
        return verdicts;
    }
    let kinds = kinds(&system.tasks);
    // Without limits nothing is given up half way.
    let responses = climb(system, &kinds, None, budget).unwrap_or_default();
    let of_task = |task: &SporadicTask| {
        let kind = kinds.binary_search_by(|(kind, _)| kind.cmp(task)).ok();
        verdict(kind.and_then(|kind| responses.get(kind).copied().flatten()))
    };
    system.tasks.iter().map(of_task).collect()
}

/// Whether [`tight`] bounds every task within its deadline, found without climbing further
/// than a no needs.
pub(crate) fn are_deadlines_met(system: &System, budget: &Budget) -> bool {
    let is_met = |(task, verdict): (&SporadicTask, &Verdict)| {
        verdict.bound().is_some_and(|response| response <= task.deadline)
    };
    if let Some(verdicts) = as_fifo(system, budget) {
        return system.tasks.iter().zip(&verdicts).all(is_met);
    }
    let kinds = kinds(&system.tasks);
    let limits_ns: Vec<u64> = kinds.iter().map(|(task, _)| task.deadline.ns()).collect();
    let responses = climb(system, &kinds, Some(&limits_ns), budget);
    responses.is_some_and(|responses| !climb::exceeds(&responses, &limits_ns))
}

/// The bounds of FIFO where every batch takes all that is queued; `None` elsewhere.
fn as_fifo(system: &System, budget: &Budget) -> Option<Vec<Verdict>> {
    if system.requests_sum() > u64::from(system.batch_max) {
        return None;
    }
    let verdicts = dqf::tight_within(system, budget);
    let is_below = |(task, verdict): (&SporadicTask, &Verdict)| {
        verdict.bound().is_some_and(|response| response < task.period)
    };
    system.tasks.iter().zip(&verdicts).all(is_below).then_some(verdicts)
}

fn climb(
    system: &System,
    kinds: &[(SporadicTask, u64)],
    limits_ns: Option<&[u64]>,
    budget: &Budget,
) -> Option<Responses> {
    let demand = Demand::new(&system.tasks);
    let cap = window_ns(system, &demand);
    if cap.is_none() {
        return Some(vec![None; kinds.len()]);
    }
    climb::climb(kinds.len(), cap, limits_ns, |current| {
        let step = Step::new(system, &demand, kinds, current, budget.share());
        let responses = step.responses();
        budget.spend(step.terms_spent());
        responses
    })
}

/// When the longest window of full batches is over, its last batch included, whatever the
/// order of the requests in it: `(X + 1) b(z)`.
fn window_ns(system: &System, demand: &Demand) -> Option<u64> {
    let full_batch_ns = system.table.time_max(system.batch_max).ns();
    let released = |window_ns| demand.closed(window_ns);
    let batches = window_batches(released, 1, system.batch_max, full_batch_ns, full_batch_ns)?;
    batches.checked_add(1)?.checked_mul(full_batch_ns).filter(|&ns| ns <= HORIZON_NS)
}
