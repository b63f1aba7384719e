// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Thieves: what takes the processor from everybody, as much as a profile's bound allows in every
//! window, and no more.
//!
//! Written apart from the bound in `analysis`: two ways to say the same, held against each other.

mod bucket;
mod staircase;

use tidegate_cpu_model::{CpuProfile, DemandFit, InterferenceBound};
use tidegate_model::{Duration, Random, Time};

use bucket::Bucket;
use staircase::Staircase;

use super::disturbance::{Disturbance, Timing};

/// The longest that is stolen in one piece; the next may follow at once.
const PIECE_MAX: Duration = Duration::from_ms(100);

/// Who steals, and how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thief {
    allowance: Allowance,
}

/// What may be stolen from now on; the future forgets nothing that a window could still hold.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Allowance {
    /// In any window of length D no more than `c + ceil(u D)`.
    Line(Bucket),
    /// In any window no longer than the length of a point no more than it says.
    Points(Staircase),
}

impl Thief {
    /// A thief that steals in no window more than a bound of the profile and `margin`, which
    /// `points` has in each of the windows that a longer one is made of; none where the profile has no such fit.
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
    /// How long it may steal from now on without a break.
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

    /// The first instant, not before `from`, at which it may steal, `grain` at once if it ever may.
    fn next(&self, from: Time, grain: Duration) -> Time {
        match self {
            Self::Line(bucket) => bucket.next(from, grain),
            Self::Points(staircase) => staircase.next(from),
        }
    }

    /// How long after it stole it has its whole burst again, or nearly.
    fn recovery(&self) -> Duration {
        match self {
            Self::Line(bucket) => bucket.recovery(),
            Self::Points(staircase) => staircase.recovery(),
        }
    }
}

/// A thief in a run.
#[derive(Debug, Clone)]
pub(super) struct ThiefState {
    allowance: Allowance,
    timing: Timing,
    grain: Duration,
    /// The longest that it goes on before it rests, to strike again with its whole burst.
    patience: Duration,
    rests_at: Time,
    random: Random,
    /// When it stole last, to the end of it.
    stole_until: Time,
    /// When it steals next by itself.
    pub(super) next: Time,
}

impl ThiefState {
    pub(super) fn new(
        thief: &Thief,
        disturbance: &Disturbance<'_>,
        patience: Duration,
        random: Random,
    ) -> Self {
        let mut state = Self {
            allowance: thief.allowance.clone(),
            timing: disturbance.timing,
            grain: disturbance.grain,
            patience,
            rests_at: Time::ZERO,
            random,
            stole_until: Time::ZERO,
            next: Time::MAX,
        };
        state.rest(Time::ZERO);
        state
    }

    /// Whether it waits for a critical instant, with its whole burst.
    pub(super) fn is_lurking(&self, now: Time) -> bool {
        let is_fresh = self.stole_until == Time::ZERO;
        let rested = now.since(self.stole_until);
        self.next == Time::MAX && (is_fresh || rested >= self.allowance.recovery())
    }

    /// It strikes, or goes on: how long does it steal from now on?
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

    /// When a strike that begins at `from` ends.
    fn draw_rest(&mut self, from: Time) -> Time {
        let patience = Duration::from_ns(self.random.below(self.patience.ns().max(1)));
        from.checked_add(patience).unwrap_or(Time::MAX)
    }

    /// It stops until it is time to strike again.
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

    /// What is stolen of each ns, by a thief that never rests and begins at 0.
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

    /// What a thief that tries every ns in turn steals, every window looked at.
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

    /// Goal: a thief steals as early as its bound allows. Method: another that looks at every
    /// window, ns by ns.
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

    /// A burst is there again when a thief lurks.
    #[test]
    fn who_rested_long_enough_has_the_whole_burst() {
        let mut bucket = Bucket::new(250_000_000, NS(30));
        assert_eq!(bucket.available(Time::ZERO), NS(41));
        bucket.take(Time::ZERO, NS(41));
        assert_eq!(bucket.available(Time::from_ns(41)), NS(0));
        let again = Time::from_ns(41) + bucket.recovery();
        assert_eq!(bucket.available(again), NS(41));
    }
}
