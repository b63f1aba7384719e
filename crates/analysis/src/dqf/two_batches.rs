// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Theorem 2 for z >= E: everything pending fits into one batch, so a job waits for the
//! batch in flight and rides in the next.

use std::collections::BTreeMap;

use crate::System;
use crate::dqf::Demand;
use crate::dqf::demand::Kind;
use crate::search::HORIZON_NS;

/// The exact worst response time of each kind, or `None` where the theorem does not apply.
///
/// # Bound
/// `R_k = max over subsets S of the other tasks of bt(e(S)) + bt(E - e(S))`, where
/// `bt(j) = b(max(j, beta))` is the cost of a batch with j real-time requests.
///
/// # Source
/// Own derivation, `docs/model.md` sections 4 (Theorem 2) and 5 (Theorem 3); exact without
/// best effort. It settles the dissertation's open question 10.2.1: z at the number of
/// requests and beyond is best, and the bound no longer depends on z.
///
/// # Assumptions
/// z >= E, checked; every bound below its task's period (strictly: at equality a task can
/// release again exactly at the end of its batch), checked. Otherwise `None`.
///
/// # Shape
/// One response in ns per kind, in order.
///
/// # Complexity
/// O(n log n), and O(E log n) for each different e.
pub(super) fn responses(system: &System, demand: &Demand) -> Option<Vec<u64>> {
    let requests_sum = u32::try_from(demand.requests_sum()).ok()?;
    if requests_sum > system.batch_max {
        return None;
    }
    // What the others can form depends on the job's requests alone, not on its period.
    let mut by_requests: BTreeMap<u64, Option<u64>> = BTreeMap::new();
    let of_kind = |(index, kind): (usize, &Kind)| {
        let response = *by_requests
            .entry(kind.requests)
            .or_insert_with(|| response_ns(system, requests_sum, &demand.subset_sums(Some(index))));
        response.filter(|&response| response < kind.period_ns)
    };
    demand.kinds.iter().enumerate().map(of_kind).collect()
}

/// `max bt(y) + bt(E - y)` over the totals y that the other tasks can form.
///
/// # Shape
/// `others[y]`: whether y requests can be formed from whole jobs of the other tasks.
pub(super) fn response_ns(system: &System, requests_sum: u32, others: &[bool]) -> Option<u64> {
    let longest = (0..=requests_sum)
        .zip(others)
        .filter(|&(_, &reachable)| reachable)
        .map(|(first, _)| {
            let last = system.batch_time_ns(requests_sum - first);
            system.batch_time_ns(first).checked_add(last)
        })
        .max_by_key(|sum| sum.unwrap_or(u64::MAX))??;
    Some(longest).filter(|&ns| ns <= HORIZON_NS)
}
