// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Rotation as an exact phase of time.
//!
//! An angle counts in units of which a turn has 60 thousand million: at r turns a minute the
//! platter moves exactly r units in a nanosecond. The phase at any instant is one product
//! and one remainder, so nothing drifts, however long a run is.

use tidegate_model::{Duration, Time};

/// An angle from the index mark, below one turn; or the angle that a piece of a track
/// spans, up to one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Angle(u64);

impl Angle {
    /// A whole turn.
    pub const TURN: Self = Self(60_000_000_000);
    /// The index mark.
    pub const ZERO: Self = Self(0);

    /// So many units; a turn has [`Angle::TURN`] of them.
    pub const fn from_units(units: u64) -> Self {
        Self(units)
    }

    /// The number of units.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// The part `numerator / denominator` of a turn, rounded down to a unit, turns counted.
    ///
    /// # Panics
    /// When `denominator` is 0, or the result exceeds 2^64 units.
    pub fn of_turn(numerator: u64, denominator: u64) -> Self {
        let units = u128::from(numerator) * u128::from(Self::TURN.0) / u128::from(denominator);
        Self(u64::try_from(units).expect("an angle of too many turns"))
    }

    /// The same direction, below one turn.
    #[must_use]
    pub const fn wrapped(self) -> Self {
        Self(self.0 % Self::TURN.0)
    }

    /// This angle, turned on by `by`: below one turn if both are at most one.
    #[must_use]
    pub const fn plus(self, by: Self) -> Self {
        let sum = self.0 + by.0;
        if sum >= Self::TURN.0 { Self(sum - Self::TURN.0).wrapped() } else { Self(sum) }
    }

    /// How far the platter turns from `from` until this angle is reached: below one turn.
    #[must_use]
    pub const fn after(self, from: Self) -> Self {
        if self.0 >= from.0 { Self(self.0 - from.0) } else { Self(Self::TURN.0 - from.0 + self.0) }
    }
}

/// A spindle at constant speed; at time zero the index mark passes the heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rotation {
    rpm: u64,
}

impl Rotation {
    /// A spindle that turns `rpm` times a minute.
    ///
    /// # Panics
    /// When `rpm` is 0.
    pub fn new(rpm: u32) -> Self {
        assert!(rpm > 0, "a disk turns");
        Self { rpm: u64::from(rpm) }
    }

    /// The angle that is under the heads at this instant.
    ///
    /// # Panics
    /// Never: what is below a turn is below 2^64.
    pub fn phase(self, at: Time) -> Angle {
        if let Some(units) = at.ns().checked_mul(self.rpm) {
            return Angle(units % Angle::TURN.0);
        }
        // Weeks into a run.
        let units = u128::from(at.ns()) * u128::from(self.rpm);
        let phase = units % u128::from(Angle::TURN.0);
        Angle(u64::try_from(phase).expect("below one turn"))
    }

    /// The time until `angle` is under the heads, from `from` on, rounded up.
    ///
    /// An angle that passed less than a nanosecond ago counts as now: an instant is known no
    /// better, and what is computed to end there must be able to begin there.
    pub fn wait(self, angle: Angle, from: Time) -> Duration {
        self.wait_for(angle.after(self.phase(from)))
    }

    /// The same, when `left` is left of the turn.
    pub(super) fn wait_for(self, left: Angle) -> Duration {
        if Angle::TURN.0 - left.0 < self.rpm {
            return Duration::ZERO;
        }
        self.sweep(left)
    }

    /// The time that `span` takes to pass a head, rounded up.
    pub fn sweep(self, span: Angle) -> Duration {
        Duration::from_ns(span.0.div_ceil(self.rpm))
    }

    /// One turn, rounded up.
    pub fn turn(self) -> Duration {
        self.sweep(Angle::TURN)
    }
}
