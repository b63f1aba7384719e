// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The arithmetic of a token bucket, apart from what is done with the tokens.
//!
//! The level is kept in parts of a token so fine that a nanosecond brings a whole number of
//! them: for r tokens per second a token has 10^9 parts and a nanosecond brings r; for a
//! contract of e per p a token has p parts and a nanosecond brings e. So nothing is rounded
//! and nothing is lost, however often one asks.
//!
//! Source: the token bucket filter of Wu and Brandt, section 3, figure 1.

use tidegate_model::{Duration, Time};

/// A bucket that fills at a constant rate up to a bound.
///
/// # Bound
/// Between any two instants s <= t no more is taken than the larger of `full` and the largest
/// single cost, and `gain * (t - s)`.
///
/// # Complexity
/// O(1) for everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bucket {
    /// Parts that a nanosecond brings; never zero.
    gain: u64,
    /// The most parts that gather while nobody waits for more.
    full: u128,
    level: u128,
    /// When the level was that.
    at: Time,
}

impl Bucket {
    /// A full bucket, which fills in `burst`.
    pub(crate) fn full(gain: u64, burst: Duration) -> Self {
        let full = capacity(gain, burst);
        Self { gain: gain.max(1), full, level: full, at: Time::ZERO }
    }

    /// An empty one, from `now` on.
    pub(crate) fn empty(gain: u64, burst: Duration, now: Time) -> Self {
        Self { level: 0, at: now, ..Self::full(gain, burst) }
    }

    /// Lets the bucket fill until `now` while somebody waits for `wanted` parts: one that
    /// wants more than fits may gather it.
    pub(crate) fn replenish(&mut self, now: Time, wanted: u128) {
        let gained = u128::from(self.gain) * u128::from(now.since(self.at).ns());
        // Saturation is above every bound that follows.
        self.level = self.level.saturating_add(gained).min(self.full.max(wanted));
        self.at = self.at.max(now);
    }

    /// The same level at another rate and bound, from the last replenishment on.
    pub(crate) fn with_rate(self, gain: u64, burst: Duration) -> Self {
        Self { level: self.level, at: self.at, ..Self::full(gain, burst) }
    }

    /// Forgets what it holds.
    pub(crate) fn drain(&mut self, now: Time) {
        self.level = 0;
        self.at = now;
    }

    /// Takes so many parts, if they are there.
    pub(crate) fn take(&mut self, cost: u128) -> bool {
        let left = self.level.checked_sub(cost);
        self.level = left.unwrap_or(self.level);
        left.is_some()
    }

    /// The first instant at which so many parts are there, if the rate stays as it is and
    /// nobody takes any; none beyond the end of time.
    pub(crate) fn ready_at(&self, cost: u128) -> Option<Time> {
        let missing = cost.saturating_sub(self.level); // zero: they are there already
        let wait = u64::try_from(missing.div_ceil(u128::from(self.gain))).ok()?;
        self.at.checked_add(Duration::from_ns(wait))
    }
}

fn capacity(gain: u64, burst: Duration) -> u128 {
    u128::from(gain.max(1)) * u128::from(burst.ns())
}
