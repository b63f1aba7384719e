// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds for EDF with one request on the device at a time: the guarantee of a host scheduler that
//! does not use the drive's own queue. Equal deadlines may be served in any order, so this bound
//! also holds for `scan-edf` without windows.

use crate::budget::Budget;
use crate::search::{least_fixed_point, serial_time_ns, verdict};
use crate::{Inapplicable, SporadicTask, System, Verdict};

/// The maximum number of steps of a search. It is abandoned after them, so that a thousand
/// different tasks do not take too long.
const STEPS_MAX: usize = 1 << 22;

/// Returns the response-time bound of each task under EDF that preempts jobs only between requests,
/// without best effort.
///
/// # Bound
/// For a job of task k released at a in a deadline busy interval:
/// - `R_k = max over a of L + b(1) - a`;
/// - `L = least fixed point of B + b(1) (sum n_i e_i + (floor(a / p_k) + 1) e_k - 1)`, summed over
///   the other tasks with `d_i <= a + d_k`;
/// - `n_i = min(floor(L / p_i), floor((a + d_k - d_i) / p_i)) + 1`;
/// - `B = b(1)` if `d_i > a + d_k` for some i, and 0 otherwise.
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

/// Returns whether every deadline is met; with best effort if `is_shared`. A search beyond the
/// budget counts as "no".
///
/// # Rule
/// Deadlines are met if and only if `b(1) n(t) <= t` for every deadline t of a busy interval that
/// begins with a release of all tasks. Here n(t) is the sum of `e_i (floor((t - d_i) / p_i) + 1)`
/// over all tasks with `d_i <= t`, plus 1 if a request due later can be in service. If the device
/// is idle before some of the jobs due by t are released, the jobs released after that miss the
/// deadline on their own, and a shorter interval that begins with them shows it.
///
/// # Source
/// The processor-demand criterion of S. Baruah, A. Mok and L. Rosier, "Preemptively Scheduling
/// Hard-Real-Time Sporadic Tasks on One Processor", RTSS 1990, with blocking, tried from the last
/// deadline downwards: F. Zhang and A. Burns, "Schedulability Analysis for Real-Time Systems with
/// EDF Scheduling", IEEE Transactions on Computers 58(9), 2009.
pub(crate) fn are_deadlines_met(system: &System, is_shared: bool, budget: &Budget) -> bool {
    let search = Search::of(system, system.tasks.different(), is_shared);
    search.is_some_and(|search| search.is_all_due_work_done(budget))
}

/// Returns whether [`responses`], or [`responses_with_best_effort`] if `is_shared`, finds a bound
/// within the deadline of every task. Computes no bound; returns `false` if the budget ends first.
pub(crate) fn is_provable(system: &System, is_shared: bool, budget: &Budget) -> bool {
    let kinds = system.tasks.different();
    let Some(search) = Search::of(system, kinds, is_shared) else { return false };
    kinds.iter().all(|(task, _)| search.releases(task).is_some())
        && search.is_all_due_work_done(budget)
}

/// The work that is due by an instant, in an interval that begins with a release of all tasks.
struct DueWork<'a> {
    kinds: &'a [(SporadicTask, u64)],
    request_ns: u64,
    is_shared: bool,
}

impl DueWork<'_> {
    /// Returns whether the work due by each deadline before `busy_ns` fits; `false` if the budget
    /// ends first.
    fn always_fits(&self, busy_ns: u64, budget: &Budget) -> bool {
        let mut limit = busy_ns;
        while let Some(due) = self.last_deadline_before(limit) {
            if !budget.afford(2 * self.kinds.len() as u64) {
                return false;
            }
            match self.time_ns(due) {
                // The work due by any instant from `time` to `due` takes at most `time`, so it
                // fits.
                Some(time) if time <= due => limit = time,
                _ => return false,
            }
        }
        true
    }

    /// Returns the time for all work due by an instant, plus one request in service that is due
    /// later; `None` beyond the horizon. The time is nondecreasing: at the last relative deadline
    /// no request is due later any more, but at least one more has become due.
    fn time_ns(&self, due: u64) -> Option<u64> {
        let mut requests = 0;
        let mut is_blocked = self.is_shared;
        for (task, count) in self.kinds {
            match due.checked_sub(task.deadline.ns()) {
                Some(rest) => {
                    let jobs = u128::from(rest / task.period.ns()) + 1;
                    requests += jobs * u128::from(*count) * u128::from(task.requests);
                }
                None => is_blocked = true,
            }
        }
        serial_time_ns(self.request_ns, requests + u128::from(is_blocked))
    }

    fn last_deadline_before(&self, limit: u64) -> Option<u64> {
        let last = |(task, _): &(SporadicTask, u64)| {
            let (period, deadline) = (task.period.ns(), task.deadline.ns());
            let rest = limit.checked_sub(1)?.checked_sub(deadline)?;
            Some(deadline + rest / period * period)
        };
        self.kinds.iter().filter_map(last).max()
    }
}

fn verdicts(system: &System, is_shared: bool) -> Vec<Verdict> {
    let kinds = system.tasks.different();
    let search = Search::of(system, kinds, is_shared);
    let of_kind = |(task, _): &(SporadicTask, u64)| {
        verdict(search.as_ref().and_then(|search| search.response_ns(task)))
    };
    let verdicts: Vec<Verdict> = kinds.iter().map(of_kind).collect();
    kinds.per_task(&verdicts).collect()
}

/// The facts about the system that the search for one task's response needs.
struct Search<'a> {
    kinds: &'a [(SporadicTask, u64)],
    request_ns: u64,
    busy_ns: u64,
    /// Whether best effort may be in service at first.
    is_shared: bool,
}

impl<'a> Search<'a> {
    /// Returns the facts about a system; `None` if the busy interval does not end.
    fn of(system: &System, kinds: &'a [(SporadicTask, u64)], is_shared: bool) -> Option<Self> {
        let request_ns = system.table.time_max(1).ns();
        let demand = system.tasks.demand();
        if !demand.is_within_capacity(1, request_ns) {
            return None;
        }
        // A request with a later deadline may be in service first. If all relative deadlines are
        // equal, there is no such request.
        let has_later = kinds.iter().any(|(task, _)| task.deadline != kinds[0].0.deadline);
        let blocking = u128::from(is_shared || has_later);
        let busy_ns = least_fixed_point(demand.kinds.len(), 1, |length| {
            serial_time_ns(request_ns, demand.half_open(length).checked_add(blocking)?)
        })?;
        Some(Self { kinds, request_ns, busy_ns, is_shared })
    }

    /// Returns whether all deadlines are met, by [`are_deadlines_met`].
    fn is_all_due_work_done(&self, budget: &Budget) -> bool {
        let Self { kinds, request_ns, busy_ns, is_shared } = *self;
        DueWork { kinds, request_ns, is_shared }.always_fits(busy_ns, budget)
    }

    fn response_ns(&self, task: &SporadicTask) -> Option<u64> {
        let mut worst = self.request_ns;
        for release_ns in self.releases(task)? {
            // Every request released in the interval is complete by its end.
            if self.busy_ns - release_ns <= worst {
                break;
            }
            let start_ns = least_fixed_point(self.kinds.len(), 0, |start_ns| {
                self.last_request_start(task, release_ns, start_ns)
            })?;
            let response = start_ns.checked_add(self.request_ns)?.saturating_sub(release_ns);
            worst = worst.max(response);
        }
        Some(worst)
    }

    /// Returns the releases to try: the window's start, and the releases for which the job's
    /// deadline equals a deadline of some task.
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

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;
    use tidegate_model::{BatchTable, Duration};

    use super::*;

    const SEED: u64 = 20_261_126;
    const SYSTEMS: u32 = 400_000;

    /// Returns tasks with deadlines below, at and beyond their periods, and a utilization around 1.
    fn system(random: &mut Pcg64) -> System {
        let request_ns = random.random_range(1..=3);
        let count = random.random_range(1..=4);
        let mut task = |_| {
            let requests = random.random_range(1..=3);
            let share = request_ns * u64::from(requests) * count;
            let period = random.random_range(share.div_ceil(2)..=share * 2 + 2);
            let deadline = random.random_range(1..=period + period / 2 + 1);
            let [period, deadline] = [period, deadline].map(Duration::from_ns);
            SporadicTask { period, requests, deadline }
        };
        let tasks = (0..count).map(&mut task).collect();
        let table = BatchTable::new(&[Duration::from_ns(request_ns)]).expect("one positive time");
        System { tasks, table, batch_max: 1, best_effort_fill: 0 }
    }

    /// Goal: deadlines are met if and only if every bound is within its deadline. Method: compare
    /// the deadline test with the bounds on random systems; an exhaustive adversary shows elsewhere
    /// that the bounds are exact.
    #[test]
    fn deadlines_are_met_exactly_when_bounds_say_so() {
        let random = &mut Pcg64::seed_from_u64(SEED);
        let mut met = [0, 0];
        for number in 0..SYSTEMS {
            let system = system(random);
            let is_shared = number % 2 == 1;
            let verdicts = verdicts(&system, is_shared);
            let within = |(verdict, task): (&Verdict, &SporadicTask)| {
                verdict.bound().is_some_and(|bound| bound <= task.deadline)
            };
            let expected = verdicts.iter().zip(&system.tasks).all(within);
            let budget = Budget::of_tasks(system.tasks.len());
            let found = are_deadlines_met(&system, is_shared, &budget);
            assert_eq!(found, expected, "number {number}, shared {is_shared}: {system:?}");
            let is_provable = is_provable(&system, is_shared, &budget);
            assert_eq!(is_provable, expected, "number {number}, shared {is_shared}: {system:?}");
            met[usize::from(found)] += 1;
        }
        println!("{} late, {} met", met[0], met[1]);
        assert!(met.into_iter().min() > Some(SYSTEMS / 20), "one-sided: {met:?}");
    }

    /// Goal: a system for which no bound is found does not count as provable. Method: a busy
    /// interval with more releases than the search tries.
    #[test]
    fn a_set_without_a_bound_is_not_provable() {
        let task = |period_us, requests| {
            let period = Duration::from_us(period_us);
            SporadicTask { period, requests, deadline: period }
        };
        let short = (0..12).map(|number| task(400 + 7 * number, 1));
        let tasks = short.chain([task(4_000_000, 40_000)]).collect();
        let table = BatchTable::new(&[Duration::from_us(20)]).expect("one positive time");
        let system = System { tasks, table, batch_max: 1, best_effort_fill: 0 };
        let budget = Budget::of_tasks(system.tasks.len());
        assert!(are_deadlines_met(&system, false, &budget));
        assert!(verdicts(&system, false).iter().all(|verdict| verdict.bound().is_none()));
        assert!(!is_provable(&system, false, &budget));
    }

    /// Goal: a search that the budget does not cover proves nothing. Method: deadlines that are
    /// met, the first of them before the end of the busy interval of 1 + 1 + 3 ns.
    #[test]
    fn a_search_beyond_the_budget_proves_nothing() {
        let task = |requests, deadline_ns| SporadicTask {
            period: Duration::from_ns(20),
            requests,
            deadline: Duration::from_ns(deadline_ns),
        };
        let table = BatchTable::new(&[Duration::from_ns(1)]).expect("one positive time");
        let tasks = vec![task(1, 2), task(3, 10)].into();
        let system = System { tasks, table, batch_max: 1, best_effort_fill: 0 };
        let budget = Budget::of_tasks(2);
        assert!(are_deadlines_met(&system, false, &budget));
        budget.spend(u64::MAX);
        assert!(!are_deadlines_met(&system, false, &budget));
    }
}
