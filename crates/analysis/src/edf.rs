// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds for EDF with one request on the device at a time: the guarantee of a host scheduler that
//! does not use the drive's own queue. Equal deadlines may be served in any order, so this bound
//! holds for both `edf` and `scan-edf`.

use std::collections::BTreeMap;

use crate::budget::Budget;
use crate::dqf::Demand;
use crate::search::{least_fixed_point, serial_time_ns, verdict};
use crate::{Inapplicable, SporadicTask, System, Verdict};

/// Steps after which a search is abandoned, so that a thousand different tasks do not take too
/// long.
const STEPS_MAX: usize = 1 << 22;

/// Returns the response-time bound of each task under EDF at request boundaries, without best
/// effort.
///
/// # Bound
/// For a job of task k released at a in a deadline busy interval, with
/// `n_i = min(floor(L / p_i), floor((a + d_k - d_i) / p_i)) + 1` for the others with
/// `d_i <= a + d_k`:
/// `L = least fixed point of B + b(1) (sum n_i e_i + (floor(a / p_k) + 1) e_k - 1)`,
/// `R_k = max over a of L + b(1) - a`, where `B = b(1)` if some deadline is later.
///
/// # Source
/// L. George, N. Rivierre and M. Spuri, "Preemptive and Non-Preemptive Real-Time Uni-Processor
/// Scheduling", INRIA RR-2966, 1996, section on non-preemptive EDF, which builds on M. Spuri,
/// "Analysis of Deadline Scheduled Real-Time Systems", INRIA RR-2772, 1996; deadlines may exceed
/// periods.
///
/// Two deviations: a job is e requests of b(1), and only the last of them cannot be preempted. A
/// blocking request is charged in full, not minus one tick, because the device may start it at the
/// instant of the release, before the release is seen. The bound is exact: the release pattern of
/// every term can happen, even for jobs of several requests.
///
/// # Errors
/// None: if the busy interval does not end, the verdict says so.
///
/// # Complexity
/// O(offsets * k) per kind and round of the fixed point, for k different tasks. Beyond 2^22 steps
/// the verdict is "no bound".
pub fn responses(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    Ok(verdicts(system, false))
}

/// Returns the bound of [`responses`] when best effort is sent while no real-time request is
/// queued.
///
/// # Bound
/// As [`responses`], with `B = b(1)` in any case: a best-effort request may be in service when a
/// busy interval begins, and no other is sent within the interval.
///
/// # Source
/// As [`responses`]; exact if best effort never runs out.
///
/// # Errors
/// As [`responses`].
///
/// # Complexity
/// As [`responses`].
pub fn responses_with_best_effort(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    Ok(verdicts(system, true))
}

/// Returns whether every task has a bound within its deadline; with best effort if `is_shared`.
/// Stops as soon as the answer is known. A search beyond the budget counts as "no bound".
pub(crate) fn are_deadlines_met(system: &System, is_shared: bool, budget: &Budget) -> bool {
    let kinds = kinds(&system.tasks);
    let search = Search::of(system, &kinds, is_shared, Some(budget));
    search.is_some_and(|search| {
        let is_met = |task: &SporadicTask| {
            search.response_ns(task).is_some_and(|response| response <= task.deadline.ns())
        };
        kinds.iter().all(|(task, _)| is_met(task))
    })
}

fn verdicts(system: &System, is_shared: bool) -> Vec<Verdict> {
    let kinds = kinds(&system.tasks);
    let search = Search::of(system, &kinds, is_shared, None);
    let verdicts: BTreeMap<SporadicTask, Verdict> = kinds
        .iter()
        .map(|(task, _)| (*task, verdict(search.as_ref().and_then(|s| s.response_ns(task)))))
        .collect();
    system.tasks.iter().map(|task| verdicts[task]).collect()
}

/// Returns the different tasks with the number of each.
pub(crate) fn kinds(tasks: &[SporadicTask]) -> Vec<(SporadicTask, u64)> {
    let mut counts: BTreeMap<SporadicTask, u64> = BTreeMap::new();
    for task in tasks {
        *counts.entry(*task).or_default() += 1;
    }
    counts.into_iter().collect()
}

/// The facts about the system that the search for one task's response needs.
struct Search<'a> {
    kinds: &'a [(SporadicTask, u64)],
    request_ns: u64,
    busy_ns: u64,
    /// Whether best effort may be in service at first.
    is_shared: bool,
    /// The work that the search may spend if only the deadlines matter: it then ends, without a
    /// bound, at the first response beyond a deadline. `None` for the bounds themselves.
    budget: Option<&'a Budget>,
}

impl<'a> Search<'a> {
    /// Returns `None` if the busy interval does not end.
    fn of(
        system: &System,
        kinds: &'a [(SporadicTask, u64)],
        is_shared: bool,
        budget: Option<&'a Budget>,
    ) -> Option<Self> {
        let request_ns = system.table.time_max(1).ns();
        let demand = Demand::new(&system.tasks);
        // A request with a later deadline may be in service first; if all deadlines are equal there
        // is none.
        let has_later = kinds.iter().any(|(task, _)| task.deadline != kinds[0].0.deadline);
        let blocking = u128::from(is_shared || has_later);
        let busy_ns = least_fixed_point(1, |length| {
            serial_time_ns(request_ns, demand.half_open(length).checked_add(blocking)?)
        })?;
        Some(Self { kinds, request_ns, busy_ns, is_shared, budget })
    }

    fn response_ns(&self, task: &SporadicTask) -> Option<u64> {
        let mut worst = self.request_ns;
        for release_ns in self.releases(task)? {
            // Every request released in the interval is complete at its end.
            if self.busy_ns - release_ns <= worst {
                break;
            }
            let start_ns = least_fixed_point(0, |start_ns| {
                if !self.affords_a_round() {
                    return None;
                }
                self.last_request_start(task, release_ns, start_ns)
            })?;
            let response = start_ns.checked_add(self.request_ns)?.saturating_sub(release_ns);
            worst = worst.max(response);
            if self.budget.is_some() && worst > task.deadline.ns() {
                return None;
            }
        }
        Some(worst)
    }

    /// Takes a round over all kinds from the budget, if there is one; returns whether it may.
    fn affords_a_round(&self) -> bool {
        self.budget.is_none_or(|budget| budget.afford(self.kinds.len() as u64))
    }

    /// Returns the releases for which the job's deadline equals a deadline of another task.
    fn releases(&self, task: &SporadicTask) -> Option<Vec<u64>> {
        let offsets_max = STEPS_MAX / self.kinds.len().pow(2);
        // The window's start and the task's own first release are always tried.
        if offsets_max < 2 {
            return None;
        }
        let mut releases = vec![0];
        for (other, _) in self.kinds {
            let period = other.period.ns();
            // The first m with m p + d_i >= d_k.
            let first = task.deadline.ns().saturating_sub(other.deadline.ns()).div_ceil(period);
            let due = first.checked_mul(period)?.checked_add(other.deadline.ns())?;
            let mut release = due - task.deadline.ns();
            while release < self.busy_ns {
                releases.push(release);
                if releases.len() > offsets_max {
                    return None;
                }
                release = release.checked_add(period)?;
            }
        }
        releases.sort_unstable();
        releases.dedup();
        Some(releases)
    }

    /// Returns the instant at which the job's last request can start if it has not started by
    /// `start_ns`.
    fn last_request_start(
        &self,
        task: &SporadicTask,
        release_ns: u64,
        start_ns: u64,
    ) -> Option<u64> {
        let due = release_ns.checked_add(task.deadline.ns())?;
        let own_jobs = release_ns / task.period.ns() + 1;
        let mut requests = u128::from(own_jobs) * u128::from(task.requests);
        let mut is_blocked = self.is_shared;
        for (other, count) in self.kinds {
            // One of the equal tasks is the job's own.
            let others = count - u64::from(other == task);
            let (period, deadline) = (other.period.ns(), other.deadline.ns());
            if deadline <= due {
                let jobs = (start_ns / period).min((due - deadline) / period) + 1;
                requests += u128::from(jobs) * u128::from(others) * u128::from(other.requests);
            } else {
                is_blocked = true;
            }
        }
        serial_time_ns(self.request_ns, requests - 1 + u128::from(is_blocked))
    }
}
