// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Theorem 1: a fixed point of all responses together, for every z.
//!
//! If `F_k(R) <= R_k` for every task k, then R bounds all responses. F is nondecreasing,
//! so iterating from R = 0 reaches the least such R; any R with F(R) <= R will do, which is
//! what makes it safe to jump upwards when the iteration creeps.
//!
//! `F_k = min(W_k, A_k)`: W follows a window of full batches from its carry-in batch to the
//! job's last batch; A uses that while every response is below its period no task has two
//! jobs pending. Symbols: `docs/model.md` section 3; s = carry-in requests, a = release of
//! the job within the window, L = batches, theta = earliest re-release of a task whose
//! requests are in the carry-in.

use crate::System;
use crate::dqf::demand::Kind;
use crate::dqf::{Demand, busy_interval, linear, two_batches};
use crate::search::{HORIZON_NS, OFFSETS_MAX};

/// Rounds of exact iteration before the responses that still grow jump to their cap.
const EXACT_ROUNDS: u32 = 48;
/// Rounds that may lower a bound after a jump.
const LOWERING_ROUNDS: u32 = 16;

/// A response per kind in ns; `None` = no bound yet.
type Responses = Vec<Option<u64>>;

/// A bound on the response of each kind, or `None` where there is none.
///
/// # Bound
/// The least fixed point of Theorem 1, capped by the linear and the busy-interval bound,
/// which hold unconditionally.
///
/// # Source
/// Own derivation, `docs/model.md` section 3 (Theorem 1); with best effort section 5
/// (Theorem 3): batch costs become b(max(j, beta)), and so does an empty carry-in.
///
/// # Complexity
/// At most 64 rounds; a round is O(carry sizes * offsets * n log n).
pub(super) fn responses(system: &System, demand: &Demand) -> Responses {
    climb(system, demand, None).expect("nothing is given up without limits")
}

/// Whether all responses are within `limits_ns`, one for each kind.
pub(super) fn is_within(system: &System, demand: &Demand, limits_ns: &[u64]) -> bool {
    climb(system, demand, Some(limits_ns)).is_some_and(|responses| !exceeds(&responses, limits_ns))
}

/// Climbs from R = 0 to a fixed point; `None` as soon as it must lie beyond `limits_ns`.
fn climb(system: &System, demand: &Demand, limits_ns: Option<&[u64]>) -> Option<Responses> {
    let Ok(linear) = linear::response_ns(system, demand) else {
        // Beyond capacity no window closes and no backlog is bounded.
        return Some(vec![None; demand.kinds.len()]);
    };
    let busy = busy_interval::response_ns(system, demand);
    let cap = [linear, busy].into_iter().flatten().min();
    let mut current: Responses = vec![Some(0); demand.kinds.len()];
    let mut round = 0;
    loop {
        let next = capped(Step::new(system, demand, &current).responses(), cap);
        // Up to the first jump `next` never passes the least fixed point.
        if round <= EXACT_ROUNDS && limits_ns.is_some_and(|limits| exceeds(&next, limits)) {
            return None;
        }
        let grown: Vec<bool> =
            next.iter().zip(&current).map(|(next, current)| is_above(*next, *current)).collect();
        if !grown.contains(&true) {
            return Some(lower(system, demand, cap, next));
        }
        round += 1;
        for ((current, next), grown) in current.iter_mut().zip(next).zip(grown) {
            if grown {
                *current = if round > EXACT_ROUNDS { cap } else { next };
            }
        }
    }
}

fn exceeds(responses: &Responses, limits_ns: &[u64]) -> bool {
    responses.iter().zip(limits_ns).any(|(response, &limit)| is_above(*response, Some(limit)))
}

/// Applies F to a bound that holds already: F(R) <= R holds again, and may be lower.
fn lower(system: &System, demand: &Demand, cap: Option<u64>, mut bound: Responses) -> Responses {
    for _ in 0..LOWERING_ROUNDS {
        let next = capped(Step::new(system, demand, &bound).responses(), cap);
        if next == bound {
            break;
        }
        bound = next;
    }
    bound
}

fn capped(responses: Responses, cap: Option<u64>) -> Responses {
    responses.into_iter().map(|response| [response, cap].into_iter().flatten().min()).collect()
}

/// Whether `a` is a larger response than `b`, no bound being the largest.
fn is_above(a: Option<u64>, b: Option<u64>) -> bool {
    b.is_some_and(|b| a.is_none_or(|a| a > b))
}

/// One evaluation of F at R.
struct Step<'a> {
    system: &'a System,
    demand: &'a Demand,
    /// R, where every R_i <= p_i: then no task has two jobs in a carry-in, and loss counts.
    within_period: Option<Vec<u64>>,
    /// Every R_i < p_i: then no task has two jobs pending, and A applies.
    is_strictly_within: bool,
    requests_sum: u64,
    batch_max: u64,
    full_batch_ns: u64,
}

/// A carry-in batch: its requests, its cost, and when its tasks can release again.
struct CarryIn {
    requests: u64,
    time_ns: u64,
    /// theta per kind; empty where some response may exceed its period.
    again_ns: Vec<u64>,
}

impl<'a> Step<'a> {
    fn new(system: &'a System, demand: &'a Demand, current: &[Option<u64>]) -> Self {
        let pairs = || current.iter().zip(&demand.kinds);
        let within = |(response, kind): (&Option<u64>, &Kind)| {
            response.filter(|&response| response <= kind.period_ns)
        };
        Self {
            system,
            demand,
            within_period: pairs().map(within).collect(),
            is_strictly_within: pairs()
                .all(|(response, kind)| response.is_some_and(|r| r < kind.period_ns)),
            requests_sum: demand.requests_sum(),
            batch_max: u64::from(system.batch_max),
            full_batch_ns: system.table.time_max(system.batch_max).ns(),
        }
    }

    /// F(R), per kind.
    fn responses(&self) -> Responses {
        let by_window = self.by_window();
        let kinds = 0..self.demand.kinds.len();
        kinds
            .map(|kind| {
                let window = by_window.as_ref().map(|worst| worst[kind]);
                [window, self.by_backlog(kind)].into_iter().flatten().min()
            })
            .collect()
    }

    /// W: the worst over all carry-ins and all releases within the window. `None` where a
    /// window does not close within the horizon.
    fn by_window(&self) -> Option<Vec<u64>> {
        let mut worst = vec![0; self.demand.kinds.len()];
        for requests in self.carry_sizes() {
            self.raise_by_carry_in(&self.carry_in(requests), &mut worst)?;
        }
        Some(worst)
    }

    /// How many requests the carry-in batch can have.
    fn carry_sizes(&self) -> Vec<u64> {
        if self.within_period.is_none() {
            return (0..=self.batch_max).collect();
        }
        if self.requests_sum <= self.batch_max {
            return totals(&self.demand.subset_sums());
        }
        self.multiples_to(self.batch_max.min(self.requests_sum))
    }

    fn multiples_to(&self, last: u64) -> Vec<u64> {
        let step = self.demand.requests_gcd(self.system.batch_max);
        (0..=last / step).map(|multiple| multiple * step).collect()
    }

    fn carry_in(&self, requests: u64) -> CarryIn {
        let time_ns = self.system.batch_time_of_ns(requests);
        // Saturated: a re-release beyond the horizon is as good as none.
        let again =
            |(&response, kind): (&u64, &Kind)| time_ns.saturating_add(kind.period_ns - response);
        let again_ns = match &self.within_period {
            Some(responses) => responses.iter().zip(&self.demand.kinds).map(again).collect(),
            None => Vec::new(),
        };
        CarryIn { requests, time_ns, again_ns }
    }

    /// Raises `worst` to what jobs released in the window behind `carry_in` can see.
    fn raise_by_carry_in(&self, carry_in: &CarryIn, worst: &mut [u64]) -> Option<()> {
        // x >= 2 where nothing is in flight at first: the first batch starts at once.
        let first = if carry_in.time_ns > 0 { 1 } else { 2 };
        let batches = busy_interval::window_batches(
            self.demand,
            first,
            self.system.batch_max,
            carry_in.time_ns,
            self.full_batch_ns,
        )?;
        let window_ns = carry_in.time_ns + (batches - 1) * self.full_batch_ns;
        for release_ns in self.offsets(carry_in, window_ns)? {
            self.raise_by_release(carry_in, release_ns, worst)?;
        }
        Some(())
    }

    /// Where the number of requests ahead of a job can change: the instants a at which a
    /// task releases, counted from the window's start or from its re-release.
    fn offsets(&self, carry_in: &CarryIn, window_ns: u64) -> Option<Vec<u64>> {
        let mut offsets = vec![0];
        let again = carry_in.again_ns.iter().copied().map(Some).chain(std::iter::repeat(None));
        for (kind, again_ns) in self.demand.kinds.iter().zip(again) {
            for start_ns in [Some(0), again_ns].into_iter().flatten() {
                let mut offset = start_ns;
                while offset < window_ns {
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
        Some(offsets)
    }

    /// The response of a job released `release_ns` into the window, for every kind.
    fn raise_by_release(
        &self,
        carry_in: &CarryIn,
        release_ns: u64,
        worst: &mut [u64],
    ) -> Option<()> {
        let loss = |delta_ns| self.loss(carry_in, delta_ns);
        let ahead = self.demand.closed(release_ns).saturating_sub(loss(release_ns));
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
        let in_carry_in = loss(last_dispatch_ns);
        // Whatever kind the job is of, its last batch holds no more than that.
        let most = self.last_batch(seen.saturating_sub(in_carry_in).max(ahead) - served_before);
        let response_max =
            (last_dispatch_ns - release_ns).checked_add(self.system.batch_time_ns(most))?;
        if worst.iter().all(|&worst| worst >= response_max) {
            return Some(());
        }
        for (kind, worst) in self.demand.kinds.iter().zip(worst) {
            // The job's own task releases at `release_ns` and a whole number of periods
            // around it, not anywhere: its count splits there.
            let anywhere = kind.jobs_closed(last_dispatch_ns);
            let around =
                kind.jobs_closed(release_ns) + (last_dispatch_ns - release_ns) / kind.period_ns;
            let fewer = u128::from(kind.requests) * u128::from(anywhere.saturating_sub(around));
            // Freeloaders included; never fewer than what of `ahead` is left.
            let last = (seen - fewer).saturating_sub(in_carry_in).max(ahead) - served_before;
            let last_ns = self.system.batch_time_ns(self.last_batch(last));
            let response = (last_dispatch_ns - release_ns).checked_add(last_ns)?;
            *worst = response.max(*worst);
        }
        Some(())
    }

    /// The size of the last batch where so many requests are left for it.
    fn last_batch(&self, requests: u128) -> u32 {
        u32::try_from(requests).unwrap_or(u32::MAX).min(self.system.batch_max)
    }

    /// The requests that the window cannot contain because they are in the carry-in: the
    /// fractional knapsack over l_i, a lower bound of the true loss.
    fn loss(&self, carry_in: &CarryIn, delta_ns: u64) -> u128 {
        if carry_in.again_ns.is_empty() || carry_in.requests == 0 {
            return 0;
        }
        // Requests by the jobs that each of them costs, in place of sorting: nearly all
        // cost one. Counting those that cost more than the last as the last errs to the
        // safe side.
        let mut requests_by_jobs = [0_u64; 8];
        for (kind, &again_ns) in self.demand.kinds.iter().zip(&carry_in.again_ns) {
            let after = delta_ns.checked_sub(again_ns).map_or(0, |rest| kind.jobs_closed(rest));
            let jobs = kind.jobs_closed(delta_ns) - after;
            let bucket = usize::try_from(jobs).unwrap_or(usize::MAX);
            requests_by_jobs[bucket.min(requests_by_jobs.len() - 1)] += kind.requests_sum();
        }
        let mut left = carry_in.requests;
        let mut loss = 0;
        for (jobs, requests) in (0_u64..).zip(requests_by_jobs) {
            let taken = left.min(requests);
            loss += u128::from(jobs) * u128::from(taken);
            left -= taken;
        }
        loss
    }

    /// A: no task has two jobs pending, so E - y requests at most are queued behind a
    /// batch with y requests of the others. `None` unless every response is below its period.
    fn by_backlog(&self, kind: usize) -> Option<u64> {
        if !self.is_strictly_within {
            return None;
        }
        if self.requests_sum <= self.batch_max {
            return two_batches::longest_pair_ns(self.system, self.demand);
        }
        let others = self.requests_sum - self.demand.kinds[kind].requests;
        let in_flight = self.multiples_to(self.batch_max.min(others)).into_iter();
        let response = |first: u64| {
            let queued = self.requests_sum - first;
            let batches = queued.div_ceil(self.batch_max);
            let behind = if batches == 1 { queued } else { self.requests_sum - self.batch_max };
            self.system
                .batch_time_of_ns(first)
                .checked_add((batches - 1).checked_mul(self.full_batch_ns)?)?
                .checked_add(self.system.batch_time_of_ns(behind.min(self.batch_max)))
        };
        let responses: Option<Vec<u64>> = in_flight.map(response).collect();
        responses?.into_iter().max().filter(|&ns| ns <= HORIZON_NS)
    }
}

/// The indices that are set.
fn totals(reachable: &[bool]) -> Vec<u64> {
    (0_u64..).zip(reachable).filter(|&(_, &is_set)| is_set).map(|(total, _)| total).collect()
}
