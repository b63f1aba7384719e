// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Counts the batches that a queue may need when batches are cut by cost and by count.
//!
//! Among the batches before the last one, let n hold z requests each and let m be cut by cost. A
//! batch cut by cost and the first request of the next batch together cost more than Z, so
//!
//! ```text
//!   m (Z + 1) + cheapest(n z)  <=  cost of the queue + the first requests behind those m
//! ```
//!
//! These first requests are distinct, so they cost at most as much as the m costliest requests. If
//! every cut is by cost (n = 0), the last of them is the first request of the last batch. The
//! queue's cost already contains it, so only m - 1 of them count twice. Otherwise the queue's cost
//! also contains the last batch, which the left side omits and which costs at least as much as the
//! cheapest request.

use super::system::CostLimitedSystem;
use crate::mixed_task::MixedTask;
use crate::search::largest;

/// The maximum number of batches; the search gives up beyond it.
const BATCHES_MAX: u64 = 1 << 16;

/// The requests of one job of each task, by cost.
pub(super) struct Requests {
    /// The cost in ns of each kind of request and the number of its requests, the cheapest kind
    /// first.
    kinds: Vec<(u64, u64)>,
    count: u64,
    sum_ns: u128,
    batch_max: u64,
    cost_max_ns: u128,
}

impl Requests {
    pub(super) fn of(system: &CostLimitedSystem) -> Self {
        let of_task = |mixed: &MixedTask| (mixed.request_max.ns(), u64::from(mixed.task.requests));
        let mut all: Vec<(u64, u64)> = system.tasks.iter().map(of_task).collect();
        all.sort_unstable();
        let mut kinds: Vec<(u64, u64)> = Vec::new();
        for (cost_ns, requests) in all {
            match kinds.last_mut() {
                Some((known, count)) if *known == cost_ns => *count += requests,
                _ => kinds.push((cost_ns, requests)),
            }
        }
        let of_kind = |&(cost_ns, count): &(u64, u64)| u128::from(cost_ns) * u128::from(count);
        Self {
            count: kinds.iter().map(|&(_, count)| count).sum(),
            sum_ns: kinds.iter().map(of_kind).sum(),
            kinds,
            batch_max: u64::from(system.batch_max),
            cost_max_ns: u128::from(system.cost_max.ns()),
        }
    }

    /// Returns E: the number of requests.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Returns C: the total cost of all requests.
    pub(super) fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// Returns the least cost of a request.
    pub(super) fn least_ns(&self) -> u64 {
        self.kinds.first().map_or(0, |&(cost_ns, _)| cost_ns)
    }

    /// Returns the cost of the `count` cheapest requests, or of all if there are fewer.
    pub(super) fn cheapest_ns(&self, count: u64) -> u128 {
        sum_of_first(self.kinds.iter(), count)
    }

    /// Returns the cost of the `count` costliest requests, or of all if there are fewer.
    pub(super) fn costliest_ns(&self, count: u64) -> u128 {
        sum_of_first(self.kinds.iter().rev(), count)
    }

    /// Returns L: the largest number of batches that a queue of this cost and length may need;
    /// `None` if there are too many to search.
    ///
    /// # Complexity
    /// O((E / z) k log E) with k kinds.
    pub(super) fn batches_max(&self, queue_ns: u128, queued: u64) -> Option<u64> {
        // The last batch holds at least one request.
        let before_last = queued.checked_sub(1)?;
        let full_max = before_last / self.batch_max;
        if full_max > BATCHES_MAX {
            return None;
        }
        let mut most = 0;
        for full in 0..=full_max {
            let full_ns = self.cheapest_ns(full * self.batch_max);
            if full > 0 && full_ns + u128::from(self.least_ns()) > queue_ns {
                break;
            }
            let by_cost_max = before_last - full * self.batch_max;
            most = most.max(full + self.cuts_by_cost(queue_ns, full, full_ns, by_cost_max));
        }
        Some(most + 1)
    }

    /// Returns the largest number of batches that can be cut by cost in addition to `full` batches
    /// that cost at least `full_ns`.
    fn cuts_by_cost(&self, queue_ns: u128, full: u64, full_ns: u128, most: u64) -> u64 {
        let is_possible = |cuts: u64| {
            let (behind_ns, own_ns) = match full {
                0 => (self.costliest_ns(cuts - 1), 0),
                _ => (self.costliest_ns(cuts), self.least_ns()),
            };
            let needed_ns = u128::from(cuts) * (self.cost_max_ns + 1) + full_ns;
            needed_ns + u128::from(own_ns) <= queue_ns + behind_ns
        };
        // Monotone: one more cut adds Z + 1 to the left side and at most Z to the right side,
        // because no request costs more than Z.
        largest(0..=most, is_possible)
    }
}

fn sum_of_first<'a>(kinds: impl Iterator<Item = &'a (u64, u64)>, count: u64) -> u128 {
    let mut left = count;
    let mut sum_ns = 0;
    for &(cost_ns, requests) in kinds {
        let taken = requests.min(left);
        sum_ns += u128::from(taken) * u128::from(cost_ns);
        left -= taken;
    }
    sum_ns
}
