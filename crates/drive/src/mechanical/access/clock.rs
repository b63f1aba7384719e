// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The platter's clock: the host's clock, shifted until completions come when predicted.
//!
//! A spindle keeps its speed to some parts in a million, and its angle at the start of the host's
//! clock is unknown. A wrong phase makes every completion late by the same part of a turn, plus
//! whole turns. So only the remainder of an error after whole turns counts, and one correction is
//! at most 1/[`STEPS_PER_TURN`] of a turn: one odd completion shifts the clock by a few
//! microseconds, the clock follows a drift of some hundred parts in a million, and an unknown phase
//! is found within half of [`STEPS_PER_TURN`] requests.

use tidegate_model::{Duration, Time};

/// The number of corrections of the largest size that add up to a turn.
const STEPS_PER_TURN: u64 = 1_024;

/// At a whole number of turns per minute, a shift by whole minutes changes nothing.
const MINUTE: Duration = Duration::from_ms(60_000);

/// The host's clock, shifted.
///
/// # Invariants
/// - `ahead` exceeds half a minute: the shift never takes an instant below zero.
#[derive(Debug)]
pub(super) struct PlatterClock {
    turn: Duration,
    /// Platter time minus host time.
    ahead: Duration,
}

impl PlatterClock {
    /// Creates the clock of a spindle assumed to be at its index mark at the host's zero.
    pub(super) fn new(turn: Duration) -> Self {
        Self { turn, ahead: MINUTE }
    }

    /// Returns the platter's time at this instant of the host.
    pub(super) fn platter_time(&self, now: Time) -> Time {
        now + self.ahead
    }

    /// Corrects the phase after a completion at `now` that was expected at `expected`; returns
    /// the nearest number of whole turns that were lost, as a time.
    pub(super) fn correct(&mut self, now: Time, expected: Time) -> Duration {
        let (seen, turn) = (self.platter_time(now).ns(), self.turn.ns());
        let step_max = turn / STEPS_PER_TURN;
        if seen >= expected.ns() {
            let late = seen - expected.ns();
            let lost_turns = (late + turn / 2) / turn;
            let rest = late.abs_diff(lost_turns * turn).min(step_max);
            self.shift(late >= lost_turns * turn, rest);
            return self.turn * lost_turns;
        }
        let early = expected.ns() - seen;
        let rest = early % turn;
        // Early by most of a turn means late for the previous turn.
        let is_late = rest > turn / 2;
        self.shift(is_late, rest.min(turn - rest).min(step_max));
        Duration::ZERO
    }

    /// Sets the clock back if the platter is late.
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

    /// Records `completions`, each late by `late_ns` against an uncorrected clock; returns how
    /// far the clock is then ahead of the host's.
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

    #[test]
    fn the_clock_never_falls_behind_the_hosts() {
        let mut clock = PlatterClock::new(TURN);
        for number in 0..40_000_u64 {
            let now = Time::from_ns(number * 1_000_000);
            // Always late by a step: an endless drift.
            let expected = Time::from_ns(clock.platter_time(now).ns() - step().ns());
            clock.correct(now, expected);
        }
        assert!(clock.platter_time(Time::ZERO) > Time::ZERO + TURN);
    }
}
