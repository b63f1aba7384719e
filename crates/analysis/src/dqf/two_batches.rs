// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Theorem 2 for z >= E: every pending request fits into one batch, so a job waits for the batch in
//! flight and is served in the next.

use crate::System;
use crate::dqf::{Demand, Steps};
use crate::search::HORIZON_NS;

/// Returns the exact worst response time, the same for every task, or `None` if the theorem does
/// not apply.
///
/// # Bound
/// `R = max over sets S of tasks of bt(e(S)) + bt(E - e(S))`, where `bt(j) = b(max(j, beta))`
/// is the cost of a batch with j real-time requests.
///
/// # Source
/// Own derivation, `docs/theory/dual-queue-fifo.md` sections 4 (Theorem 2) and 5 (Theorem 3);
/// exact. It answers the dissertation's open question 10.2.1: every z that is at least the number
/// of requests is optimal, and the bound no longer depends on z. S ranges over the tasks other than
/// the job's own. A set and its complement give the same sum and one of them excludes the job, so S
/// may range over all sets, and every task has the same bound.
///
/// # Assumptions
/// z >= E, checked; the bound is below every period (strictly: at equality a task can release again
/// exactly at the end of its batch), checked. Otherwise `None`.
///
/// # Complexity
/// O(n log n), and O(E log n) for each different e.
pub(super) fn common_response_ns(system: &System, demand: &Demand) -> Option<u64> {
    let response = longest_pair_ns(system, demand)?;
    let is_below_periods = demand.period_min_ns().is_none_or(|period| response < period);
    is_below_periods.then_some(response)
}

/// Returns `max bt(y) + bt(E - y)` over the totals y that whole jobs can form; `None` unless
/// z >= E.
pub(super) fn longest_pair_ns(system: &System, demand: &Demand) -> Option<u64> {
    let requests_sum = demand.requests_sum();
    if requests_sum > u64::from(system.batch_max) {
        return None;
    }
    let pair_ns = |first: u64| {
        let last_ns = system.batch_time_of_ns(requests_sum - first);
        system.batch_time_of_ns(first).checked_add(last_ns)
    };
    let totals = demand.totals(requests_sum, None);
    // A sum that overflows is the largest of all: then there is no bound.
    let longest = totals.iter().map(pair_ns).max_by_key(|pair| pair.unwrap_or(u64::MAX))?;
    longest.filter(|&ns| ns <= HORIZON_NS)
}

/// Returns the two batches of the bound; `None` if the theorem does not apply.
pub(super) fn steps(system: &System, demand: &Demand) -> Option<Steps> {
    let response = common_response_ns(system, demand)?;
    let requests_sum = demand.requests_sum();
    let totals = demand.totals(requests_sum, None);
    let pairs = totals.iter().map(|first| Steps {
        carry_in: first,
        full_batches: 0,
        last_batch: requests_sum - first,
        released_ns: 0,
    });
    let mut pairs = pairs.filter(|steps| steps.last_batch > 0);
    pairs.find(|steps| steps.response_ns(system) == Some(response))
}
