// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The platter's angle as an exact function of time.
//!
//! Angles count in units of 1/60,000,000,000 of a turn: at r turns a minute the platter moves
//! exactly r units in a nanosecond. The phase at any instant is one product and one remainder, so
//! it never drifts.

use tidegate_model::{Duration, Time};

/// Either an angle from the index mark, below one turn, or the angle that a piece of a track spans,
/// at most one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Angle(u64);

impl Angle {
    /// A whole turn.
    pub const TURN: Self = Self(60_000_000_000);
    /// The index mark.
    pub const ZERO: Self = Self(0);

    /// Creates an angle from units; a turn has [`Angle::TURN`] of them.
    pub const fn from_units(units: u64) -> Self {
        Self(units)
    }

    /// Returns the number of units.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// Returns `numerator / denominator` turns, rounded down to a unit, whole turns included.
    ///
    /// # Panics
    /// If `denominator` is 0, or the result exceeds 2^64 units.
    pub fn of_turn(numerator: u64, denominator: u64) -> Self {
        let units = u128::from(numerator) * u128::from(Self::TURN.0) / u128::from(denominator);
        Self(u64::try_from(units).expect("an angle of too many turns"))
    }

    /// Returns the angle without whole turns: the same direction, below one turn.
    #[must_use]
    pub const fn wrapped(self) -> Self {
        Self(self.0 % Self::TURN.0)
    }

    /// Returns this angle advanced by `by`: below one turn if both are at most one turn.
    #[must_use]
    pub const fn plus(self, by: Self) -> Self {
        let sum = self.0 + by.0;
        if sum >= Self::TURN.0 { Self(sum - Self::TURN.0).wrapped() } else { Self(sum) }
    }

    /// Returns the angle by which the platter turns from `from` until it reaches this angle: less
    /// than one turn.
    #[must_use]
    pub const fn after(self, from: Self) -> Self {
        if self.0 >= from.0 { Self(self.0 - from.0) } else { Self(Self::TURN.0 - from.0 + self.0) }
    }
}

/// A spindle at constant speed; the index mark passes the heads at time zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    rpm: u64,
}

impl Rotation {
    /// Creates a spindle that turns `rpm` times a minute.
    ///
    /// # Panics
    /// If `rpm` is 0.
    pub fn new(rpm: u32) -> Self {
        assert!(rpm > 0, "a disk must turn");
        Self { rpm: u64::from(rpm) }
    }

    /// Returns the angle under the heads at this instant.
    ///
    /// # Panics
    /// Never: angles below a turn are below 2^64.
    pub fn phase(self, at: Time) -> Angle {
        if let Some(units) = at.ns().checked_mul(self.rpm) {
            return Angle(units % Angle::TURN.0);
        }
        // Weeks into a run the product needs 128 bits.
        let units = u128::from(at.ns()) * u128::from(self.rpm);
        let phase = units % u128::from(Angle::TURN.0);
        Angle(u64::try_from(phase).expect("below one turn"))
    }

    /// Returns the time from `from` until `angle` is under the heads, rounded up.
    ///
    /// An angle that passed less than a nanosecond ago counts as now: instants have no finer
    /// resolution, and a transfer must be able to begin where the last one is computed to end.
    pub fn wait(self, angle: Angle, from: Time) -> Duration {
        self.wait_for(angle.after(self.phase(from)))
    }

    /// Returns the time until the platter has turned by `left`, rounded as in [`Self::wait`].
    pub(super) fn wait_for(self, left: Angle) -> Duration {
        if Angle::TURN.0 - left.0 < self.rpm {
            return Duration::ZERO;
        }
        self.sweep(left)
    }

    /// Returns the time that `span` takes to pass a head, rounded up.
    pub fn sweep(self, span: Angle) -> Duration {
        Duration::from_ns(span.0.div_ceil(self.rpm))
    }

    /// Returns the time of one turn, rounded up.
    pub fn turn(self) -> Duration {
        self.sweep(Angle::TURN)
    }
}
