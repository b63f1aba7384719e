// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Response-time bounds of dual-queue EDF: batches of at most z requests with the earliest
//! deadlines, sent only to an idle device.
//!
//! [`tight`] is the only bound. The bounds of [`crate::dqf`] do not apply: even its busy interval
//! relies on release order, in which requests released at the dispatch instant cannot take a
//! batch's places from requests that waited.
//!
//! Dual-queue EDF helps only if E, the number of requests that the tasks can release together,
//! exceeds the device's queue. Up to that size a batch takes every pending request, dual-queue EDF
//! and FIFO are the same scheduler, and the FIFO bound is exact. Beyond it, urgent requests go
//! first, but a per-task bound that follows deadline order is looser than the FIFO bound, and only
//! with widely different deadlines does the gain outweigh this.

mod evaluation;

use crate::budget::Budget;
use crate::climb::{self, Responses};
use crate::dqf::busy_interval::window_batches;
use crate::dqf::{self, Demand};
use crate::search::{HORIZON_NS, verdict};
use crate::{Inapplicable, SporadicTask, System, Verdict};
use evaluation::EdfEvaluation;

/// Returns the response-time bound of each task under dual-queue EDF.
///
/// # Bound
/// Let R be the least solution of `F_k(R) <= R_k` for all k. `F_k` is the largest
/// `b(s) + (L - 1) b(z) + b(B) - a` over s, the number of requests in the batch that is in flight
/// at first, and a, the time from that batch's dispatch to the job's release, with
///
/// - `theta_i = b(s) + p_i - R_i`: the earliest second release of a task in the carry-in;
/// - `N(a, t) = sum over i != k of e_i (min(floor((a + d_k - d_i) / p_i), floor(t / p_i)) + 1) +
///   e_k (floor(a / p_k) + 1) - loss`: the requests due no later than the job's last one and
///   released by t, without those that the carry-in makes impossible (as in Theorem 1); terms with
///   `a + d_k < d_i` are 0;
/// - L the least x with `N(a, b(s) + (x - 1) b(z)) <= x z`: the job is in batch L at the latest;
/// - B the size of the last batch, including the requests with later deadlines that fill it up: if
///   all `R_i < p_i`, `min(z, E - s)` for L = 1 and `min(z, E - z)` for L > 1; otherwise z.
///
/// Releases lie in the window of full batches: `a < t_X`, and the job completes by `t_X + b(z)`.
/// Here `t_x = b(s) + (x - 1) b(z)`, and X is an x, usually the first, for which all tasks together
/// release at most x z requests in a closed window of length `t_x`. With best effort, `b(max(j,
/// beta))` replaces `b(j)` in the first and in the last batch, also for s = 0.
///
/// If z >= E and [`dqf::tight`] bounds every response below its period, those bounds are returned:
/// no task has two jobs pending, every batch takes all queued requests, and the order does not
/// matter. If a bound reaches its period, two jobs of a task, and so more than z requests, can be
/// queued, and the FIFO bounds are not used.
///
/// # Source
/// Own derivation, after `docs/theory/dual-queue-fifo.md` section 3 (Theorem 1), with deadlines in
/// place of releases. The window begins at the last instant up to the job's release at which no
/// request with the job's deadline or an earlier one is queued. Each batch sent in the window
/// before the job's last batch leaves such a request behind, so it is full and holds only such
/// requests. Requests with later deadlines therefore delay the job only in the carry-in and as
/// fillers of its own last batch.
///
/// Best effort (Theorem 3) does not change this: batches are formed at the same instants from the
/// same real-time requests, because best effort gets only the places that these leave free. Full
/// batches leave none. N counts real-time requests; only the costs of the carry-in, which may be
/// best effort alone, and of the last batch grow.
///
/// # Assumptions
/// All requests of a job are released in one step before any dispatch; b is monotone (the table
/// ensures it). Deadlines are arbitrary, and equal ones may be served in any order.
///
/// # Errors
/// None at present: if no bound exists, the verdict says so.
///
/// # Complexity
/// O(z * offsets * L * k) for each of k different tasks and each round: at most 65 rounds, and one
/// more for each different task if responses jump to their cap. The search stops without a bound
/// after 2^26 terms of N in one round or 2^29 in all rounds (an eighth of that for more than 128
/// tasks).
pub fn tight(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    Ok(tight_within(system, &Budget::of_tasks(system.tasks.len())))
}

/// Returns the bounds of [`tight`] within a budget.
pub(crate) fn tight_within(system: &System, budget: &Budget) -> Vec<Verdict> {
    if let Some(verdicts) = as_fifo(system, budget) {
        return verdicts;
    }
    let kinds = system.tasks.different();
    let demand = system.tasks.demand();
    let cap = window_ns(system, demand);
    // Without limits the climb is never abandoned.
    let responses = climb(system, demand, kinds, cap, None, budget);
    let responses = responses.unwrap_or_else(|| vec![None; kinds.len()]);
    kinds.per_task(&responses).map(verdict).collect()
}

/// Returns whether [`tight`] bounds every task within its deadline. Stops climbing as soon as the
/// answer is known.
pub(crate) fn are_deadlines_met(system: &System, budget: &Budget) -> bool {
    let is_met = |(task, verdict): (&SporadicTask, &Verdict)| {
        verdict.bound().is_some_and(|response| response <= task.deadline)
    };
    if let Some(verdicts) = as_fifo(system, budget) {
        return system.tasks.iter().zip(&verdicts).all(is_met);
    }
    let demand = system.tasks.demand();
    let cap = window_ns(system, demand);
    if cap.is_some_and(|cap| system.tasks.iter().all(|task| cap <= task.deadline.ns())) {
        return true;
    }
    let kinds = system.tasks.different();
    let limits_ns: Vec<u64> = kinds.iter().map(|(task, _)| task.deadline.ns()).collect();
    let responses = climb(system, demand, kinds, cap, Some(&limits_ns), budget);
    responses.is_some_and(|responses| !climb::exceeds(&responses, &limits_ns))
}

/// Returns the FIFO bounds if every batch takes all queued requests; otherwise `None`.
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

/// Climbs from R = 0 to a fixed point of at most `cap`, the end of the longest window.
fn climb(
    system: &System,
    demand: &Demand,
    kinds: &[(SporadicTask, u64)],
    cap: Option<u64>,
    limits_ns: Option<&[u64]>,
    budget: &Budget,
) -> Option<Responses> {
    if cap.is_none() {
        return Some(vec![None; kinds.len()]);
    }
    climb::climb(kinds.len(), cap, limits_ns, |current| {
        let evaluation = EdfEvaluation::new(system, demand, kinds, current, budget.share());
        let responses = evaluation.responses();
        budget.spend(evaluation.terms_spent());
        responses
    })
}

/// Returns the end of the longest window of full batches, including its last batch, for any order
/// of the requests in it: `(X + 1) b(z)`.
fn window_ns(system: &System, demand: &Demand) -> Option<u64> {
    let full_batch_ns = system.table.time_max(system.batch_max).ns();
    if !demand.is_within_capacity(system.batch_max, full_batch_ns) {
        return None;
    }
    let released = |window_ns| demand.closed(window_ns);
    let batches = window_batches(system, released, 1, full_batch_ns)?;
    batches.checked_add(1)?.checked_mul(full_batch_ns).filter(|&ns| ns <= HORIZON_NS)
}
