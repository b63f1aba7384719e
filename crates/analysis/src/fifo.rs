// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds for FIFO with one request on the device at a time: every request costs at most b(1).

use tidegate_model::Duration;

use crate::dqf::Demand;
use crate::search::{OFFSETS_MAX, least_fixed_point, serial_time_ns, verdict};
use crate::{Inapplicable, SporadicTask, System, Verdict};

/// Best effort that shares one FIFO queue with the tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BestEffortAhead {
    /// The largest number of incomplete requests of all closed loops together.
    pub outstanding: u64,
    /// Open loops as tasks with one request per period.
    pub open_loops: Vec<SporadicTask>,
}

/// Returns the response-time bound of one-at-a-time FIFO, the same for every task.
///
/// # Bound
/// `R = max over a of b(1) sum e_i (floor(a / p_i) + 1) - a`, a from 0 to the end of the longest
/// busy interval. This is the backlog when a job is released at a, including that job.
///
/// # Source
/// FIFO as non-preemptive EDF with equal relative deadlines: L. George, N. Rivierre and
/// M. Spuri, "Preemptive and Non-Preemptive Real-Time Uni-Processor Scheduling", INRIA
/// RR-2966, 1996, which the dissertation uses for comparison (9.3.4). All jobs are served
/// in release order, so nothing blocks and the bound is exact. `batch_max` and
/// `best_effort_fill` of the system are not used.
///
/// # Errors
/// None: if the busy interval does not end, the verdict says so.
///
/// # Complexity
/// O(n) per release in the busy interval, with at most 2^20 releases.
pub fn responses(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    responses_with_best_effort(system, &BestEffortAhead::default())
}

/// Returns the bound of one-at-a-time FIFO when best effort shares the queue.
///
/// # Bound
/// Open loops count as tasks. With N requests of closed loops the busy interval never ends; then
/// `R` is the least fixed point of `R = b(1) (N + sum e_i (floor(R / p_i) + 1))`.
///
/// # Source
/// Own derivation, `docs/theory/dual-queue-fifo.md` section 6. Take the first job, in FIFO order,
/// with a response above R. Ahead of it are at most N best-effort requests, and jobs that respond
/// within R and were therefore released in the closed window of length R before it.
///
/// # Errors
/// As [`responses`].
///
/// # Complexity
/// As [`responses`]; the fixed point takes O(n) per round.
pub fn responses_with_best_effort(
    system: &System,
    ahead: &BestEffortAhead,
) -> Result<Vec<Verdict>, Inapplicable> {
    let all = match &*ahead.open_loops {
        [] => system.tasks.clone(),
        open_loops => system.tasks.iter().chain(open_loops).copied().collect(),
    };
    let demand = all.demand();
    let request_ns = system.table.time_max(1).ns();
    let response = if !demand.is_within_capacity(1, request_ns) {
        // No busy interval ends, and no backlog is bounded.
        None
    } else if ahead.outstanding == 0 {
        by_busy_interval(demand, request_ns)
    } else {
        by_backlog(demand, request_ns, ahead.outstanding)
    };
    Ok(vec![verdict(response); system.tasks.len()])
}

/// Returns whether no bound can be within this deadline, because the last of the jobs that are
/// released together, behind all closed loops and one request of each open loop, completes later.
pub(crate) fn exceeds_at_once(
    system: &System,
    ahead: &BestEffortAhead,
    deadline: Duration,
) -> bool {
    let ahead = ahead.outstanding + ahead.open_loops.len() as u64;
    let requests = u128::from(ahead) + u128::from(system.requests_sum());
    let together = serial_time_ns(system.table.time_max(1).ns(), requests);
    together.is_none_or(|together| together > deadline.ns())
}

/// Returns the length of the longest busy interval.
pub(crate) fn busy_ns(demand: &Demand, request_ns: u64) -> Option<u64> {
    least_fixed_point(demand.kinds.len(), 1, |length| {
        serial_time_ns(request_ns, demand.half_open(length))
    })
}

fn by_busy_interval(demand: &Demand, request_ns: u64) -> Option<u64> {
    let busy_ns = busy_ns(demand, request_ns)?;
    let backlog_seen_at = |release_ns: u64| {
        Some(serial_time_ns(request_ns, demand.closed(release_ns))?.saturating_sub(release_ns))
    };
    releases_within(demand, busy_ns)?
        .into_iter()
        .map(backlog_seen_at)
        .collect::<Option<Vec<u64>>>()?
        .into_iter()
        .max()
}

fn by_backlog(demand: &Demand, request_ns: u64, outstanding: u64) -> Option<u64> {
    least_fixed_point(demand.kinds.len(), 0, |response| {
        serial_time_ns(request_ns, u128::from(outstanding) + demand.closed(response))
    })
}

/// Returns the instants from 0 to `busy_ns` at which a task releases if each job is released as
/// early as allowed.
fn releases_within(demand: &Demand, busy_ns: u64) -> Option<Vec<u64>> {
    let mut releases = vec![0];
    for kind in &demand.kinds {
        let mut release = kind.period_ns;
        while release < busy_ns {
            releases.push(release);
            if releases.len() > OFFSETS_MAX {
                return None;
            }
            release = release.checked_add(kind.period_ns)?;
        }
    }
    releases.sort_unstable();
    releases.dedup();
    Some(releases)
}

#[cfg(test)]
mod tests {
    use tidegate_model::BatchTable;

    use super::*;

    /// Goal: a busy interval with 2^20 releases has a bound, one with more has none. Method: a
    /// request of 1 ns every 2 ns, and one job of n requests. The n requests take n ns, and the
    /// others take half of the interval, so it is 2 n ns long and has n releases. The response is
    /// longest for a job released at its start.
    #[test]
    fn releases_are_tried_up_to_their_limit() {
        let bound = |requests: u32| {
            let task = |requests, period_ns| {
                let period = Duration::from_ns(period_ns);
                SporadicTask { period, requests, deadline: period }
            };
            let tasks = vec![task(1, 2), task(requests, 1 << 40)].into();
            let table = BatchTable::new(&[Duration::from_ns(1)]).expect("one positive time");
            let system = System { tasks, table, batch_max: 1, best_effort_fill: 0 };
            responses(&system).expect("it always applies")[0].bound()
        };
        assert_eq!(bound(1 << 20), Some(Duration::from_ns((1 << 20) + 1)));
        assert_eq!(bound((1 << 20) + 1), None);
    }
}
