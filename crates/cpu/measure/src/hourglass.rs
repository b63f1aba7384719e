// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The loop that reads the clock, and nothing else.

use tidegate_model::{Duration, Time};
use tidegate_platform::Clock;

use super::trace::{Gap, Trace};

/// How fast this thread reads the clock, and which step between two readings is a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steps {
    /// The step of every second reading or more.
    pub median: Duration,
    /// From here on a step is a gap: whatever happened in between, it was more than a reading.
    pub gap: Duration,
}

impl Steps {
    /// Tries for a few milliseconds.
    pub fn measure(clock: Clock) -> Self {
        const READINGS: usize = 20_000;
        /// Steps of the clock vary with caches and frequency, not so much.
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

/// Reads the clock from `begin`, for which the thread wakes up, to `begin + length`, and notes the
/// gaps. Waking up late is the first gap. Ends early where there is no more room for gaps.
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

/// Executes for so long, gaps not counted, but not beyond `until`; gives what was executed.
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

    /// The host may take any time from a test: what it took is in the trace, and the trace is
    /// as long as it should be or longer.
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
        // Nobody wakes up in no time.
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
