// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Theorem 1: a joint fixed point of all responses, for every z.
//!
//! [`crate::climb`] finds the fixed point of F and explains why it bounds all responses.
//!
//! `F_k = min(W_k, A_k)`. W follows a window of full batches from its carry-in batch to the job's
//! last batch. A uses the fact that no task has two jobs pending while every response is below its
//! period. `docs/theory/dual-queue-fifo.md` section 3 defines the symbols: s = carry-in requests,
//! a = release of the job within the window, L = batches, theta = earliest re-release of a task
//! whose requests are in the carry-in.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::System;
use crate::budget::Budget;
use crate::climb::{self, Responses, exceeds, smaller};
use crate::dqf::backlog::{self, Backlog};
use crate::dqf::carry_in::{self, Losses, Room};
use crate::dqf::demand::Kind;
use crate::dqf::{Caps, Demand, Derivation, Steps, busy_interval, linear};
use crate::search::{HORIZON_NS, OFFSETS_MAX, largest};

/// The number of binary places of the rate at which requests are released.
const RATE_BITS: u32 = 32;

/// Returns a bound on the response of each kind, or `None` if there is none.
///
/// # Bound
/// The least fixed point of Theorem 1, capped by the linear and the busy-interval bounds, which
/// hold unconditionally.
///
/// # Source
/// Own derivation, `docs/theory/dual-queue-fifo.md` section 3 (Theorem 1). With best effort,
/// section 5 (Theorem 3): batch costs become b(max(j, beta)), even for an empty carry-in.
///
/// # Complexity
/// At most 65 rounds, and one more for each kind if responses jump to their cap; a round is O(carry
/// sizes * offsets * n). A round that exceeds the budget charges a full carry-in that takes nothing
/// from the window, or omits W: F is then larger, but still a bound.
pub(super) fn responses(
    system: &System,
    demand: &Demand,
    caps: &Caps,
    budget: &Budget,
) -> Responses {
    if !caps.is_within_capacity() {
        // No window closes and no backlog is bounded.
        return vec![None; demand.kinds.len()];
    }
    let responses = climb(system, demand, caps.least_ns(), None, budget);
    responses.expect("a climb without limits is never abandoned")
}

/// Returns whether all responses are within `limits_ns`, one limit per kind.
pub(super) fn is_within(
    system: &System,
    demand: &Demand,
    limits_ns: &[u64],
    budget: &Budget,
) -> bool {
    let (least, largest) = (limits_ns.iter().min(), limits_ns.iter().max());
    let (Some(&least_ns), Some(&largest_ns)) = (least, largest) else { return true };
    let Ok(linear) = linear::response_ns(system, demand) else { return false };
    if linear.is_some_and(|linear| linear <= least_ns) {
        return true;
    }
    // A window longer than every limit proves none of them, so the search stops there.
    let busy = busy_interval::response_ns(system, demand, largest_ns);
    let responses = climb(system, demand, smaller(linear, busy), Some(limits_ns), budget);
    responses.is_some_and(|responses| !exceeds(&responses, limits_ns))
}

/// Climbs from R = 0 to a fixed point of at most `cap`; `None` as soon as it must lie beyond
/// `limits_ns`.
fn climb(
    system: &System,
    demand: &Demand,
    cap: Option<u64>,
    limits_ns: Option<&[u64]>,
    budget: &Budget,
) -> Option<Responses> {
    let backlog = OnceCell::new();
    climb::climb(demand.kinds.len(), cap, limits_ns, |current| {
        FifoEvaluation::new(system, demand, budget, &backlog, current).responses()
    })
}

/// Returns the derivation of each kind's bound; `None` if the bound does not consist of such steps,
/// or if the search exceeds its budget. Requests are counted at `instants_max` instants at most.
pub(super) fn derivations(
    system: &System,
    demand: &Demand,
    instants_max: usize,
) -> Vec<Option<Derivation>> {
    let budget = Budget::of_tasks(system.tasks.len());
    let responses = responses(system, demand, &Caps::of(system), &budget);
    let (budget, backlog) = (Budget::of_tasks(system.tasks.len()), OnceCell::new());
    let evaluation = FifoEvaluation::new(system, demand, &budget, &backlog, &responses);
    evaluation.derivations(&responses, instants_max)
}

/// One evaluation of the function F at the responses R.
struct FifoEvaluation<'a> {
    system: &'a System,
    demand: &'a Demand,
    budget: &'a Budget,
    /// A: the bound by the backlog, which all rounds share.
    backlog: &'a OnceCell<Backlog>,
    /// R, if every R_i is bounded.
    bounded: Option<Vec<u64>>,
    /// Whether every R_i <= p_i: then no task has two jobs in a carry-in.
    is_within: bool,
    /// Whether every R_i < p_i: then no task has two jobs pending, and A applies.
    is_strictly_within: bool,
    batch_max: u64,
    /// The largest number of requests in one job.
    requests_max: u64,
    full_batch_ns: u64,
    /// `b(z) sum e_i / p_i`, the requests released while a full batch is served, rounded up to
    /// 2^-32; only W needs it.
    rate: OnceCell<u128>,
}

/// A carry-in batch: its requests, its cost, and the earliest re-releases of its tasks.
struct CarryIn {
    requests: u64,
    time_ns: u64,
    /// theta per kind, for as many jobs of a task as fit into the batch; empty if nothing is taken
    /// from the window.
    again_ns: Vec<u64>,
    /// The requests of the jobs that fit into the batch, without each task's last one. A task with
    /// one job less in the carry-in may release again at the window's start, so these requests take
    /// nothing from the window.
    free: u64,
}

impl<'a> FifoEvaluation<'a> {
    fn new(
        system: &'a System,
        demand: &'a Demand,
        budget: &'a Budget,
        backlog: &'a OnceCell<Backlog>,
        current: &[Option<u64>],
    ) -> Self {
        let pairs = || current.iter().zip(&demand.kinds);
        let is_within = |(response, kind): (&Option<u64>, &Kind)| {
            response.is_some_and(|response| response <= kind.period_ns)
        };
        Self {
            system,
            demand,
            budget,
            backlog,
            bounded: current.iter().copied().collect(),
            is_within: pairs().all(is_within),
            is_strictly_within: pairs()
                .all(|(response, kind)| response.is_some_and(|r| r < kind.period_ns)),
            batch_max: u64::from(system.batch_max),
            requests_max: demand.kinds.iter().map(|kind| kind.requests).max().unwrap_or(0),
            full_batch_ns: system.table.time_max(system.batch_max).ns(),
            rate: OnceCell::new(),
        }
    }

    /// Returns F(R), per kind.
    fn responses(&self) -> Responses {
        let by_window = self.by_window();
        let backlog = self.is_strictly_within.then(|| {
            self.backlog.get_or_init(|| Backlog::new(self.system, self.demand, self.budget))
        });
        let kinds = self.demand.kinds.iter().enumerate();
        kinds
            .map(|(index, kind)| {
                let by_window = by_window.as_ref().map(|worst| worst[index]);
                let by_backlog = backlog.and_then(|it| it.response_ns(kind));
                smaller(by_window, by_backlog)
            })
            .collect()
    }

    /// Returns W: the longest response over all carry-ins and all releases within the window.
    /// `None` if a window does not close within the horizon or the search exceeds the budget.
    fn by_window(&self) -> Option<Vec<u64>> {
        if !self.can_afford_windows(1) {
            return None;
        }
        let counted = self.bounded.as_deref();
        let exact = counted.and_then(|bounded| {
            self.longest(&self.carry_in_sizes(bounded), |size| self.carry_in(size, bounded))
        });
        exact.or_else(|| self.longest(&[self.batch_max], |size| self.taking_nothing(size)))
    }

    /// Returns the longest response over the carry-ins of these sizes.
    fn longest(&self, sizes: &[u64], carry_in: impl Fn(u64) -> CarryIn) -> Option<Vec<u64>> {
        let mut worst = vec![0; self.demand.kinds.len()];
        if !self.can_afford_windows(sizes.len()) {
            return None;
        }
        // A response found early cuts the search of every window short.
        for &requests in sizes {
            self.raise_by_release(&carry_in(requests), 0, &mut worst)?;
        }
        let mut offsets = Vec::new();
        for &requests in sizes {
            self.raise_by_carry_in(&carry_in(requests), &mut offsets, &mut worst)?;
        }
        Some(worst)
    }

    /// Returns whether the budget may suffice for the windows after this many carry-ins: every kind
    /// is evaluated at every release, and nearly every kind has its own releases.
    fn can_afford_windows(&self, count: usize) -> bool {
        let kinds = self.demand.kinds.len() as u64;
        let least = self.terms(count).and_then(|terms| terms.checked_mul(kinds));
        least.is_some_and(|least| least <= self.budget.share())
    }

    /// Returns the sizes of the carry-in that must be tried.
    fn carry_in_sizes(&self, bounded: &[u64]) -> Vec<u64> {
        if self.is_within {
            return carry_in::whole_sizes(self.system, self.demand);
        }
        let time_ns = |size| self.system.batch_time_of_ns(size);
        let room = |size| Room::of(&self.demand.kinds, bounded, time_ns(size));
        // The largest carry-in that takes nothing from the window is worse than all smaller ones.
        let first = largest(0..=self.batch_max, |size| room(size).free >= size);
        let last = largest(0..=self.batch_max, |size| room(size).all >= size);
        // Of the sizes that take equally long, the smallest is worst: a larger one takes more
        // requests from the window.
        let is_worse = |&size: &u64| size == first || time_ns(size) > time_ns(size - 1);
        (first..=last).filter(is_worse).collect()
    }

    /// Returns the carry-in of this size that takes the least from the window, if `bounded` bounds
    /// the responses.
    fn carry_in(&self, requests: u64, bounded: &[u64]) -> CarryIn {
        if requests == 0 {
            return self.taking_nothing(0);
        }
        let time_ns = self.system.batch_time_of_ns(requests);
        let pairs = || bounded.iter().zip(&self.demand.kinds);
        let again_ns = |(&response, kind): (&u64, &Kind)| kind.again_ns(time_ns, response);
        CarryIn {
            requests,
            time_ns,
            again_ns: pairs().map(again_ns).collect(),
            free: Room::of(&self.demand.kinds, bounded, time_ns).free,
        }
    }

    fn taking_nothing(&self, requests: u64) -> CarryIn {
        let time_ns = self.system.batch_time_of_ns(requests);
        CarryIn { requests, time_ns, again_ns: Vec::new(), free: 0 }
    }

    /// Raises `worst` to the responses of jobs released in the window after `carry_in`. `offsets`
    /// is a buffer that all windows share.
    fn raise_by_carry_in(
        &self,
        carry_in: &CarryIn,
        offsets: &mut Vec<u64>,
        worst: &mut [u64],
    ) -> Option<()> {
        let released = |window_ns| self.demand.half_open(window_ns);
        let batches = busy_interval::window_batches(self.system, released, 1, carry_in.time_ns)?;
        let window_ns = carry_in.time_ns + (batches - 1) * self.full_batch_ns;
        self.fill_offsets(offsets, carry_in, window_ns.min(self.last_worse_ns(carry_in, worst)))?;
        if !self.budget.afford(self.terms(offsets.len())?) {
            return None;
        }
        for &release_ns in &*offsets {
            self.raise_by_release(carry_in, release_ns, worst)?;
        }
        Some(())
    }

    /// Returns an instant after which no job released in the window has a response longer than the
    /// smallest entry of `worst`; `u64::MAX` if the tasks leave no capacity.
    ///
    /// # Bound
    /// A job released at a waits for at most `ceil(N / z)` batches after the carry-in, its own
    /// included, and N is at most `E + a sum e_i / p_i`. So with `w = b(z) sum e_i / p_i`, its
    /// response is at most `b(s) + b(z) (E + z - 1) / z - a (z - w) / z`.
    fn last_worse_ns(&self, carry_in: &CarryIn, worst: &[u64]) -> u64 {
        let least = u128::from(worst.iter().copied().min().unwrap_or(0));
        let batch_max = u128::from(self.batch_max);
        let requests = u128::from(self.demand.requests_sum()) + batch_max - 1;
        let longest =
            u128::from(carry_in.time_ns) * batch_max + u128::from(self.full_batch_ns) * requests;
        let excess = longest.saturating_sub(least * batch_max);
        let rate =
            self.rate.get_or_init(|| self.demand.released_per(self.full_batch_ns, RATE_BITS));
        let spare = (batch_max << RATE_BITS).saturating_sub(*rate);
        let latest = excess.checked_mul(1 << RATE_BITS).and_then(|it| it.checked_div(spare));
        latest.and_then(|latest| u64::try_from(latest + 1).ok()).unwrap_or(u64::MAX)
    }

    /// Returns the terms for evaluating every kind `times` times.
    fn terms(&self, times: usize) -> Option<u64> {
        (times as u64).checked_mul(self.demand.kinds.len() as u64)
    }

    /// Fills `offsets` with the instants a up to `window_ns` at which the number of requests ahead
    /// of a job can change: the releases of a task, counted from the window's start or from its
    /// re-release.
    fn fill_offsets(
        &self,
        offsets: &mut Vec<u64>,
        carry_in: &CarryIn,
        window_ns: u64,
    ) -> Option<()> {
        offsets.clear();
        offsets.push(0);
        let again = carry_in.again_ns.iter().copied().map(Some).chain(std::iter::repeat(None));
        for (kind, again_ns) in self.demand.kinds.iter().zip(again) {
            for start_ns in [Some(0), again_ns].into_iter().flatten() {
                let mut offset = start_ns;
                while offset <= window_ns {
                    offsets.push(offset);
                    offset = offset.checked_add(kind.period_ns)?;
                }
                if offsets.len() > OFFSETS_MAX {
                    return None;
                }
            }
        }
        offsets.sort_unstable();
        offsets.dedup();
        Some(())
    }

    /// Raises `worst` to the response of a job released `release_ns` into the window, for every
    /// kind.
    fn raise_by_release(
        &self,
        carry_in: &CarryIn,
        release_ns: u64,
        worst: &mut [u64],
    ) -> Option<()> {
        let taken = self.losses(carry_in, release_ns).least(carry_in.requests);
        let ahead = self.demand.closed(release_ns).saturating_sub(taken);
        if ahead == 0 {
            return Some(());
        }
        let batch_max = u128::from(self.batch_max);
        let full_batches = u64::try_from((ahead - 1) / batch_max).ok()?;
        let last_dispatch_ns =
            carry_in.time_ns.checked_add(full_batches.checked_mul(self.full_batch_ns)?)?;
        if last_dispatch_ns > HORIZON_NS {
            return None;
        }
        if last_dispatch_ns < release_ns {
            return Some(());
        }
        let served_before = u128::from(full_batches) * batch_max;
        let seen = self.demand.closed(last_dispatch_ns);
        let losses = self.losses(carry_in, last_dispatch_ns);
        // The last batch holds at most this many requests, for a job of any kind: only the loss of
        // its own task may be smaller than counted here.
        let own = u128::from(self.requests_max) * u128::from(losses.jobs_max());
        let taken_always = losses.least(carry_in.requests).saturating_sub(own);
        let most = self.last_batch(seen.saturating_sub(taken_always).max(ahead) - served_before);
        let response_max =
            (last_dispatch_ns - release_ns).checked_add(self.system.batch_time_ns(most))?;
        if worst.iter().all(|&worst| worst >= response_max) {
            return Some(());
        }
        for (index, (kind, worst)) in self.demand.kinds.iter().zip(worst).enumerate() {
            // The job's own task releases only at `release_ns` and at whole periods before and
            // after it, so its count splits there, and so does its loss.
            let anywhere = kind.jobs_closed(last_dispatch_ns);
            let around =
                kind.jobs_closed(release_ns) + (last_dispatch_ns - release_ns) / kind.period_ns;
            let fewer = u128::from(kind.requests) * u128::from(anywhere.saturating_sub(around));
            let in_carry_in = carry_in.again_ns.get(index).map_or(0, |&again_ns| {
                let jobs = |delta_ns| kind.jobs_lost(delta_ns, again_ns);
                losses
                    .moved(kind.requests, jobs(last_dispatch_ns), jobs(release_ns))
                    .least(carry_in.requests)
            });
            // The count includes requests released later, and is at least the rest of `ahead`.
            let last = (seen - fewer).saturating_sub(in_carry_in).max(ahead) - served_before;
            let last_ns = self.system.batch_time_ns(self.last_batch(last));
            let response = (last_dispatch_ns - release_ns).checked_add(last_ns)?;
            *worst = response.max(*worst);
        }
        Some(())
    }

    /// Returns the size of the last batch if `requests` are left for it.
    fn last_batch(&self, requests: u128) -> u32 {
        u32::try_from(requests).unwrap_or(u32::MAX).min(self.system.batch_max)
    }

    /// Counts the requests that the carry-in can take from a window of this length.
    fn losses(&self, carry_in: &CarryIn, delta_ns: u64) -> Losses {
        let kinds = self.demand.kinds.iter().zip(&carry_in.again_ns);
        let last_jobs = kinds
            .map(|(kind, &again_ns)| (kind.jobs_lost(delta_ns, again_ns), kind.requests_sum()));
        Losses::of(std::iter::once((0, carry_in.free)).chain(last_jobs))
    }

    /// Returns, for each kind, steps that add up to exactly its response; `None` if the response
    /// comes from another bound, or if the search exceeds the budget.
    fn derivations(&self, responses: &Responses, instants_max: usize) -> Vec<Option<Derivation>> {
        let mut steps = vec![None; responses.len()];
        if self.is_strictly_within && self.demand.requests_sum() > self.batch_max {
            let mut known = BTreeMap::new();
            for ((kind, response), steps) in self.demand.kinds.iter().zip(responses).zip(&mut steps)
            {
                let Some(response) = *response else { continue };
                let of_backlog =
                    || backlog::derivation(self.system, self.demand, kind.requests, response);
                let known = known.entry((kind.requests, response)).or_insert_with(of_backlog);
                steps.clone_from(known);
            }
        }
        if let Some(bounded) = self.bounded.as_deref() {
            self.add_steps_of_windows(bounded, instants_max, &mut steps);
        }
        steps
    }

    /// Adds steps of W for the kinds that have none; `None` once the budget is spent.
    fn add_steps_of_windows(
        &self,
        responses: &[u64],
        instants_max: usize,
        steps: &mut [Option<Derivation>],
    ) -> Option<()> {
        let mut add =
            |carry_in: &CarryIn| self.add_steps_of_window(carry_in, responses, instants_max, steps);
        for size in self.carry_in_sizes(responses) {
            add(&self.carry_in(size, responses))?;
        }
        add(&self.taking_nothing(self.batch_max))
    }

    /// Adds steps of W that begin with that carry-in; `None` once the budget is spent.
    fn add_steps_of_window(
        &self,
        carry_in: &CarryIn,
        responses: &[u64],
        instants_max: usize,
        steps: &mut [Option<Derivation>],
    ) -> Option<()> {
        let pending = responses.iter().zip(&*steps).filter(|(_, steps)| steps.is_none());
        let Some(longest) = pending.map(|(&response, _)| response).max() else { return Some(()) };
        let mut offsets = Vec::new();
        self.budget.afford(self.terms(1)?).then_some(())?;
        if self.fill_offsets(&mut offsets, carry_in, longest.max(carry_in.time_ns)).is_none() {
            return Some(());
        }
        for &release_ns in &offsets {
            self.budget.afford(self.terms(1)?).then_some(())?;
            // One below each bound, so that only a response as long as the bound raises an entry.
            let below = |(&response, steps): (&u64, &Option<Derivation>)| match steps {
                None => response.saturating_sub(1),
                Some(_) => u64::MAX,
            };
            let mut worst: Vec<u64> = responses.iter().zip(&*steps).map(below).collect();
            if self.raise_by_release(carry_in, release_ns, &mut worst).is_none() {
                return Some(());
            }
            let Some(full_batches) = self.full_batches_ahead(carry_in, release_ns) else {
                continue;
            };
            let before_ns = carry_in.time_ns + full_batches * self.full_batch_ns;
            let requested = OnceCell::new();
            for ((&response, &worst), steps) in responses.iter().zip(&worst).zip(&mut *steps) {
                if worst == response && steps.is_none() {
                    let last_batch = self.batch_of_ns(response + release_ns - before_ns);
                    let requested = requested.get_or_init(|| {
                        let until = offsets.partition_point(|&offset| offset <= release_ns);
                        let instants = &offsets[..until];
                        (until <= instants_max).then(|| self.requested(carry_in, instants))?
                    });
                    *steps = last_batch.map(|last_batch| Derivation {
                        steps: Steps {
                            carry_in: carry_in.requests,
                            full_batches,
                            last_batch,
                            released_ns: release_ns,
                        },
                        requested: requested.clone(),
                    });
                }
            }
        }
        Some(())
    }

    /// Returns N(a): the number of requests up to and including the last one of a job that is
    /// released `release_ns` into the window.
    fn ahead(&self, carry_in: &CarryIn, release_ns: u64) -> u128 {
        let lost = self.losses(carry_in, release_ns).least(carry_in.requests);
        self.demand.closed(release_ns).saturating_sub(lost)
    }

    /// Returns N at each of the instants at which it rises; `None` if that exceeds the budget.
    fn requested(&self, carry_in: &CarryIn, instants: &[u64]) -> Option<Rc<[(u64, u64)]>> {
        self.budget.afford(self.terms(instants.len())?).then_some(())?;
        let ahead = |&at: &u64| (at, u64::try_from(self.ahead(carry_in, at)).unwrap_or(u64::MAX));
        let mut steps: Vec<(u64, u64)> = instants.iter().map(ahead).collect();
        steps.dedup_by_key(|step| step.1);
        steps.retain(|step| step.1 > 0);
        Some(steps.into())
    }

    /// Returns the number of full batches between the carry-in and the batch of a job that is
    /// released `release_ns` into the window; `None` if nothing is ahead of it.
    fn full_batches_ahead(&self, carry_in: &CarryIn, release_ns: u64) -> Option<u64> {
        let ahead = self.ahead(carry_in, release_ns);
        u64::try_from(ahead.checked_sub(1)? / u128::from(self.batch_max)).ok()
    }

    /// Returns the largest batch that takes exactly this long.
    fn batch_of_ns(&self, ns: u64) -> Option<u64> {
        (1..=self.batch_max).rev().find(|&requests| self.system.batch_time_of_ns(requests) == ns)
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::{BatchTable, Duration};

    use super::super::tight;
    use crate::{SporadicTask, System};

    /// Returns the bounds for tasks of (e, p in ns), with batches as large as the table.
    fn bounds(tasks: [(u32, u64); 2], times_ns: &[u64]) -> Vec<Option<Duration>> {
        let task = |(requests, period_ns)| {
            let period = Duration::from_ns(period_ns);
            SporadicTask { requests, period, deadline: period }
        };
        let times: Vec<Duration> = times_ns.iter().copied().map(Duration::from_ns).collect();
        let table = BatchTable::new(&times).unwrap();
        let system = System {
            tasks: tasks.map(task).to_vec().into(),
            batch_max: table.batch_max(),
            table,
            best_effort_fill: 0,
        };
        tight(&system).unwrap().iter().map(|it| it.bound()).collect()
    }

    /// Pins a case that depends on where the loss of the job's own task is counted. If it were
    /// counted at the last dispatch, like the loss of the other tasks, the bounds would be 15 and
    /// 17.
    #[test]
    fn the_loss_of_the_own_task_is_counted_at_its_release() {
        let found = bounds([(3, 12), (3, 14)], &[3, 5, 6, 7]);
        assert_eq!(found, [21, 21].map(|ns| Some(Duration::from_ns(ns))));
    }

    /// Goal: a response is counted from the job's release, also inside a window. Method: tasks a =
    /// (2, 4) and b = (1, 10), z = 2, R = (4, 6). Behind a carry-in of one request of a, which
    /// takes 1 ns, a can be released again at 4 - (R_a - 1) mod 4 = 1. If b is released then, 2 + 1
    /// requests are ahead: one full batch until 1 + 3, then the last one. By then 2 * 2 + 1 - 1
    /// requests were released, so 2 are left for it: R_b = 4 + b(2) - 1. No second job of a follows
    /// the first by then: R_a = 4 + b(1) - 1.
    #[test]
    fn a_response_counts_from_the_release() {
        let found = bounds([(2, 4), (1, 10)], &[1, 3]);
        assert_eq!(found, [4, 6].map(|ns| Some(Duration::from_ns(ns))));
    }
}
