// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The loop that reads the clock and does nothing else, to find the time that others take.

use tidegate_model::{Duration, Time};
use tidegate_platform::Clock;

use super::trace::{Gap, Trace};

/// How fast this thread reads the clock, and the step between two readings that counts as a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// The median step between two readings.
    pub median: Duration,
    /// The least step that counts as a gap: something else happened between the two readings.
    pub gap: Duration,
}

impl Steps {
    /// Measures steps for a few milliseconds.
    pub fn measure(clock: Clock) -> Self {
        const READINGS: usize = 20_000;
        /// Steps of the clock vary with caches and frequency, but less than this factor.
        const GAP_STEPS: u64 = 10;
        let mut steps = vec![Duration::ZERO; READINGS];
        let mut before = clock.now();
        for step in &mut steps {
            let now = clock.now();
            *step = now.since(before);
            before = now;
        }
        steps.sort_unstable();
        let median = steps[READINGS / 2].max(Duration::from_ns(1));
        Self { median, gap: median * GAP_STEPS }
    }
}

/// Sleeps until `begin`, then reads the clock until `begin + length` and records the gaps. A late
/// wake-up is the first gap. Ends early if there is no more room for gaps.
pub(super) fn measure(
    clock: Clock,
    begin: Time,
    length: Duration,
    steps: Steps,
    trace: &mut Trace,
) {
    let end = begin + length;
    trace.restart(begin);
    clock.sleep_until(begin);
    let mut before = begin;
    loop {
        let now = clock.now();
        let has_room = now.since(before) < steps.gap || trace.push(Gap { begin: before, end: now });
        before = now;
        if now >= end || !has_room {
            break;
        }
    }
    trace.finish(before);
}

/// Executes for `execution`, not counting gaps, or until the instant `until`; returns the
/// execution.
///
/// # Source
/// Regehr's Hourglass; dissertation, 5.4.1.
pub fn execute(clock: Clock, execution: Duration, steps: Steps, until: Time) -> Duration {
    let mut executed = Duration::ZERO;
    let mut before = clock.now();
    while executed < execution && before < until {
        let now = clock.now();
        let step = now.since(before);
        if step < steps.gap {
            executed += step;
        }
        before = now;
    }
    executed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The host can take any amount of time from a test. The trace includes that time, and is at
    /// least as long as requested.
    #[test]
    fn a_stretch_begins_when_it_was_to_begin() {
        let clock = Clock::start();
        let steps = Steps::measure(clock);
        let mut trace = Trace::with_room(1 << 12);
        let begin = clock.now() + Duration::from_ms(2);
        measure(clock, begin, Duration::from_ms(5), steps, &mut trace);
        assert_eq!(trace.begin(), begin);
        assert!(trace.length() >= Duration::from_ms(5) || trace.gaps().len() == 1 << 12);
        assert!(trace.stolen() <= trace.length(), "the host may have taken all of it");
        // Every wake-up takes some time.
        assert!(
            trace.gaps().first().is_some_and(|gap| gap.begin == begin)
                || steps.gap > Duration::from_us(1)
        );
    }

    #[test]
    fn execution_is_no_less_than_was_asked_for() {
        let clock = Clock::start();
        let steps = Steps::measure(clock);
        let (begin, execution) = (clock.now(), Duration::from_us(300));
        let executed = execute(clock, execution, steps, Time::MAX);
        assert!((execution..execution + steps.gap).contains(&executed));
        assert!(clock.now().since(begin) >= executed);
        assert_eq!(execute(clock, execution, steps, clock.now()), Duration::ZERO, "too late");
    }
}
