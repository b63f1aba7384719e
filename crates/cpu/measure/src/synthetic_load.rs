// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A synthetic load with a known execution time and period, which validates the method (figure
//! 5.8).

use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_model::{Duration, Time};
use tidegate_platform::affinity::Affinity;
use tidegate_platform::{Clock, Scheduling};

use super::hourglass::{self, Steps};

/// The time between two checks of the stop flags.
const LOOK: Duration = Duration::from_us(100);

/// A load that executes once in each period, on the measured processor and above the measuring
/// thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntheticLoad {
    /// The execution time e.
    pub execution: Duration,
    /// The period p: the next job begins this long after the last one began, or later.
    pub period: Duration,
}

/// Why the load is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyntheticLoadError {
    /// The load would take none of the processor, or all of it.
    #[error(
        "a synthetic load of {execution} in {period} is not possible; write an execution time above zero and below the period"
    )]
    Execution {
        /// The load's execution time.
        execution: Duration,
        /// The load's period.
        period: Duration,
    },
    /// A load that leaves the measuring thread less than a fifth of the processor.
    #[error(
        "a synthetic load of {execution} in {period} leaves the measuring thread less than a fifth \
         of the processor: the kernel would throttle both, or the measurement would not end; write \
         at most 0.8 of the period"
    )]
    Share {
        /// The load's execution time.
        execution: Duration,
        /// The load's period.
        period: Duration,
    },
}

/// The report of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntheticLoadReport {
    /// The number of jobs.
    pub jobs: u64,
    /// The execution time of all jobs together, not counting gaps.
    pub executed: Duration,
    /// The load's SCHED_FIFO priority, if granted.
    pub priority: Option<u8>,
    /// Whether the load ended before the measurement, so that the rest was measured without it.
    pub ended_early: bool,
}

/// The conditions that end a load.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadEnd<'a> {
    /// Whether the measurement is over.
    pub(super) is_over: &'a AtomicBool,
    /// Whether the measurement is cancelled. The measuring thread may get too little time to set
    /// `is_over`.
    pub(super) is_cancelled: &'a AtomicBool,
    /// The longest time that the load runs, whatever the other threads do.
    pub(super) lasts_max: Duration,
}

impl LoadEnd<'_> {
    fn is_told(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.is_cancelled.load(Ordering::Relaxed)
    }
}

impl SyntheticLoad {
    /// Returns the load, if it leaves the measuring thread enough of the processor.
    ///
    /// The kernel leaves 5 % of each second to threads without real-time priority. The load and the
    /// measuring thread both rest only in the measuring thread's pauses, and of those only in the
    /// load's idle time. With a load of four fifths, half of the measurement is pauses.
    ///
    /// # Errors
    /// If the load takes nothing, everything, or more than four fifths of the processor.
    pub fn checked(self) -> Result<Self, SyntheticLoadError> {
        let Self { execution, period } = self;
        if execution.is_zero() || execution >= period {
            return Err(SyntheticLoadError::Execution { execution, period });
        }
        if u128::from(execution.ns()) * 5 > u128::from(period.ns()) * 4 {
            return Err(SyntheticLoadError::Share { execution, period });
        }
        Ok(self)
    }

    /// Runs until told to stop. After a late wake-up the next period begins late, so the load is a
    /// sporadic task without jitter, whatever the host does.
    pub(super) fn run(
        self,
        cpu: &Affinity,
        priority: Option<u8>,
        end: LoadEnd<'_>,
    ) -> SyntheticLoadReport {
        let clock = Clock::start();
        // Without permission for a higher priority, the load runs as an ordinary thread.
        let granted =
            priority.filter(|&it| Scheduling::fifo(it).with_reset_on_fork().apply(None).is_ok());
        // The measuring thread already runs there.
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
        SyntheticLoadReport { jobs, executed, priority: granted, ended_early: !end.is_told() }
    }

    /// Executes one job; returns its execution.
    fn job(self, clock: Clock, steps: Steps, end: LoadEnd<'_>, until: Time) -> Duration {
        let mut executed = Duration::ZERO;
        while executed < self.execution && !end.is_told() && clock.now() < until {
            let slice = LOOK.min(self.execution - executed);
            executed += hourglass::execute(clock, slice, steps, until);
        }
        executed
    }

    /// Returns the start of the next job: the start of a later period, after a pause of at least
    /// half the idle time that follows an undisturbed job. Without this pause, a load that was held
    /// up (throttled or preempted) would starve threads below it.
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

    fn load(execution_ms: u64, period_ms: u64) -> SyntheticLoad {
        let ms = Duration::from_ms;
        SyntheticLoad { execution: ms(execution_ms), period: ms(period_ms) }
    }

    fn here() -> Affinity {
        Affinity::only(Affinity::of(None).unwrap().cpus().last().unwrap()).unwrap()
    }

    #[test]
    fn a_load_that_leaves_nothing_is_refused() {
        assert_eq!(load(8, 10).checked(), Ok(load(8, 10)));
        assert!(matches!(load(81, 100).checked(), Err(SyntheticLoadError::Share { .. })));
        for none in [load(0, 10), load(10, 10), load(11, 10)] {
            assert!(
                matches!(none.checked(), Err(SyntheticLoadError::Execution { .. })),
                "{none:?}"
            );
        }
    }

    /// Goal: a thread below the load gets some time, no matter how late the load's jobs complete.
    #[test]
    fn a_load_rests_after_every_job() {
        let at = |us: u64| Time::ZERO + Duration::from_us(us);
        let next = |now| load(2, 10).next_begin(at(1_000), at(now));
        assert_eq!(next(3_000), at(11_000), "as it was planned");
        assert_eq!(next(6_999), at(11_000));
        assert_eq!(next(7_001), at(21_000), "held up, so the rest would be too short");
        assert_eq!(next(11_000), at(21_000), "the period is over");
        assert_eq!(next(95_000), at(101_000), "several are");
        for (execution, now) in (1..100).flat_map(|it| [(it, 0), (it, 77), (it, 250)]) {
            let load = load(execution, 100);
            let (begin, now) = (at(5), at(5) + Duration::from_ms(execution + now));
            let next = load.next_begin(begin, now);
            assert!(next >= begin + load.period, "no sooner than a period");
            assert!((next - now) * 2 >= load.period - load.execution, "{execution} {now:?}");
        }
    }

    /// Goal: the load ends by itself, and soon after either flag is set. Otherwise the test hangs.
    #[test]
    fn a_load_ends_within_a_job() {
        let (over, cancelled) = (&AtomicBool::new(false), &AtomicBool::new(false));
        let hour = load(1_000_000, 3_600_000);
        let end = |lasts_max| LoadEnd { is_over: over, is_cancelled: cancelled, lasts_max };
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
