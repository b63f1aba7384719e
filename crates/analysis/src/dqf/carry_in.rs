// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts the requests that the batch in flight at a window's start can hold, and the requests that
//! the window therefore cannot contain. Holds for any order of the queue.

use crate::System;
use crate::dqf::Demand;

/// Returns the possible sizes of the carry-in batch; `is_within_periods` means that no task can
/// have two jobs in it.
pub(crate) fn sizes(system: &System, demand: &Demand, is_within_periods: bool) -> Vec<u64> {
    let batch_max = u64::from(system.batch_max);
    let requests_sum = demand.requests_sum();
    if !is_within_periods {
        return (0..=batch_max).collect();
    }
    if requests_sum <= batch_max {
        return demand.totals(requests_sum, None).iter().collect();
    }
    // A batch may cut a job: whole jobs and batches of z add up to multiples only.
    let step = demand.requests_gcd(system.batch_max);
    (0..=batch_max / step).map(|multiple| multiple * step).collect()
}

/// Returns the requests that the window cannot contain because `carried` requests are in the
/// carry-in: the fractional knapsack over l_i, a lower bound of the true loss.
///
/// # Shape
/// `kinds` holds, for each kind, l_i (the jobs that each carried request removes from the window)
/// and the number of the kind's requests that can be carried.
pub(crate) fn loss(carried: u64, kinds: impl Iterator<Item = (u64, u64)>) -> u128 {
    // Counts requests in buckets, by the number of jobs that each removes, instead of sorting them:
    // nearly all remove one. A request that removes more jobs than the last bucket's index counts
    // in that bucket, which lowers the loss and is therefore safe.
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
