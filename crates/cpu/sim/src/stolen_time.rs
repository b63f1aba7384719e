// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Stolen time: takes the processor from every thread for as long as a profile's bound allows in
//! every window.
//!
//! This code was written separately from the bound in `analysis`, so that the two implementations
//! check each other.

mod bucket;
mod staircase;

use tidegate_cpu_model::{CpuProfile, DemandFit, InterferenceBound};
use tidegate_model::{Duration, Random, Time};

use bucket::Bucket;
use staircase::Staircase;

use super::timing::Timing;

/// The longest time stolen in one piece; the next piece can follow immediately.
const PIECE_MAX: Duration = Duration::from_ms(100);

/// A source of stolen time, with its bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StolenTime {
    allowance: Allowance,
}

/// The time that can be stolen from now on. The state covers all stolen time that a future window
/// can contain.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Allowance {
    /// Steals at most `c + ceil(u D)` in any window of length D.
    Line(Bucket),
    /// Steals at most a point's stolen time in any window up to the point's length.
    Points(Staircase),
}

impl StolenTime {
    /// Creates a source that steals, in every window, at most a bound of the profile plus `margin`.
    /// With `points`, each part of a longer window includes the margin. Returns `None` if the
    /// profile has no such fit.
    pub fn of(profile: &CpuProfile, bound: InterferenceBound, margin: Duration) -> Option<Self> {
        let line = |fit: DemandFit| Self::line(fit.utilization_ppb, fit.offset_ns, margin);
        match bound {
            InterferenceBound::Demand => profile.demand_fit.map(line),
            InterferenceBound::Load => profile.load_fit.map(|fit| line(fit.to_demand())),
            InterferenceBound::Points => {
                let points = Staircase::new(profile.raised_by(margin));
                Some(Self { allowance: Allowance::Points(points) })
            }
        }
    }

    fn line(utilization_ppb: u64, offset_ns: u64, margin: Duration) -> Self {
        let burst = Duration::from_ns(offset_ns) + margin;
        Self { allowance: Allowance::Line(Bucket::new(utilization_ppb, burst)) }
    }
}

impl Allowance {
    /// Returns the time that the source can steal without interruption from now on.
    fn available(&self, now: Time) -> Duration {
        match self {
            Self::Line(bucket) => bucket.available(now),
            Self::Points(staircase) => staircase.available(now),
        }
    }

    fn take(&mut self, now: Time, stolen: Duration) {
        match self {
            Self::Line(bucket) => bucket.take(now, stolen),
            Self::Points(staircase) => staircase.take(now, stolen),
        }
    }

    /// Returns the first instant, not before `from`, at which stealing is possible. A line waits
    /// until `grain` can be stolen in one piece, if its burst is that long.
    fn next(&self, from: Time, grain: Duration) -> Time {
        match self {
            Self::Line(bucket) => bucket.next(from, grain),
            Self::Points(staircase) => staircase.next(from),
        }
    }

    /// Returns approximately how long the source must pause until its whole burst is available
    /// again.
    fn recovery(&self) -> Duration {
        match self {
            Self::Line(bucket) => bucket.recovery(),
            Self::Points(staircase) => staircase.recovery(),
        }
    }
}

/// A source of stolen time in a run.
#[derive(Debug, Clone)]
pub(super) struct StolenTimeState {
    allowance: Allowance,
    timing: Timing,
    grain: Duration,
    /// The longest time for which the source steals before it rests. After the rest it can steal
    /// its whole burst in one piece.
    patience: Duration,
    rests_at: Time,
    random: Random,
    /// The end of the last stolen piece.
    stole_until: Time,
    /// The instant at which the source steals next; [`Time::MAX`] while it waits for a critical
    /// instant.
    pub(super) next: Time,
}

impl StolenTimeState {
    pub(super) fn new(
        stolen_time: &StolenTime,
        (timing, grain): (Timing, Duration),
        patience: Duration,
        random: Random,
    ) -> Self {
        let mut state = Self {
            allowance: stolen_time.allowance.clone(),
            timing,
            grain,
            patience,
            rests_at: Time::ZERO,
            random,
            stole_until: Time::ZERO,
            next: Time::MAX,
        };
        state.rest(Time::ZERO);
        state
    }

    /// Returns whether the source waits for a critical instant and has its whole burst available.
    pub(super) fn is_lurking(&self, now: Time) -> bool {
        let is_fresh = self.stole_until == Time::ZERO;
        let rested = now.since(self.stole_until);
        self.next == Time::MAX && (is_fresh || rested >= self.allowance.recovery())
    }

    /// Begins or continues to steal; returns how much is stolen without interruption from now on.
    pub(super) fn steal(&mut self, now: Time) -> Duration {
        if self.next == Time::MAX {
            self.rests_at = self.draw_rest(now);
        }
        let stolen = self.allowance.available(now).min(PIECE_MAX);
        if stolen.is_zero() {
            self.next = self.allowance.next(now, self.grain);
            return stolen;
        }
        self.allowance.take(now, stolen);
        self.stole_until = now + stolen;
        if self.stole_until >= self.rests_at {
            self.rest(self.stole_until);
        } else {
            self.next = self.allowance.next(self.stole_until, self.grain);
        }
        stolen
    }

    /// Draws the end of the stealing that begins at `from`.
    fn draw_rest(&mut self, from: Time) -> Time {
        let patience = Duration::from_ns(self.random.below(self.patience.ns().max(1)));
        from.checked_add(patience).unwrap_or(Time::MAX)
    }

    /// Stops stealing, and sets when to steal again.
    pub(super) fn rest(&mut self, now: Time) {
        self.next = match self.timing {
            Timing::Never | Timing::Critical => Time::MAX,
            Timing::Random => {
                let wait = self.random.below(2 * self.allowance.recovery().ns() + 1);
                let next = now + Duration::from_ns(wait);
                self.rests_at = self.draw_rest(next);
                next
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NS: fn(u64) -> Duration = Duration::from_ns;

    /// Returns, for each ns, whether a source that never rests and begins at 0 steals it.
    fn greedy(allowance: &mut Allowance, ticks: u64) -> Vec<bool> {
        let mut stolen = vec![false; usize::try_from(ticks).unwrap()];
        let mut now = allowance.next(Time::ZERO, NS(1));
        while now.ns() < ticks {
            let piece = allowance.available(now);
            assert!(!piece.is_zero(), "{allowance:?} promised something at {now:?}");
            allowance.take(now, piece);
            let end = now + piece;
            for tick in now.ns()..end.ns().min(ticks) {
                stolen[usize::try_from(tick).unwrap()] = true;
            }
            now = allowance.next(end, NS(1));
        }
        stolen
    }

    /// Returns, for each ns, whether a source that tries every ns and checks every window steals
    /// it.
    fn plain(bound: &dyn Fn(u64) -> u64, ticks: usize) -> Vec<bool> {
        let mut stolen = Vec::new();
        for _ in 0..ticks {
            stolen.push(true);
            let mut sum = 0;
            let is_legal = stolen.iter().rev().zip(1..).all(|(is_stolen, window)| {
                sum += u64::from(*is_stolen);
                sum <= bound(window)
            });
            *stolen.last_mut().unwrap() = is_legal;
        }
        stolen
    }

    /// Goal: a source steals as early as its bound allows. Method: a second implementation checks
    /// every window, ns by ns.
    #[test]
    fn a_line_is_used_up() {
        let mut random = Random::new(3, 1);
        for _ in 0..300 {
            let (ppb, burst) = (random.below(11) * 100_000_000, random.below(9));
            let line = |window: u64| burst + (ppb * window).div_ceil(1_000_000_000);
            let mut allowance = Allowance::Line(Bucket::new(ppb, NS(burst)));
            assert_eq!(greedy(&mut allowance, 90), plain(&line, 90), "{ppb} {burst}");
        }
    }

    #[test]
    fn points_are_used_up() {
        let mut random = Random::new(4, 1);
        for _ in 0..300 {
            let (mut interval, mut stolen_max) = (0, 0);
            let points = (0..=random.below(4)).map(|_| {
                interval += 1 + random.below(9);
                stolen_max = (stolen_max + random.below(4)).min(interval);
                tidegate_cpu_model::StolenPoint {
                    interval: NS(interval),
                    stolen_max: NS(stolen_max),
                }
            });
            let points: Vec<_> = points.collect();
            let steps = |window: u64| {
                let point = points.iter().find(|point| point.interval.ns() >= window);
                point.map_or(u64::MAX, |point| point.stolen_max.ns())
            };
            let mut allowance = Allowance::Points(Staircase::new(points.clone()));
            assert_eq!(greedy(&mut allowance, 90), plain(&steps, 90), "{points:?}");
        }
    }

    /// The whole burst is available again after the recovery time.
    #[test]
    fn after_the_recovery_the_whole_burst_is_available() {
        let mut bucket = Bucket::new(250_000_000, NS(30));
        assert_eq!(bucket.available(Time::ZERO), NS(41));
        bucket.take(Time::ZERO, NS(41));
        assert_eq!(bucket.available(Time::from_ns(41)), NS(0));
        let again = Time::from_ns(41) + bucket.recovery();
        assert_eq!(bucket.available(again), NS(41));
    }
}
