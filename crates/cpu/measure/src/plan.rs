// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Which intervals are measured, for how long at a stretch, and how long the thread rests between.

use tidegate_model::Duration;
use tidegate_platform::realtime::Throttling;

use super::thief::SyntheticThief;

/// Lengths of intervals, evenly spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntervalRange {
    /// The longest; the shortest is one step.
    pub longest: Duration,
    /// How many lengths.
    pub count: u32,
}

/// Why there are no such intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// No or too many lengths.
    #[error("{count} interval lengths; write 1 to {}", IntervalRange::COUNT_MAX)]
    Count {
        /// How many.
        count: u32,
    },
    /// So short that reading the clock takes most of it, or longer than anybody waits.
    #[error(
        "the longest interval is {longest}; write one between 1 us for each of {count} lengths and {}",
        IntervalRange::LONGEST_MAX
    )]
    Longest {
        /// The longest.
        longest: Duration,
        /// How many.
        count: u32,
    },
}

impl IntervalRange {
    /// More lengths than a plot has room for.
    pub const COUNT_MAX: u32 = 10_000;

    /// The longest interval.
    pub const LONGEST_MAX: Duration = Duration::from_ms(10_000);

    /// The lengths, shortest first.
    ///
    /// # Errors
    /// When there are no such intervals.
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

/// How long the thread measures at a stretch: five of the longest interval, so that windows of
/// every phase are among them, but no longer than half a second where one interval is shorter.
pub fn stretch(longest: Duration) -> Duration {
    const INTERVALS: u64 = 5;
    const STRETCH_MAX: Duration = Duration::from_ms(500);
    (longest * INTERVALS).min(STRETCH_MAX).max(longest)
}

/// Between which lengths a pause lies, chosen at random, so that stretches have a random phase.
///
/// Twice what the kernel's throttling of real-time threads asks for, so that neither the measuring
/// thread nor one above it is throttled; threads without real-time priority on the
/// processor go on meanwhile. Two milliseconds at least.
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

/// A pause beside a thief, who goes on meanwhile: longer by as much as it takes of it, since the kernel
/// throttles both together.
pub fn pause_beside(pause: (Duration, Duration), thief: SyntheticThief) -> (Duration, Duration) {
    let period = u128::from(thief.period.ns());
    let rest = u128::from(thief.period.ns().saturating_sub(thief.execution.ns()).max(1));
    let longer = |it: Duration| {
        let ns = (u128::from(it.ns()) * period).div_ceil(rest);
        Duration::from_ns(u64::try_from(ns).unwrap_or(u64::MAX / 4))
    };
    (longer(pause.0), longer(pause.1))
}

/// How long a measurement takes at most, by far: what is to go on no longer than it ends by itself then.
/// Stretches of the longest interval and pauses as they are planned, or the time that was given for it if
/// that is less; twice that, and ten seconds.
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

/// Whether a stretch is so long that the kernel throttles a real-time thread within it.
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
    fn what_ends_by_itself_ends_after_the_measurement() {
        let (longest, second) = (Duration::from_ms(50), Duration::from_ms(1_000));
        let lasts = |trials, limit| lasts_max(longest, Duration::from_ms(50), trials, limit);
        // 200 trials are 10 s, and at most a fifth more for pauses; twice that and 10 s are given.
        assert_eq!(lasts(200, None), second * 34);
        assert!(lasts(200, Some(second)) < lasts(200, None));
        assert!((second * 12..second * 20).contains(&lasts(u64::MAX, Some(second))));
        assert!(lasts(u64::MAX, None) > second * 1_000_000);
        assert!(lasts(u64::MAX, Some(Duration::MAX)) > second * 1_000_000);
    }

    /// Goal: the thread that measures and a thief above it rest together as long as the kernel asks for;
    /// the thief rests only its part of the pauses.
    #[test]
    fn beside_a_thief_both_keep_below_the_throttle() {
        let stretch = stretch(Duration::from_ms(50));
        for execution in 1..=80 {
            let thief = SyntheticThief {
                execution: Duration::from_ms(execution),
                period: Duration::from_ms(100),
            };
            let (least, most) = pause_beside(pause(stretch, Some(USUAL)), thief);
            let rest = least.ns() * (100 - execution) / 100;
            assert!(rest * 95 >= (stretch + least).ns() * 5 && most > least, "{execution} {least}");
        }
    }

    /// Whatever is above it also rests no less than the kernel asks for, in every second.
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
