// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A, the bound of Theorem 1 by the backlog: while every response is below its period, no task has
//! two jobs pending.

use std::collections::BTreeMap;

use crate::System;
use crate::budget::Budget;
use crate::dqf::{Demand, two_batches};
use crate::search::HORIZON_NS;

/// A for each number of requests that jobs have. It depends on a task only through that number, and
/// not on R.
#[derive(Debug)]
pub(super) struct Backlog {
    by_requests: BTreeMap<u64, Option<u64>>,
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
            return Self { by_requests: requests.map(|requests| (requests, longest)).collect() };
        }
        let sets = demand.tasks_by_requests().len() as u64;
        let words = u64::from(system.batch_max) / 64 + 1;
        let is_own_left_out = budget.afford(sets.saturating_mul(sets).saturating_mul(words));
        let whole = demand.totals(u64::from(system.batch_max), None);
        let response = |requests: u64| {
            let others = demand.requests_sum() - requests;
            let last = u64::from(system.batch_max).min(others);
            let of_others = is_own_left_out.then(|| demand.totals(last, Some(requests)));
            let totals = of_others.as_ref().unwrap_or(&whole).iter();
            let full = (others >= u64::from(system.batch_max)).then_some(system.batch_max.into());
            let carry_ins = totals.filter(|&total| total <= last).chain(full);
            longest_ns(system, demand, carry_ins, |count| system.batch_time_of_ns(count))
        };
        Self { by_requests: requests.map(|requests| (requests, response(requests))).collect() }
    }

    /// Returns A for a job of this many requests; `None` beyond the horizon.
    pub(super) fn response_ns(&self, requests: u64) -> Option<u64> {
        self.by_requests[&requests]
    }
}

/// Returns the longest time, over the sizes of the batch in flight, until all that can be queued
/// behind it is served; `time_ns` gives the cost of the first and of the last batch.
pub(crate) fn longest_ns(
    system: &System,
    demand: &Demand,
    mut carry_ins: impl Iterator<Item = u64>,
    time_ns: impl Fn(u64) -> u64,
) -> Option<u64> {
    let (sum, batch_max) = (demand.requests_sum(), u64::from(system.batch_max));
    let full_ns = system.table.time_max(system.batch_max).ns();
    let response = |in_flight: u64| {
        let queued = sum - in_flight;
        let batches = queued.div_ceil(batch_max);
        // The batch before the last one has just taken z others.
        let behind = if batches == 1 { queued } else { sum - batch_max };
        time_ns(in_flight)
            .checked_add((batches - 1).checked_mul(full_ns)?)?
            .checked_add(time_ns(behind.min(batch_max)))
    };
    let longest = carry_ins.try_fold(0, |longest, carry| Some(response(carry)?.max(longest)));
    longest.filter(|&ns| ns <= HORIZON_NS)
}
