// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The curves of the bounds of dual-queue FIFO.

use tidegate_model::{Duration, Workload};

use super::{Argument, Curves, STEPS_MAX};
use crate::dqf::{Demand, Derivation, derivations};
use crate::explain::system_of;
use crate::{Assessment, System};

/// The tasks in batches, with the derivation of each kind's bound.
pub(super) struct DualQueue {
    system: System,
    derivations: Vec<Option<Derivation>>,
    kind_of_task: Vec<usize>,
}

impl DualQueue {
    pub(super) fn of(planned: &Workload, assessment: &Assessment) -> Self {
        Self::of_system(system_of(planned, assessment))
    }

    pub(super) fn of_system(system: System) -> Self {
        let derivations = derivations(&system, STEPS_MAX);
        let kinds: Vec<usize> = (0..derivations.len()).collect();
        let kind_of_task = system.tasks.demand().per_task(&kinds).collect();
        Self { system, derivations, kind_of_task }
    }

    pub(super) fn kind_of_task(&self, task: usize) -> usize {
        self.kind_of_task[task]
    }

    /// Returns the curves of a kind's bound, by the first argument that gives this bound.
    pub(super) fn curves(&self, kind: usize, bound: Duration) -> Option<Curves> {
        let by_batches = self.derivations[kind].as_ref();
        by_batches
            .and_then(|derivation| self.batches(derivation, bound))
            .or_else(|| self.min_period(bound))
            .or_else(|| self.busy_interval(bound))
            .or_else(|| self.linear(bound))
    }

    /// The batch in flight, full batches, and the job's own batch at the end. The requests in
    /// flight count as released at the start, which is later than their true releases.
    fn batches(&self, derivation: &Derivation, bound: Duration) -> Option<Curves> {
        let Derivation { steps, requested } = derivation;
        let requested = requested.as_ref()?;
        let carry_in_ns = steps.carry_in_max(&self.system).ns();
        let last_ns = steps.last_batch_max(&self.system).ns();
        let mut served = self.full_batches(carry_in_ns, steps.full_batches)?;
        let before = served.last().map_or(carry_in_ns, |&(at, _)| at);
        served.push((before.checked_add(last_ns)?, requested.last()?.1));
        let mut requested = requested.to_vec();
        if steps.carry_in > 0 {
            for (_, count) in served.iter_mut().chain(&mut requested) {
                *count = count.checked_add(steps.carry_in)?;
            }
            served.insert(0, (carry_in_ns, steps.carry_in));
        }
        Curves::showing(bound, Argument::Batches, requested, served, Duration::ZERO)
    }

    /// Theorem 9.2.7: all requests together, behind a full batch. The theorem covers no best effort
    /// in the last batch.
    pub(super) fn min_period(&self, bound: Duration) -> Option<Curves> {
        if self.system.best_effort_fill > 0 {
            return None;
        }
        let (all, batch_max) = (self.demand().requests_sum(), u64::from(self.system.batch_max));
        let mut served = self.full_batches(self.full_batch_ns(), all / batch_max)?;
        let rest = all % batch_max;
        if rest > 0 {
            let before = served.last().map_or(self.full_batch_ns(), |&(at, _)| at);
            served.push((before.checked_add(self.system.batch_time_of_ns(rest))?, all));
        }
        Curves::showing(bound, Argument::MinPeriod, vec![(0, all)], served, Duration::ZERO)
    }

    /// Lemma 9.2.4: full batches are sent until they have taken every released request; then the
    /// last batch is served.
    pub(super) fn busy_interval(&self, bound: Duration) -> Option<Curves> {
        let full_ns = self.full_batch_ns();
        let window_ns = bound.ns().checked_sub(full_ns)?;
        // The window is half-open: a release at its end does not count.
        let requested = self.requested(window_ns.checked_sub(1)?)?;
        let sent = self.full_batches(0, window_ns / full_ns)?;
        let after = Duration::from_ns(full_ns);
        Curves::showing(bound, Argument::BusyInterval, requested, sent, after)
    }

    /// Lemma 9.2.2: the first request is served after 2 b(z), then z requests in every b(z),
    /// evenly.
    pub(super) fn linear(&self, bound: Duration) -> Option<Curves> {
        let batch_max = u128::from(self.system.batch_max);
        let full_ns = u128::from(self.full_batch_ns());
        let requested = self.requested(bound.ns())?;
        let &(_, all) = requested.last()?;
        let at = |count: u64| {
            let ns = (full_ns * u128::from(count - 1)).div_ceil(batch_max) + 2 * full_ns;
            Some((u64::try_from(ns).ok()?, count))
        };
        let is_short = usize::try_from(all).is_ok_and(|all| all <= STEPS_MAX);
        let served = is_short.then(|| (1..=all).map(at).collect::<Option<Vec<_>>>())??;
        Curves::showing(bound, Argument::Linear, requested, served, Duration::ZERO)
    }

    /// Returns the end of each of `count` successive full batches after an instant, with the number
    /// of requests served by then; `None` if there are too many to draw.
    fn full_batches(&self, from_ns: u64, count: u64) -> Option<Vec<(u64, u64)>> {
        let is_short = usize::try_from(count).is_ok_and(|count| count < STEPS_MAX);
        let end = |batch: u64| {
            let ns = from_ns.checked_add(batch.checked_mul(self.full_batch_ns())?)?;
            Some((ns, batch * u64::from(self.system.batch_max)))
        };
        is_short.then(|| (1..=count).map(end).collect())?
    }

    fn requested(&self, until_ns: u64) -> Option<Vec<(u64, u64)>> {
        releases(self.demand(), until_ns)
    }

    fn demand(&self) -> &Demand {
        self.system.tasks.demand()
    }

    fn full_batch_ns(&self) -> u64 {
        self.system.table.time_max(self.system.batch_max).ns()
    }
}

/// Returns the largest number of requests that can be released up to each instant until `until_ns`;
/// `None` if there are too many steps.
pub(super) fn releases(demand: &Demand, until_ns: u64) -> Option<Vec<(u64, u64)>> {
    let mut instants = vec![0];
    for kind in &demand.kinds {
        let count = usize::try_from(until_ns / kind.period_ns).ok()?;
        if count > STEPS_MAX {
            return None;
        }
        instants.extend((1..).take(count).map(|release: u64| release * kind.period_ns));
        instants.sort_unstable();
        instants.dedup();
        if instants.len() > STEPS_MAX {
            return None;
        }
    }
    instants.into_iter().map(|at| Some((at, u64::try_from(demand.closed(at)).ok()?))).collect()
}
