// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks whether a bound holds in systems with a known worst case.

use std::fmt;

use tidegate_analysis::{Inapplicable, System, Verdict};
use tidegate_model::Duration;

use crate::dual_queue::PERIOD_MAX;
use crate::small::{SmallSystem, Ticks};

/// A response-time bound: one verdict for each task, in order.
pub type Bound = fn(&System) -> Result<Vec<Verdict>, Inapplicable>;

/// The lengths of a tick. With 1 ns, a bound counts time in the same whole numbers as the search,
/// so a finer resolution gives it no slack. With 1 ms, rounding up to whole nanoseconds gives it
/// almost none.
pub const TICKS: [Duration; 2] = [Duration::from_ns(1), Duration::from_ms(1)];

/// Returns the bound of each task in nanoseconds; `None` for tasks without a bound.
///
/// # Panics
/// If the bound returns verdicts for another number of tasks.
pub fn promises(bound: Bound, system: &SmallSystem, tick: Duration) -> Vec<Option<u64>> {
    let Ok(verdicts) = bound(&system.to_analysis(tick)) else {
        return vec![None; system.tasks.len()];
    };
    assert_eq!(verdicts.len(), system.tasks.len(), "one verdict for each task of {system}");
    verdicts.iter().map(|verdict| verdict.bound().map(Duration::ns)).collect()
}

/// A job that took longer than its bound.
#[derive(Debug, Clone)]
pub struct Violation {
    /// The system.
    pub system: SmallSystem,
    /// The task of the job.
    pub task: usize,
    /// The response time of the job.
    pub response: Ticks,
    /// The bound, in nanoseconds.
    pub promised_ns: u64,
    /// The length of a tick.
    pub tick: Duration,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, task, response, promised_ns, tick } = self;
        let tick_ns = tick.ns();
        write!(
            f,
            "task {task} responds in {response} ticks, but its bound is {promised_ns} ns (1 tick = \
             {tick_ns} ns), in\n    {system}"
        )
    }
}

/// Returns the system with periods `margin` ticks longer than the bound that it has with long
/// periods: there an error of the bound is most likely to show. Periods that would be too long to
/// search stay unchanged.
pub fn with_periods_near(bound: Bound, mut system: SmallSystem, margin: i64) -> SmallSystem {
    let mut at_ease = system.clone();
    for task in &mut at_ease.tasks {
        task.period = PERIOD_MAX;
    }
    let promises = promises(bound, &at_ease, TICKS[0]);
    for (task, promise) in system.tasks.iter_mut().zip(promises) {
        let period = promise.and_then(|ticks| ticks.checked_add_signed(margin));
        let period = period.and_then(|ticks| Ticks::try_from(ticks).ok());
        if let Some(period) = period.filter(|period| (1..=PERIOD_MAX).contains(period)) {
            task.period = period;
        }
    }
    system
}

/// Returns three systems: with periods one tick shorter than the bound, equal to it, and one tick
/// longer. There the number of pending jobs of a task changes from one to two.
#[must_use]
pub fn at_the_edge(bound: Bound, system: &SmallSystem) -> Vec<SmallSystem> {
    [-1, 0, 1].map(|margin| with_periods_near(bound, system.clone(), margin)).into()
}

/// The bounds of each task, for each length of a tick.
pub type Promises = [Vec<Option<u64>>; 2];

/// Returns the bounds for every length of a tick.
#[must_use]
pub fn promises_by_tick(bound: Bound, system: &SmallSystem) -> Promises {
    TICKS.map(|tick| promises(bound, system, tick))
}

/// Returns the first task whose response time exceeds its bound.
#[must_use]
pub fn violation(
    promises: &Promises,
    system: &SmallSystem,
    responses: &[Ticks],
) -> Option<Violation> {
    TICKS.into_iter().zip(promises).find_map(|(tick, promises)| {
        let broken = |(task, (promise, &response)): (usize, (&Option<u64>, &Ticks))| {
            let promised_ns = promise.filter(|&ns| u64::from(response) * tick.ns() > ns)?;
            Some(Violation { system: system.clone(), task, response, promised_ns, tick })
        };
        promises.iter().zip(responses).enumerate().find_map(broken)
    })
}
