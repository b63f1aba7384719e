// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The batch in flight when a window begins: how many requests it can hold, and how many the
//! window cannot contain because they are in it. Whatever order the requests wait in.

use crate::System;
use crate::dqf::Demand;

/// How many requests the carry-in batch can have; `is_within_periods` where no task can have
/// two jobs in it.
pub(crate) fn sizes(system: &System, demand: &Demand, is_within_periods: bool) -> Vec<u64> {
    let batch_max = u64::from(system.batch_max);
    let requests_sum = demand.requests_sum();
    if !is_within_periods {
        return (0..=batch_max).collect();
    }
    if requests_sum <= batch_max {
        return totals(&demand.subset_sums());
    }
    multiples_to(system, demand, batch_max.min(requests_sum))
}

/// What batches of whole jobs and of z can add up to, at most `last`.
pub(crate) fn multiples_to(system: &System, demand: &Demand, last: u64) -> Vec<u64> {
    let step = demand.requests_gcd(system.batch_max);
    (0..=last / step).map(|multiple| multiple * step).collect()
}

/// The indices that are set.
fn totals(reachable: &[bool]) -> Vec<u64> {
    (0_u64..).zip(reachable).filter(|&(_, &is_set)| is_set).map(|(total, _)| total).collect()
}

/// The requests that the window cannot contain because `carried` requests are in the
/// carry-in: the fractional knapsack over l_i, a lower bound of the true loss.
///
/// # Shape
/// `kinds`: for each kind l_i, the jobs that each carried request of it costs the window,
/// and how many requests of the kind can be carried.
pub(crate) fn loss(carried: u64, kinds: impl Iterator<Item = (u64, u64)>) -> u128 {
    // Requests by the jobs that each of them costs, in place of sorting: nearly all
    // cost one. Counting those that cost more than the last as the last errs to the
    // safe side.
    let mut requests_by_jobs = [0_u64; 8];
    for (jobs, requests) in kinds {
        let bucket = usize::try_from(jobs).unwrap_or(usize::MAX);
        requests_by_jobs[bucket.min(requests_by_jobs.len() - 1)] += requests;
    }
    let mut left = carried;
    let mut loss = 0;
    for (jobs, requests) in (0_u64..).zip(requests_by_jobs) {
        let taken = left.min(requests);
        loss += u128::from(jobs) * u128::from(taken);
        left -= taken;
    }
    loss
}
