// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A thief whose execution time and period are known: what the method is checked against
//! (figure 5.8).

use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_model::{Duration, Time};
use tidegate_platform::affinity::Affinity;
use tidegate_platform::{Clock, Scheduling};

use super::hourglass::{self, Steps};

/// Between two looks whether it is to stop.
const LOOK: Duration = Duration::from_us(100);

/// Executes for so long once in each period, on the measured processor and above the thread that
/// measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntheticThief {
    /// e.
    pub execution: Duration,
    /// p: the next execution begins this long after the last began, or later.
    pub period: Duration,
}

/// Why there is no such thief.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ThiefError {
    /// Nothing to steal, or everything.
    #[error(
        "a thief of {execution} in {period}: write an execution time above zero and below the period"
    )]
    Execution {
        /// Its execution time.
        execution: Duration,
        /// Its period.
        period: Duration,
    },
    /// It would leave too little.
    #[error(
        "a thief of {execution} in {period} leaves the thread that measures less than a fifth of the \
         processor: with it the kernel throttles both, or the thread never ends. Write at most 0.8 of \
         the period"
    )]
    Share {
        /// Its execution time.
        execution: Duration,
        /// Its period.
        period: Duration,
    },
}

/// What it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThiefReport {
    /// Jobs.
    pub jobs: u64,
    /// How long it executed in all of them together, gaps not counted.
    pub executed: Duration,
    /// Its SCHED_FIFO priority, if it was granted one.
    pub priority: Option<u8>,
    /// Whether its time was over before the measurement was: what came later is without it.
    pub ended_early: bool,
}

/// What ends a thief.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThiefEnd<'a> {
    /// The measurement is over.
    pub(super) is_over: &'a AtomicBool,
    /// The measurement is to end: the thread that measures may be too busy to say that it did.
    pub(super) is_cancelled: &'a AtomicBool,
    /// It goes on for so long at most, whatever becomes of the others.
    pub(super) lasts_max: Duration,
}

impl ThiefEnd<'_> {
    fn is_told(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.is_cancelled.load(Ordering::Relaxed)
    }
}

impl SyntheticThief {
    /// The same, if the thread that measures can live beside it.
    ///
    /// The kernel leaves 5 % of a second to threads without real-time priority, and both rest together
    /// only in the pauses of the thread that measures: with four fifths half of its time is pauses.
    ///
    /// # Errors
    /// Where it takes nothing, all, or more than four fifths of the processor.
    pub fn checked(self) -> Result<Self, ThiefError> {
        let Self { execution, period } = self;
        if execution.is_zero() || execution >= period {
            return Err(ThiefError::Execution { execution, period });
        }
        if u128::from(execution.ns()) * 5 > u128::from(period.ns()) * 4 {
            return Err(ThiefError::Share { execution, period });
        }
        Ok(self)
    }

    /// Steals until told to stop. Where it wakes up late its next period begins late: so it
    /// is a sporadic task without jitter, whatever the host does.
    pub(super) fn run(
        self,
        cpu: &Affinity,
        priority: Option<u8>,
        end: ThiefEnd<'_>,
    ) -> ThiefReport {
        let clock = Clock::start();
        // Where it may not be above the others it steals like any of them.
        let granted =
            priority.filter(|&it| Scheduling::fifo(it).with_reset_on_fork().apply(None).is_ok());
        // Whoever measures is there already.
        let _ = cpu.apply(None);
        let steps = Steps::measure(clock);
        let until = Time::ZERO + end.lasts_max;
        let (mut jobs, mut executed) = (0, Duration::ZERO);
        while !end.is_told() && clock.now() < until {
            let begin = clock.now();
            executed += self.job(clock, steps, end, until);
            jobs += 1;
            clock.sleep_until(self.next_begin(begin, clock.now()).min(until));
        }
        ThiefReport { jobs, executed, priority: granted, ended_early: !end.is_told() }
    }

    /// One execution; what was executed.
    fn job(self, clock: Clock, steps: Steps, end: ThiefEnd<'_>, until: Time) -> Duration {
        let mut executed = Duration::ZERO;
        while executed < self.execution && !end.is_told() && clock.now() < until {
            let slice = LOOK.min(self.execution - executed);
            executed += hourglass::execute(clock, slice, steps, until);
        }
        executed
    }

    /// When the next job begins, of one that began and is done now: in a later period, those that are
    /// over already left out, and after at least half the rest of one that nobody held up. A
    /// thief that was held up (throttled, stolen from) would starve whoever is below otherwise.
    fn next_begin(self, begin: Time, now: Time) -> Time {
        let rest = self.period.checked_sub(self.execution).unwrap_or(Duration::ZERO);
        let least = now + Duration::from_ns(rest.ns().div_ceil(2));
        let periods = least.since(begin).ns().div_ceil(self.period.ns().max(1));
        begin + self.period * periods.max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    fn thief(execution_ms: u64, period_ms: u64) -> SyntheticThief {
        let ms = Duration::from_ms;
        SyntheticThief { execution: ms(execution_ms), period: ms(period_ms) }
    }

    fn here() -> Affinity {
        Affinity::only(Affinity::of(None).unwrap().cpus().last().unwrap()).unwrap()
    }

    #[test]
    fn a_thief_that_leaves_nothing_is_refused() {
        assert_eq!(thief(8, 10).checked(), Ok(thief(8, 10)));
        assert!(matches!(thief(81, 100).checked(), Err(ThiefError::Share { .. })));
        for none in [thief(0, 10), thief(10, 10), thief(11, 10)] {
            assert!(matches!(none.checked(), Err(ThiefError::Execution { .. })), "{none:?}");
        }
    }

    /// Goal: whoever is below a thief gets some time, however late its jobs are done.
    #[test]
    fn a_thief_rests_after_every_job() {
        let at = |us: u64| Time::ZERO + Duration::from_us(us);
        let next = |now| thief(2, 10).next_begin(at(1_000), at(now));
        assert_eq!(next(3_000), at(11_000), "as it was planned");
        assert_eq!(next(6_999), at(11_000));
        assert_eq!(next(7_001), at(21_000), "held up, and the rest would be short");
        assert_eq!(next(11_000), at(21_000), "the period is over");
        assert_eq!(next(95_000), at(101_000), "several are");
        for (execution, now) in (1..100).flat_map(|it| [(it, 0), (it, 77), (it, 250)]) {
            let thief = thief(execution, 100);
            let (begin, now) = (at(5), at(5) + Duration::from_ms(execution + now));
            let next = thief.next_begin(begin, now);
            assert!(next >= begin + thief.period, "no sooner than a period");
            assert!((next - now) * 2 >= thief.period - thief.execution, "{execution} {now:?}");
        }
    }

    /// Goal: it ends by itself, and where it is told to within a job, whoever tells. If it does not the
    /// test hangs.
    #[test]
    fn a_thief_ends_within_a_job() {
        let (over, cancelled) = (&AtomicBool::new(false), &AtomicBool::new(false));
        let hour = thief(1_000_000, 3_600_000);
        let end = |lasts_max| ThiefEnd { is_over: over, is_cancelled: cancelled, lasts_max };
        thread::scope(|scope| {
            let alone = scope.spawn(|| hour.run(&here(), None, end(Duration::from_ms(20))));
            let report = alone.join().unwrap();
            assert!(report.ended_early && report.jobs <= 1, "{report:?}");
            for flag in [over, cancelled] {
                let told =
                    scope.spawn(|| hour.run(&here(), None, end(Duration::from_ms(1_000_000))));
                flag.store(true, Ordering::Relaxed);
                assert!(!told.join().unwrap().ended_early);
                flag.store(false, Ordering::Relaxed);
            }
        });
    }
}
