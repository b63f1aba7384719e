// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The steps of a bound of dual-queue FIFO: the batches that a job waits for in the worst case.
//! `tidegate check --explain` prints them; no proof rests on them.

use std::rc::Rc;

use tidegate_model::Duration;

use crate::System;
use crate::dqf::{fixed_point, two_batches};

/// A job's longest response time as a sequence of steps: a batch in flight, full batches, and the
/// job's own batch.
///
/// ```text
///   [ carry-in ][ full ][ full ][ last: the job's ]
///          ^ release, `released_ns` after the window's start
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// The real-time requests of the batch in flight at the window's start.
    pub carry_in: u64,
    /// The number of full batches between the carry-in and the job's own batch.
    pub full_batches: u64,
    /// The largest number of real-time requests in the job's own batch.
    pub last_batch: u64,
    /// The time from the window's start to the job's release, in ns; it is not part of the
    /// response.
    pub released_ns: u64,
}

/// The steps of a bound, and the requests that its argument counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Derivation {
    pub(crate) steps: Steps,
    /// Pairs of an instant in ns after the window's start, and the requests behind the batch in
    /// flight that are released up to it; the last pair is the job's release. `None` if they are
    /// not requested, if there are too many, or if counting them exceeds the budget.
    pub(crate) requested: Option<Rc<[(u64, u64)]>>,
}

impl Derivation {
    /// Returns the derivation of a window in which `requests` are released at its start.
    pub(super) fn at_once(steps: Steps, requests: u64) -> Self {
        Self { steps, requested: Some(Rc::new([(0, requests)])) }
    }
}

impl Steps {
    /// Returns the longest time of the carry-in.
    pub fn carry_in_max(&self, system: &System) -> Duration {
        Duration::from_ns(system.batch_time_of_ns(self.carry_in))
    }

    /// Returns the longest time of one full batch.
    pub fn full_batch_max(&self, system: &System) -> Duration {
        system.table.time_max(system.batch_max)
    }

    /// Returns the longest time of the job's own batch.
    pub fn last_batch_max(&self, system: &System) -> Duration {
        Duration::from_ns(system.batch_time_of_ns(self.last_batch))
    }

    /// Returns the response time that the steps add up to, in ns; `None` if it overflows.
    pub(super) fn response_ns(&self, system: &System) -> Option<u64> {
        self.carry_in_max(system)
            .ns()
            .checked_add(self.full_batches.checked_mul(self.full_batch_max(system).ns())?)?
            .checked_add(self.last_batch_max(system).ns())?
            .checked_sub(self.released_ns)
    }
}

/// Returns the steps of each task's bound [`super::tight`]; `None` if there is no bound, if another
/// bound caps it, or if the search exceeds its budget.
///
/// # Complexity
/// The same as [`super::tight`].
pub fn steps(system: &System) -> Vec<Option<Steps>> {
    let kinds = derivations(system, 0);
    let steps: Vec<Option<Steps>> = kinds.iter().map(|it| Some(it.as_ref()?.steps)).collect();
    system.tasks.demand().per_task(&steps).collect()
}

/// Returns the derivation of each kind's bound; `None` in the same cases as [`steps`]. Requests are
/// counted at `instants_max` instants at most; with 0, only where the count costs nothing.
pub(crate) fn derivations(system: &System, instants_max: usize) -> Vec<Option<Derivation>> {
    let demand = system.tasks.demand();
    if let Some(steps) = two_batches::steps(system, demand) {
        let derivation = Derivation::at_once(steps, steps.last_batch);
        return vec![Some(derivation); demand.kinds.len()];
    }
    fixed_point::derivations(system, demand, instants_max)
}

#[cfg(test)]
mod tests {
    use tidegate_model::BatchTable;

    use super::*;
    use crate::SporadicTask;

    /// Goal: the steps add up to the bound, whether Theorem 2, A or W gives it. Method: many small
    /// systems.
    #[test]
    fn steps_add_up_to_the_bound() {
        let times = [4, 7, 9, 12, 14, 15].map(Duration::from_ms);
        let table = BatchTable::new(&times).unwrap();
        let mut found = [0; 2];
        for (count, period_ms, batch_max, fill) in
            combinations(&[3, 5, 8], &[20, 40, 90], &[1, 2, 6])
        {
            let period = Duration::from_ms(period_ms);
            let other = Duration::from_ms(period_ms + 17);
            let task = SporadicTask { period, requests: 1, deadline: period };
            let mut tasks = vec![task; count];
            tasks.push(SporadicTask { period: other, requests: 2, deadline: other });
            let best_effort_fill = fill.min(batch_max);
            let table = table.clone();
            let system = System { tasks: tasks.into(), table, batch_max, best_effort_fill };
            let verdicts = crate::dqf::tight(&system).unwrap();
            for (steps, verdict) in steps(&system).into_iter().zip(verdicts) {
                let Some(steps) = steps else { continue };
                let total = steps.response_ns(&system).map(Duration::from_ns);
                assert_eq!(total, verdict.bound(), "{steps:?} of {system:?}");
                found[usize::from(steps.full_batches > 0)] += 1;
            }
        }
        assert!(found.iter().all(|&count| count > 10), "{found:?}");
    }

    /// Goal: a limit on the instants changes only whether requests are counted. Method: systems
    /// whose responses exceed periods, so that windows give their bounds.
    #[test]
    fn a_limit_on_instants_leaves_the_steps() {
        let table = BatchTable::new(&[3, 5, 6, 7].map(Duration::from_ns)).unwrap();
        let mut windows = 0;
        let requests = || (1..=4).flat_map(|own| (1..=4).map(move |other| (own, other)));
        let periods = (6..40).flat_map(|period| [1, 2, 5, 9].map(|gap| (period, period + gap)));
        for ((period, next), (own, other)) in
            periods.flat_map(|periods| requests().map(move |requests| (periods, requests)))
        {
            let task = |(requests, period)| {
                let period = Duration::from_ns(period);
                SporadicTask { requests, period, deadline: period }
            };
            let tasks = [(own, period), (other, next)].map(task).to_vec().into();
            let table = table.clone();
            let system = System { tasks, table, batch_max: 4, best_effort_fill: 0 };
            let [none, one, all] = [0, 1, 4_096].map(|limit| derivations(&system, limit));
            for ((none, one), all) in none.iter().zip(&one).zip(&all) {
                let steps = |it: &Option<Derivation>| it.as_ref().map(|it| it.steps);
                assert_eq!([steps(none), steps(one)], [steps(all); 2]);
                let counted = |it: &Option<Derivation>| it.as_ref()?.requested.clone();
                let Some(instants) = counted(all).map(|it| it.len()) else { continue };
                assert!(counted(one).is_none_or(|it| it.len() == 1));
                assert!(counted(none).is_none() || instants == 1, "{all:?}");
                windows += usize::from(instants > 1 && counted(one).is_none());
            }
        }
        assert!(windows > 10, "{windows}");
    }

    fn combinations(
        counts: &[usize],
        periods: &[u64],
        batches: &[u32],
    ) -> Vec<(usize, u64, u32, u32)> {
        let mut all = Vec::new();
        for &count in counts {
            for &period in periods {
                for &batch in batches {
                    all.extend([0, 2].map(|fill| (count, period, batch, fill)));
                }
            }
        }
        all
    }
}
