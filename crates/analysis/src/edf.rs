// SPDX-License-Identifier: Apache-2.0 OR MIT
//! EDF, one request on the device at a time: what a scheduler in the host could promise
//! without the drive's own queue. For comparison; `fifo` is the policy that exists.

use crate::dqf::Demand;
use crate::search::{OFFSETS_MAX, least_fixed_point, serial_time_ns, verdict};
use crate::{Inapplicable, SporadicTask, System, Verdict};

/// The response-time bound of each task under EDF at request boundaries.
///
/// # Bound
/// For a job of task k released at a in a deadline busy interval, with
/// `n_i = min(floor(L / p_i), floor((a + d_k - d_i) / p_i)) + 1` for the others with
/// `d_i <= a + d_k`:
/// `L = least fixed point of B + b(1) (sum n_i e_i + (floor(a / p_k) + 1) e_k - 1)`,
/// `R_k = max over a of L + b(1) - a`, where `B = b(1)` if some deadline is later.
///
/// # Source
/// L. George, N. Rivierre and M. Spuri, INRIA RR-2966, 1996, section on non-preemptive EDF,
/// with the deviation that only the last request of a job is non-preemptable and that a
/// blocking request is charged in full instead of less one tick (safe).
///
/// # Errors
/// Never: where the busy interval does not end, the verdict says so.
///
/// # Complexity
/// O(offsets * n) per task and round of the fixed point.
pub fn responses(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    let request_ns = system.table.time_max(1).ns();
    let demand = Demand::new(&system.tasks);
    let busy_ns = least_fixed_point(1, |length| {
        serial_time_ns(request_ns, demand.half_open(length).checked_add(1)?)
    });
    let of_task = |task: &SporadicTask| {
        let response = busy_ns.and_then(|busy_ns| response_ns(system, task, request_ns, busy_ns));
        verdict(response)
    };
    Ok(of_equal_tasks_once(&system.tasks, of_task))
}

/// `f` of each task, computed once for tasks that are equal.
fn of_equal_tasks_once(
    tasks: &[SporadicTask],
    f: impl Fn(&SporadicTask) -> Verdict,
) -> Vec<Verdict> {
    let mut known = std::collections::BTreeMap::new();
    tasks.iter().map(|task| *known.entry(*task).or_insert_with(|| f(task))).collect()
}

fn response_ns(
    system: &System,
    task: &SporadicTask,
    request_ns: u64,
    busy_ns: u64,
) -> Option<u64> {
    let mut worst = 0;
    for release_ns in releases(system, task, busy_ns)? {
        let start_ns = least_fixed_point(0, |start| {
            last_request_start(system, task, request_ns, release_ns, start)
        })?;
        let response = (start_ns.checked_add(request_ns)?).saturating_sub(release_ns);
        worst = worst.max(response).max(request_ns);
    }
    Some(worst)
}

/// Releases of the job at which its deadline falls on another task's deadline.
fn releases(system: &System, task: &SporadicTask, busy_ns: u64) -> Option<Vec<u64>> {
    let mut releases = vec![0];
    for other in &system.tasks {
        let (period, deadline) = (other.period.ns(), other.deadline.ns());
        // The first m with m p + d_i >= d_k.
        let first = task.deadline.ns().saturating_sub(deadline).div_ceil(period);
        let mut due = first.checked_mul(period)?.checked_add(deadline)?;
        while due - task.deadline.ns() < busy_ns {
            releases.push(due - task.deadline.ns());
            if releases.len() > OFFSETS_MAX {
                return None;
            }
            due = due.checked_add(period)?;
        }
    }
    releases.sort_unstable();
    releases.dedup();
    Some(releases)
}

/// When the last request of the job can start if it has not started by `start_ns`.
fn last_request_start(
    system: &System,
    task: &SporadicTask,
    request_ns: u64,
    release_ns: u64,
    start_ns: u64,
) -> Option<u64> {
    let due = release_ns.checked_add(task.deadline.ns())?;
    let mut is_task_counted = false;
    let mut is_blocked = false;
    let mut requests: u128 = 0;
    for other in &system.tasks {
        let (period, deadline) = (other.period.ns(), other.deadline.ns());
        // One of several equal tasks is the job's own.
        let jobs = if !is_task_counted && other == task {
            is_task_counted = true;
            release_ns / period + 1
        } else if deadline <= due {
            (start_ns / period).min((due - deadline) / period) + 1
        } else {
            is_blocked = true;
            0
        };
        requests += u128::from(jobs) * u128::from(other.requests);
    }
    serial_time_ns(request_ns, requests - 1 + u128::from(is_blocked))
}
