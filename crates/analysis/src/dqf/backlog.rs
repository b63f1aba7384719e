// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A, the bound of Theorem 1 by the backlog: while every response is below its period, no task has
//! two jobs pending.

use crate::System;
use crate::budget::Budget;
use crate::dqf::demand::Kind;
use crate::dqf::totals::Totals;
use crate::dqf::{Demand, Derivation, Steps, two_batches};
use crate::search::HORIZON_NS;

/// A for each number of requests per job. A depends on a task only through this number, and not on
/// R.
#[derive(Debug)]
pub(super) struct Backlog {
    by_rank: Vec<Option<u64>>,
}

impl Backlog {
    /// Returns A for jobs of the system.
    ///
    /// # Source
    /// `docs/theory/dual-queue-fifo.md` section 3, equation 3.6. Machine-checked.
    ///
    /// # Complexity
    /// With D different numbers of requests: O(D^2 z log n), 64 totals at a time. Beyond the
    /// budget, O(D z log n): the batch in flight may then also hold a job of the task itself, which
    /// only raises A.
    pub(super) fn new(system: &System, demand: &Demand, budget: &Budget) -> Self {
        let requests = demand.tasks_by_requests().keys().copied();
        if demand.requests_sum() <= u64::from(system.batch_max) {
            let longest = two_batches::longest_pair_ns(system, demand);
            return Self { by_rank: requests.map(|_| longest).collect() };
        }
        let sets = demand.tasks_by_requests().len() as u64;
        let words = u64::from(system.batch_max) / 64 + 1;
        let is_own_left_out = budget.afford(sets.saturating_mul(sets).saturating_mul(words));
        let whole = demand.totals(u64::from(system.batch_max), None);
        let response = |requests: u64| {
            let of_others = is_own_left_out.then(|| totals_of_others(system, demand, requests));
            let carry_ins =
                carry_ins(system, demand, requests, of_others.as_ref().unwrap_or(&whole));
            longest_ns(system, demand, carry_ins, |count| system.batch_time_of_ns(count))
        };
        Self { by_rank: requests.map(response).collect() }
    }

    /// Returns A for a job of this kind; `None` beyond the horizon.
    pub(super) fn response_ns(&self, kind: &Kind) -> Option<u64> {
        self.by_rank[kind.rank]
    }
}

/// Returns the totals of requests that the jobs of the other tasks can add up to, for a task whose
/// jobs have `requests` requests.
fn totals_of_others(system: &System, demand: &Demand, requests: u64) -> Totals {
    let others = demand.requests_sum() - requests;
    demand.totals(others.min(system.batch_max.into()), Some(requests))
}

/// Returns the possible sizes of the batch in flight: the totals of the other tasks' jobs, and z if
/// the other tasks can fill a batch.
fn carry_ins<'a>(
    system: &System,
    demand: &Demand,
    requests: u64,
    totals: &'a Totals,
) -> impl Iterator<Item = u64> + use<'a> {
    let (others, batch_max) = (demand.requests_sum() - requests, u64::from(system.batch_max));
    let full = (batch_max <= others).then_some(batch_max);
    totals.iter().filter(move |&total| total <= others.min(batch_max)).chain(full)
}

/// The derivation of A for jobs with one number of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BacklogStep {
    /// e: the requests of the job.
    pub requests: u64,
    /// The sizes that the batch in flight can have, ascending.
    pub carry_ins: Vec<u64>,
    /// The size with the longest wait.
    pub in_flight: u64,
    /// The number of batches after the one in flight, up to and including the job's last one.
    pub batches: u64,
    /// The size of the last batch.
    pub last: u64,
    /// The bound A in ns: the total time of the batch in flight and of the batches after it.
    pub response_ns: u64,
}

/// Returns the derivation of A for each number of requests that jobs have; `None` beyond the
/// horizon.
///
/// # Complexity
/// O(D^2 z log n) for D different numbers of requests, 64 totals at a time.
pub fn backlog_steps(system: &System) -> Option<Vec<BacklogStep>> {
    let demand = system.tasks.demand();
    let step = |requests: u64| {
        let totals = totals_of_others(system, demand, requests);
        let mut carry_ins: Vec<u64> = carry_ins(system, demand, requests, &totals).collect();
        carry_ins.dedup();
        let time_ns = |count| system.batch_time_of_ns(count);
        let waits = carry_ins.iter().map(|&carry| wait(system, demand, carry, time_ns));
        let waits = waits.collect::<Option<Vec<_>>>()?;
        let longest = (0..waits.len()).max_by_key(|&index| waits[index].2)?;
        let (in_flight, (batches, last, response_ns)) = (carry_ins[longest], waits[longest]);
        let is_within = response_ns <= HORIZON_NS;
        is_within.then_some(BacklogStep {
            requests,
            carry_ins,
            in_flight,
            batches,
            last,
            response_ns,
        })
    };
    demand.tasks_by_requests().keys().copied().map(step).collect()
}

/// Returns the derivation of A if it is exactly `response_ns` for a job of this many requests.
pub(super) fn derivation(
    system: &System,
    demand: &Demand,
    requests: u64,
    response_ns: u64,
) -> Option<Derivation> {
    let totals = totals_of_others(system, demand, requests);
    carry_ins(system, demand, requests, &totals).find_map(|carry_in| {
        let time_ns = |count| system.batch_time_of_ns(count);
        let (batches, last_batch, longest_ns) = wait(system, demand, carry_in, time_ns)?;
        let full_batches = batches - 1;
        let steps = Steps { carry_in, full_batches, last_batch, released_ns: 0 };
        let queued = demand.requests_sum() - carry_in;
        (longest_ns == response_ns).then(|| Derivation::at_once(steps, queued))
    })
}

/// Returns the longest time, over the sizes of the batch in flight, until all that can be queued
/// behind it is served; `time_ns` gives the cost of the first and of the last batch.
pub(crate) fn longest_ns(
    system: &System,
    demand: &Demand,
    mut carry_ins: impl Iterator<Item = u64>,
    time_ns: impl Fn(u64) -> u64,
) -> Option<u64> {
    let longest = carry_ins
        .try_fold(0, |longest, carry| Some(wait(system, demand, carry, &time_ns)?.2.max(longest)));
    longest.filter(|&ns| ns <= HORIZON_NS)
}

/// Returns the number of batches after a batch in flight of this size, the size of the last one,
/// and the time of all batches in ns.
fn wait(
    system: &System,
    demand: &Demand,
    in_flight: u64,
    time_ns: impl Fn(u64) -> u64,
) -> Option<(u64, u64, u64)> {
    let (sum, batch_max) = (demand.requests_sum(), u64::from(system.batch_max));
    let full_ns = system.table.time_max(system.batch_max).ns();
    let queued = sum - in_flight;
    let batches = queued.div_ceil(batch_max);
    // The batch before the last one took z other requests.
    let behind = if batches == 1 { queued } else { sum - batch_max };
    let last = behind.min(batch_max);
    let response = time_ns(in_flight)
        .checked_add((batches - 1).checked_mul(full_ns)?)?
        .checked_add(time_ns(last))?;
    Some((batches, last, response))
}
