// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Promise against truth: does a bound hold in a system whose worst case is known?

use std::fmt;

use tidegate_analysis::{Inapplicable, System, Verdict};
use tidegate_model::Duration;

use crate::adversary::PERIOD_MAX;
use crate::small::{SmallSystem, Ticks};

/// A response-time bound: one verdict for each task, in order.
pub type Bound = fn(&System) -> Result<Vec<Verdict>, Inapplicable>;

/// How long a tick lasts. With one nanosecond a bound cannot hide behind whole numbers;
/// with a million it cannot hide behind rounding up.
pub const TICKS: [Duration; 2] = [Duration::from_ns(1), Duration::from_ms(1)];

/// What a bound promises each task, in nanoseconds; `None` where it promises nothing.
///
/// # Panics
/// When the bound answers for another number of tasks.
pub fn promises(bound: Bound, system: &SmallSystem, tick: Duration) -> Vec<Option<u64>> {
    let Ok(verdicts) = bound(&system.to_analysis(tick)) else {
        return vec![None; system.tasks.len()];
    };
    assert_eq!(verdicts.len(), system.tasks.len(), "one verdict for each task of {system}");
    verdicts.iter().map(|verdict| verdict.bound().map(Duration::ns)).collect()
}

/// A job that took longer than was promised.
#[derive(Debug, Clone)]
pub struct Violation {
    /// Where.
    pub system: SmallSystem,
    /// Whose job.
    pub task: usize,
    /// How long it took.
    pub response: Ticks,
    /// What was promised, in nanoseconds.
    pub promised_ns: u64,
    /// How long a tick lasted.
    pub tick: Duration,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { system, task, response, promised_ns, tick } = self;
        let tick_ns = tick.ns();
        write!(
            f,
            "task {task} responds in {response} ticks, promised were {promised_ns} ns (1 tick = \
             {tick_ns} ns), in\n    {system}"
        )
    }
}

/// The system with periods that exceed the bound, as it is for long periods, by `margin`
/// ticks: there an error of the bound has the best chance to show. Periods that would be
/// too long to search stay as they are.
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

/// The first task whose response time exceeds what the bound promises.
pub fn violation(bound: Bound, system: &SmallSystem, responses: &[Ticks]) -> Option<Violation> {
    TICKS.into_iter().find_map(|tick| {
        let promises = promises(bound, system, tick);
        let broken = |(task, (promise, &response)): (usize, (Option<u64>, &Ticks))| {
            let promised_ns = promise.filter(|&ns| u64::from(response) * tick.ns() > ns)?;
            Some(Violation { system: system.clone(), task, response, promised_ns, tick })
        };
        promises.into_iter().zip(responses).enumerate().find_map(broken)
    })
}
