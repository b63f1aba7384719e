// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The platter's clock: the host's clock, shifted until completions come when predicted.
//!
//! A spindle keeps its speed to within a few parts per million, but its angle at the start of the
//! host's clock is unknown. A wrong phase makes every completion late by the same part of a turn,
//! plus whole turns. So only the remainder of an error after whole turns counts. One correction is
//! at most 1/[`STEPS_PER_TURN`] of a turn, so one odd completion shifts the clock by only a few
//! microseconds. The clock can still follow a drift of a few hundred parts per million, and it
//! finds an unknown phase within [`STEPS_PER_TURN`] / 2 requests.
//!
//! Until then, and after a pause in which the spindle may have drifted, predictions mean nothing. A
//! clock that began with an unknown phase is settled once most of the last completions came near
//! their expected instants ([`Settling`]).

use tidegate_model::{Duration, Time};

/// The number of corrections of the largest size that add up to a turn.
const STEPS_PER_TURN: u64 = 1_024;

/// The divisor of a turn that gives the largest error, without lost turns, of a completion that
/// counts as near its expected instant.
const NEAR_PER_TURN: u64 = 16;

/// The number of near completions, less those that other completions cancelled, from which the
/// clock is settled.
const SETTLED: u32 = 32;
/// The largest number of near completions that count.
const SETTLED_MAX: u32 = 2 * SETTLED;
/// The number of near completions that any other completion cancels.
const FAR_COST: u32 = 16;

/// The longest pause after which the phase is still known. After a longer pause it must be
/// confirmed again.
const PAUSE_MAX: Duration = Duration::from_ms(1_000);

/// Counts the evidence for the phase of a clock that began with an unknown phase.
#[derive(Debug, Clone, Copy, Default)]
struct Settling {
    near_count: u32,
    /// The instant at which the last completion arrived; `None` before the first.
    last: Option<Time>,
}

impl Settling {
    fn is_fresh(&self, now: Time) -> bool {
        self.last.is_some_and(|last| now.ns().saturating_sub(last.ns()) <= PAUSE_MAX.ns())
    }

    fn count(&mut self, now: Time, is_near: bool) {
        let known = if self.is_fresh(now) { self.near_count } else { 0 };
        self.near_count = if is_near {
            (known + 1).min(SETTLED_MAX)
        } else {
            // Not below zero, which already means that nothing is known.
            known.saturating_sub(FAR_COST)
        };
        self.last = Some(now);
    }
}

/// A spindle makes a whole number of turns per minute, so a shift by whole minutes does not change
/// its angle.
const MINUTE: Duration = Duration::from_ms(60_000);

/// The host's clock, shifted to agree with the platter.
///
/// # Invariants
/// - `ahead` is at least half a minute, so no instant falls below zero.
#[derive(Debug)]
pub(super) struct PlatterClock {
    turn: Duration,
    /// Platter time minus host time.
    ahead: Duration,
    /// `None` if the phase was known from the beginning.
    settling: Option<Settling>,
}

impl PlatterClock {
    /// Creates the clock of a spindle assumed to be at its index mark at the host's zero.
    pub(super) fn new(turn: Duration) -> Self {
        Self { turn, ahead: MINUTE, settling: None }
    }

    /// Creates the clock of a spindle at an unknown angle.
    pub(super) fn of_unknown_phase(turn: Duration) -> Self {
        Self { settling: Some(Settling::default()), ..Self::new(turn) }
    }

    /// Returns whether the phase is known at this instant of the host's clock.
    pub(super) fn is_settled(&self, now: Time) -> bool {
        self.settling.is_none_or(|it| it.near_count >= SETTLED && it.is_fresh(now))
    }

    /// Returns the platter's time at this instant of the host's clock.
    pub(super) fn platter_time(&self, now: Time) -> Time {
        now + self.ahead
    }

    /// Corrects the phase after a completion at `now` that was expected at `expected`; returns
    /// the time of the turns that were lost, rounded to the nearest whole turn.
    pub(super) fn correct(&mut self, now: Time, expected: Time) -> Duration {
        let (seen, turn) = (self.platter_time(now).ns(), self.turn.ns());
        let step_max = turn / STEPS_PER_TURN;
        if seen >= expected.ns() {
            let late = seen - expected.ns();
            let lost_turns = (late + turn / 2) / turn;
            let rest = late.abs_diff(lost_turns * turn);
            self.count(now, rest);
            self.shift(late >= lost_turns * turn, rest.min(step_max));
            return self.turn * lost_turns;
        }
        let early = expected.ns() - seen;
        let rest = early % turn;
        // Early by most of a turn means late for the previous turn.
        let is_late = rest > turn / 2;
        let rest = rest.min(turn - rest);
        self.count(now, rest);
        self.shift(is_late, rest.min(step_max));
        Duration::ZERO
    }

    fn count(&mut self, now: Time, off_by_ns: u64) {
        let is_near = off_by_ns <= self.turn.ns() / NEAR_PER_TURN;
        if let Some(settling) = &mut self.settling {
            settling.count(now, is_near);
        }
    }

    /// Sets the clock back if the platter is late, and forward if it is early.
    fn shift(&mut self, is_late: bool, by_ns: u64) {
        let by = Duration::from_ns(by_ns);
        self.ahead = if is_late { self.ahead - by } else { self.ahead + by };
        if self.ahead < Duration::from_ns(MINUTE.ns() / 2) {
            self.ahead += MINUTE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: Duration = Duration::from_ms(4);

    fn step() -> Duration {
        Duration::from_ns(TURN.ns() / STEPS_PER_TURN)
    }

    /// Records this number of completions, each late by `late_ns` against an uncorrected clock;
    /// returns how far the clock is then ahead of the host's.
    fn after(clock: &mut PlatterClock, completions: u64, late_ns: u64) -> Duration {
        for number in 1..=completions {
            let now = Time::from_ns(number * 10_000_000);
            clock.correct(now, Time::from_ns(now.ns() + MINUTE.ns() - late_ns));
        }
        clock.platter_time(Time::ZERO) - Time::ZERO
    }

    #[test]
    fn one_odd_completion_shifts_the_clock_by_one_step() {
        let mut clock = PlatterClock::new(TURN);
        assert_eq!(after(&mut clock, 1, 900_000), MINUTE - step());
    }

    #[test]
    fn an_unknown_phase_is_found_and_kept() {
        let mut clock = PlatterClock::new(TURN);
        assert_eq!(after(&mut clock, STEPS_PER_TURN, 900_000).ns(), MINUTE.ns() - 900_000);
    }

    #[test]
    fn a_lost_turn_is_no_error_of_phase() {
        let mut clock = PlatterClock::new(TURN);
        let expected = clock.platter_time(Time::from_ns(7_000_000));
        let lost = clock.correct(Time::from_ns(7_000_000) + TURN + TURN, expected);
        assert_eq!(lost, TURN + TURN);
        assert_eq!(clock.platter_time(Time::ZERO), Time::ZERO + MINUTE);
    }

    /// Goal: an unknown phase is not relied on before it is found, nor after a pause.
    #[test]
    fn an_unknown_phase_settles_and_a_pause_unsettles_it() {
        assert!(PlatterClock::new(TURN).is_settled(Time::ZERO), "a known phase is settled");
        let mut clock = PlatterClock::of_unknown_phase(TURN);
        let at = |number: u64| Time::from_ns(number * 10_000_000);
        let is_settled_after = |clock: &mut PlatterClock, first: u64, count: u64| {
            for number in first..first + count {
                clock.correct(at(number), Time::from_ns(at(number).ns() + MINUTE.ns() - 900_000));
            }
            clock.is_settled(at(first + count))
        };
        assert!(!is_settled_after(&mut clock, 1, 150), "900 us are 230 steps away");
        assert!(is_settled_after(&mut clock, 151, 150));
        assert!(!clock.is_settled(at(300) + PAUSE_MAX + TURN));
        assert!(!is_settled_after(&mut clock, 1_000, u64::from(SETTLED) - 1));
        assert!(is_settled_after(&mut clock, 1_031, 1));
        // One odd completion is forgiven, several are not.
        let odd = |number| Time::from_ns(at(number).ns() + MINUTE.ns() + 700_000);
        is_settled_after(&mut clock, 1_032, 40);
        clock.correct(at(1_072), odd(1_072));
        assert!(clock.is_settled(at(1_073)));
        for number in 1_073..1_076 {
            clock.correct(at(number), odd(number));
        }
        assert!(!clock.is_settled(at(1_076)));
    }

    #[test]
    fn the_clock_never_falls_behind_the_hosts() {
        let mut clock = PlatterClock::new(TURN);
        for number in 0..40_000_u64 {
            let now = Time::from_ns(number * 1_000_000);
            // Each completion is late by one step, as with an endless drift.
            let expected = Time::from_ns(clock.platter_time(now).ns() - step().ns());
            clock.correct(now, expected);
        }
        assert!(clock.platter_time(Time::ZERO) > Time::ZERO + TURN);
    }
}
