// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts the requests that the batch in flight at a window's start can hold, and the requests that
//! the window therefore cannot contain. The counts hold for any order of the queue.

use crate::System;
use crate::dqf::Demand;
use crate::dqf::demand::Kind;

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
    // A batch may cut a job, but whole jobs and batches of z add up to multiples of this only.
    let step = demand.requests_gcd(system.batch_max);
    (0..=batch_max / step).map(|multiple| multiple * step).collect()
}

/// Returns the sizes that Theorem 1 must try while no task can have two jobs in the carry-in.
///
/// A carry-in that holds parts of jobs counts as if it held the whole jobs, or as a full batch if
/// the whole jobs do not fit into a batch: it then ends at the same instant, began earlier, and
/// takes no less from the window.
///
/// # Source
/// `docs/theory/dual-queue-fifo.md` section 3, `proofs/FixedPoint.v`, `carry_in`.
pub(crate) fn whole_sizes(system: &System, demand: &Demand) -> Vec<u64> {
    let batch_max = u64::from(system.batch_max);
    let mut sizes: Vec<u64> =
        demand.totals(batch_max.min(demand.requests_sum()), None).iter().collect();
    if batch_max < demand.requests_sum() && sizes.last() != Some(&batch_max) {
        sizes.push(batch_max);
    }
    sizes
}

/// The requests of the jobs that fit into a carry-in of a given length. The first of a task's m
/// jobs was released at least m - 1 periods before the last one, and still responds within its
/// bound at the carry-in's end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// The requests of all jobs that fit.
    pub(crate) all: u64,
    /// The requests of these jobs without each task's last one: the task can have released its next
    /// job by the window's start even if the other jobs are in the carry-in.
    pub(crate) free: u64,
}

impl Room {
    /// Returns the requests that fit into a batch of `time_ns` if no response of a kind exceeds
    /// `responses`. Saturates beyond any batch.
    pub(crate) fn of(kinds: &[Kind], responses: &[u64], time_ns: u64) -> Self {
        let (mut all, mut free) = (0_u64, 0_u64);
        for (kind, &response) in kinds.iter().zip(responses) {
            let Some(spare) = response.checked_sub(time_ns) else { continue };
            let earlier = kind.requests_sum().saturating_mul(spare / kind.period_ns);
            free = free.saturating_add(earlier);
            all = all.saturating_add(earlier).saturating_add(kind.requests_sum());
        }
        Self { all, free }
    }
}

/// Counts the requests that a carry-in can hold, by l_i: the number of jobs that each request
/// removes from a window.
///
/// Counting replaces sorting, because nearly all requests remove one job. The last bucket also
/// counts the requests that remove more jobs than its index, which lowers the loss and is therefore
/// safe.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Losses([u64; 8]);

impl Losses {
    /// Counts `(l_i, requests)` of each kind.
    pub(crate) fn of(kinds: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut losses = Self::default();
        for (jobs, requests) in kinds {
            losses.add(jobs, requests);
        }
        losses
    }

    /// Counts requests that each remove that many jobs.
    pub(crate) fn add(&mut self, jobs: u64, requests: u64) {
        *self.bucket(jobs) += requests;
    }

    /// Returns the counts with `requests` moved from one l_i to another.
    pub(crate) fn moved(mut self, requests: u64, from: u64, to: u64) -> Self {
        *self.bucket(from) -= requests;
        *self.bucket(to) += requests;
        self
    }

    /// Returns the requests that the window cannot contain because `carried` requests are in the
    /// carry-in: the fractional knapsack over l_i, a lower bound of the true loss.
    pub(crate) fn least(&self, carried: u64) -> u128 {
        let (mut left, mut loss) = (carried, 0);
        for (jobs, &requests) in (0_u64..).zip(&self.0) {
            let taken = left.min(requests);
            loss += u128::from(jobs) * u128::from(taken);
            left -= taken;
        }
        loss
    }

    /// Returns the largest l_i that is counted.
    pub(crate) fn jobs_max(&self) -> u64 {
        self.0.iter().rposition(|&requests| requests > 0).unwrap_or(0) as u64
    }

    fn bucket(&mut self, jobs: u64) -> &mut u64 {
        let last = self.0.len() - 1;
        &mut self.0[usize::try_from(jobs).map_or(last, |jobs| jobs.min(last))]
    }
}
