// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Plans the intervals, the length of one measurement, and the pauses between measurements.

use tidegate_model::Duration;
use tidegate_platform::realtime::Throttling;

use super::synthetic_load::SyntheticLoad;

/// Lengths of intervals, evenly spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalRange {
    /// The longest length; the shortest is one step.
    pub longest: Duration,
    /// The number of lengths.
    pub count: u32,
}

/// Why the intervals are invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// There are no lengths, or too many.
    #[error("{count} interval lengths are not possible; write 1 to {}", IntervalRange::COUNT_MAX)]
    Count {
        /// The number of lengths.
        count: u32,
    },
    /// The longest interval is so short that reading the clock takes most of it, or too long to
    /// wait for.
    #[error(
        "the longest interval {longest} is not possible; write one between 1 us for each of {count} lengths and {}",
        IntervalRange::LONGEST_MAX
    )]
    Longest {
        /// The longest interval.
        longest: Duration,
        /// The number of lengths.
        count: u32,
    },
}

impl IntervalRange {
    /// The largest number of lengths, more than a plot can show.
    pub const COUNT_MAX: u32 = 10_000;

    /// The largest value of `longest`.
    pub const LONGEST_MAX: Duration = Duration::from_ms(10_000);

    /// Returns the lengths, shortest first.
    ///
    /// # Errors
    /// If the intervals are invalid.
    pub fn lengths(self) -> Result<Vec<Duration>, PlanError> {
        let Self { longest, count } = self;
        if count == 0 || count > Self::COUNT_MAX {
            return Err(PlanError::Count { count });
        }
        if longest > Self::LONGEST_MAX || longest < Duration::from_us(u64::from(count)) {
            return Err(PlanError::Longest { longest, count });
        }
        let length = |index| Duration::from_ns(longest.ns() * index / u64::from(count));
        Ok((1..=u64::from(count)).map(length).collect())
    }
}

/// Returns the time for which the thread measures without a pause: five times the longest interval,
/// so that windows of every phase are included, but at most half a second unless one interval is
/// longer.
pub fn stretch(longest: Duration) -> Duration {
    const INTERVALS: u64 = 5;
    const STRETCH_MAX: Duration = Duration::from_ms(500);
    (longest * INTERVALS).min(STRETCH_MAX).max(longest)
}

/// Returns the least and the greatest length of a pause; a random length between them gives a
/// random phase.
///
/// A pause is twice as long as the kernel's throttling of real-time threads requires, so that
/// neither the measuring thread nor a thread above it is throttled. Meanwhile threads without
/// real-time priority can use the processor. A pause is at least two milliseconds.
pub fn pause(stretch: Duration, throttling: Option<Throttling>) -> (Duration, Duration) {
    const PAUSE_MIN: Duration = Duration::from_ms(2);
    let asked = throttling.and_then(|it| Some((it.runtime?, it.period)));
    let asked = asked.map_or(Duration::ZERO, |(runtime, period)| {
        let rest = u128::from(period.ns().saturating_sub(runtime.ns()));
        let rest = rest * u128::from(stretch.ns()) / u128::from(runtime.ns().max(1));
        Duration::from_ns(u64::try_from(2 * rest).unwrap_or(u64::MAX / 4))
    });
    let least = asked.max(PAUSE_MIN);
    (least, least + least)
}

/// Returns the least and the greatest length of a pause for a measurement with a synthetic load,
/// which continues during pauses. They are longer in proportion to the load's share, because the
/// kernel throttles both threads together.
pub fn pause_beside(
    pause: (Duration, Duration),
    synthetic_load: SyntheticLoad,
) -> (Duration, Duration) {
    let period = u128::from(synthetic_load.period.ns());
    let rest =
        u128::from(synthetic_load.period.ns().saturating_sub(synthetic_load.execution.ns()).max(1));
    let longer = |it: Duration| {
        let ns = (u128::from(it.ns()) * period).div_ceil(rest);
        Duration::from_ns(u64::try_from(ns).unwrap_or(u64::MAX / 4))
    };
    (longer(pause.0), longer(pause.1))
}

/// Returns a generous upper bound on a measurement's duration, after which the synthetic load ends
/// by itself: ten seconds plus twice the planned measurements and their pauses, or plus twice the
/// time limit if that is less.
pub fn lasts_max(
    longest: Duration,
    pause_max: Duration,
    trials: u64,
    time_limit: Option<Duration>,
) -> Duration {
    const LONGEST_NS: u64 = 1 << 62;
    let stretch = stretch(longest);
    let round = u128::from(stretch.ns()) + u128::from(pause_max.ns());
    let stretches = trials.div_ceil((stretch.ns() / longest.ns().max(1)).max(1));
    let planned = u128::from(stretches).saturating_mul(round);
    let given = time_limit.map_or(u128::MAX, |limit| u128::from(limit.ns()) + round);
    let most = planned.min(given).saturating_mul(2).saturating_add(10_000_000_000);
    Duration::from_ns(u64::try_from(most).unwrap_or(LONGEST_NS).min(LONGEST_NS))
}

/// Returns whether a measurement without a pause is so long that the kernel throttles a real-time
/// thread within it.
pub fn is_throttled(stretch: Duration, throttling: Option<Throttling>) -> bool {
    throttling.and_then(|it| it.runtime).is_some_and(|runtime| stretch >= runtime)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Throttling =
        Throttling { runtime: Some(Duration::from_ms(950)), period: Duration::from_ms(1_000) };

    #[test]
    fn lengths_are_even_and_end_at_the_longest() {
        let range = IntervalRange { longest: Duration::from_ms(50), count: 100 };
        let lengths = range.lengths().unwrap();
        assert_eq!((lengths.len(), lengths[0]), (100, Duration::from_us(500)));
        assert_eq!(lengths[99], Duration::from_ms(50));
        assert!(lengths.windows(2).all(|pair| pair[1] - pair[0] == lengths[0]));
    }

    #[test]
    fn ranges_without_sense_are_refused() {
        let of = |ms, count| IntervalRange { longest: Duration::from_ms(ms), count }.lengths();
        assert_eq!(of(50, 0), Err(PlanError::Count { count: 0 }));
        assert!(of(1, 1_001).is_err() && of(20_000, 10).is_err() && of(1, 1_000).is_ok());
    }

    #[test]
    fn a_load_that_ends_by_itself_ends_after_the_measurement() {
        let (longest, second) = (Duration::from_ms(50), Duration::from_ms(1_000));
        let lasts = |trials, limit| lasts_max(longest, Duration::from_ms(50), trials, limit);
        // 200 trials take 10 s, plus at most a fifth for pauses; the bound is twice that plus 10 s.
        assert_eq!(lasts(200, None), second * 34);
        assert!(lasts(200, Some(second)) < lasts(200, None));
        assert!((second * 12..second * 20).contains(&lasts(u64::MAX, Some(second))));
        assert!(lasts(u64::MAX, None) > second * 1_000_000);
        assert!(lasts(u64::MAX, Some(Duration::MAX)) > second * 1_000_000);
    }

    /// Goal: the measuring thread and a synthetic load above it rest at the same time for as long
    /// as the kernel requires, although the load rests only in its part of the pauses.
    #[test]
    fn beside_a_synthetic_load_both_keep_below_the_throttle() {
        let stretch = stretch(Duration::from_ms(50));
        for execution in 1..=80 {
            let synthetic_load = SyntheticLoad {
                execution: Duration::from_ms(execution),
                period: Duration::from_ms(100),
            };
            let (least, most) = pause_beside(pause(stretch, Some(USUAL)), synthetic_load);
            let rest = least.ns() * (100 - execution) / 100;
            assert!(rest * 95 >= (stretch + least).ns() * 5 && most > least, "{execution} {least}");
        }
    }

    /// A thread above the measuring thread also rests as long as the kernel requires, in every
    /// second.
    #[test]
    fn stretches_and_pauses_keep_below_the_throttle() {
        for ms in [1, 10, 50, 100, 500, 900] {
            let stretch = stretch(Duration::from_ms(ms));
            assert!(stretch >= Duration::from_ms(ms) && !is_throttled(stretch, Some(USUAL)));
            let (least, most) = pause(stretch, Some(USUAL));
            assert!(least.ns() * 95 >= stretch.ns() * 9 && most > least, "{stretch} {least}");
        }
        assert!(is_throttled(stretch(Duration::from_ms(950)), Some(USUAL)));
        let free = Throttling { runtime: None, ..USUAL };
        assert_eq!(pause(Duration::from_ms(500), Some(free)).0, Duration::from_ms(2));
        assert!(!is_throttled(Duration::from_ms(5_000), Some(free)));
    }
}
